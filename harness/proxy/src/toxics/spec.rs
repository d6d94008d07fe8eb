//! A toxic as data: its name, what it does, on which direction, and how probably.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::kind::ToxicKind;
use super::number::Short;

/// A toxic.
///
/// Its JSON is Toxiproxy's: `attributes`, `name`, `type`, `stream`, `toxicity`, in this order.
#[derive(Debug, Clone, PartialEq)]
pub struct Toxic {
    /// Its name, unique on its link over both directions.
    pub name: String,
    /// What it does.
    pub kind: ToxicKind,
    /// The direction it works on, with the caller's spelling.
    pub stream: Stream,
    /// The probability that a connection gets it. Not bounded: above 1 is always, below 0 never.
    pub toxicity: f32,
}

impl Toxic {
    /// A toxic that every connection gets, with Toxiproxy's default name, `<type>_<stream>`.
    #[must_use]
    pub fn new(kind: ToxicKind, stream: impl Into<Stream>) -> Self {
        let stream = stream.into();
        Self { name: format!("{}_{}", kind.type_name(), stream.text()), kind, stream, toxicity: 1.0 }
    }

    /// Sets its name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the probability that a connection gets it.
    #[must_use]
    pub fn toxicity(mut self, toxicity: f32) -> Self {
        self.toxicity = toxicity;
        self
    }

    /// The direction it works on.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.stream.direction
    }
}

impl Serialize for Toxic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Toxic", 5)?;
        object.serialize_field("attributes", &self.kind.attributes())?;
        object.serialize_field("name", &self.name)?;
        object.serialize_field("type", self.kind.type_name())?;
        object.serialize_field("stream", self.stream.text())?;
        object.serialize_field("toxicity", &Short(self.toxicity))?;
        object.end()
    }
}

/// The two directions of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the client to the upstream.
    Upstream,
    /// From the upstream to the client.
    Downstream,
}

/// A direction as somebody spelled it. The spelling is kept: it is echoed, and is part of default names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    direction: Direction,
    text: String,
}

/// A word that is no direction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no stream; write `upstream` or `downstream`")]
pub struct StreamError(pub String);

impl Stream {
    /// Reads `upstream` or `downstream` in any case.
    ///
    /// # Errors
    /// When it is neither, also when it is empty.
    pub fn parse(text: impl Into<String>) -> Result<Self, StreamError> {
        let text = text.into();
        let direction = match text.to_ascii_lowercase().as_str() {
            "upstream" => Direction::Upstream,
            "downstream" => Direction::Downstream,
            _ => return Err(StreamError(text)),
        };
        Ok(Self { direction, text })
    }

    /// The direction.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// As it was spelled.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl From<Direction> for Stream {
    fn from(direction: Direction) -> Self {
        let text = match direction {
            Direction::Upstream => "upstream",
            Direction::Downstream => "downstream",
        };
        Self { direction, text: text.to_owned() }
    }
}
