//! What a toxic does, with its attributes.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::number::{AttributeError, AttributeValue, Short};
use crate::physics::Distribution;

/// What a toxic does. The first nine are Toxiproxy's, with its units and semantics; negative numbers are accepted
/// there. The rest is ours and never shows in Toxiproxy's arrays.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToxicKind {
    /// Each chunk leaves at its arrival + `latency` ms + U[-`jitter`, +`jitter`) ms.
    Latency {
        /// Milliseconds.
        latency: i64,
        /// Milliseconds.
        jitter: i64,
    },
    /// At most `rate` kB (1000 bytes) a second on each connection; 0 or less stalls.
    Bandwidth {
        /// Thousands of bytes a second.
        rate: i64,
    },
    /// The end of the stream is passed on `delay` ms late.
    SlowClose {
        /// Milliseconds.
        delay: i64,
    },
    /// Drops everything, and closes after `timeout` ms; 0 never closes. Removing it closes.
    Timeout {
        /// Milliseconds.
        timeout: i64,
    },
    /// Sends RST to both sides after `timeout` ms.
    ResetPeer {
        /// Milliseconds.
        timeout: i64,
    },
    /// Cuts chunks into pieces, with a pause after each.
    Slicer {
        /// Bytes.
        average_size: i64,
        /// Bytes.
        size_variation: i64,
        /// Microseconds.
        delay: i64,
    },
    /// Passes `bytes` bytes, then closes both sides.
    LimitData {
        /// Bytes.
        bytes: i64,
    },
    /// Passes everything.
    Noop,
    /// Drops whole chunks.
    PacketLoss {
        /// Probability that a chunk is dropped.
        loss_rate: f64,
        /// What is added to it right after a drop.
        correlation: f64,
    },

    /// Each chunk leaves late by a draw from a distribution; order is kept.
    Delay {
        /// How late.
        distribution: Distribution,
    },
    /// A limit of bytes a second, for each connection or for all connections of the link together.
    Throttle {
        /// Bytes a second, at least 1.
        bytes_per_s: u64,
        /// What shares the limit.
        per: Share,
    },
    /// The direction goes silent: its bytes and its FIN vanish, the other direction flows. When it is removed the FIN
    /// is made up for, the bytes are not.
    Cut,
    /// RST to both sides after `after_bytes` bytes of the direction; at 0 at once, also on idle connections.
    Reset {
        /// Bytes that pass first.
        after_bytes: u64,
    },
}

/// What shares a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// Each connection has its own.
    #[default]
    Connection,
    /// All connections of the link share one (for the direction of the toxic).
    Link,
}

impl ToxicKind {
    /// Toxiproxy's types, as they are spelled.
    pub const TOXIPROXY: [&str; 9] =
        ["latency", "bandwidth", "slow_close", "timeout", "reset_peer", "slicer", "limit_data", "noop", "packet_loss"];
    /// Our own types, as they are spelled.
    pub const OWN: [&str; 4] = ["delay", "throttle", "cut", "reset"];

    /// One of Toxiproxy's types with all attributes zero; `None` when it has no such type.
    #[must_use]
    pub fn toxiproxy(type_name: &str) -> Option<Self> {
        Some(match type_name {
            "latency" => Self::Latency { latency: 0, jitter: 0 },
            "bandwidth" => Self::Bandwidth { rate: 0 },
            "slow_close" => Self::SlowClose { delay: 0 },
            "timeout" => Self::Timeout { timeout: 0 },
            "reset_peer" => Self::ResetPeer { timeout: 0 },
            "slicer" => Self::Slicer { average_size: 0, size_variation: 0, delay: 0 },
            "limit_data" => Self::LimitData { bytes: 0 },
            "noop" => Self::Noop,
            "packet_loss" => Self::PacketLoss { loss_rate: 0.0, correlation: 0.0 },
            _ => return None,
        })
    }

    /// Its type, as it is spelled in JSON.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Latency { .. } => "latency",
            Self::Bandwidth { .. } => "bandwidth",
            Self::SlowClose { .. } => "slow_close",
            Self::Timeout { .. } => "timeout",
            Self::ResetPeer { .. } => "reset_peer",
            Self::Slicer { .. } => "slicer",
            Self::LimitData { .. } => "limit_data",
            Self::Noop => "noop",
            Self::PacketLoss { .. } => "packet_loss",
            Self::Delay { .. } => "delay",
            Self::Throttle { .. } => "throttle",
            Self::Cut => "cut",
            Self::Reset { .. } => "reset",
        }
    }

    /// Whether Toxiproxy has it, so that it may show in Toxiproxy's arrays.
    #[must_use]
    pub fn is_toxiproxy(&self) -> bool {
        Self::TOXIPROXY.contains(&self.type_name())
    }

    /// Attributes of Toxiproxy's types by key, in the order of its JSON; none for our own types.
    #[must_use]
    pub fn numbers(&self) -> Vec<(&'static str, AttributeValue)> {
        use AttributeValue::{Float, Int};
        match *self {
            Self::Latency { latency, jitter } => vec![("latency", Int(latency)), ("jitter", Int(jitter))],
            Self::Bandwidth { rate } => vec![("rate", Int(rate))],
            Self::SlowClose { delay } => vec![("delay", Int(delay))],
            Self::Timeout { timeout } | Self::ResetPeer { timeout } => vec![("timeout", Int(timeout))],
            Self::Slicer { average_size, size_variation, delay } => vec![
                ("average_size", Int(average_size)),
                ("size_variation", Int(size_variation)),
                ("delay", Int(delay)),
            ],
            Self::LimitData { bytes } => vec![("bytes", Int(bytes))],
            Self::PacketLoss { loss_rate, correlation } => {
                vec![("loss_rate", Float(loss_rate)), ("correlation", Float(correlation))]
            }
            Self::Noop | Self::Delay { .. } | Self::Throttle { .. } | Self::Cut | Self::Reset { .. } => Vec::new(),
        }
    }

    /// Sets one attribute of a Toxiproxy type; a whole number also fits where a fraction does.
    ///
    /// # Errors
    /// When the type has no such attribute (keys are compared exactly), or it takes whole numbers only. Nothing is
    /// changed then.
    pub fn set(&mut self, key: &str, value: AttributeValue) -> Result<(), AttributeError> {
        let kind = self.type_name();
        let known: Vec<_> = self.numbers().into_iter().map(|(key, _)| key).collect();
        let Some((key, slot)) = self.slot(key) else {
            return Err(AttributeError::Unknown { kind, key: key.to_owned(), known: known.join(", ") });
        };
        match (slot, value) {
            (Slot::Whole(slot), AttributeValue::Int(n)) => *slot = n,
            (Slot::Whole(_), AttributeValue::Float(_)) => return Err(AttributeError::NotWhole { kind, key }),
            (Slot::Fraction(slot), AttributeValue::Int(n)) => *slot = n as f64,
            (Slot::Fraction(slot), AttributeValue::Float(x)) => *slot = x,
        }
        Ok(())
    }

    fn slot(&mut self, key: &str) -> Option<(&'static str, Slot<'_>)> {
        Some(match (self, key) {
            (Self::Latency { latency, .. }, "latency") => ("latency", Slot::Whole(latency)),
            (Self::Latency { jitter, .. }, "jitter") => ("jitter", Slot::Whole(jitter)),
            (Self::Bandwidth { rate }, "rate") => ("rate", Slot::Whole(rate)),
            (Self::SlowClose { delay } | Self::Slicer { delay, .. }, "delay") => ("delay", Slot::Whole(delay)),
            (Self::Timeout { timeout } | Self::ResetPeer { timeout }, "timeout") => ("timeout", Slot::Whole(timeout)),
            (Self::Slicer { average_size, .. }, "average_size") => ("average_size", Slot::Whole(average_size)),
            (Self::Slicer { size_variation, .. }, "size_variation") => ("size_variation", Slot::Whole(size_variation)),
            (Self::LimitData { bytes }, "bytes") => ("bytes", Slot::Whole(bytes)),
            (Self::PacketLoss { loss_rate, .. }, "loss_rate") => ("loss_rate", Slot::Fraction(loss_rate)),
            (Self::PacketLoss { correlation, .. }, "correlation") => ("correlation", Slot::Fraction(correlation)),
            _ => return None,
        })
    }

    /// The JSON of its attributes.
    pub(super) fn attributes(&self) -> Attributes<'_> {
        Attributes(self)
    }
}

enum Slot<'a> {
    Whole(&'a mut i64),
    Fraction(&'a mut f64),
}

/// Writes the attributes of a kind.
pub(super) struct Attributes<'a>(&'a ToxicKind);

impl Serialize for Attributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.0.numbers() {
            match value {
                AttributeValue::Int(n) => map.serialize_entry(key, &n)?,
                AttributeValue::Float(x) => map.serialize_entry(key, &Short(x))?,
            }
        }
        match self.0 {
            ToxicKind::Delay { distribution } => map.serialize_entry("distribution", distribution)?,
            ToxicKind::Throttle { bytes_per_s, per } => {
                map.serialize_entry("bytes_per_s", bytes_per_s)?;
                map.serialize_entry("per", per)?;
            }
            ToxicKind::Reset { after_bytes } => map.serialize_entry("after_bytes", after_bytes)?,
            _ => {}
        }
        map.end()
    }
}
