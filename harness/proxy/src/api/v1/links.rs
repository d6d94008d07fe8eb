//! `/v1/links`: links of either mode, with their toxics and rules in one call.

use http::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::fields::{Fields, refused, refused_within};
use super::link_toxics;
use crate::api::{Api, Reply, Request};
use crate::config::{DEFAULT_KEY_HEADER, LinkConfig, Mode};
use crate::core::{AddLinkError, LinkStatus};
use crate::error::ProxyError;
use crate::link::LinkChange;
use crate::rules::Rule;
use crate::strict;
use crate::tls::TlsConfig;
use crate::toxics::Toxic;

const CREATE_FIELDS: [&str; 9] =
    ["name", "mode", "listen", "upstream", "enabled", "key_header", "tls", "toxics", "rules"];
const CHANGE_FIELDS: [&str; 3] = ["listen", "upstream", "enabled"];

/// A link as it is shown.
#[derive(Debug, Serialize)]
struct View<'a> {
    name: &'a str,
    mode: &'static str,
    listen: &'a str,
    upstream: Option<&'a str>,
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_header: Option<&'a str>,
    #[serde(skip_serializing_if = "TlsConfig::is_off")]
    tls: &'a TlsConfig,
    connections: u64,
    arrivals: u64,
    in_flight: usize,
    toxics: &'a [Toxic],
}

impl<'a> View<'a> {
    fn of(link: &'a LinkStatus) -> Self {
        let mode = if link.mode == Mode::Http { "http" } else { "tcp" };
        let LinkStatus { name, listen, upstream, enabled, tls, connections, arrivals, in_flight, toxics, .. } = link;
        let (upstream, enabled) = (upstream.as_deref(), *enabled);
        let (connections, arrivals, in_flight) = (*connections, *arrivals, *in_flight);
        let key_header = link.key_header.as_deref();
        Self { name, mode, listen, upstream, enabled, key_header, tls, connections, arrivals, in_flight, toxics }
    }
}

/// Answers a call; `segments` are the parts of the path behind `/v1/links`.
pub(super) async fn handle(api: &Api, segments: &[&str], request: &Request) -> Option<Reply> {
    let outcome = match (segments, &request.method) {
        ([], &Method::GET) => Ok(list(api)),
        ([], &Method::POST) => create(api, request).await,
        ([], _) => Ok(Reply::no_method("GET, POST")),
        ([name], &Method::GET) => show(api, name),
        ([name], &Method::PATCH) => change(api, name, request).await,
        ([name], &Method::DELETE) => remove(api, name).await,
        ([_], _) => Ok(Reply::no_method("GET, PATCH, DELETE")),
        ([name, "toxics", rest @ ..], _) => return link_toxics::handle(api, name, rest, request).await,
        _ => return None,
    };
    Some(outcome.unwrap_or_else(|refusal| refusal))
}

fn list(api: &Api) -> Reply {
    let links = api.core.link_statuses();
    let links: Vec<_> = links.iter().map(View::of).collect();
    Reply::json(200, &json!({ "links": links, "epoch": api.core.engine.epoch() }))
}

fn show(api: &Api, name: &str) -> Result<Reply, Reply> {
    let link = api.core.link_status(name).map_err(|e| refusal(&e))?;
    Ok(shown(api, 200, &link))
}

fn shown(api: &Api, status: u16, link: &LinkStatus) -> Reply {
    Reply::json(status, &json!({ "link": View::of(link), "epoch": api.core.engine.epoch() }))
}

async fn create(api: &Api, request: &Request) -> Result<Reply, Reply> {
    let mut fields = Fields::of(request, &CREATE_FIELDS)?;
    let name: String = fields.required("name")?;
    let mode: String = fields.required("mode")?;
    let mut config = match mode.as_str() {
        "http" => LinkConfig::http(name.clone()),
        "tcp" => LinkConfig::tcp(name.clone()),
        _ => return Err(refused("mode", "has to be \"http\" or \"tcp\"")),
    };
    config.upstream = fields.optional("upstream")?;
    config.listen = fields.optional("listen")?.unwrap_or(config.listen);
    config.enabled = fields.optional("enabled")?.unwrap_or(true);
    config.key_header = fields.optional("key_header")?;
    if config.mode == Mode::Http && config.key_header.is_none() {
        let usual = api.options.key_header.as_deref().unwrap_or(DEFAULT_KEY_HEADER);
        config.key_header = Some(usual.to_owned());
    }
    config.tls = fields.optional("tls")?.unwrap_or_default();
    config.toxics = toxics(fields.optional("toxics")?.unwrap_or_default())?;
    let rules = rules(&name, fields.optional("rules")?.unwrap_or_default())?;
    let (link, armed) = api.core.add_link_with(config.apply_schemes(), rules).await.map_err(|e| match e {
        AddLinkError::Link(e) => refusal(&e),
        AddLinkError::Rule(e) => Reply::refused_field(400, "rules", e.to_string()),
    })?;
    api.keep(armed);
    if link.enabled {
        api.options.journal.started(&link);
    }
    Ok(shown(api, 201, &link))
}

fn toxics(values: Vec<Value>) -> Result<Vec<Toxic>, Reply> {
    let read = |(i, value)| {
        Toxic::from_json(value).map_err(|e| {
            let field = format!("toxics[{i}].{}", e.field);
            refused(&field, &e.why)
        })
    };
    values.into_iter().enumerate().map(read).collect()
}

/// Rules of a link apply to it alone.
fn rules(link: &str, values: Vec<Value>) -> Result<Vec<Rule>, Reply> {
    let read = |(i, value)| {
        let rule: Rule = strict::from_value(value).map_err(|e| refused_within(&format!("rules[{i}]"), e))?;
        match rule.link.as_deref() {
            Some(other) if other != link => {
                Err(refused(&format!("rules[{i}].link"), &format!("names `{other}`; leave it out, it is `{link}`")))
            }
            _ => Ok(rule.link(link)),
        }
    };
    values.into_iter().enumerate().map(read).collect()
}

async fn change(api: &Api, name: &str, request: &Request) -> Result<Reply, Reply> {
    let mut fields = Fields::of(request, &CHANGE_FIELDS)?;
    let change = LinkChange {
        listen: fields.optional("listen")?,
        upstream: fields.optional("upstream")?,
        enabled: fields.optional("enabled")?,
    };
    let link = api.core.change_link(name, change).await.map_err(|e| refusal(&e))?;
    Ok(shown(api, 200, &link))
}

async fn remove(api: &Api, name: &str) -> Result<Reply, Reply> {
    api.core.remove_link(name).await.map_err(|e| refusal(&e))?;
    Ok(Reply::json(200, &json!({ "removed": name, "epoch": api.core.engine.epoch() })))
}

/// What stands in the way of a link, with the field that it is about.
pub(super) fn refusal(error: &ProxyError) -> Reply {
    let text = error.to_string();
    let (status, field) = match error {
        ProxyError::UnknownLink { .. } => return Reply::refusal(404, text),
        ProxyError::TooManyLinks { .. } => return Reply::refusal(409, text),
        ProxyError::NameTaken(_) => (409, "name"),
        ProxyError::BadName(_) => (400, "name"),
        ProxyError::Listen { .. } => (409, "listen"),
        ProxyError::BadListen { .. } => (400, "listen"),
        ProxyError::BadUpstream { .. } => (400, "upstream"),
        ProxyError::Tls { .. } => (400, "tls"),
        ProxyError::BadKeyHeader { .. } => (400, "key_header"),
        ProxyError::NoToxics(_) | ProxyError::Toxic(_) => (400, "toxics"),
        _ => return Reply::refusal(400, text),
    };
    Reply::refused_field(status, field, text)
}
