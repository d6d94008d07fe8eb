//! `/v1/scopes`: parts of the proxy's calls with rules, counters and a seed of their own.

use std::sync::Arc;

use http::Method;
use serde::Serialize;

use crate::api::{Api, Reply, Request};
use crate::engine::ArmedScope;
use crate::rules::{ScopeConfig, ScopeError};

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    scope: ScopeConfig,
    /// How many rules of it are in force.
    rules: usize,
}

#[derive(Serialize)]
struct Listed {
    epoch: u64,
    scopes: Vec<Shown>,
}

#[derive(Serialize)]
struct One {
    epoch: u64,
    #[serde(flatten)]
    shown: Shown,
}

#[derive(Serialize)]
struct Disarmed {
    epoch: u64,
    disarmed: usize,
}

pub(super) fn handle(api: &Api, segments: &[&str], request: &Request) -> Option<Reply> {
    let engine = &api.core.engine;
    let method = &request.method;
    let reply = match segments {
        [] if *method == Method::GET => {
            let scopes = engine.scopes().iter().map(|scope| shown(api, scope)).collect();
            Reply::json(200, &Listed { epoch: engine.epoch(), scopes })
        }
        [] if *method == Method::POST => add(api, request),
        [] => Reply::no_method("GET, POST"),
        [name, rest @ ..] => {
            let scope = match engine.scope(name) {
                Ok(scope) => scope,
                Err(error) => return Some(refused(&error)),
            };
            match rest {
                [] if *method == Method::GET => one(api, 200, &scope),
                [] if *method == Method::DELETE => disarmed(api, engine.remove_scope(&scope)),
                [] => Reply::no_method("GET, DELETE"),
                ["reset"] if *method == Method::POST => disarmed(api, engine.reset_scope(&scope)),
                ["reset"] => Reply::no_method("POST"),
                _ => return None,
            }
        }
    };
    Some(reply)
}

fn add(api: &Api, request: &Request) -> Reply {
    match request.json::<ScopeConfig>().map(|config| api.core.engine.add_scope(config)) {
        Ok(Ok(scope)) => one(api, 201, &scope),
        Ok(Err(error)) => refused(&error),
        Err(reply) => reply,
    }
}

fn one(api: &Api, status: u16, scope: &Arc<ArmedScope>) -> Reply {
    Reply::json(status, &One { epoch: api.core.engine.epoch(), shown: shown(api, scope) })
}

fn shown(api: &Api, scope: &Arc<ArmedScope>) -> Shown {
    let own = |name: &Option<String>| name.as_deref() == Some(&*scope.name);
    let rules = api.core.engine.rules().iter().filter(|rule| own(&rule.rule.scope) && !rule.is_healed()).count();
    Shown { scope: scope.config.clone(), rules }
}

fn disarmed(api: &Api, disarmed: usize) -> Reply {
    Reply::json(200, &Disarmed { epoch: api.core.engine.epoch(), disarmed })
}

fn refused(error: &ScopeError) -> Reply {
    let status = match error {
        ScopeError::Unknown { .. } => 404,
        ScopeError::Duplicate { .. } | ScopeError::TooMany { .. } => 409,
        ScopeError::BadField { .. } | ScopeError::UnknownLease { .. } => 400,
    };
    match error.field() {
        Some(field) => Reply::refused_field(status, field, error.to_string()),
        None => Reply::refusal(status, error.to_string()),
    }
}
