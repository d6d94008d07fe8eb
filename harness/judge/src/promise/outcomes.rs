//! What a breaker makes of the ends of calls.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{BreakerPolicy, Failure};

/// How a breaker counts a call that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutcomeClass {
    /// The dependency works: a consecutive count starts over, a probe closes.
    Success,
    /// It says nothing about the dependency: no count changes, a probe gives its permit back.
    Ignored,
    /// The dependency does not work: it is counted, and a probe opens again.
    Failure,
}

impl fmt::Display for OutcomeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OutcomeClass::Success => "success",
            OutcomeClass::Ignored => "ignored",
            OutcomeClass::Failure => "failure",
        })
    }
}

/// Ends of calls by the class that they are promised to be counted as. What no list names is not checked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Outcomes {
    /// Counted as a success, such as a refusal of a dependency at work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub success: Vec<Failure>,
    /// Counted as nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<Failure>,
    /// Counted as a failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failure: Vec<Failure>,
}

/// A way for a call to end, as a breaker sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallEnd {
    /// It fails in this way.
    Fails(Failure),
    /// It succeeds, and takes longer than [`BreakerPolicy::slow_call`].
    Slow,
}

impl fmt::Display for CallEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallEnd::Fails(failure) => failure.fmt(f),
            CallEnd::Slow => f.write_str("slow"),
        }
    }
}

impl BreakerPolicy {
    /// Every end of a call whose class is promised, in the order of the contract. The text of an end is the variant of
    /// the steps that provoke it.
    ///
    /// ```
    /// use judge::promise::{BreakerPolicy, CallEnd, Failure, OutcomeClass};
    ///
    /// let policy: BreakerPolicy = serde_json::from_str(
    ///     r#"{ "threshold": 5, "open": "400ms", "slow_call": "1s", "outcomes": { "ignored": [409] } }"#,
    /// )
    /// .unwrap();
    /// let conflict = CallEnd::Fails(Failure::Status(409));
    /// assert_eq!(
    ///     policy.classified(),
    ///     [(conflict, OutcomeClass::Ignored), (CallEnd::Slow, OutcomeClass::Failure)]
    /// );
    /// assert_eq!(conflict.to_string(), "409");
    /// ```
    #[must_use]
    pub fn classified(&self) -> Vec<(CallEnd, OutcomeClass)> {
        let of = |ends: &[Failure], class| ends.iter().map(|f| (CallEnd::Fails(*f), class)).collect::<Vec<_>>();
        let mut all = Vec::new();
        if let Some(lists) = &self.outcomes {
            all.extend(of(&lists.success, OutcomeClass::Success));
            all.extend(of(&lists.ignored, OutcomeClass::Ignored));
            all.extend(of(&lists.failure, OutcomeClass::Failure));
        }
        all.extend(self.slow_call.map(|_| (CallEnd::Slow, OutcomeClass::Failure)));
        all
    }

    /// Whether a good call of that length may count as slow: it took the declared time, or came within `eps` of it.
    #[must_use]
    pub fn may_be_slow(&self, took: Duration, eps: Duration) -> bool {
        self.slow_call.is_some_and(|limit| took.saturating_add(eps) >= limit)
    }
}
