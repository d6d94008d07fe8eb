//! What stands at a declared place of an answer.

use judge::promise::Place;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// The places of one answer.
pub(super) struct Places<'a> {
    headers: &'a HeaderMap,
    body: Option<Value>,
}

impl<'a> Places<'a> {
    pub(super) fn new(headers: &'a HeaderMap, body: &[u8]) -> Self {
        Self { headers, body: serde_json::from_slice(body).ok() }
    }

    /// The text there; numbers as they are written in JSON. `None` when nothing is there, or nothing that is one value.
    pub(super) fn text(&self, place: &Place) -> Option<String> {
        match place {
            Place::Header(name) => {
                self.headers.get(name.as_str()).map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned())
            }
            Place::Member(pointer) => match self.body.as_ref()?.pointer(pointer)? {
                Value::String(text) => Some(text.clone()),
                value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            },
        }
    }

    /// The text there, if it marks something: a header does by being there, a member unless it is `false` or empty.
    pub(super) fn mark(&self, place: &Place) -> Option<String> {
        let text = self.text(place)?;
        let marks = matches!(place, Place::Header(_)) || !(text.is_empty() || text == "false");
        marks.then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Headers and members are found by their texts; a member that says no marks nothing.
    #[test]
    fn places_hold_texts() {
        let mut headers = HeaderMap::new();
        headers.insert("age", "3".parse().expect("a value"));
        let body = br#"{"a":{"ms":12.5,"kept":false,"why":"","on":true,"none":null}}"#;
        let places = Places::new(&headers, body);
        let text = |place: &str| places.text(&Place::new(place));
        assert_eq!(text("Age").as_deref(), Some("3"));
        assert_eq!(text("/a/ms").as_deref(), Some("12.5"));
        assert_eq!((text("/a"), text("/a/none"), text("/b"), text("X")), (None, None, None, None));
        let mark = |place: &str| places.mark(&Place::new(place)).is_some();
        assert_eq!([mark("age"), mark("/a/on"), mark("/a/kept"), mark("/a/why")], [true, true, false, false]);
        assert_eq!(Places::new(&headers, b"no JSON").text(&Place::new("/a")), None);
    }
}
