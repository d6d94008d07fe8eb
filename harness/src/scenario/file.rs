//! The parts of a scenario file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use judge::expect::Bound;
use judge::{Ruling, duration};
use serde::{Deserialize, Serialize};

use super::fault_word::FaultWord;
use crate::contract::Promises;

/// The version of the scenario format that this build reads.
pub const VERSION: u32 = 1;

/// A scenario: one load under a timeline of faults, for each variant of a service.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// Format version; 1.
    pub version: u32,
    /// Name in reports and folders.
    pub name: String,
    /// What it shows, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The contract of the service, relative to this file.
    pub contract: String,
    /// Ids of the checks that judge each variant.
    pub checks: Vec<String>,
    /// How every variant of the service is started.
    #[serde(default)]
    pub service: Setup,
    /// The client.
    #[serde(default)]
    pub client: ClientSpec,
    /// Promises in place of the contract's.
    #[serde(default)]
    pub promises: Promises,
    /// What S1 measures by.
    #[serde(default)]
    pub storm: Storm,
    /// What the bank can do; without it any number of calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank: Option<BankSpec>,
    /// Payments without a fault, before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steady>,
    /// What is asked while the faults come and go.
    pub load: LoadSpec,
    /// The faults, by time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultSpec>,
    /// The variants, run one after another in this order.
    pub variants: Vec<Variant>,
    /// Directory against which the contract's path is read; where the file lies.
    #[serde(skip)]
    pub dir: PathBuf,
    /// The text it was read from, kept with every run.
    #[serde(skip)]
    pub text: String,
}

/// How every variant of the service is started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    /// Which of the contract's `[isolate.*]` tables applies.
    pub isolate: Isolate,
    /// Environment on top of the contract's.
    pub env: BTreeMap<String, String>,
}

/// A table of the contract that isolates one promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolate {
    /// None: the service as declared.
    #[default]
    None,
    /// `[isolate.retry]`.
    Retry,
    /// `[isolate.breaker]`.
    Breaker,
}

/// The client.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientSpec {
    /// When it calls an outcome unknown, in place of the contract's `request.timeout`.
    #[serde(with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
}

/// What S1 measures by.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Storm {
    /// Length of the sliding window.
    #[serde(with = "duration")]
    pub window: Duration,
}

impl Default for Storm {
    fn default() -> Self {
        Self { window: Duration::from_millis(100) }
    }
}

/// What the mock bank can do: calls beyond it queue, and are worked on also when their caller has left.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BankSpec {
    /// Calls that are worked on at once.
    pub at_once: usize,
    /// How long each takes.
    #[serde(with = "duration")]
    pub work: Duration,
}

/// Payments without a fault, before the first fault (`baseline/before`) and after the last (`baseline/after`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Steady {
    /// How many, each time.
    pub payments: usize,
    /// How many at a time.
    #[serde(default = "four")]
    pub in_flight: usize,
    /// How long the service is left alone between the end of the last fault and the payments after it.
    #[serde(default, with = "duration")]
    pub settle: Duration,
}

/// What is asked while the faults come and go. Times of faults count from its first payment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// Name of the step in the evidence: checks select by it.
    #[serde(default = "load")]
    pub step: String,
    /// How many payments.
    pub payments: usize,
    /// How they lie in time.
    #[serde(default)]
    pub shape: ShapeWord,
    /// `waves` only: how many at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<usize>,
    /// `paced` only: the time over which they are sent, evenly, whatever becomes of those before.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub over: Option<Duration>,
}

/// How payments lie in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeWord {
    /// All behind a barrier.
    #[default]
    AtOnce,
    /// Each after the answer to the one before.
    OneByOne,
    /// A number in flight.
    Waves,
    /// Evenly over a time, an open model: nobody waits for an answer.
    Paced,
}

/// A fault and its time.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// The link that it strikes; the contract's main link when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What goes wrong.
    pub what: FaultWord,
    /// `slow` only: how long the answer is kept back.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// From when.
    #[serde(default, with = "duration")]
    pub from: Duration,
    /// Until when.
    #[serde(default)]
    pub to: Until,
    /// Only the first so many attempts of each payment; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// How often it must strike at least; fewer strikes make the run inconclusive.
    #[serde(default = "once")]
    pub strikes: u64,
}

/// When a fault ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Until {
    /// When every payment of the load has been answered.
    #[default]
    Answered,
    /// At that time.
    At(Duration),
}

impl Until {
    const WORD: &'static str = "answered";
}

impl Serialize for Until {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Until::Answered => s.serialize_str(Self::WORD),
            Until::At(at) => s.serialize_str(&duration::format(*at)),
        }
    }
}

impl<'de> Deserialize<'de> for Until {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        if text == Self::WORD {
            return Ok(Until::Answered);
        }
        let problem = |e| serde::de::Error::custom(format!("`{text}` is neither \"answered\" nor a time: {e}"));
        duration::parse(&text).map(Until::At).map_err(problem)
    }
}

/// A variant of the service.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Whether it is known to be wrong: then its checks must rule as `expect` says, and it proves that they can.
    #[serde(default)]
    pub control: bool,
    /// Environment on top of everybody's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Rulings of a control by check id; every check that is not named must pass.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expect: BTreeMap<String, Ruling>,
    /// Numbers of its findings and their bounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<Bound>,
}

fn four() -> usize {
    4
}
fn once() -> u64 {
    1
}
fn load() -> String {
    "load".to_owned()
}
