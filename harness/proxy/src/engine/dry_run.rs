//! What a fault set would decide, without deciding it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use evidence::TraceId;
use serde::{Deserialize, Serialize};

use super::{ArmedRule, Engine, FaultSet, Subject, Who};
use crate::rules::{Call, Rule, RuleError};
use crate::sync::read;

/// The most calls of one dry run.
pub const MAX_DRY_CALLS: usize = 100_000;
/// The most looks of a rule at a call in one dry run: what a fraction of a second is enough for.
pub const MAX_DRY_LOOKS: usize = 500_000;

/// A call that might come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DryCall {
    /// The link; without one, only rules that name no link look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Method.
    pub method: String,
    /// Target.
    pub path: String,
    /// Key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Ordinal within its key; the next one of this run when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u32>,
    /// Header fields.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
    /// Number of its connection; calls without a key are drawn by it.
    pub conn: u64,
    /// Number of the request on its connection, from 1; 0 asks for the decision over the connection itself.
    pub request: u32,
}

impl Default for DryCall {
    fn default() -> Self {
        Self {
            link: None,
            method: "POST".to_owned(),
            path: "/".to_owned(),
            key: None,
            ordinal: None,
            headers: BTreeMap::new(),
            trace: None,
            conn: 0,
            request: 1,
        }
    }
}

/// What would be decided over one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DryDecision {
    /// Number of the call, from 0.
    pub call: usize,
    /// Its ordinal.
    pub ordinal: u32,
    /// The scope it would belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The rule that would strike; none when it would pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Phase and effect in the words of the event log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The drawn delay, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<f64>,
}

impl Engine {
    /// Decides over `calls`, one after the other, as `rules` would that were armed just now, or, without any, as the
    /// rules in force would from here on. Nothing that is in force is touched.
    pub(crate) fn dry_run(
        &self,
        rules: Option<Vec<Rule>>,
        seed: Option<u64>,
        calls: &[DryCall],
    ) -> Result<Vec<DryDecision>, RuleError> {
        let set = self.dry_set(rules)?;
        if calls.len() > MAX_DRY_CALLS || calls.len().saturating_mul(set.rules.len()) > MAX_DRY_LOOKS {
            return Err(RuleError::DryRunTooLong { calls: MAX_DRY_CALLS, looks: MAX_DRY_LOOKS });
        }
        let now = self.clock.now();
        let mut ordinals = HashMap::<_, u32>::new();
        let mut decisions = Vec::with_capacity(calls.len());
        for (number, dry) in calls.iter().enumerate() {
            let link = match &dry.link {
                Some(name) => self.named(name).ok_or_else(|| self.no_link(&format!("calls[{number}]"), name))?.0,
                None => u64::MAX,
            };
            let next = ordinals.entry((link, dry.key.as_deref())).or_default();
            *next = dry.ordinal.unwrap_or(*next + 1);
            let headers: Vec<_> = dry.headers.iter().map(|(n, v)| (n.clone(), v.clone())).collect();
            let call = Call {
                method: &dry.method,
                target: &dry.path,
                key: dry.key.as_deref(),
                ordinal: *next,
                trace: dry.trace,
                headers: &headers,
            };
            let who = match &dry.key {
                Some(key) if dry.request > 0 => Who::Key(key, *next),
                _ => Who::Conn(dry.conn, dry.request),
            };
            let call = (dry.request > 0).then_some(&call);
            let link_name = dry.link.as_deref().unwrap_or_default();
            let verdict =
                set.decide(now, seed.unwrap_or(self.seed), &Subject { link, link_name, conn: dry.conn, call, who });
            decisions.push(DryDecision {
                call: number,
                ordinal: *next,
                scope: verdict.scope.as_deref().map(str::to_owned),
                rule: verdict.strike.as_ref().map(|strike| strike.rule.rule.id.clone()),
                what: verdict.strike.as_ref().map(|strike| strike.fault.what()),
                delay_ms: verdict.strike.and_then(|strike| strike.delay).map(|delay| delay.as_secs_f64() * 1e3),
            });
        }
        Ok(decisions)
    }

    /// A set of its own, with fresh counters, or with copies of those in force.
    fn dry_set(&self, rules: Option<Vec<Rule>>) -> Result<FaultSet, RuleError> {
        let present = Arc::clone(&read(&self.set));
        let rules = match rules {
            Some(rules) => rules
                .into_iter()
                .map(|rule| self.prepared(&present, rule, present.epoch + 1, self.clock.now()))
                .collect::<Result<Vec<_>, _>>()?,
            None => present.rules.iter().map(|rule| ArmedRule::copied(rule)).collect(),
        };
        Ok(FaultSet::new(present.epoch, rules.into_iter().map(Arc::new).collect(), present.scopes.clone()))
    }
}
