//! The players around the service under test: a bank behind each link that asks for one, further services, replicas; and
//! the variables that tell the contract's texts where everybody is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chaos_proxy::{LinkConfig, Proxy, ProxyConfig};
use mock_bank::{Bank, BankConfig};
use tokio::task::JoinSet;

use super::service::{Player, fill};
use super::{CANARY_LINK, Isolation, RigError, RigSpec};
use crate::canary::EchoServer;
use crate::clock::Clock;
use crate::collector::Collector;
use crate::contract::{Service, Upstream};
use crate::load::Replica;
use crate::place::template::Vars;
use crate::place::{Process, ReservedPort};
use crate::record::ScenarioFolder;

/// A service that has a port and does not run yet.
#[derive(Debug)]
pub(super) struct Seat {
    port: ReservedPort,
    url: String,
}

impl Seat {
    /// Picks a port and fills in the service's URL, which may name its own port and the folders of the run.
    fn reserve(table: &str, service: &Service, vars: &Vars) -> Result<Self, RigError> {
        let port = ReservedPort::pick()?;
        let mut own = vars.clone();
        own.insert("service.port".to_owned(), port.number().to_string());
        let url = fill(&format!("{table}.url"), &service.url, &own)?;
        Ok(Self { port, url: url.trim_end_matches('/').to_owned() })
    }

    /// What only this instance's texts say of itself.
    fn vars(&self, common: &Vars, instance: u32) -> Vars {
        let mut vars = common.clone();
        vars.insert("service.port".to_owned(), self.port.number().to_string());
        vars.insert("service.url".to_owned(), self.url.clone());
        vars.insert("service.instance".to_owned(), instance.to_string());
        vars
    }

    /// `host:port` of its URL, where a link leads to it.
    fn address(&self, table: &str) -> Result<String, RigError> {
        let url = reqwest::Url::parse(&self.url).ok();
        let address = url.as_ref().and_then(|u| Some(format!("{}:{}", u.host_str()?, u.port_or_known_default()?)));
        address.ok_or_else(|| RigError::BadUrl { field: format!("{table}.url"), url: self.url.clone() })
    }
}

/// Further services that have their ports, by name.
pub(super) type Seats = BTreeMap<String, Seat>;

/// Gives every further service its port, so that links can lead to it before it runs.
pub(super) fn reserve(spec: &RigSpec, folder: &ScenarioFolder) -> Result<Seats, RigError> {
    let vars = places(spec, folder);
    let services = spec.contract.services.iter();
    services.map(|(name, s)| Ok((name.clone(), Seat::reserve(&format!("services.{name}"), s, &vars)?))).collect()
}

/// Starts a bank for each link that has one, by the link's name.
pub(super) async fn banks(spec: &RigSpec) -> Result<BTreeMap<String, Bank>, RigError> {
    let mut banks = BTreeMap::new();
    for (name, link) in &spec.contract.links {
        if link.upstream == Upstream::MockBank {
            banks.insert(name.clone(), Bank::start(BankConfig::default()).await?);
        }
    }
    Ok(banks)
}

/// Starts the proxy with a link for each dependency and one for the canary.
pub(super) async fn proxies(
    spec: &RigSpec,
    clock: Clock,
    banks: &BTreeMap<String, Bank>,
    seats: &Seats,
    echo: &EchoServer,
) -> Result<Proxy, RigError> {
    let mut links = Vec::new();
    for (name, link) in &spec.contract.links {
        let address = match &link.upstream {
            Upstream::MockBank => banks.get(name).map(|bank| bank.address().to_string()),
            Upstream::Service(service) => {
                let table = format!("services.{service}");
                seats.get(service).map(|seat| seat.address(&table)).transpose()?
            }
        };
        let address = address.ok_or_else(|| RigError::NoUpstream { link: name.clone() })?;
        links.push(LinkConfig::http(name).upstream(address).key_header(&link.key_header));
    }
    links.push(LinkConfig::tcp(CANARY_LINK).upstream(echo.addr()));
    let config = ProxyConfig::new(links).time(clock.base()).seed(spec.seed);
    Ok(Proxy::start(config).await?)
}

/// The variables that are the same for every process.
pub(super) fn variables(
    spec: &RigSpec,
    folder: &ScenarioFolder,
    proxy: &Proxy,
    collector: &Collector,
    seats: &Seats,
) -> Result<Vars, RigError> {
    let mut vars = places(spec, folder);
    let mut set = |name: String, value: String| drop(vars.insert(name, value));
    set("otlp.grpc".into(), collector.grpc_endpoint());
    set("otlp.http".into(), collector.http_endpoint());
    for name in spec.contract.links.keys() {
        let addr = proxy.link_addr(name)?;
        set(format!("link.{name}.url"), format!("http://{addr}"));
        set(format!("link.{name}.addr"), addr.to_string());
        set(format!("link.{name}.host"), addr.ip().to_string());
        set(format!("link.{name}.port"), addr.port().to_string());
    }
    for (name, seat) in seats {
        set(format!("services.{name}.url"), seat.url.clone());
        set(format!("services.{name}.port"), seat.port.number().to_string());
    }
    Ok(vars)
}

/// The variables that are known before anything listens.
pub(super) fn places(spec: &RigSpec, folder: &ScenarioFolder) -> Vars {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    Vars::from([
        ("run.dir".to_owned(), absolute(folder.dir())),
        ("contract.dir".to_owned(), absolute(&spec.contract.dir)),
        ("bin.dir".to_owned(), bin_dir().display().to_string()),
        ("scenario".to_owned(), spec.scenario.clone()),
        ("seed".to_owned(), spec.seed.to_string()),
    ])
}

/// Where cargo puts the binaries of the build that this program belongs to; test programs lie one folder deeper.
fn bin_dir() -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    let dir = exe.parent().unwrap_or(Path::new("."));
    let dir = if dir.ends_with("deps") || dir.ends_with("examples") { dir.parent().unwrap_or(dir) } else { dir };
    dir.to_owned()
}

/// Starts the further services at the same time, and returns when all of them are ready.
pub(super) async fn start_services(
    spec: &RigSpec,
    folder: &ScenarioFolder,
    common: &Vars,
    seats: Seats,
) -> Result<BTreeMap<String, Process>, RigError> {
    let mut starting = JoinSet::new();
    for (name, seat) in seats {
        let Some(service) = spec.contract.services.get(&name) else { continue };
        let (table, log) = (format!("services.{name}"), format!("service.{name}"));
        let vars = seat.vars(common, Replica::First.number());
        let player = Player { table: &table, service, vars: &vars, log: &log, isolation: Isolation::None };
        let (process, builder) = (player.process(spec, folder)?, spec.builder.clone());
        starting.spawn(async move { Ok((name, Process::start(process, &builder, Some(seat.port)).await?)) });
    }
    let mut running = BTreeMap::new();
    while let Some(joined) = starting.join_next().await {
        let started: Result<_, RigError> = match joined {
            Ok(started) => started,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        // On an error the set ends the others while they start, and dropping the rest ends what runs.
        let (name, process) = started?;
        running.insert(name, process);
    }
    Ok(running)
}

/// Starts an instance of the service under test; returns it with the variables of its texts.
pub(super) async fn start_instance(
    spec: &RigSpec,
    folder: &ScenarioFolder,
    common: &Vars,
    instance: Replica,
) -> Result<(Process, Vars), RigError> {
    let service = &spec.contract.service;
    let seat = Seat::reserve("service", service, common)?;
    let vars = seat.vars(common, instance.number());
    let log = match instance {
        Replica::First => "service",
        Replica::Second => "service-2",
    };
    let player = Player { table: "service", service, vars: &vars, log, isolation: spec.isolation };
    let process = Process::start(player.process(spec, folder)?, &spec.builder, Some(seat.port)).await?;
    Ok((process, vars))
}
