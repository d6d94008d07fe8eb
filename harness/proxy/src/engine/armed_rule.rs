//! A rule in force: its counters, and whether it strikes a given call.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use judge::evidence::{At, EdgeChange, FaultEdge, FaultKind, FaultWindow, Struck};

use super::counts::KeyCounts;
use super::draw::{Purpose, Who, bits, fraction};
use super::gate::Gate;
use crate::rules::{Delay, Effect, Fault, Per, Rule, Schedule, Step, Then};
use crate::sync::locked;

/// A rule in force.
#[derive(Debug)]
pub(crate) struct ArmedRule {
    pub(crate) rule: Rule,
    pub(super) link: Option<u64>,
    pub(super) on_connect: bool,
    pub(super) epoch: u64,
    applied: At,
    pub(super) expires: Option<At>,
    healed: OnceLock<At>,
    counts: Mutex<HashMap<u64, LinkCounts>>,
    decided: AtomicU64,
    fired: AtomicU64,
    pub(crate) gate: Gate,
}

/// Matching calls of one link.
#[derive(Debug, Default)]
struct LinkCounts {
    all: u64,
    keys: KeyCounts,
}

/// The decision that a rule strikes a call.
#[derive(Debug, Clone)]
pub(crate) struct Strike {
    pub(crate) rule: Arc<ArmedRule>,
    pub(crate) fault: Fault,
    /// The drawn length of a delay.
    pub(crate) delay: Option<Duration>,
    /// Where the bytes of a malformed answer come from.
    pub(crate) noise: u64,
    epoch: u64,
}

impl ArmedRule {
    pub(super) fn new(rule: Rule, link: Option<u64>, epoch: u64, applied: At) -> Self {
        Self {
            link,
            on_connect: rule.decides_on_connect(),
            epoch,
            applied,
            expires: rule.ttl_ms.map(|ms| applied + Duration::from_millis(ms)),
            healed: OnceLock::new(),
            counts: Mutex::default(),
            decided: AtomicU64::new(0),
            fired: AtomicU64::new(0),
            gate: Gate::default(),
            rule,
        }
    }

    /// Counts a call that fits, and says whether it is struck.
    pub(super) fn strikes(
        self: &Arc<Self>,
        seed: u64,
        epoch: u64,
        link: u64,
        key: Option<&str>,
        who: Who<'_>,
    ) -> Option<Strike> {
        let fault = self.scheduled(seed, link, key, who)?;
        let uses = self.rule.uses.unwrap_or(u64::MAX);
        let claim = |n: u64| (n < uses).then_some(n + 1);
        self.decided.fetch_update(Ordering::AcqRel, Ordering::Acquire, claim).ok()?;
        let delay = match &fault.effect {
            Effect::Delay(delay) => Some(self.drawn(seed, delay, who)),
            _ => None,
        };
        let noise = match fault.effect {
            Effect::Malformed { .. } => bits(seed, Purpose::Noise, &self.rule.id, who),
            _ => 0,
        };
        Some(Strike { rule: Arc::clone(self), fault: fault.clone(), delay, noise, epoch })
    }

    fn scheduled(&self, seed: u64, link: u64, key: Option<&str>, who: Who<'_>) -> Option<&Fault> {
        let fault = self.rule.fault.as_ref();
        match &self.rule.schedule {
            Schedule::Always => fault,
            Schedule::FailFirst { n } => fault.filter(|_| self.count_key(link, key).is_some_and(|c| c <= *n)),
            Schedule::Every { n } => fault.filter(|_| self.count_link(link).is_multiple_of(*n)),
            Schedule::Nth { n } => fault.filter(|_| self.count_link(link) == *n),
            Schedule::Probability { p } => fault.filter(|_| fraction(seed, Purpose::Strike, &self.rule.id, who) < *p),
            Schedule::Sequence { steps, per, then } => {
                let count = match per {
                    Per::Key => self.count_key(link, key)?,
                    Per::Link => self.count_link(link),
                };
                match step(steps, count, *then)? {
                    Step::Fault(fault) => Some(fault),
                    Step::Pass => None,
                }
            }
        }
    }

    fn drawn(&self, seed: u64, delay: &Delay, who: Who<'_>) -> Duration {
        match delay {
            Delay::Ms(_) => delay.sample(0.0),
            _ => delay.sample(fraction(seed, Purpose::Delay, &self.rule.id, who)),
        }
    }

    fn count_link(&self, link: u64) -> u64 {
        self.counting(link, |counts| {
            counts.all += 1;
            counts.all
        })
    }

    fn count_key(&self, link: u64, key: Option<&str>) -> Option<u64> {
        self.counting(link, |counts| counts.keys.next(key).map(u64::from))
    }

    fn counting<T>(&self, link: u64, f: impl FnOnce(&mut LinkCounts) -> T) -> T {
        f(locked(&self.counts).entry(link).or_default())
    }

    pub(super) fn heal(&self, at: At) {
        // The first edge counts; a time to live may have ended the window before the disarming did.
        let end = self.expires.map_or(at, |expires| expires.min(at));
        let _already = self.healed.set(end);
    }

    pub(super) fn fired(&self) -> u64 {
        self.fired.load(Ordering::Acquire)
    }

    pub(super) fn decided(&self) -> u64 {
        self.decided.load(Ordering::Acquire)
    }

    /// How an edge of its window shows in the log.
    pub(super) fn edge(&self, change: EdgeChange, epoch: u64) -> FaultEdge {
        let FaultWindow { rule, link, what, applied, healed, fired, .. } = self.window();
        let over = change == EdgeChange::Disarmed;
        FaultEdge {
            at: if over { healed } else { applied },
            change,
            kind: FaultKind::Rule,
            rule,
            link,
            what,
            epoch,
            scope: None,
            since: over.then_some(applied),
            fired: over.then_some(fired),
        }
    }

    pub(super) fn window(&self) -> FaultWindow {
        FaultWindow {
            rule: self.rule.id.clone(),
            link: self.rule.link.clone().unwrap_or_else(|| "*".to_owned()),
            what: self.rule.what(),
            applied: self.applied,
            healed: self.healed.get().copied().unwrap_or(self.applied),
            planned: 1,
            fired: self.fired(),
        }
    }
}

impl Strike {
    /// The fault takes place now: counts it, and gives its record.
    pub(crate) fn land(&self) -> Struck {
        self.rule.fired.fetch_add(1, Ordering::AcqRel);
        self.rule.gate.touch();
        Struck {
            rule: self.rule.rule.id.clone(),
            what: self.fault.what(),
            delay_requested_ns: self.delay.map(|d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)),
            delay_injected_ns: None,
            held: None,
            released: None,
            epoch: self.epoch,
        }
    }
}

/// The step for the `count`-th call, from 1; `None` when the sequence is over.
fn step(steps: &[Step], count: u64, then: Then) -> Option<&Step> {
    let length = steps.len() as u64;
    let index = count.checked_sub(1)?;
    let index = match then {
        Then::Pass => index,
        Then::RepeatLast => index.min(length.saturating_sub(1)),
        Then::Cycle => index.checked_rem(length)?,
    };
    steps.get(usize::try_from(index).ok()?)
}
