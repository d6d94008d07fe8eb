//! Which of the matching calls a rule strikes. Every schedule is a function of counts or of the seed, never of time.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::fault::Fault;

/// Which of the matching calls are struck.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Schedule {
    /// Every one.
    #[default]
    Always,
    /// The first `n` of each key.
    FailFirst {
        /// How many.
        n: u64,
        /// What counts for itself.
        #[serde(default, skip_serializing_if = "Per::is_key")]
        per: Per,
    },
    /// The first meets the first step, the second the second, and so on.
    Sequence {
        /// The steps.
        steps: Vec<Step>,
        /// What counts as one sequence.
        #[serde(default)]
        per: Per,
        /// What comes after the last step.
        #[serde(default)]
        then: Then,
    },
    /// The n-th, the 2n-th and so on of the link.
    Every {
        /// The period.
        n: u64,
        /// What counts for itself; the link when absent.
        #[serde(default = "Per::link", skip_serializing_if = "Per::is_link")]
        per: Per,
    },
    /// Only the n-th of the link, from 1.
    Nth {
        /// Which.
        n: u64,
        /// What counts for itself; the link when absent.
        #[serde(default = "Per::link", skip_serializing_if = "Per::is_link")]
        per: Per,
    },
    /// Each with this probability, drawn from seed, rule, key and ordinal: the order of concurrent calls is irrelevant.
    Probability {
        /// Probability, 0 to 1.
        p: f64,
    },
}

impl Schedule {
    /// The first `n` of each key.
    #[must_use]
    pub fn fail_first(n: u64) -> Self {
        Schedule::FailFirst { n, per: Per::Key }
    }

    /// The n-th, the 2n-th and so on of the link.
    #[must_use]
    pub fn every(n: u64) -> Self {
        Schedule::Every { n, per: Per::Link }
    }

    /// Only the n-th of the link, from 1.
    #[must_use]
    pub fn nth(n: u64) -> Self {
        Schedule::Nth { n, per: Per::Link }
    }

    /// What counts for itself, where anything is counted.
    pub(crate) fn per(&self) -> Option<&Per> {
        match self {
            Schedule::FailFirst { per, .. }
            | Schedule::Every { per, .. }
            | Schedule::Nth { per, .. }
            | Schedule::Sequence { per, .. } => Some(per),
            Schedule::Always | Schedule::Probability { .. } => None,
        }
    }

    pub(crate) fn is_always(&self) -> bool {
        *self == Schedule::Always
    }
}

/// One step of a sequence: the word `pass`, or a fault.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The call passes.
    Pass,
    /// The call meets the fault.
    Fault(Fault),
}

impl Step {
    pub(crate) fn what(&self) -> String {
        match self {
            Step::Pass => "pass".to_owned(),
            Step::Fault(fault) => fault.what(),
        }
    }
}

impl From<Fault> for Step {
    fn from(fault: Fault) -> Self {
        Step::Fault(fault)
    }
}

/// What counts for itself. Calls that have no such thing count together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// The calls of one key.
    #[default]
    Key,
    /// All calls of the link.
    Link,
    /// The calls of one connection.
    Conn,
    /// The calls of one trace.
    Trace,
    /// The calls of one path, without the query.
    Path,
    /// The calls with one value of this header field.
    Header(String),
}

impl Per {
    fn link() -> Self {
        Per::Link
    }

    fn is_link(&self) -> bool {
        *self == Per::Link
    }

    fn is_key(&self) -> bool {
        *self == Per::Key
    }
}

/// What comes after the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Calls pass.
    #[default]
    Pass,
    /// Calls meet the last step again.
    RepeatLast,
    /// The sequence begins anew.
    Cycle,
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Step::Pass => serializer.serialize_str("pass"),
            Step::Fault(fault) => fault.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StepVisitor)
    }
}

/// By hand, because an untagged enum hides which field of the fault is wrong.
struct StepVisitor;

impl<'de> Visitor<'de> for StepVisitor {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`pass` or a fault `{ at = ..., effect = ... }`")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Step, E> {
        if word == "pass" {
            return Ok(Step::Pass);
        }
        Err(E::custom(format!("unknown step `{word}`: write `pass` or a fault {{ at = ..., effect = ... }}")))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Step, A::Error> {
        Fault::deserialize(MapAccessDeserializer::new(map)).map(Step::Fault)
    }
}
