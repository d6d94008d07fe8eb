//! Claims over the JSON of the control plane.

use serde_json::{Map, Value};

use crate::api::go_json::{Kind, Raw, quoted};
use crate::api::request::decoded;
use crate::api::toxiproxy::reread;
use crate::toxics::Toxic;

/// Nesting up to here is walked; the reader itself takes more.
const WALKED: usize = 100;

/// Our reader and serde's agree on the first value of a text, but for what Go takes and serde does not: broken UTF-8,
/// halves of surrogate pairs, numbers beyond a float, deep nesting, and anything at all behind the value.
pub(super) fn check(bytes: &[u8]) {
    let theirs = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>().next();
    match (Raw::first(bytes), theirs) {
        (Ok(raw), Some(Ok(value))) => assert_eq!(walked(raw, WALKED), Some(value)),
        (Ok(raw), _) => only_go_takes(raw),
        (Err(error), Some(Ok(value))) => panic!("{value} is refused: {error}"),
        (Err(error), _) => assert!(!error.is_empty()),
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        written(text);
        // A percent-encoded text of any kind is decoded or refused.
        let plain = decoded(text);
        assert!(plain.is_none_or(|plain| plain.len() <= text.len()));
    }
}

/// The value as serde has it; `None` when it is nested more deeply than that.
fn walked(raw: Raw<'_>, depth: usize) -> Option<Value> {
    Some(match raw.kind() {
        Kind::Null => Value::Null,
        Kind::Bool | Kind::Number => serde_json::from_str(raw.literal()).expect("a literal"),
        Kind::String => Value::String(raw.string()),
        Kind::Array => Value::Array(raw.elements().map(|e| walked(e, depth.checked_sub(1)?)).collect::<Option<_>>()?),
        Kind::Object => {
            let mut members = Map::new();
            for (key, value) in raw.members() {
                members.insert(key, walked(value, depth.checked_sub(1)?)?);
            }
            Value::Object(members)
        }
    })
}

/// Claims that serde refuses the value alone for one of the known reasons, if it does.
fn only_go_takes(raw: Raw<'_>) {
    // Only a text that is not UTF-8 has no literal.
    if raw.literal().is_empty() {
        return;
    }
    let Err(error) = serde_json::from_str::<Value>(raw.literal()) else { return };
    let error = error.to_string();
    let known = ["number out of range", "surrogate", "end of hex escape", "unicode code point", "recursion limit"];
    assert!(known.iter().any(|reason| error.contains(reason)), "serde refuses {:?}: {error}", raw.literal());
}

/// Claims that a text which is written as a string is read as itself, by us and by serde.
fn written(text: &str) {
    let quoted = quoted(text);
    assert_eq!(Raw::first(quoted.as_bytes()).map(|raw| raw.string()).as_deref(), Ok(text));
    assert_eq!(serde_json::from_str::<String>(&quoted).ok().as_deref(), Some(text));
}

/// A toxic that is taken is shown so that it is taken again as the same one: by the lenient reader, and by the strict one
/// when its name and toxicity are what that allows.
pub(super) fn toxic(bytes: &[u8]) {
    let Some((toxic, shown)) = reread(bytes) else { return };
    let again = reread(shown.as_bytes()).unwrap_or_else(|| panic!("{shown} is refused"));
    assert_eq!(again, (toxic.clone(), shown.clone()));
    let value: Value = serde_json::from_str(&shown).expect("what is shown is JSON");
    let name = &toxic.name;
    let strict = (0.0..=1.0).contains(&toxic.toxicity) && name.len() <= 256 && !name.contains(char::is_control);
    match Toxic::from_json(value) {
        Ok(read) => assert_eq!(read, toxic, "{shown}"),
        Err(error) => assert!(!strict, "{shown} is refused: {error}"),
    }
}
