//! The fault set: which rules are in force, and the one decision over each call.
//!
//! The set is immutable and swapped whole. A decision is taken under the read half of the swap's lock, in microseconds
//! and without waiting for anything: so when `arm` or `disarm` returns, every earlier decision has been taken under the
//! earlier set and every later one sees the new set.

mod armed;
mod armed_rule;
mod counts;
mod draw;
mod gate;

use std::sync::{Arc, RwLock};

use judge::evidence::EdgeChange;
use tokio::sync::watch;

pub use armed::{Armed, WaitError};
pub(crate) use armed_rule::{ArmedRule, Strike};
pub(crate) use counts::{KeyCounts, MAX_KEYS};
pub(crate) use draw::Who;
pub use gate::Held;
pub(crate) use gate::Passage;

use crate::clock::Clock;
use crate::config::Mode;
use crate::log::Log;
use crate::rules::{Call, Phase, Rule, RuleError};
use crate::sync::{read, write};

/// The most rules that may be in force at once.
pub const MAX_RULES: usize = 10_000;

/// What the engine knows of a link.
#[derive(Debug)]
struct Known {
    id: u64,
    name: String,
    mode: Mode,
    /// Tells the link's idle connections that a rule now decides on connections.
    retire: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct FaultSet {
    epoch: u64,
    rules: Vec<Arc<ArmedRule>>,
}

/// Holds the fault set of one proxy.
#[derive(Debug)]
pub(crate) struct Engine {
    clock: Clock,
    seed: u64,
    log: Log,
    links: RwLock<Vec<Known>>,
    set: RwLock<Arc<FaultSet>>,
}

impl Engine {
    pub(crate) fn new(clock: Clock, seed: u64, log: Log) -> Self {
        Self { clock, seed, log, links: RwLock::default(), set: RwLock::default() }
    }

    /// Rules may name this link from now on.
    pub(crate) fn add_link(&self, id: u64, name: &str, mode: Mode) {
        let known = Known { id, name: name.to_owned(), mode, retire: watch::Sender::new(0) };
        write(&self.links).push(known);
    }

    /// Takes the rules that name this link out of force, and forgets the link.
    pub(crate) fn remove_link(&self, id: u64) {
        write(&self.links).retain(|known| known.id != id);
        let bound: Vec<_> = read(&self.set).rules.iter().filter(|r| r.link == Some(id)).cloned().collect();
        bound.iter().for_each(|rule| self.disarm(rule));
    }

    pub(crate) fn epoch(&self) -> u64 {
        read(&self.set).epoch
    }

    /// Changes once for each arming of rules that decide on connections of link number `link`.
    pub(crate) fn retirements(&self, link: u64) -> watch::Receiver<u64> {
        let links = read(&self.links);
        // A link that is being removed retires nothing more.
        links
            .iter()
            .find(|known| known.id == link)
            .map_or_else(|| watch::Sender::new(0).subscribe(), |known| known.retire.subscribe())
    }

    /// Puts all `rules` in force, or none.
    pub(crate) fn arm(self: &Arc<Self>, rules: Vec<Rule>) -> Result<Vec<Armed>, RuleError> {
        for rule in &rules {
            rule.validate()?;
            self.check_link(rule)?;
        }
        let mut slot = write(&self.set);
        let mut next = FaultSet { epoch: slot.epoch + 1, rules: slot.rules.clone() };
        let mut fresh = Vec::with_capacity(rules.len());
        let applied = self.clock.now();
        for rule in rules {
            if next.rules.iter().any(|r| r.rule.id == rule.id) {
                return Err(RuleError::Duplicate { rule: rule.id });
            }
            if next.rules.len() >= MAX_RULES {
                return Err(RuleError::TooMany { limit: MAX_RULES });
            }
            // Looked up under the set's lock: a link that goes meanwhile finds its rules in the set and takes them along.
            let link =
                rule.link.as_ref().map(|name| self.id(name).ok_or_else(|| self.no_link(&rule, name))).transpose()?;
            let armed = Arc::new(ArmedRule::new(rule, link, next.epoch, applied));
            next.rules.push(Arc::clone(&armed));
            fresh.push(armed);
        }
        let epoch = next.epoch;
        *slot = Arc::new(next);
        // Under the lock, so that the log has the edges in the order of their epochs.
        fresh.iter().for_each(|rule| self.log.edge(rule.edge(EdgeChange::Armed, epoch)));
        drop(slot);
        fresh.iter().for_each(|rule| self.retire_idle(rule));
        Ok(fresh.into_iter().map(|rule| Armed::new(Arc::clone(self), rule)).collect())
    }

    /// Takes a rule out of force and lets go what it holds.
    pub(crate) fn disarm(&self, rule: &ArmedRule) {
        let mut slot = write(&self.set);
        let rules: Vec<_> = slot.rules.iter().filter(|r| !std::ptr::eq(r.as_ref(), rule)).cloned().collect();
        if rules.len() == slot.rules.len() {
            return; // It was disarmed before its handle was dropped.
        }
        let epoch = slot.epoch + 1;
        *slot = Arc::new(FaultSet { epoch, rules });
        rule.heal(self.clock.now());
        self.log.edge(rule.edge(EdgeChange::Disarmed, epoch));
        drop(slot);
        rule.gate.open_for_good();
    }

    /// The one decision over a request on link number `link`.
    pub(crate) fn decide(&self, link: u64, call: &Call<'_>, who: Who<'_>) -> Option<Strike> {
        self.first(link, |rule| !rule.on_connect && rule.rule.matching.fits(call), call.key, who)
    }

    /// The one decision over a connection on link number `link`.
    pub(crate) fn decide_connection(&self, link: u64, conn: u64) -> Option<Strike> {
        self.first(link, |rule| rule.on_connect, None, Who::Conn(conn, 0))
    }

    fn first(&self, link: u64, fits: impl Fn(&ArmedRule) -> bool, key: Option<&str>, who: Who<'_>) -> Option<Strike> {
        let set = read(&self.set);
        if set.rules.is_empty() {
            return None;
        }
        let now = self.clock.now();
        set.rules
            .iter()
            .filter(|rule| rule.link.is_none_or(|l| l == link) && rule.expires.is_none_or(|end| now < end))
            .filter(|rule| fits(rule))
            .find_map(|rule| rule.strikes(self.seed, set.epoch, link, key, who))
    }

    fn retire_idle(&self, rule: &ArmedRule) {
        if !rule.on_connect {
            return;
        }
        for known in read(&self.links).iter().filter(|known| rule.link.is_none_or(|l| l == known.id)) {
            known.retire.send_modify(|n| *n += 1);
        }
    }

    fn id(&self, name: &str) -> Option<u64> {
        read(&self.links).iter().find(|known| known.name == name).map(|known| known.id)
    }

    fn check_link(&self, rule: &Rule) -> Result<(), RuleError> {
        let Some(name) = &rule.link else { return Ok(()) };
        let mode = read(&self.links).iter().find(|known| known.name == *name).map(|known| known.mode);
        let mode = mode.ok_or_else(|| self.no_link(rule, name))?;
        if mode == Mode::Tcp && rule.faults().any(|f| f.at != Phase::Connect) {
            return Err(RuleError::NeedsHttp { rule: rule.id.clone(), link: name.clone() });
        }
        Ok(())
    }

    fn no_link(&self, rule: &Rule, name: &str) -> RuleError {
        let links = read(&self.links).iter().map(|l| l.name.clone()).collect::<Vec<_>>().join(", ");
        RuleError::UnknownLink { rule: rule.id.clone(), link: name.to_owned(), links }
    }
}
