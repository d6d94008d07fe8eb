//! A rule in force: its counters, and whether it strikes a given call.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evidence::{At, EdgeChange, FaultEdge, FaultKind, FaultWindow, Struck};

use super::counts::KeyCounts;
use super::draw::{Purpose, Who, bits, fraction};
use super::gate::Gate;
use super::scope::ArmedScope;
use super::set::Subject;
use tokio::sync::SetOnce;

use crate::rules::{Delay, Effect, Fault, Per, Rule, Schedule, Step, Then};
use crate::sync::locked;

/// A rule in force.
#[derive(Debug)]
pub(crate) struct ArmedRule {
    pub(crate) rule: Rule,
    pub(super) link: Option<u64>,
    pub(super) scope: Option<Arc<ArmedScope>>,
    pub(super) on_connect: bool,
    pub(super) epoch: u64,
    applied: At,
    pub(super) expires: Option<At>,
    healed: SetOnce<At>,
    counts: Mutex<HashMap<u64, LinkCounts>>,
    decided: AtomicU64,
    fired: AtomicU64,
    in_flight: AtomicU64,
    most_in_flight: AtomicU64,
    pub(crate) gate: Gate,
}

/// A call that a rule counts as in flight until this is dropped.
#[derive(Debug)]
pub(crate) struct InFlight {
    rule: Arc<ArmedRule>,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.rule.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Matching calls of one link.
#[derive(Debug, Clone, Default)]
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
    pub(super) fn new(rule: Rule, link: Option<u64>, scope: Option<Arc<ArmedScope>>, epoch: u64, applied: At) -> Self {
        Self {
            link,
            scope,
            on_connect: rule.decides_on_connect(),
            epoch,
            applied,
            expires: rule.ttl_ms.map(|ms| applied + Duration::from_millis(ms)),
            healed: SetOnce::new(),
            counts: Mutex::default(),
            decided: AtomicU64::new(0),
            fired: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            most_in_flight: AtomicU64::new(0),
            gate: Gate::default(),
            rule,
        }
    }

    /// The same rule with copies of its counters, to try decisions on.
    pub(super) fn copied(&self) -> Self {
        Self {
            counts: Mutex::new(locked(&self.counts).clone()),
            decided: AtomicU64::new(self.decided()),
            ..Self::new(self.rule.clone(), self.link, self.scope.clone(), self.epoch, self.applied)
        }
    }

    /// Whether it looks at that call at all.
    pub(super) fn looks_at(&self, subject: &Subject<'_>, scope: Option<&Arc<ArmedScope>>, now: At) -> bool {
        self.link.is_none_or(|link| link == subject.link)
            && self.on_connect == subject.call.is_none()
            && self.expires.is_none_or(|end| now < end)
            && self.scope.as_ref().is_none_or(|own| scope.is_some_and(|scope| Arc::ptr_eq(own, scope)))
            && subject.call.is_none_or(|call| self.rule.matching.fits(call))
    }

    pub(super) fn watches(&self) -> bool {
        self.rule.expect.is_some_and(|expect| expect.in_flight_at_most.is_some())
    }

    /// Counts a call that it looks at as in flight, if that is what it is for.
    pub(super) fn watch(self: &Arc<Self>) -> Option<InFlight> {
        if !self.watches() {
            return None;
        }
        let now = self.in_flight.fetch_add(1, Ordering::AcqRel) + 1;
        self.most_in_flight.fetch_max(now, Ordering::AcqRel);
        Some(InFlight { rule: Arc::clone(self) })
    }

    pub(super) fn most_in_flight(&self) -> u64 {
        self.most_in_flight.load(Ordering::Acquire)
    }

    /// Counts a call that fits, and says whether it is struck.
    pub(super) fn strikes(self: &Arc<Self>, seed: u64, epoch: u64, subject: &Subject<'_>) -> Option<Strike> {
        let seed = self.scope.as_ref().and_then(|scope| scope.config.seed).unwrap_or(seed);
        let fault = self.scheduled(seed, subject)?;
        let uses = self.rule.uses.unwrap_or(u64::MAX);
        let claim = |n: u64| (n < uses).then_some(n + 1);
        self.decided.fetch_update(Ordering::AcqRel, Ordering::Acquire, claim).ok()?;
        let delay = match &fault.effect {
            Effect::Delay(delay) => Some(self.drawn(seed, delay, subject.who)),
            _ => None,
        };
        let noise = match fault.effect {
            Effect::Malformed { .. } => bits(seed, Purpose::Noise, &self.rule.id, subject.who),
            _ => 0,
        };
        Some(Strike { rule: Arc::clone(self), fault: fault.clone(), delay, noise, epoch })
    }

    fn scheduled(&self, seed: u64, subject: &Subject<'_>) -> Option<&Fault> {
        let fault = self.rule.fault.as_ref();
        let who = subject.who;
        match &self.rule.schedule {
            Schedule::Always => fault,
            Schedule::FailFirst { n, per } => fault.filter(|_| self.count(subject, per).is_some_and(|c| c <= *n)),
            Schedule::Every { n, per } => {
                fault.filter(|_| self.count(subject, per).is_some_and(|c| c.is_multiple_of(*n)))
            }
            Schedule::Nth { n, per } => fault.filter(|_| self.count(subject, per) == Some(*n)),
            Schedule::Probability { p } => fault.filter(|_| fraction(seed, Purpose::Strike, &self.rule.id, who) < *p),
            Schedule::Sequence { steps, per, then } => match step(steps, self.count(subject, per)?, *then)? {
                Step::Fault(fault) => Some(fault),
                Step::Pass => None,
            },
        }
    }

    fn drawn(&self, seed: u64, delay: &Delay, who: Who<'_>) -> Duration {
        match delay {
            Delay::Ms(_) => delay.sample(0.0),
            _ => delay.sample(fraction(seed, Purpose::Delay, &self.rule.id, who)),
        }
    }

    /// Counts one more of its kind; `None` when too many kinds are known to count it apart.
    fn count(&self, subject: &Subject<'_>, per: &Per) -> Option<u64> {
        let mut links = locked(&self.counts);
        let counts = links.entry(subject.link).or_default();
        if *per == Per::Link {
            counts.all += 1;
            return Some(counts.all);
        }
        counts.keys.next(subject.counted_by(per).as_deref()).map(u64::from)
    }

    /// What it has counted: link, what is counted apart, and how often.
    pub(super) fn counted(&self) -> Vec<(u64, Option<String>, u64)> {
        let links = locked(&self.counts);
        let mut counted = Vec::new();
        for (link, counts) in links.iter() {
            counted.extend((counts.all > 0).then_some((*link, None, counts.all)));
            let keys = counts.keys.list();
            counted.extend(keys.map(|(of, n)| (*link, of.map(str::to_owned), u64::from(n))));
        }
        counted
    }

    /// Starts counting anew: of one kind, or of all.
    pub(crate) fn reset_counts(&self, of: Option<&str>) {
        let mut links = locked(&self.counts);
        match of {
            Some(of) => links.values_mut().for_each(|counts| counts.keys.forget(of)),
            None => links.clear(),
        }
    }

    pub(crate) fn is_healed(&self) -> bool {
        self.healed.get().is_some()
    }

    /// Waits until it is out of force.
    pub(super) async fn until_healed(&self) {
        self.healed.wait().await;
    }

    pub(super) fn heal(&self, at: At) {
        // The first edge counts; a time to live may have ended the window before the disarming did.
        let end = self.expires.map_or(at, |expires| expires.min(at));
        let _already = self.healed.set(end);
    }

    pub(crate) fn fired(&self) -> u64 {
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
            scope: self.rule.scope.clone(),
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
