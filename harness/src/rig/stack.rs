//! The players of a stack that runs already.
//!
//! Nothing of it is started or stopped, and it remembers: so the rows and spans of others are left out of the evidence, keys
//! are those of this run alone, and a breaker that an earlier scenario left open is waited for before anything is recorded.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::bank::Till;
use super::cast::Cast;
use super::players::Players;
use super::wire::Wire;
use super::{RigError, RigSpec, Tape, header, service, topology};
use crate::canary::EchoServer;
use crate::clock::Clock;
use crate::collector::{Collector, CollectorConfig};
use crate::contract::Attach;
use crate::load::{Client, OrderSource};
use crate::place::template::Vars;
use crate::record::ScenarioFolder;
use crate::remote::{RemoteBank, RemoteProxy};

/// How long a name may take to be looked up.
const LOOK_UP: Duration = Duration::from_secs(5);
/// Successes in a row after which nothing of an earlier scenario is left in a breaker that counts failures in a row.
const CALM: usize = 3;
/// Pause between two payments that look whether the service is well.
const ASK_AGAIN: Duration = Duration::from_millis(50);
/// How long a service may take to be well again, beyond twice its breaker's open time and its window.
const WELL_WITHIN: Duration = Duration::from_secs(20);

/// Finds everybody at the places that the contract names.
pub(super) async fn find(spec: &RigSpec, folder: &ScenarioFolder, clock: Clock) -> Result<Cast, RigError> {
    let attach = spec.contract.attach.as_ref().ok_or(RigError::NotAttached)?;
    let url = attach.service(spec.isolation).ok_or(RigError::NoInstance { isolates: spec.isolation.word() })?;
    let proxy = RemoteProxy::connect(address("attach.proxy", &attach.proxy).await?, clock.base()).await?;
    for link in spec.contract.links.keys() {
        proxy.link(link).await?;
    }
    let listen = address("attach.otlp", &attach.otlp).await?;
    let collector = Collector::start(CollectorConfig::new(clock.base()).listen(listen)).await?;
    let vars = variables(topology::places(spec, folder), url);
    // Who is not there is named before anything is waited for; what is paid while it is, is nobody's.
    drop(banks(attach).await?);
    well(spec, clock, url).await?;
    let banks = banks(attach).await?;
    let echo = EchoServer::start().await.map_err(RigError::Canary)?;
    let canary = echo.addr();
    let common = vars.clone();
    Ok(Cast { banks, wire: Wire::There(proxy), collector, players: Players::default(), common, vars, echo, canary })
}

async fn banks(attach: &Attach) -> Result<BTreeMap<String, Till>, RigError> {
    let mut banks = BTreeMap::new();
    for (link, place) in &attach.banks {
        let bank = RemoteBank::connect(address(&format!("attach.banks.{link}"), place).await?).await?;
        banks.insert(link.clone(), Till::There(bank));
    }
    Ok(banks)
}

fn variables(mut vars: Vars, url: &str) -> Vars {
    vars.insert("service.url".to_owned(), url.to_owned());
    vars
}

async fn address(field: &str, text: &str) -> Result<SocketAddr, RigError> {
    let unknown = |reason: String| RigError::NoAddress { field: field.to_owned(), text: text.to_owned(), reason };
    let found = timeout(LOOK_UP, tokio::net::lookup_host(text)).await;
    let mut found =
        found.map_err(|_| unknown("the look-up did not end".to_owned()))?.map_err(|e| unknown(e.to_string()))?;
    found.next().ok_or_else(|| unknown("the name has no address".to_owned()))
}

/// Waits until the service takes payments again, whatever the scenario before has done to it. What is paid here is nobody's
/// evidence.
async fn well(spec: &RigSpec, clock: Clock, url: &str) -> Result<(), RigError> {
    let breaker = spec.contract.promises.breaker.as_ref();
    let memory = breaker.map(|b| b.open * 2 + b.window.unwrap_or_default()).unwrap_or_default();
    let until = Instant::now() + memory + WELL_WITHIN;
    let tape = Tape::new(header(spec, clock), None);
    let source = OrderSource::new(rand::random(), "well");
    let client = Client::new(url, service::request(&spec.contract)?, clock, tape, source)?;
    let mut in_a_row = 0;
    loop {
        let outcome = client.ask("well", &client.order()).await?;
        in_a_row = if outcome.succeeded() { in_a_row + 1 } else { 0 };
        if in_a_row == CALM {
            // A window of time forgets by itself.
            sleep(breaker.and_then(|b| b.window).unwrap_or_default()).await;
            return Ok(());
        }
        if Instant::now() >= until {
            let last = outcome.status().map_or_else(|| "not answered".to_owned(), |s| format!("answered {s}"));
            return Err(RigError::NotWell { url: url.to_owned(), last });
        }
        if in_a_row == 0 {
            sleep(ASK_AGAIN).await;
        }
    }
}
