//! The service under test: from the contract's texts to a running process, a request, and probes.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::Ordering;

use chaos_proxy::Proxy;
use judge::evidence::BreakerState;
use reqwest::Method;
use reqwest::header::HeaderName;

use super::{Isolation, Rig, RigError, RigSpec};
use crate::collector::Collector;
use crate::contract::{BreakerEndpoint, Columns, Contract, Ledger};
use crate::load::{ClientError, RequestSpec};
use crate::place::template::{Vars, render};
use crate::place::{Inherit, Process, ProcessSpec, Ready, ReservedPort};
use crate::probe::{BreakerProbe, LedgerFields, LedgerProbe};
use crate::record::ScenarioFolder;

/// Starts the service; returns it with the variables that the contract's texts may use.
pub(super) async fn launch(
    spec: &RigSpec,
    folder: &ScenarioFolder,
    proxy: &Proxy,
    collector: &Collector,
) -> Result<(Process, Vars), RigError> {
    let port = ReservedPort::pick()?;
    let mut vars = variables(spec, folder, proxy, collector)?;
    vars.insert("service.port".to_owned(), port.number().to_string());
    let url = fill("service.url", &spec.contract.service.url, &vars)?;
    vars.insert("service.url".to_owned(), url.trim_end_matches('/').to_owned());
    let process = process(spec, folder, &vars)?;
    Ok((Process::start(process, &spec.builder, Some(port)).await?, vars))
}

fn variables(spec: &RigSpec, folder: &ScenarioFolder, proxy: &Proxy, collector: &Collector) -> Result<Vars, RigError> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    let mut vars = Vars::new();
    let mut set = |name: String, value: String| drop(vars.insert(name, value));
    set("run.dir".into(), absolute(folder.dir()));
    set("contract.dir".into(), absolute(&spec.contract.dir));
    set("bin.dir".into(), bin_dir().display().to_string());
    set("scenario".into(), spec.scenario.clone());
    set("seed".into(), spec.seed.to_string());
    set("otlp.grpc".into(), collector.grpc_endpoint());
    set("otlp.http".into(), collector.http_endpoint());
    for name in spec.contract.links.keys() {
        let addr = proxy.link_addr(name)?;
        set(format!("link.{name}.url"), format!("http://{addr}"));
        set(format!("link.{name}.addr"), addr.to_string());
        set(format!("link.{name}.host"), addr.ip().to_string());
        set(format!("link.{name}.port"), addr.port().to_string());
    }
    Ok(vars)
}

/// Where cargo puts the binaries of the build that this program belongs to; test programs lie one folder deeper.
fn bin_dir() -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    let dir = exe.parent().unwrap_or(Path::new("."));
    let dir = if dir.ends_with("deps") || dir.ends_with("examples") { dir.parent().unwrap_or(dir) } else { dir };
    dir.to_owned()
}

fn process(spec: &RigSpec, folder: &ScenarioFolder, vars: &Vars) -> Result<ProcessSpec, RigError> {
    let service = &spec.contract.service;
    let command = service.command.iter().map(|word| fill("service.command", word, vars));
    let ready = Ready::url(format!("{}{}", vars["service.url"], service.ready.path)).deadline(service.ready.deadline);
    let mut process = ProcessSpec::new(&service.name, command.collect::<Result<Vec<_>, _>>()?, ready);
    let isolate = match spec.isolation {
        Isolation::None => None,
        Isolation::Retry => Some(("isolate.retry", &spec.contract.isolate.retry)),
        Isolation::Breaker => Some(("isolate.breaker", &spec.contract.isolate.breaker)),
    };
    for (table, env) in [("service.env", &service.env)].into_iter().chain(isolate) {
        for (name, value) in env {
            process.env.insert(name.clone(), fill(&format!("{table}.{name}"), value, vars)?);
        }
    }
    process.build = service.build.clone();
    let cwd = service.cwd.as_deref().map(|c| fill("service.cwd", c, vars)).transpose()?;
    process.cwd = working_directory(&spec.contract, cwd);
    process.inherit = Inherit::Basics { also: service.pass_env.clone() };
    process.stop_grace = service.stop_grace;
    process.log_path = Some(folder.log_path("service"));
    process.register = spec.register.clone();
    Ok(process)
}

/// Where the service is built and runs: `cwd` as seen from the contract's folder.
pub(crate) fn working_directory(contract: &Contract, cwd: Option<String>) -> Option<PathBuf> {
    let dir = cwd.map_or_else(|| contract.dir.clone(), |c| contract.dir.join(c));
    (!dir.as_os_str().is_empty()).then_some(dir)
}

/// How requests look.
pub(super) fn request(contract: &Contract, vars: &Vars) -> Result<RequestSpec, RigError> {
    let bad = |what: String| RigError::Client(ClientError::BadRequest(what));
    let header = |field: &str, name: &str| {
        HeaderName::from_str(name).map_err(|_| bad(format!("{field} is `{name}`, which is not a header name")))
    };
    let request = &contract.request;
    let marker = contract.promises.idempotency.as_ref().and_then(|i| i.replay_marker.as_deref());
    Ok(RequestSpec {
        method: Method::from_str(&request.method).map_err(|e| bad(format!("request.method: {e}")))?,
        url: format!("{}{}", vars["service.url"], request.path),
        body: request.body.clone(),
        content_type: request.content_type.clone(),
        key_header: header("request.key_header", &request.key_header)?,
        marker_header: marker.map(|m| header("promises.idempotency.replay_marker", m)).transpose()?,
        degraded_header: request
            .degraded_header
            .as_deref()
            .map(|d| header("request.degraded_header", d))
            .transpose()?,
        timeout: request.timeout,
    })
}

/// How the ledger is read, if the contract says so.
pub(super) fn ledger_probe(contract: &Contract, vars: &Vars) -> Result<Option<LedgerProbe>, RigError> {
    Ok(match &contract.ledger {
        None => None,
        Some(Ledger::Sqlite { path, query, settled }) => Some(LedgerProbe::Sqlite {
            path: contract.dir.join(fill("ledger.path", path, vars)?),
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
        Some(BreakerEndpoint::Actuator { path, name }) => {
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

fn state_named(name: &str) -> BreakerState {
    match name {
        "closed" => BreakerState::Closed,
        "open" => BreakerState::Open,
        "half_open" | "half-open" => BreakerState::HalfOpen,
        _ => BreakerState::Unknown,
    }
}

fn fill(field: &str, text: &str, vars: &Vars) -> Result<String, RigError> {
    render(text, vars).map_err(|source| RigError::Template { field: field.to_owned(), source })
}

impl Rig {
    /// Kills the service with SIGKILL, as a crash would.
    ///
    /// # Errors
    /// When it is not running or cannot be killed.
    pub async fn kill_service(&self) -> Result<(), RigError> {
        let service = self.service.lock().await;
        let process = service.as_ref().ok_or(RigError::NotRunning)?;
        self.killed.store(true, Ordering::Relaxed);
        self.down.store(true, Ordering::Relaxed);
        Ok(process.kill().await?)
    }

    /// Starts the service again, where and as it was, and waits until it is ready.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn start_service(&self) -> Result<(), RigError> {
        let mut service = self.service.lock().await;
        let process = service.as_mut().ok_or(RigError::NotRunning)?;
        process.restart(None).await?;
        self.down.store(false, Ordering::Relaxed);
        Ok(())
    }
}
