//! The service under test: from the contract's texts to a running process, a request, and probes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use judge::evidence::BreakerState;
use judge::promise::Place;
use reqwest::Method;
use reqwest::header::HeaderName;

use super::{Isolation, RigError, RigSpec};
use crate::contract::{BreakerEndpoint, Columns, Contract, Ledger, Service};
use crate::load::{ClientError, RequestSpec};
use crate::place::template::{Vars, render};
use crate::place::{Inherit, ProcessSpec, Ready};
use crate::probe::{BreakerProbe, EventsProbe, LedgerFields, LedgerProbe};
use crate::record::ScenarioFolder;

/// One process to be: which service, under which table of the contract, with the variables of this instance.
pub(super) struct Player<'a> {
    pub(super) table: &'a str,
    pub(super) service: &'a Service,
    pub(super) vars: &'a Vars,
    /// Name of its log in the scenario's folder.
    pub(super) log: &'a str,
    /// Extra environment for the scenarios of one promise. Only the service under test has any.
    pub(super) isolation: Isolation,
}

impl Player<'_> {
    /// The process, with all texts filled in.
    pub(super) fn process(&self, spec: &RigSpec, folder: &ScenarioFolder) -> Result<ProcessSpec, RigError> {
        let (table, service, vars) = (self.table, self.service, self.vars);
        let command = service.command.iter().map(|word| fill(&format!("{table}.command"), word, vars));
        let ready = Ready::url(format!("{}{}", vars["service.url"], service.ready.path));
        let ready = ready.deadline(service.ready.deadline);
        let mut process = ProcessSpec::new(&service.name, command.collect::<Result<Vec<_>, _>>()?, ready);
        let isolate = match self.isolation {
            Isolation::None => None,
            Isolation::Retry => Some(("isolate.retry".to_owned(), &spec.contract.isolate.retry)),
            Isolation::Breaker => Some(("isolate.breaker".to_owned(), &spec.contract.isolate.breaker)),
            Isolation::Budget => Some(("isolate.budget".to_owned(), &spec.contract.isolate.budget)),
            Isolation::Cap => Some(("isolate.cap".to_owned(), &spec.contract.isolate.cap)),
            Isolation::Ttl => Some(("isolate.ttl".to_owned(), &spec.contract.isolate.ttl)),
            Isolation::Degradation => Some(("isolate.degradation".to_owned(), &spec.contract.isolate.degradation)),
            Isolation::Bulkhead => Some(("isolate.bulkhead".to_owned(), &spec.contract.isolate.bulkhead)),
        };
        for (table, env) in [(format!("{table}.env"), &service.env)].into_iter().chain(isolate) {
            for (name, value) in env {
                process.env.insert(name.clone(), fill(&format!("{table}.{name}"), value, vars)?);
            }
        }
        process.build = service.build.clone();
        let cwd = service.cwd.as_deref().map(|c| fill(&format!("{table}.cwd"), c, vars)).transpose()?;
        process.cwd = working_directory(&spec.contract, cwd);
        process.inherit = Inherit::Basics { also: service.pass_env.clone() };
        process.stop_grace = service.stop_grace;
        process.log_path = Some(folder.log_path(self.log));
        process.register = spec.register.clone();
        Ok(process)
    }
}

/// Where the service is built and runs: `cwd` as seen from the contract's folder.
pub(crate) fn working_directory(contract: &Contract, cwd: Option<String>) -> Option<PathBuf> {
    let dir = cwd.map_or_else(|| contract.dir.clone(), |c| contract.dir.join(c));
    (!dir.as_os_str().is_empty()).then_some(dir)
}

/// How a payment is asked for.
pub(super) fn request(contract: &Contract) -> Result<RequestSpec, RigError> {
    let request = &contract.request;
    let marker = contract.promises.idempotency.as_ref().and_then(|i| i.replay_marker.as_deref());
    let degradation = contract.promises.degradation.as_ref();
    let degraded = request.degraded_header.as_ref().map(|d| Place::Header(d.clone()));
    Ok(RequestSpec {
        method: method("request.method", &request.method)?,
        path: request.path.clone(),
        body: Some(request.body.clone()),
        content_type: request.content_type.clone(),
        key_header: Some(header("request.key_header", &request.key_header)?),
        marker_header: marker.map(|m| header("promises.idempotency.replay_marker", m)).transpose()?,
        caller_header: request.caller_header.as_deref().map(|c| header("request.caller_header", c)).transpose()?,
        callers: request.callers.clone(),
        degraded: degraded.into_iter().chain(degradation.map(|d| d.marker.clone())).collect(),
        age: degradation.map(|d| d.age.clone()),
        word: degradation.map(|d| d.status.clone()),
        id: degradation.map(|d| d.id.clone()),
        read: degradation.map(|d| d.read.clone()),
        timeout: request.timeout,
    })
}

/// How the further routes are asked.
pub(super) fn routes(contract: &Contract) -> Result<BTreeMap<String, RequestSpec>, RigError> {
    let payment = request(contract)?;
    let of = |(name, route): (&String, &crate::contract::Route)| -> Result<_, RigError> {
        let spec = RequestSpec {
            method: method(&format!("routes.{name}.method"), &route.method)?,
            path: route.path.clone(),
            body: route.body.clone(),
            content_type: route.content_type.clone(),
            key_header: payment.key_header.clone().filter(|_| route.sends_key()),
            ..payment.clone()
        };
        Ok((name.clone(), spec))
    };
    contract.routes.iter().map(of).collect()
}

fn method(field: &str, text: &str) -> Result<Method, RigError> {
    Method::from_str(text).map_err(|e| RigError::Client(ClientError::BadRequest(format!("{field}: {e}"))))
}

fn header(field: &str, name: &str) -> Result<HeaderName, RigError> {
    let bad = |_| ClientError::BadRequest(format!("{field} is `{name}`, which is not a header name"));
    HeaderName::from_str(name).map_err(|e| RigError::Client(bad(e)))
}

/// How that ledger is read, if there is one.
pub(super) fn ledger_probe(
    contract: &Contract,
    ledger: Option<&Ledger>,
    vars: &Vars,
) -> Result<Option<LedgerProbe>, RigError> {
    Ok(match ledger {
        None => None,
        Some(Ledger::Sqlite { path, query, settled }) => Some(LedgerProbe::Sqlite {
            path: contract.dir.join(fill("ledger.path", path, vars)?),
            query: query.clone(),
            settled: settled.clone(),
        }),
        Some(Ledger::Postgres { url, query, settled }) => Some(LedgerProbe::Postgres {
            url: fill("ledger.url", url, vars)?,
            query: query.clone(),
            settled: settled.clone(),
        }),
        Some(Ledger::Http { url, rows, columns, settled }) => {
            let Columns { key, id, downstream_key, amount, status } = columns.clone();
            Some(LedgerProbe::Http {
                url: fill("ledger.url", url, vars)?,
                rows: rows.clone(),
                fields: LedgerFields { key, id, downstream_key, amount, status },
                settled: settled.clone(),
            })
        }
    })
}

/// How the breaker is read, if the contract says so.
pub(super) fn breaker_probe(contract: &Contract, vars: &Vars) -> Result<Option<BreakerProbe>, RigError> {
    let url = |path: &str| -> Result<String, RigError> {
        Ok(format!("{}{}", vars["service.url"], fill("breaker_endpoint.path", path, vars)?))
    };
    Ok(match &contract.breaker_endpoint {
        None => None,
        Some(BreakerEndpoint::Actuator { path, name, .. }) => {
            Some(BreakerProbe::Actuator { url: url(path)?, name: name.clone() })
        }
        Some(BreakerEndpoint::Prometheus { path, name }) => {
            Some(BreakerProbe::Prometheus { url: url(path)?, name: name.clone() })
        }
        Some(BreakerEndpoint::Json { path, pointer, words }) => Some(BreakerProbe::Json {
            url: url(path)?,
            name: contract.main_link().to_owned(),
            pointer: pointer.clone(),
            words: words.iter().map(|(word, state)| (word.clone(), state_named(state))).collect(),
            not_permitted: None,
        }),
    })
}

/// The breaker's event log, where the contract names one.
pub(super) fn events_probe(contract: &Contract, vars: &Vars) -> Result<Option<EventsProbe>, RigError> {
    let Some(BreakerEndpoint::Actuator { events: Some(path), name, .. }) = &contract.breaker_endpoint else {
        return Ok(None);
    };
    let path = fill("breaker_endpoint.events", path, vars)?;
    Ok(Some(EventsProbe::new(&format!("{}{path}", vars["service.url"]), name)))
}

fn state_named(name: &str) -> BreakerState {
    match name {
        "closed" => BreakerState::Closed,
        "open" => BreakerState::Open,
        "half_open" | "half-open" => BreakerState::HalfOpen,
        _ => BreakerState::Unknown,
    }
}

pub(super) fn fill(field: &str, text: &str, vars: &Vars) -> Result<String, RigError> {
    render(text, vars).map_err(|source| RigError::Template { field: field.to_owned(), source })
}
