//! Numbers of attributes, and how Go would write them.

use serde::{Serialize, Serializer};

/// A number of an attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AttributeValue {
    /// A whole number (Go's `int64`).
    Int(i64),
    /// A fraction (Go's `float64`).
    Float(f64),
}

/// Why an attribute cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttributeError {
    /// The type has no such attribute.
    #[error("`{kind}` has no attribute `{key}`; it has: {known}")]
    Unknown {
        /// The toxic's type.
        kind: &'static str,
        /// The key that was asked for.
        key: String,
        /// The keys there are.
        known: String,
    },
    /// The attribute takes whole numbers only.
    #[error("`{key}` of `{kind}` must be a whole number")]
    NotWhole {
        /// The toxic's type.
        kind: &'static str,
        /// The key.
        key: &'static str,
    },
}

/// Written as Go writes it: `1` rather than `1.0`, and else the shortest text that reads back as the same number.
pub(super) struct Short<T>(pub(super) T);

/// Up to here every whole number is written digit by digit in both languages and fits an `i64`.
const WHOLE: f64 = 9.0e15;

impl Serialize for Short<f32> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wide = f64::from(self.0);
        if wide.fract() == 0.0 && wide.abs() < f64::from(1 << 24) {
            return serializer.serialize_i64(wide as i64);
        }
        serializer.serialize_f32(self.0)
    }
}

impl Serialize for Short<f64> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < WHOLE {
            return serializer.serialize_i64(self.0 as i64);
        }
        serializer.serialize_f64(self.0)
    }
}
