//! JSON that is read strictly: what is refused is named by its path, so that nobody counts lines and columns.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Characters of a reason that an answer repeats; it may quote a text of the input, whatever its length.
const MAX_REASON: usize = 400;

/// Why a text was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misread {
    /// Path of the field, e.g. `rules[2].fault.status`; absent when the text as a whole is wrong.
    pub(crate) field: Option<String>,
    /// What is wrong with it.
    pub(crate) why: String,
}

impl std::fmt::Display for Misread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.field {
            Some(field) => write!(f, "`{field}`: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

/// Reads a text that holds one value and nothing after it.
pub(crate) fn from_slice<T: DeserializeOwned>(text: &[u8]) -> Result<T, Misread> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(misread)?;
    reader.end().map_err(|e| Misread { field: None, why: short(&e.to_string()) })?;
    Ok(value)
}

/// Reads a value that has been parsed before.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Misread> {
    serde_path_to_error::deserialize(value).map_err(misread)
}

fn misread(error: serde_path_to_error::Error<serde_json::Error>) -> Misread {
    let why = error.inner().to_string();
    // A syntax error is at a place of the text, whatever was being read there.
    let path = if error.inner().is_data() { path(error.path(), &why) } else { None };
    // Where the field is named nobody needs its line and column.
    let why = if path.is_some() { why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why) } else { &why };
    Misread { field: path, why: short(why) }
}

/// The path of the field. Of one that is missing or unknown only its parent is on the way; its name is in the reason.
fn path(to: &serde_path_to_error::Path, why: &str) -> Option<String> {
    let mut path = to.to_string();
    if path == "." {
        path.clear();
    }
    let named = ["missing field `", "unknown field `"].iter().find_map(|words| why.strip_prefix(words));
    if let Some(name) = named.and_then(|rest| rest.split('`').next()) {
        let last = path.rsplit('.').next().unwrap_or_default();
        if last != name {
            path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        }
    }
    (!path.is_empty()).then(|| short(&path))
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_REASON) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{} ...", &text[..cut]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rule;

    fn field<T: DeserializeOwned>(text: &str) -> Option<String> {
        from_slice::<T>(text.as_bytes()).err().and_then(|misread| misread.field)
    }

    /// Proves that a value of the wrong kind, an unknown field and a missing one are named by their whole path, wherever
    /// they lie, and that a text which is no JSON is not blamed on a field.
    #[test]
    fn what_is_refused_is_named() {
        let rule = r#"{"id": "a", "fault": {"at": "request", "effect": {"reply": {"status": "x"}}}}"#;
        assert_eq!(field::<Rule>(rule).as_deref(), Some("fault.effect.reply.status"));
        let list = r#"[{"id": "a", "fault": {"at": "request", "effect": "close"}}, {"id": "b", "faults": {}}]"#;
        assert_eq!(field::<Vec<Rule>>(list).as_deref(), Some("[1].faults"));
        assert_eq!(field::<Rule>(r#"{"id": "a", "fault": {"at": "request"}}"#).as_deref(), Some("fault.effect"));
        assert_eq!(field::<Rule>(r#"{"id": 3}"#).as_deref(), Some("id"));
        assert_eq!(field::<Rule>("{").as_deref(), None);
        assert_eq!(field::<u64>("3 4").as_deref(), None);
        assert!(from_slice::<u64>(b"3 4").is_err() && from_slice::<u64>(b" 3 ").is_ok());
    }

    /// Proves that neither path nor reason repeats a text of any length.
    #[test]
    fn long_texts_are_cut() {
        let text = format!(r#"{{"{}": 1}}"#, "x".repeat(10_000));
        let misread = from_slice::<Rule>(text.as_bytes()).expect_err("unknown");
        assert!(misread.why.len() < 500 && misread.field.is_some_and(|f| f.len() < 500));
    }
}
