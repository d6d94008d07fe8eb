//! What a rule is expected to see, told when it is asked for and when it goes out of force.

use serde::{Deserialize, Serialize};

/// Expectations of one rule; each that is given has to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// It strikes at least so often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fired_at_least: Option<u64>,
    /// It strikes exactly so often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fired_exactly: Option<u64>,
    /// Of the calls that it looks at, struck or not, never more than so many are in flight at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_at_most: Option<u64>,
}

/// One expectation and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which one, in the words of the grammar.
    pub expected: &'static str,
    /// The number that was given.
    pub wanted: u64,
    /// The number that was seen; of calls in flight the most at once.
    pub seen: u64,
    /// Whether it holds.
    pub met: bool,
}

impl Expect {
    /// Each expectation beside what was seen.
    #[must_use]
    pub fn findings(&self, fired: u64, most_in_flight: u64) -> Vec<Finding> {
        let least = self.fired_at_least.map(|wanted| ("fired_at_least", wanted, fired, fired >= wanted));
        let exactly = self.fired_exactly.map(|wanted| ("fired_exactly", wanted, fired, fired == wanted));
        let most = self
            .in_flight_at_most
            .map(|wanted| ("in_flight_at_most", wanted, most_in_flight, most_in_flight <= wanted));
        [least, exactly, most]
            .into_iter()
            .flatten()
            .map(|(expected, wanted, seen, met)| Finding { expected, wanted, seen, met })
            .collect()
    }
}
