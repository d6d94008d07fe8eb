//! OTLP attribute values in their JSON form.
//!
//! Numbers stay numbers; what JSON has no number for (NaN, the infinities) and bytes become text, as the OTLP JSON
//! mapping writes them, so that a value looks the same whichever encoding carried it.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value as Proto};
use serde_json::{Number, Value};

/// Attributes by name. A name that comes twice keeps its last value; OTLP leaves that case open.
pub(super) fn attributes(list: Vec<KeyValue>) -> BTreeMap<String, Value> {
    list.into_iter().map(|kv| (kv.key, any(kv.value))).collect()
}

fn any(value: Option<AnyValue>) -> Value {
    match value.and_then(|v| v.value) {
        None => Value::Null,
        Some(Proto::StringValue(s)) => Value::String(s),
        Some(Proto::BoolValue(b)) => Value::Bool(b),
        Some(Proto::IntValue(i)) => Value::Number(i.into()),
        Some(Proto::DoubleValue(d)) => double(d),
        Some(Proto::ArrayValue(list)) => list.values.into_iter().map(|v| any(Some(v))).collect(),
        Some(Proto::KvlistValue(list)) => {
            Value::Object(list.values.into_iter().map(|kv| (kv.key, any(kv.value))).collect())
        }
        Some(Proto::BytesValue(bytes)) => Value::String(base64(&bytes)),
        // An index into a string table that trace requests do not carry.
        Some(Proto::StringValueStrindex(_)) => Value::Null,
    }
}

/// A floating-point number; text where JSON has no number.
pub(super) fn double(d: f64) -> Value {
    Number::from_f64(d).map_or_else(
        || {
            let word = if d.is_nan() {
                "NaN"
            } else if d > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            Value::String(word.to_owned())
        },
        Value::Number,
    )
}

/// Standard base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |w, b| (w << 8) | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let sextet = (word >> (18 - 6 * i)) & 63;
            out.push(if i <= chunk.len() { char::from(ALPHABET[sextet as usize]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    /// The encoder agrees with the test vectors of RFC 4648, section 10, at every length of the last group.
    #[test]
    fn base64_matches_rfc_4648() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, encoded) in pairs {
            assert_eq!(base64(plain.as_bytes()), encoded, "{plain}");
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+", "both alphabet ends");
    }
}
