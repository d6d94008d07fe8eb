//! The same JSON value in other bytes.

use std::fmt::Write as _;

use serde_json::Value;

/// The same value with the members of each object in the opposite order and other spaces; `None` when the text is not a
/// JSON object.
///
/// ```
/// use harness::load::respell;
///
/// let text = r#"{"amount":100,"reference":"a b"}"#;
/// let other = respell(text).expect("an object");
/// assert_ne!(other, text);
/// assert!(other.find("reference") < other.find("amount"));
/// assert_eq!(respell("amount=100"), None);
/// ```
#[must_use]
pub fn respell(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.is_object().then(|| {
        let mut out = String::new();
        write(&value, &mut out);
        // A text that had these spaces and this order already gets one more space, which is still the same value.
        if out == text { out + " " } else { out }
    })
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            out.push_str("{ ");
            for (i, (name, member)) in members.iter().rev().enumerate() {
                if i > 0 {
                    out.push_str(" , ");
                }
                // Writing to a text cannot fail.
                let _ = write!(out, "{} : ", Value::from(name.as_str()));
                write(member, out);
            }
            out.push_str(" }");
        }
        Value::Array(items) => {
            out.push_str("[ ");
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(" , ");
                }
                write(item, out);
            }
            out.push_str(" ]");
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::respell;

    // Other bytes, the same value, for every kind of member; what is already spelt so is spelt otherwise all the same.
    #[test]
    fn the_value_stays() {
        let text = r#"{"b":[1,{"y":null,"x":"q\"\\ü"}],"a":{"n":-0.5},"t":true}"#;
        let once = respell(text).expect("an object");
        let twice = respell(&once).expect("an object");
        assert!(once != text && twice != once);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!((value(&once), value(&twice)), (value(text), value(text)));
    }
}
