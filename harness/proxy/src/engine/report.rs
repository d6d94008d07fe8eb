//! What became of a rule: for whoever asks while it is in force, and when it is not any more.

use std::sync::Arc;

use evidence::FaultWindow;
use serde::Serialize;

use super::{ArmedRule, Engine};
use crate::rules::{Finding, Rule};
use crate::sync::{locked, read};

/// What became of a rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleReport {
    /// The rule.
    pub rule: Rule,
    /// Whether it is in force.
    pub in_force: bool,
    /// Epoch of the fault set that it came into force with.
    #[serde(rename = "armed_epoch")]
    pub epoch: u64,
    /// How often it struck.
    pub fired: u64,
    /// How often it decided to strike.
    pub decided: u64,
    /// How many calls wait at its gate.
    pub held: usize,
    /// Its expectations and what came of them; while it is in force, so far.
    pub expect: Vec<Finding>,
    /// Whether all of them hold. A rule without expectations is expected to strike at least once.
    pub met: bool,
    /// When it was in force; while it is, `healed` is `applied`.
    pub window: FaultWindow,
}

/// How often a rule saw calls of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleCount {
    /// The link.
    pub link: String,
    /// What is counted apart: a key, a path, a trace id and so on. Absent for calls that count together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// How many.
    pub n: u64,
}

impl RuleReport {
    /// Whether it was armed and never struck, though a strike was what it was for.
    #[must_use]
    pub fn never_fired(&self) -> bool {
        self.fired == 0 && self.rule.faults().next().is_some()
    }
}

impl ArmedRule {
    pub(crate) fn report(&self) -> RuleReport {
        let expect = self.rule.expect.map(|e| e.findings(self.fired(), self.most_in_flight())).unwrap_or_default();
        let met = if expect.is_empty() { self.fired() > 0 } else { expect.iter().all(|finding| finding.met) };
        RuleReport {
            rule: self.rule.clone(),
            in_force: !self.is_healed(),
            epoch: self.epoch,
            fired: self.fired(),
            decided: self.decided(),
            held: self.gate.held().len(),
            expect,
            met,
            window: self.window(),
        }
    }
}

impl Engine {
    /// Every rule in force, in the order they are asked, and then those that have ended by themselves.
    pub(crate) fn rules(&self) -> Vec<Arc<ArmedRule>> {
        let mut rules = read(&self.set).rules.clone();
        rules.extend(locked(&self.ended).iter().cloned());
        rules
    }

    /// The rule of that id in that scope, or outside every scope; those in force first.
    pub(crate) fn rule(&self, id: &str, scope: Option<&str>) -> Option<Arc<ArmedRule>> {
        let fits = |rule: &&Arc<ArmedRule>| rule.rule.id == id;
        let rules = self.rules();
        rules.iter().filter(fits).find(|rule| rule.rule.scope.as_deref() == scope).cloned()
    }

    /// What a rule has counted, at most `limit` of it, sorted.
    pub(crate) fn counts(&self, rule: &ArmedRule, limit: usize) -> Vec<RuleCount> {
        let links = read(&self.links);
        let name = |id: u64| links.iter().find(|known| known.id == id).map(|known| known.name.clone());
        let counts =
            rule.counted().into_iter().filter_map(|(link, of, n)| Some(RuleCount { link: name(link)?, of, n }));
        let mut counts: Vec<_> = counts.collect();
        counts.sort_by(|a, b| (&a.link, &a.of).cmp(&(&b.link, &b.of)));
        counts.truncate(limit);
        counts
    }

    /// Forgets a rule that has ended by itself.
    pub(crate) fn forget(&self, rule: &Arc<ArmedRule>) {
        locked(&self.ended).retain(|ended| !Arc::ptr_eq(ended, rule));
    }
}
