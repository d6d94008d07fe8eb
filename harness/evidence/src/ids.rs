//! Identities by which records of different witnesses are joined.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why a text is not an identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct IdError {
    text: String,
    expected: &'static str,
}

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $bytes:literal, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; $bytes]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                let wrong = || IdError { text: text.to_owned(), expected: $expected };
                if text.len() != 2 * $bytes || !is_hex(text) {
                    return Err(wrong());
                }
                let mut out = [0; $bytes];
                for (i, b) in out.iter_mut().enumerate() {
                    *b = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).map_err(|_| wrong())?;
                }
                if out.iter().all(|b| *b == 0) { Err(wrong()) } else { Ok(Self(out)) }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

hex_id!(
    /// A W3C trace id: 16 bytes, not all zero, written as 32 hexadecimal digits.
    TraceId, 16, "a trace id of 32 hexadecimal digits, not all zero"
);
hex_id!(
    /// A W3C span id: 8 bytes, not all zero, written as 16 hexadecimal digits.
    SpanId, 8, "a span id of 16 hexadecimal digits, not all zero"
);

/// Digits only: a number's sign, which the standard library would read, is none.
fn is_hex(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The trace context of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TraceContext {
    /// The trace that the message belongs to.
    pub trace: TraceId,
    /// The span that sent it.
    pub parent: SpanId,
}

impl TraceContext {
    /// Reads a `traceparent` header (W3C Trace Context, version 00 and later). `None` when it is not well formed.
    #[must_use]
    pub fn from_traceparent(header: &str) -> Option<Self> {
        let mut parts = header.trim().split('-');
        let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let version_ok = version.len() == 2 && is_hex(version) && !version.eq_ignore_ascii_case("ff");
        let flags_ok = flags.len() == 2 && is_hex(flags);
        if !version_ok || !flags_ok || (version == "00" && parts.next().is_some()) {
            return None;
        }
        Some(Self { trace: trace.parse().ok()?, parent: parent.parse().ok()? })
    }

    /// The `traceparent` header of this context, sampled.
    #[must_use]
    pub fn to_traceparent(&self) -> String {
        format!("00-{}-{}-01", self.trace, self.parent)
    }
}
