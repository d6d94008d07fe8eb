//! How the service is started and asked.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use reqwest::header::HeaderValue;

use super::super::{Contract, Request, Service, VERSION};
use super::rules::{command, header, media_type, method, no_nul, path, require, template, timeout, variable};
use super::{Checked, topology};

pub(super) fn check(contract: &Contract) -> Checked {
    require(contract.version == VERSION, "version", || {
        format!("is {}, but this build reads version {VERSION}", contract.version)
    })?;
    contract.all_services().try_for_each(|(table, s)| service(&table, s))?;
    request(&contract.request)?;
    topology::check(contract)?;
    environment("isolate.retry", &contract.isolate.retry)?;
    environment("isolate.breaker", &contract.isolate.breaker)?;
    environment("isolate.bulkhead", &contract.isolate.bulkhead)?;
    environment("isolate.budget", &contract.isolate.budget)?;
    environment("isolate.cap", &contract.isolate.cap)?;
    let telemetry = &contract.telemetry;
    require(telemetry.spans || !telemetry.resend_count, "telemetry.resend_count", || {
        "needs `telemetry.spans = true`: without spans nothing tells of resends".to_owned()
    })?;
    environment("isolate.ttl", &contract.isolate.ttl)?;
    environment("isolate.degradation", &contract.isolate.degradation)?;
    let eps = contract.noise.eps;
    require((Duration::from_millis(1)..=Duration::from_secs(1)).contains(&eps), "noise.eps", || {
        format!("is {eps:?}; a bound from 1ms to 1s can be declared")
    })
}

fn service(table: &str, service: &Service) -> Checked {
    let field = |name: &str| format!("{table}.{name}");
    require(!service.name.trim().is_empty(), &field("name"), || "is empty; give the service's name".to_owned())?;
    no_nul(&field("name"), &service.name)?;
    command(&field("command"), &service.command)?;
    if let Some(words) = &service.build {
        let hollow = words.iter().any(|w| w.trim().is_empty());
        require(!hollow, &field("build"), || "has an empty word; take it out".to_owned())?;
        command(&field("build"), words)?;
    }
    no_nul(&field("cwd"), service.cwd.as_deref().unwrap_or_default())?;
    environment(&field("env"), &service.env)?;
    service.pass_env.iter().try_for_each(|name| variable(&field("pass_env"), name))?;
    require(service.url.starts_with("http://"), &field("url"), || {
        format!("is `{}`; it begins with http://, as in http://127.0.0.1:{{service.port}}", service.url)
    })?;
    path(&field("ready.path"), &service.ready.path)
}

fn request(request: &Request) -> Checked {
    method("request.method", &request.method)?;
    let asked = request.method.as_str();
    require(!["GET", "HEAD", "CONNECT", "TRACE"].contains(&asked), "request.method", || {
        format!("is `{asked}`, which cannot ask for a payment; give one that carries a body, e.g. POST")
    })?;
    path("request.path", &request.path)?;
    template("request.body", &request.body)?;
    media_type("request.content_type", &request.content_type)?;
    header("request.key_header", &request.key_header)?;
    timeout("request.timeout", request.timeout)?;
    request.degraded_header.as_deref().map_or(Ok(()), |name| header("request.degraded_header", name))?;
    request.caller_header.as_deref().map_or(Ok(()), |name| header("request.caller_header", name))?;
    let distinct: BTreeSet<_> = request.callers.iter().collect();
    let usable = request.callers.iter().all(|c| !c.is_empty() && HeaderValue::from_str(c).is_ok());
    require(usable && distinct.len() == request.callers.len() && distinct.len() >= 2, "request.callers", || {
        "must hold two or more different values of the caller header".to_owned()
    })
}

fn environment(table: &str, env: &BTreeMap<String, String>) -> Checked {
    for (name, value) in env {
        variable(table, name)?;
        no_nul(&format!("{table}.{name}"), value)?;
    }
    Ok(())
}
