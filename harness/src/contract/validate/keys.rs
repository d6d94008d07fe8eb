//! How long, for whom and of what a key is a key.

use std::time::Duration;

use judge::promise::{AfterTtl, Fingerprint, IdempotencyPolicy, KeyScope};
use reqwest::header::HeaderValue;

use super::super::Contract;
use super::Checked;
use super::promises::error_status;
use super::rules::{LONGEST, require};

/// A life that a run can tell from the noise.
const SHORTEST_TTL: Duration = Duration::from_millis(500);
/// Methods without an effect (RFC 9110, 9.2.1).
const SAFE: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

pub(super) fn check(contract: &Contract) -> Checked {
    let Some(keys) = &contract.promises.idempotency else { return Ok(()) };
    if keys.scope.contains(&KeyScope::Caller) {
        require(contract.request.caller_header.is_some(), "promises.idempotency.scope", || {
            "names the caller, but no header does; give request.caller_header".to_owned()
        })?;
    }
    route(contract, keys)?;
    times(keys)?;
    fingerprint(contract, keys)?;
    let Some(pending) = &keys.waits_out else { return Ok(()) };
    error_status("promises.idempotency.waits_out.status", pending.status)?;
    let typed = !pending.content_type.trim().is_empty() && HeaderValue::from_str(&pending.content_type).is_ok();
    require(typed, "promises.idempotency.waits_out.content_type", || {
        "is no media type; give one, e.g. application/problem+json".to_owned()
    })
}

/// The route that shares the payment's keys: one that moves money over the same link, and by a key.
fn route(contract: &Contract, keys: &IdempotencyPolicy) -> Checked {
    let (field, wanted) = ("promises.idempotency.scope_route", keys.scope.contains(&KeyScope::Route));
    let Some(name) = &keys.scope_route else {
        return require(!wanted, field, || {
            "is missing; `scope` says that keys belong to routes: name one of [routes] that takes keys, too".to_owned()
        });
    };
    require(wanted, field, || {
        format!("names `{name}`, but `scope` has no \"route\"; add it there, or take scope_route out")
    })?;
    let Some(route) = contract.routes.get(name) else {
        return require(false, field, || format!("names `{name}`, which is not declared; add [routes.{name}]"));
    };
    let method = route.method.as_str();
    require(!SAFE.contains(&method), field, || {
        format!(
            "names `{name}`, whose method is {method}: it has no effect that a key could keep single; name a route with one, e.g. POST"
        )
    })?;
    require(route.sends_key(), field, || {
        format!("names `{name}`, which sends no key; take `key = false` out of [routes.{name}]")
    })?;
    let (link, main) = (&route.link, contract.main_link());
    require(link == main, field, || {
        format!(
            "names `{name}`, which uses the link `{link}`; its calls are looked for on the main link, `{main}`: name a route that uses that one"
        )
    })
}

fn times(keys: &IdempotencyPolicy) -> Checked {
    let field = "promises.idempotency.ttl";
    require(keys.ttl.is_some() || keys.after_ttl == AfterTtl::NoEffect, field, || {
        "is missing; `after_ttl` says what happens after it".to_owned()
    })?;
    let ttl = keys.ttl.unwrap_or(LONGEST);
    require((SHORTEST_TTL..=LONGEST).contains(&ttl), field, || {
        format!("is {ttl:?}; the battery can wait from 500ms to 10m: let [isolate.ttl] give the service a short one")
    })?;
    let Some(lease) = keys.lease else { return Ok(()) };
    let field = "promises.idempotency.lease";
    require(keys.survives_restart, field, || "needs survives_restart = true: only a kill shows it".to_owned())?;
    require(!lease.is_zero() && lease <= LONGEST, field, || {
        format!("is {lease:?}; the battery can wait for more than zero and at most 10m")
    })
}

fn fingerprint(contract: &Contract, keys: &IdempotencyPolicy) -> Checked {
    let Some(fingerprint) = keys.fingerprint else { return Ok(()) };
    let field = "promises.idempotency.fingerprint";
    require(keys.mismatch.is_some(), field, || {
        let word = if fingerprint == Fingerprint::Bytes { "bytes" } else { "canonical" };
        format!("is `{word}`; it needs promises.idempotency.mismatch, the answer to another payload")
    })?;
    let sample = [("amount", "1"), ("reference", "x")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let body = crate::place::template::render(&contract.request.body, &sample);
    let respelt = body.is_ok_and(|body| crate::load::respell(&body).is_some());
    require(respelt, field, || "needs a request.body of JSON, which can be spelt in another way".to_owned())
}
