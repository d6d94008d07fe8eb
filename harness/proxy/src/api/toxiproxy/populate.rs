//! `/populate`: creates or replaces proxies, one by one, until one fails.

use super::input::{self, ProxyInput};
use super::{Failure, json, proxies, show};
use crate::api::{Api, Reply};
use crate::core::{Core, LinkStatus};
use crate::error::ProxyError;
use crate::link::resolve;
use crate::proxy::Proxy;

/// Why a configuration was not carried out, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason} ({done} proxies were created before)")]
pub struct PopulateError {
    /// What is wrong.
    pub reason: String,
    /// How many proxies had been created; they stay.
    pub done: usize,
}

/// Creates the proxies of a Toxiproxy configuration file: an array of objects with `name`, `upstream`, `listen`,
/// `enabled`.
///
/// # Errors
/// When the text is not such an array, which creates none, or one of the proxies cannot be started.
pub async fn populate(proxy: &Proxy, json: &[u8]) -> Result<Vec<LinkStatus>, PopulateError> {
    let (done, failure) = put_all(proxy.core(), json).await;
    match failure {
        None => Ok(done),
        Some(failure) => Err(PopulateError { reason: failure.text, done: done.len() }),
    }
}

/// Creates or replaces what the body lists. An error comes with what was done before it.
async fn put_all(core: &Core, body: &[u8]) -> (Vec<LinkStatus>, Option<Failure>) {
    let inputs = match input::proxies(body) {
        Ok(inputs) => inputs,
        Err(failure) => return (Vec::new(), Some(failure)),
    };
    let mut done = Vec::new();
    for input in inputs {
        match put(core, input).await {
            Ok(link) => done.push(link),
            Err(e) => return (done, Some(Failure::creating(&e))),
        }
    }
    (done, None)
}

/// Unlike all others, its errors are JSON in name too, without a newline.
pub(super) async fn answer(api: &Api, body: &[u8]) -> Reply {
    let _one = api.populating.lock().await;
    let (done, failure) = put_all(&api.core, body).await;
    done.iter().filter(|link| link.enabled).for_each(|link| api.options.journal.started(link));
    let done: Vec<_> = done.iter().map(show::proxy).collect();
    let done = if done.is_empty() { "null".to_owned() } else { format!("[{}]", done.join(",")) };
    match failure {
        None => json(201, format!("{{\"proxies\":{done}}}")),
        Some(failure) => {
            api.options.journal.warn(format!("POST /populate: {}", failure.text));
            json(failure.status, format!("{{{},\"proxies\":{done}}}", failure.members()))
        }
    }
}

/// Leaves a proxy alone that is the same already, whatever `enabled` says; replaces it without its toxics otherwise.
async fn put(core: &Core, input: ProxyInput) -> Result<LinkStatus, ProxyError> {
    let Ok(old) = core.link_status(&input.name) else {
        return core.add_link(proxies::config(input)).await;
    };
    let resolved = resolve(&input.name, &input.listen).await?;
    let same_place = resolved.iter().any(|address| address.to_string() == old.listen);
    if same_place && old.upstream.as_deref() == Some(input.upstream.as_str()) {
        return Ok(old);
    }
    let before = core.link_config(&input.name)?;
    core.remove_link(&input.name).await?;
    let added = core.add_link(proxies::config(input)).await;
    if added.is_err() {
        // The caller is told about the new one; that the old port was lost meanwhile shows in the list.
        let _lost = core.add_link(before).await;
    }
    added
}
