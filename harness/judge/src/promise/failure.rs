//! The ways in which an attempt fails.

use serde::{Deserialize, Serialize};

/// A way for an attempt to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Failure {
    /// A reply with this status.
    Status(u16),
    /// The connection is accepted and reset before a byte is read.
    Refuse,
    /// The request is read and answered with RST.
    Reset,
    /// The request is read and the connection closed.
    Cut,
    /// The request is read and never answered.
    Hang,
    /// The upstream answered; the answer was lost.
    Lost,
}

impl Failure {
    const WORDS: [(&'static str, Failure); 5] = [
        ("refuse", Failure::Refuse),
        ("reset", Failure::Reset),
        ("cut", Failure::Cut),
        ("hang", Failure::Hang),
        ("lost", Failure::Lost),
    ];
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Failure::Status(status) = self {
            return write!(f, "{status}");
        }
        f.write_str(Self::WORDS.iter().find(|(_, x)| x == self).map_or("?", |(word, _)| word))
    }
}

impl Serialize for Failure {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Failure::Status(status) => s.serialize_u16(*status),
            other => s.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for Failure {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Words;
        impl serde::de::Visitor<'_> for Words {
            type Value = Failure;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a status from 400 to 599, or one of \"refuse\", \"reset\", \"cut\", \"hang\", \"lost\"")
            }
            fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<Failure, E> {
                u64::try_from(v)
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(v), &self))
                    .and_then(|v| self.visit_u64(v))
            }
            fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<Failure, E> {
                match u16::try_from(v) {
                    Ok(status @ 400..=599) => Ok(Failure::Status(status)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Unsigned(v), &self)),
                }
            }
            fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<Failure, E> {
                let known = Failure::WORDS.iter().find(|(word, _)| *word == v);
                known.map(|(_, x)| *x).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(v), &self))
            }
        }
        d.deserialize_any(Words)
    }
}
