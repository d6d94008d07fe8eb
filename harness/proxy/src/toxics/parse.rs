//! Reads toxics strictly, for our own endpoints: unknown fields are refused and a refusal names the field. (Toxiproxy's
//! endpoints read as Go does; that is the control plane's business.)

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::kind::{Share, ToxicKind};
use super::number::AttributeValue;
use super::spec::{Stream, Toxic};
use crate::physics::Distribution;

/// Longest name of a toxic, in bytes.
const MAX_NAME: usize = 256;

/// Why a toxic cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
pub struct ToxicParseError {
    /// The field, e.g. `attributes.latency`.
    pub field: String,
    /// What is wrong with it and what would do.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(rename = "type")]
    type_name: String,
    name: Option<String>,
    stream: Option<String>,
    toxicity: Option<f32>,
    #[serde(default)]
    attributes: serde_json::Map<String, Value>,
}

impl Toxic {
    /// Reads a toxic of any type, Toxiproxy's or ours: `{ "type", "name"?, "stream"?, "toxicity"?, "attributes"? }`, with
    /// Toxiproxy's defaults (`<type>_<stream>`, `downstream`, 1). Attributes of ours have no default but `per`.
    ///
    /// # Errors
    /// Names the field that does not hold.
    pub fn from_json(value: Value) -> Result<Self, ToxicParseError> {
        let raw: Raw = serde_json::from_value(value).map_err(|e| refusal("toxic", e))?;
        let stream = Stream::parse(raw.stream.unwrap_or_else(|| "downstream".to_owned()));
        let stream = stream.map_err(|e| refusal("stream", e))?;
        let kind = kind(&raw.type_name, raw.attributes)?;
        let mut toxic = Toxic::new(kind, stream);
        if let Some(name) = raw.name {
            let holds = !name.is_empty() && name.len() <= MAX_NAME && !name.contains(char::is_control);
            if !holds {
                return Err(refusal("name", format!("must be 1 to {MAX_NAME} bytes without control characters")));
            }
            toxic.name = name;
        }
        if let Some(toxicity) = raw.toxicity {
            if !(0.0..=1.0).contains(&toxicity) {
                return Err(refusal("toxicity", "must be from 0 to 1"));
            }
            toxic.toxicity = toxicity;
        }
        Ok(toxic)
    }
}

fn kind(type_name: &str, attributes: serde_json::Map<String, Value>) -> Result<ToxicKind, ToxicParseError> {
    if let Some(mut kind) = ToxicKind::toxiproxy(type_name) {
        for (key, value) in attributes {
            let field = format!("attributes.{key}");
            let number = match (value.as_i64(), value.as_f64()) {
                (Some(n), _) => AttributeValue::Int(n),
                (None, Some(x)) => AttributeValue::Float(x),
                (None, None) => return Err(refusal(&field, "must be a number")),
            };
            kind.set(&key, number).map_err(|e| refusal(&field, e))?;
        }
        return Ok(kind);
    }
    own(type_name, attributes)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DelayAttributes {
    distribution: Distribution,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThrottleAttributes {
    bytes_per_s: u64,
    #[serde(default)]
    per: Share,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResetAttributes {
    after_bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoAttributes {}

fn own(type_name: &str, attributes: serde_json::Map<String, Value>) -> Result<ToxicKind, ToxicParseError> {
    Ok(match type_name {
        "delay" => {
            let DelayAttributes { distribution } = read(attributes)?;
            let checked = distribution.check();
            checked.map_err(|e| refusal(&format!("attributes.distribution.{}", e.field), e.expected))?;
            ToxicKind::Delay { distribution }
        }
        "throttle" => {
            let ThrottleAttributes { bytes_per_s, per } = read(attributes)?;
            if bytes_per_s == 0 {
                return Err(refusal("attributes.bytes_per_s", "must be at least 1; `cut` lets nothing through"));
            }
            ToxicKind::Throttle { bytes_per_s, per }
        }
        "cut" => {
            let NoAttributes {} = read(attributes)?;
            ToxicKind::Cut
        }
        "reset" => {
            let ResetAttributes { after_bytes } = read(attributes)?;
            ToxicKind::Reset { after_bytes }
        }
        other => {
            let known = [&ToxicKind::TOXIPROXY[..], &ToxicKind::OWN[..]].concat().join(", ");
            return Err(refusal("type", format!("`{other}` is no toxic; the types are: {known}")));
        }
    })
}

fn read<T: DeserializeOwned>(attributes: serde_json::Map<String, Value>) -> Result<T, ToxicParseError> {
    serde_json::from_value(Value::Object(attributes)).map_err(|e| refusal("attributes", e))
}

fn refusal(field: &str, why: impl ToString) -> ToxicParseError {
    ToxicParseError { field: field.to_owned(), why: why.to_string() }
}
