//! The fault set: which rules are in force, and the one decision over each call.
//!
//! The set is immutable and swapped whole. A decision is taken under the read half of the swap's lock, in microseconds
//! and without waiting for anything: so when `arm` or `disarm` returns, every earlier decision has been taken under the
//! earlier set and every later one sees the new set.

mod armed;
mod armed_rule;
mod counts;
mod draw;
mod dry_run;
mod gate;
mod lease;
mod report;
mod scope;
mod set;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use evidence::{At, EdgeChange};
use tokio::runtime::Handle;
use tokio::sync::watch;

pub use armed::{Armed, WaitError};
pub(crate) use armed_rule::{ArmedRule, InFlight, Strike};
pub(crate) use counts::{KeyCounts, MAX_KEYS};
pub(crate) use draw::Who;
pub use dry_run::{DryCall, DryDecision, MAX_DRY_CALLS, MAX_DRY_LOOKS};
pub use gate::Held;
pub(crate) use gate::Passage;
pub(crate) use lease::Grant;
pub use lease::{Lease, LeaseError, MAX_LEASE_TTL, MAX_LEASES};
pub use report::{RuleCount, RuleReport};
pub(crate) use scope::ArmedScope;
pub use scope::{MAX_SCOPES, Scope};
use set::FaultSet;
pub(crate) use set::{Subject, Verdict};

use crate::clock::Clock;
use crate::config::Mode;
use crate::log::Log;
use crate::rules::{Phase, Rule, RuleError, ScopeConfig, ScopeError};
use crate::sync::{locked, read, write};

/// The most rules that may be in force at once.
pub const MAX_RULES: usize = 10_000;
/// Rules that ended by themselves and can still be asked for; the oldest are forgotten first.
const MAX_ENDED: usize = 1_000;

/// What the engine knows of a link.
#[derive(Debug)]
struct Known {
    id: u64,
    name: String,
    mode: Mode,
    /// Whether rules may name it. One that is going keeps its name for what its rules have counted.
    open: bool,
    /// Tells the link's idle connections that a rule now decides on connections.
    retire: watch::Sender<u64>,
}

/// Leases by id.
#[derive(Debug, Default)]
struct Leases {
    granted: BTreeMap<String, Arc<Grant>>,
    next: u64,
}

/// Holds the fault set of one proxy.
#[derive(Debug)]
pub(crate) struct Engine {
    clock: Clock,
    seed: u64,
    log: Log,
    links: RwLock<Vec<Known>>,
    set: RwLock<Arc<FaultSet>>,
    ended: Mutex<VecDeque<Arc<ArmedRule>>>,
    leases: Mutex<Leases>,
    /// Where times to live are watched; a rule may be armed from a thread that has no runtime.
    runtime: Option<Handle>,
}

impl Engine {
    pub(crate) fn new(clock: Clock, seed: u64, log: Log) -> Self {
        Self {
            clock,
            seed,
            log,
            links: RwLock::default(),
            set: RwLock::default(),
            ended: Mutex::default(),
            leases: Mutex::default(),
            runtime: Handle::try_current().ok(),
        }
    }

    /// Rules may name this link from now on.
    pub(crate) fn add_link(&self, id: u64, name: &str, mode: Mode) {
        let known = Known { id, name: name.to_owned(), mode, open: true, retire: watch::Sender::new(0) };
        write(&self.links).push(known);
    }

    /// No rule can name this link from now on; its name is free for another one.
    pub(crate) fn close_link(&self, id: u64) {
        write(&self.links).iter_mut().filter(|known| known.id == id).for_each(|known| known.open = false);
    }

    /// Takes the rules that name this link out of force, and forgets the link.
    pub(crate) fn remove_link(&self, id: u64) {
        write(&self.links).retain(|known| known.id != id);
        self.take_out(true, None, |rule| rule.link == Some(id), |_| false);
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

    /// Puts all `rules` in force, or none; each stays for as long as its handle lives.
    pub(crate) fn arm(self: &Arc<Self>, rules: Vec<Rule>) -> Result<Vec<Armed>, RuleError> {
        let fresh = self.put_in_force(rules)?;
        Ok(fresh.into_iter().map(|rule| Armed::new(Arc::clone(self), rule)).collect())
    }

    /// Puts all `rules` in force, or none, until someone takes them out.
    pub(crate) fn put_in_force(self: &Arc<Self>, rules: Vec<Rule>) -> Result<Vec<Arc<ArmedRule>>, RuleError> {
        let mut slot = write(&self.set);
        let epoch = slot.epoch + 1;
        let applied = self.clock.now();
        let mut all = slot.rules.clone();
        // Every decision waits for this lock: thousands of rules must not be compared with thousands under it.
        let mut names: HashSet<_> = all.iter().map(|r| (r.rule.id.clone(), r.rule.scope.clone())).collect();
        let mut fresh = Vec::with_capacity(rules.len());
        for rule in rules {
            if !names.insert((rule.id.clone(), rule.scope.clone())) {
                return Err(RuleError::Duplicate { rule: rule.id });
            }
            if all.len() >= MAX_RULES {
                return Err(RuleError::TooMany { limit: MAX_RULES });
            }
            let armed = Arc::new(self.prepared(&slot, rule, epoch, applied)?);
            all.push(Arc::clone(&armed));
            fresh.push(armed);
        }
        *slot = Arc::new(FaultSet::new(epoch, all, slot.scopes.clone()));
        // Under the lock, so that the log has the edges in the order of their epochs.
        fresh.iter().for_each(|rule| self.log.edge(rule.edge(EdgeChange::Armed, epoch)));
        drop(slot);
        for rule in &fresh {
            self.retire_idle(rule);
            self.watch_time(rule);
        }
        Ok(fresh)
    }

    /// A rule with what it names looked up. Under the set's lock: a link, scope or lease that goes meanwhile finds its
    /// rules in the set and takes them along.
    fn prepared(&self, set: &FaultSet, rule: Rule, epoch: u64, applied: At) -> Result<ArmedRule, RuleError> {
        rule.validate()?;
        let link = self.link_of(&rule)?;
        let scope = match &rule.scope {
            None => None,
            Some(name) => match set.scope(name) {
                Some(scope) => Some(Arc::clone(scope)),
                None => return Err(RuleError::UnknownScope { rule: rule.id.clone(), scope: name.clone() }),
            },
        };
        if rule.decides_on_connect() && scope.as_ref().is_some_and(|s| !s.config.matching.knows_connections()) {
            return Err(RuleError::BadField {
                rule: rule.id.clone(),
                field: "scope".to_owned(),
                reason: "is told by a header or a key, which no connection has yet; tell it by `link_prefix`"
                    .to_owned(),
            });
        }
        if let Some(lease) = rule.lease.as_ref().filter(|lease| !self.is_granted(lease)) {
            return Err(RuleError::UnknownLease { rule: rule.id.clone(), lease: lease.clone() });
        }
        Ok(ArmedRule::new(rule, link, scope, epoch, applied))
    }

    /// Ends a rule at the end of its time to live, not only when somebody looks.
    fn watch_time(self: &Arc<Self>, rule: &Arc<ArmedRule>) {
        let Some(expires) = rule.expires else { return };
        let (engine, rule, clock) = (Arc::downgrade(self), Arc::clone(rule), self.clock);
        self.spawn(async move {
            let over = async {
                loop {
                    let left = expires.since(clock.now());
                    if left == Duration::ZERO {
                        return;
                    }
                    tokio::time::sleep(left).await;
                }
            };
            tokio::select! {
                () = over => {}
                () = rule.until_healed() => return,
            }
            if let Some(engine) = engine.upgrade() {
                engine.take_out(true, Some(expires), |other| std::ptr::eq(other, rule.as_ref()), |_| false);
            }
        });
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            // It ends with what it watches, which does not outlive the engine in force.
            drop(runtime.spawn(task));
        }
    }

    /// Takes a rule out of force and lets go what it holds.
    pub(crate) fn disarm(&self, rule: &ArmedRule) {
        self.take_out(false, None, |other| std::ptr::eq(other, rule), |_| false);
    }

    /// Takes every rule out of force.
    pub(crate) fn disarm_all(&self) -> usize {
        self.take_out(false, None, |_| true, |_| false)
    }

    /// Takes rules and scopes out of force in one step, and lets go what the rules hold; how many rules those were. With
    /// `keeps`, they can still be asked for.
    fn take_out(
        &self,
        keeps: bool,
        at: Option<At>,
        goes: impl Fn(&ArmedRule) -> bool,
        scope_goes: impl Fn(&Arc<ArmedScope>) -> bool,
    ) -> usize {
        let mut slot = write(&self.set);
        let (gone, rules): (Vec<_>, Vec<_>) = slot.rules.iter().cloned().partition(|rule| goes(rule));
        let scopes: Vec<_> = slot.scopes.iter().filter(|scope| !scope_goes(scope)).cloned().collect();
        if gone.is_empty() && scopes.len() == slot.scopes.len() {
            return 0; // They went before, by their handles or by themselves.
        }
        let epoch = slot.epoch + 1;
        *slot = Arc::new(FaultSet::new(epoch, rules, scopes));
        let at = at.unwrap_or_else(|| self.clock.now());
        for rule in &gone {
            rule.heal(at);
            self.log.edge(rule.edge(EdgeChange::Disarmed, epoch));
        }
        drop(slot);
        gone.iter().for_each(|rule| rule.gate.open_for_good());
        let count = gone.len();
        if keeps {
            let mut ended = locked(&self.ended);
            ended.extend(gone);
            let surplus = ended.len().saturating_sub(MAX_ENDED);
            ended.drain(..surplus);
        }
        count
    }

    fn take_out_under(&self, lease: &str) -> usize {
        let of_lease = |scope: &ArmedScope| scope.config.lease.as_deref() == Some(lease);
        let goes = |rule: &ArmedRule| {
            rule.rule.lease.as_deref() == Some(lease) || rule.scope.as_ref().is_some_and(|scope| of_lease(scope))
        };
        self.take_out(true, None, goes, |scope| of_lease(scope))
    }

    /// Adds a scope.
    pub(crate) fn add_scope(&self, config: ScopeConfig) -> Result<Arc<ArmedScope>, ScopeError> {
        config.validate()?;
        let mut slot = write(&self.set);
        if slot.scope(&config.name).is_some() {
            return Err(ScopeError::Duplicate { scope: config.name });
        }
        if slot.scopes.len() >= MAX_SCOPES {
            return Err(ScopeError::TooMany { limit: MAX_SCOPES });
        }
        if let Some(lease) = config.lease.as_ref().filter(|lease| !self.is_granted(lease)) {
            return Err(ScopeError::UnknownLease { scope: config.name.clone(), lease: lease.clone() });
        }
        let scope = Arc::new(ArmedScope::new(config));
        let scopes = slot.scopes.iter().chain([&scope]).cloned().collect();
        *slot = Arc::new(FaultSet::new(slot.epoch + 1, slot.rules.clone(), scopes));
        Ok(scope)
    }

    /// Adds a scope that lives as long as its handle.
    pub(crate) fn own_scope(self: &Arc<Self>, config: ScopeConfig) -> Result<Scope, ScopeError> {
        self.add_scope(config).map(|scope| Scope::new(Arc::clone(self), scope))
    }

    /// The scope of that name.
    pub(crate) fn scope(&self, name: &str) -> Result<Arc<ArmedScope>, ScopeError> {
        read(&self.set).scope(name).cloned().ok_or_else(|| ScopeError::Unknown { scope: name.to_owned() })
    }

    /// The scopes, in the order they were added.
    pub(crate) fn scopes(&self) -> Vec<Arc<ArmedScope>> {
        read(&self.set).scopes.clone()
    }

    /// Takes the rules of a scope out of force.
    pub(crate) fn reset_scope(&self, scope: &Arc<ArmedScope>) -> usize {
        self.take_out(false, None, |rule| rule.scope.as_ref().is_some_and(|own| Arc::ptr_eq(own, scope)), |_| false)
    }

    /// Takes a scope and its rules out of force.
    pub(crate) fn remove_scope(&self, scope: &Arc<ArmedScope>) -> usize {
        let own = |rule: &ArmedRule| rule.scope.as_ref().is_some_and(|own| Arc::ptr_eq(own, scope));
        self.take_out(false, None, own, |other| Arc::ptr_eq(other, scope))
    }

    /// The one decision over a request, or over a connection.
    pub(crate) fn decide(&self, subject: &Subject<'_>) -> Verdict {
        let set = read(&self.set);
        if set.is_empty() {
            return Verdict::default();
        }
        set.decide(self.clock.now(), self.seed, subject)
    }

    fn retire_idle(&self, rule: &ArmedRule) {
        if !rule.on_connect {
            return;
        }
        for known in read(&self.links).iter().filter(|known| rule.link.is_none_or(|l| l == known.id)) {
            known.retire.send_modify(|n| *n += 1);
        }
    }

    /// Number and kind of the link of that name, while rules may name it.
    fn named(&self, name: &str) -> Option<(u64, Mode)> {
        let links = read(&self.links);
        links.iter().find(|known| known.open && known.name == name).map(|known| (known.id, known.mode))
    }

    fn link_of(&self, rule: &Rule) -> Result<Option<u64>, RuleError> {
        let Some(name) = &rule.link else { return Ok(None) };
        let (id, mode) = self.named(name).ok_or_else(|| self.no_link(&rule.id, name))?;
        if mode == Mode::Tcp && rule.faults().any(|f| f.at != Phase::Connect) {
            return Err(RuleError::NeedsHttp { rule: rule.id.clone(), link: name.clone() });
        }
        Ok(Some(id))
    }

    fn no_link(&self, rule: &str, name: &str) -> RuleError {
        let links = read(&self.links);
        let links: Vec<_> = links.iter().filter(|known| known.open).map(|known| known.name.as_str()).collect();
        RuleError::UnknownLink { rule: rule.to_owned(), link: name.to_owned(), links: links.join(", ") }
    }
}

impl Drop for Engine {
    /// Lets the tasks end that watch times to live.
    fn drop(&mut self) {
        self.disarm_all();
        self.forget_leases();
    }
}

#[cfg(test)]
mod tests;
