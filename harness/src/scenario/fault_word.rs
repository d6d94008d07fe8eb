//! What goes wrong, in the words of a scenario file.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::faults::Fault;

/// A status that the proxy answers with, or a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultWord {
    /// The proxy answers with this status; the dependency is not asked.
    Status(u16),
    /// The dependency's answer is kept back for a time.
    Slow,
    /// Any other fault.
    Plain(Fault),
}

/// The words, with what they mean.
const WORDS: [(&str, FaultWord); 10] = [
    ("slow", FaultWord::Slow),
    ("refuse", FaultWord::Plain(Fault::Refuse)),
    ("reset", FaultWord::Plain(Fault::Reset)),
    ("cut", FaultWord::Plain(Fault::Cut)),
    ("cut-after-request", FaultWord::Plain(Fault::CutAfterRequest)),
    ("torn", FaultWord::Plain(Fault::Torn)),
    ("lost", FaultWord::Plain(Fault::LostReset)),
    ("lost-reset", FaultWord::Plain(Fault::LostReset)),
    ("lost-close", FaultWord::Plain(Fault::LostClose)),
    ("hang", FaultWord::Plain(Fault::Hang)),
];

impl FaultWord {
    /// All words.
    pub fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().map(|(word, _)| *word)
    }

    /// The fault; `delay` is read for a slow answer only.
    pub(super) fn fault(self, delay: Option<Duration>) -> Fault {
        match self {
            FaultWord::Status(status) => Fault::Status(status),
            FaultWord::Slow => Fault::Slow(delay.unwrap_or_default()),
            FaultWord::Plain(fault) => fault,
        }
    }
}

impl Serialize for FaultWord {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            FaultWord::Status(status) => s.serialize_u16(*status),
            other => s.serialize_str(WORDS.iter().find(|(_, w)| w == other).map_or("?", |(word, _)| word)),
        }
    }
}

impl<'de> Deserialize<'de> for FaultWord {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Words;
        impl serde::de::Visitor<'_> for Words {
            type Value = FaultWord;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let words: Vec<_> = FaultWord::words().map(|w| format!("\"{w}\"")).collect();
                write!(f, "a status from 400 to 599, or one of {}", words.join(", "))
            }
            fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<FaultWord, E> {
                match u16::try_from(v) {
                    Ok(status @ 400..=599) => Ok(FaultWord::Status(status)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Signed(v), &self)),
                }
            }
            fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<FaultWord, E> {
                let known = WORDS.iter().find(|(word, _)| *word == v);
                known.map(|(_, x)| *x).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(v), &self))
            }
        }
        d.deserialize_any(Words)
    }
}
