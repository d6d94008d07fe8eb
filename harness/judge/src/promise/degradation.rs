//! What a service answers from memory while its dependency cannot be asked.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::duration;

/// The promise about answers that do not come from the dependency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DegradationPolicy {
    /// Where a payment's confirmation is read: a path on the service, with `{id}`.
    pub read: String,
    /// Where the answer to a payment holds that id.
    #[serde(default = "id")]
    pub id: Place,
    /// What marks a degraded answer.
    pub marker: Place,
    /// What says how old it is.
    pub age: Place,
    /// The unit of that age.
    #[serde(default)]
    pub age_unit: AgeUnit,
    /// No degraded answer is older.
    #[serde(with = "duration")]
    pub max_age: Duration,
    /// Within this time of the dependency's recovery answers are fresh again.
    #[serde(with = "duration")]
    pub fresh_within: Duration,
    /// Where an answer says how the payment stands.
    #[serde(default = "status")]
    pub status: Place,
    /// The words there that tell a client that the money has moved.
    pub confirmed: Vec<String>,
}

/// A place in an answer: a header's name, or a JSON pointer into the body, which begins with `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// A header.
    Header(String),
    /// A member of the JSON body.
    Member(String),
}

impl Place {
    /// From its text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        if text.starts_with('/') { Place::Member(text.to_owned()) } else { Place::Header(text.to_owned()) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Place::Header(text) | Place::Member(text)) = self;
        f.write_str(text)
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Self::new(&String::deserialize(d)?))
    }
}

/// The unit in which a service tells an age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum AgeUnit {
    /// Seconds, as the header `Age` has them.
    #[default]
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Millis,
}

impl AgeUnit {
    /// One unit: by so much a whole number may be cut off.
    #[must_use]
    pub fn granule(self) -> Duration {
        match self {
            AgeUnit::Seconds => Duration::from_secs(1),
            AgeUnit::Millis => Duration::from_millis(1),
        }
    }

    /// An age as a service tells it; `None` when it is not a number of units from zero on that a duration can hold.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use judge::promise::AgeUnit;
    /// assert_eq!(AgeUnit::Seconds.read("2"), Some(Duration::from_secs(2)));
    /// assert_eq!(AgeUnit::Millis.read(" 2.5 "), Some(Duration::from_micros(2500)));
    /// assert_eq!(AgeUnit::Millis.read("NaN"), None);
    /// ```
    #[must_use]
    pub fn read(self, text: &str) -> Option<Duration> {
        let number: f64 = text.trim().parse().ok()?;
        Duration::try_from_secs_f64(number * self.granule().as_secs_f64()).ok()
    }
}

fn id() -> Place {
    Place::new("/id")
}

fn status() -> Place {
    Place::new("/status")
}
