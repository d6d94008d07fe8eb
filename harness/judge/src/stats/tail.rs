//! The probability of what was seen on a correct service.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Alpha;

/// A tail probability: exact, an upper bound, or undefined.
///
/// There is no way to compare it to a level by accident: [`below`](Tail::below) gives `None` for an undefined tail, and
/// whoever judges must say what `None` means. It means inconclusive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "Wire", from = "Wire")]
pub struct Tail(Kind);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Exact(f64),
    AtMost(f64),
    Undefined,
}

/// The serialized form: reading goes through the constructors again, so a hand-edited file cannot smuggle in a NaN.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wire {
    Exact(f64),
    AtMost(f64),
    Undefined,
}

impl Tail {
    /// The tail of a check that a correct service cannot fail at all: a counting check.
    pub const IMPOSSIBLE: Tail = Tail(Kind::Exact(0.0));
    /// Not computable.
    pub const UNDEFINED: Tail = Tail(Kind::Undefined);

    /// An exact tail probability; undefined unless `0 <= p <= 1`.
    #[must_use]
    pub fn exact(p: f64) -> Tail {
        Tail(if (0.0..=1.0).contains(&p) { Kind::Exact(p) } else { Kind::Undefined })
    }

    /// An upper bound on a tail probability: bounds above 1 are true and become 1; negative ones and NaN are undefined.
    #[must_use]
    pub fn at_most(p: f64) -> Tail {
        Tail(if p >= 0.0 { Kind::AtMost(p.min(1.0)) } else { Kind::Undefined })
    }

    /// The probability, or its upper bound; `None` when undefined.
    #[must_use]
    pub fn probability(self) -> Option<f64> {
        match self.0 {
            Kind::Exact(p) | Kind::AtMost(p) => Some(p),
            Kind::Undefined => None,
        }
    }

    /// Whether the probability is surely at most `alpha`; `None` when undefined: the verdict must be inconclusive.
    #[must_use]
    pub fn below(self, alpha: Alpha) -> Option<bool> {
        self.probability().map(|p| p <= alpha.get())
    }

    /// A bound for the smallest of `tests` such tails (union bound).
    #[must_use]
    pub fn of_several(self, tests: usize) -> Tail {
        self.probability().map_or(Tail::UNDEFINED, |p| Tail::at_most(p * tests.max(1) as f64))
    }

    /// The smaller of two tails; an undefined one makes the result undefined.
    #[must_use]
    pub fn min(self, other: Tail) -> Tail {
        match (self.probability(), other.probability()) {
            (Some(a), Some(b)) => {
                if a <= b {
                    self
                } else {
                    other
                }
            }
            _ => Tail::UNDEFINED,
        }
    }
}

impl From<Tail> for Wire {
    fn from(tail: Tail) -> Wire {
        match tail.0 {
            Kind::Exact(p) => Wire::Exact(p),
            Kind::AtMost(p) => Wire::AtMost(p),
            Kind::Undefined => Wire::Undefined,
        }
    }
}

impl From<Wire> for Tail {
    fn from(wire: Wire) -> Tail {
        match wire {
            Wire::Exact(p) => Tail::exact(p),
            Wire::AtMost(p) => Tail::at_most(p),
            Wire::Undefined => Tail::UNDEFINED,
        }
    }
}

/// Three digits; numbers below 1e-3 in scientific notation.
fn number(p: f64) -> String {
    if p == 0.0 || p >= 1e-3 {
        let text = format!("{p:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{p:.1e}")
    }
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Exact(p) => f.write_str(&number(p)),
            Kind::AtMost(p) => write!(f, "at most {}", number(p)),
            Kind::Undefined => f.write_str("undefined"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that no number that is not a probability becomes one, on construction and on reading.
    #[test]
    fn nan_is_undefined() {
        for tail in
            [Tail::exact(f64::NAN), Tail::at_most(f64::NAN), Tail::exact(1.1), Tail::exact(-0.1), Tail::at_most(-1.0)]
        {
            assert_eq!((tail.probability(), tail.below(Alpha::DEFAULT)), (None, None));
        }
        assert_eq!(Tail::at_most(7.0).probability(), Some(1.0));
        assert_eq!(Tail::UNDEFINED.min(Tail::IMPOSSIBLE), Tail::UNDEFINED);
        let read: Tail = serde_json::from_str(r#"{"exact":7.5}"#).expect("reads");
        assert_eq!(read, Tail::UNDEFINED);
        for tail in [Tail::exact(0.25), Tail::at_most(1e-9), Tail::UNDEFINED] {
            let text = serde_json::to_string(&tail).expect("writes");
            assert_eq!(serde_json::from_str::<Tail>(&text).expect("reads"), tail, "{text}");
        }
    }

    /// Proves the words of each kind.
    #[test]
    fn reads_as_words() {
        assert_eq!(Tail::IMPOSSIBLE.to_string(), "0");
        assert_eq!(Tail::at_most(1e-7).to_string(), "at most 1.0e-7");
        assert_eq!(Tail::exact(0.25).to_string(), "0.25");
        assert_eq!(Tail::UNDEFINED.to_string(), "undefined");
    }
}
