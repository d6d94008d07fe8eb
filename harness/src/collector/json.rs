//! Trace requests in OTLP's JSON encoding.
//!
//! The proto3 JSON mapping with OTLP's changes: lowerCamelCase names, identities in hexadecimal, enumerations as
//! integers, 64-bit integers as text or number, `null` or absence for a default, unknown names ignored. The documents
//! have structs of their own so that one bad identity rejects one span by partial success, not the whole request.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::proto::UNKNOWN_SERVICE;
use super::raw::{RawEvent, RawId, RawResource, RawSpan};
use super::value::double;

pub(super) fn decode(bytes: &[u8]) -> Result<Vec<RawResource>, serde_json::Error> {
    // Serde would read a struct from an array too, field by field.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(de::Error::custom("a request is an object, not an array"));
    }
    Ok(serde_json::from_slice::<Request>(bytes)?.resource_spans.into_iter().map(ResourceSpans::into_raw).collect())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    #[serde(default, deserialize_with = "or_default")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans {
    #[serde(default, deserialize_with = "or_default")]
    resource: Resource,
    #[serde(default, deserialize_with = "or_default")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Deserialize, Default)]
struct Resource {
    #[serde(default, deserialize_with = "or_default")]
    attributes: Vec<KeyValue>,
}

#[derive(Deserialize, Default)]
struct ScopeSpans {
    #[serde(default, deserialize_with = "or_default")]
    spans: Vec<Span>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Span {
    #[serde(default, deserialize_with = "or_default")]
    trace_id: Hex,
    #[serde(default, deserialize_with = "or_default")]
    span_id: Hex,
    #[serde(default, deserialize_with = "or_default")]
    parent_span_id: Hex,
    #[serde(default, deserialize_with = "or_default")]
    flags: Int<u32>,
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    kind: Enumeration,
    #[serde(default, deserialize_with = "or_default")]
    start_time_unix_nano: Int<u64>,
    #[serde(default, deserialize_with = "or_default")]
    end_time_unix_nano: Int<u64>,
    #[serde(default, deserialize_with = "or_default")]
    attributes: Vec<KeyValue>,
    #[serde(default, deserialize_with = "or_default")]
    events: Vec<Event>,
    #[serde(default, deserialize_with = "or_default")]
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(default, deserialize_with = "or_default")]
    time_unix_nano: Int<u64>,
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    attributes: Vec<KeyValue>,
}

#[derive(Deserialize, Default)]
struct Status {
    #[serde(default, deserialize_with = "or_default")]
    code: Enumeration,
}

#[derive(Deserialize, Default)]
struct KeyValue {
    #[serde(default, deserialize_with = "or_default")]
    key: String,
    #[serde(default, deserialize_with = "or_default")]
    value: AnyValue,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct AnyValue {
    string_value: Option<String>,
    bool_value: Option<bool>,
    int_value: Option<Int<i64>>,
    double_value: Option<Double>,
    array_value: Option<List<AnyValue>>,
    kvlist_value: Option<List<KeyValue>>,
    bytes_value: Option<String>,
}

#[derive(Deserialize)]
struct List<T> {
    #[serde(default = "Vec::new", deserialize_with = "or_default", bound(deserialize = "T: Deserialize<'de>"))]
    values: Vec<T>,
}

impl ResourceSpans {
    fn into_raw(self) -> RawResource {
        let named = self.resource.attributes.into_iter().find(|kv| kv.key == "service.name");
        RawResource {
            service: named
                .and_then(|kv| kv.value.string_value)
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| UNKNOWN_SERVICE.to_owned()),
            spans: self.scope_spans.into_iter().flat_map(|s| s.spans).map(Span::into_raw).collect(),
        }
    }
}

impl Span {
    fn into_raw(self) -> RawSpan {
        RawSpan {
            trace: self.trace_id.0,
            span: self.span_id.0,
            parent: self.parent_span_id.0,
            flags: self.flags.0,
            name: self.name,
            kind: self.kind.0,
            start: self.start_time_unix_nano.0,
            end: self.end_time_unix_nano.0,
            error: self.status.code.0 == 2,
            attributes: attributes(self.attributes),
            events: self
                .events
                .into_iter()
                .map(|e| RawEvent { at: e.time_unix_nano.0, name: e.name, attributes: attributes(e.attributes) })
                .collect(),
        }
    }
}

fn attributes(list: Vec<KeyValue>) -> BTreeMap<String, Value> {
    list.into_iter().map(|kv| (kv.key, kv.value.into_json())).collect()
}

impl AnyValue {
    fn into_json(self) -> Value {
        if let Some(text) = self.string_value {
            Value::String(text)
        } else if let Some(b) = self.bool_value {
            Value::Bool(b)
        } else if let Some(i) = self.int_value {
            Value::Number(i.0.into())
        } else if let Some(d) = self.double_value {
            double(d.0)
        } else if let Some(list) = self.array_value {
            list.values.into_iter().map(AnyValue::into_json).collect()
        } else if let Some(list) = self.kvlist_value {
            Value::Object(list.values.into_iter().map(|kv| (kv.key, kv.value.into_json())).collect())
        } else {
            self.bytes_value.map_or(Value::Null, Value::String)
        }
    }
}

/// `null` is another way to write a default in the proto3 JSON mapping.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// Bytes in hexadecimal, in either case; other text is kept, to reject its span alone and say why.
struct Hex(RawId);

impl Default for Hex {
    fn default() -> Self {
        Self(RawId::Bytes(Vec::new()))
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
        Ok(Self(match digits {
            Some(digits) if digits.len() % 2 == 0 => {
                RawId::Bytes(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
            }
            _ => RawId::Text(text),
        }))
    }
}

/// An enumeration's value. OTLP writes integers; the proto3 names are read too, as hand-written exporters send them.
#[derive(Default)]
struct Enumeration(i64);

impl<'de> Deserialize<'de> for Enumeration {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let number = value.as_i64().or_else(|| match value.as_str()? {
            "SPAN_KIND_UNSPECIFIED" | "STATUS_CODE_UNSET" => Some(0),
            "SPAN_KIND_INTERNAL" | "STATUS_CODE_OK" => Some(1),
            "SPAN_KIND_SERVER" | "STATUS_CODE_ERROR" => Some(2),
            "SPAN_KIND_CLIENT" => Some(3),
            "SPAN_KIND_PRODUCER" => Some(4),
            "SPAN_KIND_CONSUMER" => Some(5),
            digits => digits.parse().ok(),
        });
        number.map(Self).ok_or_else(|| de::Error::custom(format!("{value} is not a span kind or status code")))
    }
}

/// An integer as a JSON number or as decimal text.
#[derive(Default)]
struct Int<T>(T);

impl<'de, T: TryFrom<i128>> Deserialize<'de> for Int<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = from.deserialize_any(IntVisitor)?;
        T::try_from(number).map(Self).map_err(|_| de::Error::custom(format!("{number} is out of range")))
    }
}

struct IntVisitor;

impl Visitor<'_> for IntVisitor {
    type Value = i128;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer or its decimal text")
    }

    fn visit_i64<E: de::Error>(self, v: i64) -> Result<i128, E> {
        Ok(v.into())
    }

    fn visit_u64<E: de::Error>(self, v: u64) -> Result<i128, E> {
        Ok(v.into())
    }

    fn visit_str<E: de::Error>(self, v: &str) -> Result<i128, E> {
        v.parse().map_err(|_| E::custom(format!("`{v}` is not an integer")))
    }
}

/// A floating-point number, or the text that stands for one that JSON cannot write.
struct Double(f64);

impl<'de> Deserialize<'de> for Double {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f64),
            Text(String),
        }
        match Written::deserialize(from)? {
            Written::Number(d) => Ok(Self(d)),
            // Rust reads `NaN`, `Infinity` and `-Infinity` as the mapping writes them.
            Written::Text(text) => {
                text.parse().map(Self).map_err(|_| de::Error::custom(format!("`{text}` is not a number")))
            }
        }
    }
}
