//! The rule grammar: what a rule looks at, when it strikes, where in the exchange, and what it does there.
//!
//! The same shapes serve Rust, JSON and TOML. Unknown fields are refused.

mod effect;
mod effects_valid;
mod error;
mod expect;
mod fault;
mod http2;
mod matching;
mod read;
mod retry_after;
mod schedule;
mod scope;
mod validate;

use serde::{Deserialize, Serialize};

pub use crate::physics::Distribution as Delay;
pub use effect::{Effect, HoldThen, Malformed, Part, Patch, Trickle};
pub use error::RuleError;
pub use expect::{Expect, Finding};
pub use fault::{Fault, Phase};
pub use http2::{GrpcCode, GrpcStatus, Http2Code};
pub(crate) use matching::Call;
pub use matching::{HeaderIs, Match, OrdinalRange};
pub use read::{MAX_RULES_BYTES, rules_from_json};
pub use retry_after::RetryAfter;
pub use schedule::{Per, Schedule, Step, Then};
pub use scope::{ScopeConfig, ScopeError, ScopeMatch};
pub(crate) use validate::is_token;

/// One rule: which calls it looks at, which of them it strikes, and how.
///
/// ```
/// use chaos_proxy::{Effect, Fault, Match, Phase, Rule, Schedule};
///
/// // The bank commits the first call of every key and the answer is lost on its way back.
/// let rule = Rule::new("reply-lost", Fault::at(Phase::Response, Effect::Reset))
///     .link("bank")
///     .matching(Match { method: Some("POST".into()), ..Match::default() })
///     .schedule(Schedule::fail_first(1));
/// rule.validate()?;
/// # Ok::<(), chaos_proxy::RuleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name, unique among the rules in force.
    pub id: String,
    /// The link it applies to; every link when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Which calls it looks at; all when absent.
    #[serde(default, rename = "match", skip_serializing_if = "Match::is_any")]
    pub matching: Match,
    /// Which of the matching calls it strikes.
    #[serde(default, skip_serializing_if = "Schedule::is_always")]
    pub schedule: Schedule,
    /// What it does; absent when the schedule is a sequence, whose steps say it, and when it only expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// How many calls it may strike at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u64>,
    /// How long it is in force, in milliseconds from arming.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// The scope whose calls it looks at; calls of every scope, and of none, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The lease it ends with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
    /// What it is expected to see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
}

impl Rule {
    /// A rule that strikes every call on every link with `fault`.
    #[must_use]
    pub fn new(id: impl Into<String>, fault: Fault) -> Self {
        Self {
            id: id.into(),
            link: None,
            matching: Match::default(),
            schedule: Schedule::Always,
            fault: Some(fault),
            uses: None,
            ttl_ms: None,
            scope: None,
            lease: None,
            expect: None,
        }
    }

    /// A rule whose successive calls of one key meet the successive `steps`, and pass afterwards.
    #[must_use]
    pub fn sequence(id: impl Into<String>, steps: impl IntoIterator<Item = Step>) -> Self {
        let steps = steps.into_iter().collect();
        let schedule = Schedule::Sequence { steps, per: Per::Key, then: Then::Pass };
        Self { fault: None, schedule, ..Self::new(id, Fault::at(Phase::Request, Effect::Close)) }
    }

    /// Limits it to one link.
    #[must_use]
    pub fn link(mut self, name: impl Into<String>) -> Self {
        self.link = Some(name.into());
        self
    }

    /// Limits it to calls that fit `matching`.
    #[must_use]
    pub fn matching(mut self, matching: Match) -> Self {
        self.matching = matching;
        self
    }

    /// Sets which of the matching calls it strikes.
    #[must_use]
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Limits how many calls it may strike.
    #[must_use]
    pub fn uses(mut self, uses: u64) -> Self {
        self.uses = Some(uses);
        self
    }

    /// A rule without a fault: it strikes nothing and tells whether never more than `n` calls were in flight at once.
    #[must_use]
    pub fn watch(id: impl Into<String>, n: u64) -> Self {
        let expect = Expect { in_flight_at_most: Some(n), ..Expect::default() };
        Self { fault: None, ..Self::new(id, Fault::at(Phase::Request, Effect::Close)) }.expect(expect)
    }

    /// Sets the scope whose calls it looks at.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// Sets the lease it ends with.
    #[must_use]
    pub fn lease(mut self, lease: impl Into<String>) -> Self {
        self.lease = Some(lease.into());
        self
    }

    /// Sets what it is expected to see.
    #[must_use]
    pub fn expect(mut self, expect: Expect) -> Self {
        self.expect = Some(expect);
        self
    }

    /// Phase and effect in the words of the event log; a sequence lists its steps.
    #[must_use]
    pub fn what(&self) -> String {
        if let Schedule::Sequence { steps, .. } = &self.schedule {
            return steps.iter().map(Step::what).collect::<Vec<_>>().join(", ");
        }
        self.fault.as_ref().map_or_else(|| "watch".to_owned(), Fault::what)
    }

    /// Every fault that it may inject.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        let steps = match &self.schedule {
            Schedule::Sequence { steps, .. } => steps.as_slice(),
            _ => &[],
        };
        self.fault.iter().chain(steps.iter().filter_map(|step| match step {
            Step::Fault(fault) => Some(fault),
            Step::Pass => None,
        }))
    }

    /// Whether it decides over connections, before any request is read.
    #[must_use]
    pub fn decides_on_connect(&self) -> bool {
        self.faults().any(|fault| fault.at == Phase::Connect)
    }

    /// Checks everything that can be checked without knowing the links.
    ///
    /// # Errors
    /// Names the first field that does not hold, and what would.
    pub fn validate(&self) -> Result<(), RuleError> {
        validate::rule(self)
    }
}
