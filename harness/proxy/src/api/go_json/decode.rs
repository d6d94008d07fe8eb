//! From values to fields, with Go's conversions and Go's words for a mismatch.

use super::raw::{Kind, Raw};

/// Where a value goes, as Go's errors name it: the struct that has the field, and the path of keys to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner<'a> {
    /// Name of the struct's type; empty when the type has none.
    pub(crate) name: &'a str,
    /// Keys from the root to the struct, each with a dot behind it.
    pub(crate) path: &'a str,
}

impl Owner<'static> {
    /// A struct that is the root of the text.
    pub(crate) const fn root(name: &'static str) -> Self {
        Self { name, path: "" }
    }
}

/// Decodes, remembers the first mismatch and goes on, as Go does: what fits is taken over all the same.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    mismatch: Option<String>,
}

impl Decoder {
    /// The first mismatch.
    pub(crate) fn finish(self) -> Result<(), String> {
        self.mismatch.map_or(Ok(()), Err)
    }

    /// Whether the value is an object; `null` and, after a mismatch, anything else is passed over.
    pub(crate) fn is_object(&mut self, raw: Raw<'_>, go_type: &str) -> bool {
        self.is(raw, Kind::Object, go_type)
    }

    /// Whether the value is an array; see [`Decoder::is_object`].
    pub(crate) fn is_array(&mut self, raw: Raw<'_>, go_type: &str) -> bool {
        self.is(raw, Kind::Array, go_type)
    }

    fn is(&mut self, raw: Raw<'_>, kind: Kind, go_type: &str) -> bool {
        if raw.kind() != kind && raw.kind() != Kind::Null {
            let what = raw.kind().word();
            self.note(|| format!("json: cannot unmarshal {what} into Go value of type {go_type}"));
        }
        raw.kind() == kind
    }

    /// Whether the value of a field is an object; see [`Decoder::is_object`].
    pub(crate) fn is_object_at(&mut self, raw: Raw<'_>, owner: Owner<'_>, key: &str, go_type: &str) -> bool {
        if raw.kind() != Kind::Object && raw.kind() != Kind::Null {
            self.field(raw.kind().word(), owner, key, go_type);
        }
        raw.kind() == Kind::Object
    }

    pub(crate) fn string(&mut self, raw: Raw<'_>, owner: Owner<'_>, key: &str, into: &mut String) {
        match raw.kind() {
            Kind::Null => {}
            Kind::String => *into = raw.string(),
            other => self.field(other.word(), owner, key, "string"),
        }
    }

    pub(crate) fn boolean(&mut self, raw: Raw<'_>, owner: Owner<'_>, key: &str, into: &mut bool) {
        match raw.kind() {
            Kind::Null => {}
            Kind::Bool => *into = raw.literal() == "true",
            other => self.field(other.word(), owner, key, "bool"),
        }
    }

    /// A whole number must be written as one: `1.0` and `1e2` are mismatches.
    pub(crate) fn int64(&mut self, raw: Raw<'_>, owner: Owner<'_>, key: &str, into: &mut i64) {
        self.number(raw, owner, key, "int64", into, |text| text.parse().ok());
    }

    pub(crate) fn float32(&mut self, raw: Raw<'_>, owner: Owner<'_>, key: &str, into: &mut f32) {
        self.number(raw, owner, key, "float32", into, |text| text.parse().ok().filter(|x: &f32| x.is_finite()));
    }

    pub(crate) fn float64(&mut self, raw: Raw<'_>, owner: Owner<'_>, key: &str, into: &mut f64) {
        self.number(raw, owner, key, "float64", into, |text| text.parse().ok().filter(|x: &f64| x.is_finite()));
    }

    fn number<N>(
        &mut self,
        raw: Raw<'_>,
        owner: Owner<'_>,
        key: &str,
        go_type: &str,
        into: &mut N,
        parse: impl Fn(&str) -> Option<N>,
    ) {
        match raw.kind() {
            Kind::Null => {}
            Kind::Number => match parse(raw.literal()) {
                Some(number) => *into = number,
                None => self.field(&format!("number {}", raw.literal()), owner, key, go_type),
            },
            other => self.field(other.word(), owner, key, go_type),
        }
    }

    fn field(&mut self, what: &str, owner: Owner<'_>, key: &str, go_type: &str) {
        let Owner { name, path } = owner;
        self.note(|| {
            format!("json: cannot unmarshal {what} into Go struct field {name}.{path}{key} of type {go_type}")
        });
    }

    fn note(&mut self, text: impl FnOnce() -> String) {
        self.mismatch.get_or_insert_with(text);
    }
}

/// The one of `keys` that a key means: exactly, or else in any case. Allocates nothing: a body may have a million keys.
pub(crate) fn meant<'k>(key: &str, keys: &[&'k str]) -> Option<&'k str> {
    let exact = keys.iter().find(|known| **known == key);
    exact.or_else(|| keys.iter().find(|known| folded(known).eq(folded(key)))).copied()
}

/// Without case. Two letters outside ASCII fold to ASCII ones: the long s and the Kelvin sign.
fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| match c {
        'ſ' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner<'static> = Owner { name: "LatencyToxic", path: "attributes." };

    fn int(text: &str) -> (i64, Result<(), String>) {
        let (mut decoder, mut into) = (Decoder::default(), 42);
        decoder.int64(Raw::first(text.as_bytes()).expect("json"), OWNER, "latency", &mut into);
        (into, decoder.finish())
    }

    // Proves which numbers fit a whole one, that null leaves it, and the words of each mismatch.
    #[test]
    fn whole_numbers_are_written_whole() {
        assert_eq!(int("-7"), (-7, Ok(())));
        assert_eq!(int("null"), (42, Ok(())));
        for (text, what) in [
            ("1.5", "number 1.5"),
            ("100.0", "number 100.0"),
            ("1e2", "number 1e2"),
            ("9223372036854775808", "number 9223372036854775808"),
            ("\"5\"", "string"),
            ("true", "bool"),
            ("{}", "object"),
            ("[]", "array"),
        ] {
            let field = "Go struct field LatencyToxic.attributes.latency of type int64";
            assert_eq!(int(text), (42, Err(format!("json: cannot unmarshal {what} into {field}"))), "{text}");
        }
    }

    // Proves that the first mismatch is the one told, and that what fits is taken all the same.
    #[test]
    fn the_first_mismatch_is_told() {
        let mut decoder = Decoder::default();
        let (mut name, mut on, mut share, mut rate) = ("x".to_owned(), true, 1.0_f32, 0.5_f64);
        let raw = |text: &'static str| Raw::first(text.as_bytes()).expect("json");
        let owner = Owner::root("Proxy");
        decoder.string(raw("5"), owner, "name", &mut name);
        decoder.boolean(raw("false"), owner, "enabled", &mut on);
        decoder.float32(raw("1e39"), owner, "toxicity", &mut share);
        decoder.float64(raw("0.25"), owner, "loss_rate", &mut rate);
        assert!(!decoder.is_object(raw("[]"), "toxiproxy.Proxy") && !decoder.is_array(raw("null"), "[]int"));
        assert_eq!((name.as_str(), on, share, rate), ("x", false, 1.0, 0.25));
        let first = "json: cannot unmarshal number into Go struct field Proxy.name of type string";
        assert_eq!(decoder.finish(), Err(first.to_owned()));
    }

    // Proves that keys match in any case, exact ones first.
    #[test]
    fn keys_match_in_any_case() {
        let keys = ["name", "Logger", "stream"];
        for (key, meaning) in
            [("NAME", Some("name")), ("logger", Some("Logger")), ("ſtream", Some("stream")), ("x", None)]
        {
            assert_eq!(meant(key, &keys), meaning);
        }
        assert_eq!(meant("a", &["A", "a"]), Some("a"));
    }
}
