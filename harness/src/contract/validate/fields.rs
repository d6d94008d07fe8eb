//! How the service is started and asked.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::header::HeaderValue;

use super::super::{Contract, Request, Service, VERSION};
use super::Checked;
use super::rules::{command, header, no_nul, require, timeout, variable};

pub(super) fn check(contract: &Contract) -> Checked {
    require(contract.version == VERSION, "version", || {
        format!("is {}, but this build reads version {VERSION}", contract.version)
    })?;
    service(&contract.service)?;
    request(&contract.request)?;
    links(contract)?;
    environment("isolate.retry", &contract.isolate.retry)?;
    environment("isolate.breaker", &contract.isolate.breaker)?;
    let eps = contract.noise.eps;
    require((Duration::from_millis(1)..=Duration::from_secs(1)).contains(&eps), "noise.eps", || {
        format!("is {eps:?}; a bound from 1ms to 1s can be declared")
    })
}

fn service(service: &Service) -> Checked {
    require(!service.name.trim().is_empty(), "service.name", || "is empty; give the service's name".to_owned())?;
    no_nul("service.name", &service.name)?;
    command("service.command", &service.command)?;
    if let Some(words) = &service.build {
        let hollow = words.iter().any(|w| w.trim().is_empty());
        require(!hollow, "service.build", || "has an empty word; take it out".to_owned())?;
        command("service.build", words)?;
    }
    no_nul("service.cwd", service.cwd.as_deref().unwrap_or_default())?;
    environment("service.env", &service.env)?;
    service.pass_env.iter().try_for_each(|name| variable("service.pass_env", name))?;
    require(service.url.starts_with("http://"), "service.url", || {
        format!("is `{}`; it begins with http://, as in http://127.0.0.1:{{service.port}}", service.url)
    })?;
    path("service.ready.path", &service.ready.path)
}

fn request(request: &Request) -> Checked {
    let method = request.method.as_str();
    require(!method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase()), "request.method", || {
        format!("is `{method}`; give a method in capitals, e.g. POST")
    })?;
    require(!["GET", "HEAD", "CONNECT", "TRACE"].contains(&method), "request.method", || {
        format!("is `{method}`, which cannot ask for a payment; give one that carries a body, e.g. POST")
    })?;
    path("request.path", &request.path)?;
    let sample = [("amount", "1"), ("reference", "x")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    crate::place::template::render(&request.body, &sample).map_err(|e| ("request.body".to_owned(), e.to_string()))?;
    let typed = !request.content_type.trim().is_empty() && HeaderValue::from_str(&request.content_type).is_ok();
    require(typed, "request.content_type", || {
        format!("is `{}`; give a media type, e.g. application/json", request.content_type.escape_debug())
    })?;
    header("request.key_header", &request.key_header)?;
    timeout("request.timeout", request.timeout)?;
    request.degraded_header.as_deref().map_or(Ok(()), |name| header("request.degraded_header", name))
}

fn links(contract: &Contract) -> Checked {
    require(contract.links.len() == 1, "links", || {
        let n = contract.links.len();
        format!("has {n} entries; declare the one dependency that faults strike, e.g. [links.bank]")
    })?;
    for (name, link) in &contract.links {
        let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
        require(plain, "links", || {
            format!("has the name `{}`; use letters, digits, `_` and `-`, as in [links.bank]", name.escape_debug())
        })?;
        header(&format!("links.{name}.key_header"), &link.key_header)?;
    }
    Ok(())
}

fn path(field: &str, path: &str) -> Checked {
    require(path.starts_with('/'), field, || format!("is `{path}`; it must begin with `/`"))?;
    no_nul(field, path)
}

fn environment(table: &str, env: &BTreeMap<String, String>) -> Checked {
    for (name, value) in env {
        variable(table, name)?;
        no_nul(&format!("{table}.{name}"), value)?;
    }
    Ok(())
}
