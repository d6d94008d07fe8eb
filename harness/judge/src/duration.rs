//! Durations as people write them: `"200ms"`, `"1.5s"`, `"2m"`.
//!
//! Every duration of a contract and of a declared law passes through here, so there is one grammar: a non-negative
//! decimal number and one of the units `ns`, `us`, `ms`, `s`, `m`, `h`. Fields use
//! `#[serde(with = "judge::duration")]`, optional ones `#[serde(with = "judge::duration::option")]`.

use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::Serializer;
use thiserror::Error;

/// Unit names with their length in nanoseconds, longest first: the order in which [`format`] tries them.
const UNITS: [(&str, u128); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DurationError {
    /// There is no unit, or one that is not known.
    #[error(
        "`{text}` is not a duration: write a number and one of the units ns, us, ms, s, m, h, as in \"200ms\" or \"1.5s\""
    )]
    Unit {
        /// The text as given.
        text: String,
    },
    /// What stands before the unit is not a non-negative decimal number.
    #[error("`{text}` is not a duration: `{number}` is not a non-negative decimal number (units: ns, us, ms, s, m, h)")]
    Number {
        /// The text as given.
        text: String,
        /// The part that was read as a number.
        number: String,
    },
    /// The value has more digits than nanoseconds resolve, or exceeds what a duration can hold.
    #[error("`{text}` is not a duration that can be kept: use at most 500 years and no fraction of a nanosecond")]
    Range {
        /// The text as given.
        text: String,
    },
}

/// Reads a duration. Exact: no floating point is involved.
///
/// # Errors
/// [`DurationError`] names the text and the allowed units.
///
/// ```
/// # use std::time::Duration;
/// assert_eq!(judge::duration::parse("1.5s").unwrap(), Duration::from_millis(1500));
/// assert!(judge::duration::parse("200").unwrap_err().to_string().contains("ms"));
/// ```
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..split].trim_end(), &trimmed[split..]);
    let Some(&(_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(DurationError::Unit { text: text.to_owned() });
    };
    let bad_number = || DurationError::Number { text: text.to_owned(), number: number.to_owned() };
    let out_of_range = || DurationError::Range { text: text.to_owned() };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || number.ends_with('.') {
        return Err(bad_number());
    }
    if whole.len() > 18 || fraction.len() > 12 {
        return Err(out_of_range());
    }
    let whole_nanos = whole.parse::<u128>().map_err(|_| bad_number())? * scale;
    let fraction_nanos = if fraction.is_empty() {
        0
    } else {
        let scaled = fraction.parse::<u128>().map_err(|_| bad_number())? * scale;
        let denominator = 10u128.pow(u32::try_from(fraction.len()).map_err(|_| out_of_range())?);
        if scaled % denominator != 0 {
            return Err(out_of_range());
        }
        scaled / denominator
    };
    // u64 nanoseconds end after 584 years: longer values are typing errors, and `From<Duration>` arithmetic stays safe.
    u64::try_from(whole_nanos + fraction_nanos).map(Duration::from_nanos).map_err(|_| out_of_range())
}

/// Writes a duration so that [`parse`] reads the same value back, in the largest unit that needs at most three decimals.
///
/// ```
/// # use std::time::Duration;
/// assert_eq!(judge::duration::format(Duration::from_micros(1_500)), "1.5ms");
/// assert_eq!(judge::duration::format(Duration::from_secs(120)), "2m");
/// ```
#[must_use]
pub fn format(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0s".to_owned();
    }
    for (unit, scale) in UNITS {
        let (whole, rest) = (nanos / scale, nanos % scale);
        // Minutes and hours read badly with a fraction: only whole ones.
        if whole > 0 && (rest == 0 || (scale <= 1_000_000_000 && rest * 1_000 % scale == 0)) {
            let fraction = format!("{:03}", rest * 1_000 / scale);
            let fraction = fraction.trim_end_matches('0');
            return if fraction.is_empty() { format!("{whole}{unit}") } else { format!("{whole}.{fraction}{unit}") };
        }
    }
    format!("{nanos}ns")
}

/// Serializes a duration as its text.
///
/// # Errors
/// Only those of the serializer.
pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format(*duration))
}

/// Deserializes a duration from its text.
///
/// # Errors
/// The text of a [`DurationError`].
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    deserializer.deserialize_str(Text)
}

/// Takes a text alone, and says what one looks like.
struct Text;

impl Visitor<'_> for Text {
    type Value = Duration;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a duration such as \"200ms\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Duration, E> {
        parse(text).map_err(E::custom)
    }
}

/// A duration within an option.
struct Wrapped(Duration);

impl<'de> Deserialize<'de> for Wrapped {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer).map(Wrapped)
    }
}

/// The same for `Option<Duration>`: combine with `#[serde(default, skip_serializing_if = "Option::is_none")]`.
pub mod option {
    use super::{Deserialize, Deserializer, Duration, Serializer};

    /// Serializes an optional duration as its text, or as nothing.
    ///
    /// # Errors
    /// Only those of the serializer.
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => serializer.serialize_some(&super::format(*duration)),
            None => serializer.serialize_none(),
        }
    }

    /// Deserializes an optional duration.
    ///
    /// # Errors
    /// The text of a [`super::DurationError`].
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<super::Wrapped>::deserialize(deserializer)?.map(|wrapped| wrapped.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Proves that the grammar is closed: every listed text is refused, and the error names it and the units.
    #[test]
    fn refuses_what_is_not_a_duration() {
        for text in [
            "",
            "200",
            "ms",
            "-1s",
            "1e3ms",
            "1.s",
            ".5s",
            "1 week",
            "1S",
            "0.1ns",
            "1s2",
            "99999999999999h",
            "NaNs",
            "٣s",
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(text) && (error.contains("ms") || error.contains("nanosecond")), "{error}");
        }
    }

    /// Proves the value of one text per unit, with and without a fraction.
    #[test]
    fn reads_each_unit() {
        for (text, nanos) in [
            ("7ns", 7),
            ("1.5us", 1_500),
            ("200ms", 200_000_000),
            (" 0.25 s ", 250_000_000),
            ("2m", 120_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("0s", 0),
        ] {
            assert_eq!(parse(text).map(|d| d.as_nanos()), Ok(nanos), "{text}");
        }
    }

    proptest! {
        /// Proves that writing and reading are inverse for every value that can be read.
        #[test]
        fn round_trips(nanos in any::<u64>(), shift in 0u32..50) {
            let duration = Duration::from_nanos(nanos >> shift);
            prop_assert_eq!(parse(&format(duration)), Ok(duration));
        }

        /// Proves that no text makes the reader panic.
        #[test]
        fn never_panics(text in "\\PC{0,12}") {
            let _ = parse(&text);
        }
    }
}
