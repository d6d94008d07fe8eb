//! `/proxies` and `/reset`.

use super::input::{self, ProxyInput};
use super::{Failure, json, show};
use crate::api::{Api, Reply};
use crate::config::LinkConfig;
use crate::link::LinkChange;

pub(super) fn list(api: &Api) -> Reply {
    json(200, show::index(&api.core.link_statuses()))
}

pub(super) fn show(api: &Api, name: &str) -> Result<Reply, Failure> {
    let link = api.core.link_status(name).map_err(|_| Failure::no_proxy())?;
    Ok(json(200, show::proxy(&link)))
}

pub(super) async fn create(api: &Api, body: &[u8]) -> Result<Reply, Failure> {
    let input = input::proxy(body, ProxyInput { enabled: true, ..ProxyInput::default() })?;
    input.check("")?;
    let link = api.core.add_link(config(input)).await.map_err(|e| Failure::creating(&e))?;
    if link.enabled {
        api.options.journal.started(&link);
    }
    Ok(json(201, show::proxy(&link)))
}

/// A link of bytes, as all of Toxiproxy's are.
pub(super) fn config(input: ProxyInput) -> LinkConfig {
    let mut config = LinkConfig::tcp(input.name).listen(input.listen).upstream(input.upstream);
    config.enabled = input.enabled;
    config
}

/// Only `listen`, `upstream` and `enabled` can be changed; a name is passed over.
pub(super) async fn update(api: &Api, name: &str, body: &[u8]) -> Result<Reply, Failure> {
    let old = api.core.link_status(name).map_err(|_| Failure::no_proxy())?;
    let upstream = old.upstream.unwrap_or_default();
    let old = ProxyInput { name: old.name, listen: old.listen, upstream, enabled: old.enabled };
    let new = input::proxy(body, old.clone())?;
    let change = LinkChange {
        listen: (new.listen != old.listen).then_some(new.listen),
        upstream: (new.upstream != old.upstream).then_some(new.upstream),
        enabled: (new.enabled != old.enabled).then_some(new.enabled),
    };
    let link = api.core.change_link(name, change).await.map_err(|e| Failure::updating(&e))?;
    Ok(json(200, show::proxy(&link)))
}

pub(super) async fn delete(api: &Api, name: &str) -> Result<Reply, Failure> {
    api.core.remove_link(name).await.map_err(|_| Failure::no_proxy())?;
    Ok(Reply::empty(204))
}

/// Starts what is stopped and removes all toxics. One that cannot start does not keep the others from it.
pub(super) async fn reset(api: &Api) -> Result<Reply, Failure> {
    let mut failed = None;
    for link in api.core.link_statuses() {
        if let Ok(board) = api.core.toxics(&link.name) {
            board.clear();
        }
        // One that was removed meanwhile needs nothing.
        if let Err(e) = api.core.enable_link(&link.name).await
            && api.core.link_status(&link.name).is_ok()
        {
            failed.get_or_insert(Failure::creating(&e));
        }
    }
    failed.map_or_else(|| Ok(Reply::empty(204)), Err)
}
