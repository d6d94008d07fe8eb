//! A checked JSON text, walked in place.

use super::scan::{self, is_space};

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// The word for it in Go's errors.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// One value of a text that follows the grammar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw<'a>(&'a [u8]);

impl<'a> Raw<'a> {
    /// The first value of a text.
    ///
    /// # Errors
    /// Go's words for what is wrong.
    pub(crate) fn first(text: &'a [u8]) -> Result<Self, String> {
        scan::first_value(text).map(Self)
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.0.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    /// The text of a number, or of `true` and `false`.
    pub(crate) fn literal(&self) -> &'a str {
        std::str::from_utf8(self.0).unwrap_or_default()
    }

    /// The keys and values of an object; nothing for anything else.
    pub(crate) fn members(&self) -> impl Iterator<Item = (String, Raw<'a>)> + use<'a> {
        let mut parts = Parts::of(self, Kind::Object);
        std::iter::from_fn(move || {
            let key = parts.next()?;
            parts.next().map(|value| (key.string(), value))
        })
    }

    /// The elements of an array; nothing for anything else.
    pub(crate) fn elements(&self) -> impl Iterator<Item = Raw<'a>> + use<'a> {
        Parts::of(self, Kind::Array)
    }

    /// The characters of a string. What is no character becomes U+FFFD.
    pub(crate) fn string(&self) -> String {
        let inner = self.0.get(1..self.0.len().saturating_sub(1)).unwrap_or_default();
        let mut plain = Vec::with_capacity(inner.len());
        let mut rest = inner;
        while let Some((&c, behind)) = rest.split_first() {
            if c == b'\\' {
                rest = escape(behind, &mut plain);
            } else {
                plain.push(c);
                rest = behind;
            }
        }
        String::from_utf8_lossy(&plain).into_owned()
    }
}

/// Undoes one escape behind its backslash; returns what follows it.
fn escape<'a>(text: &'a [u8], plain: &mut Vec<u8>) -> &'a [u8] {
    let Some((&c, rest)) = text.split_first() else { return text };
    if c == b'u' {
        return unicode(rest, plain);
    }
    plain.push(match c {
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        other => other,
    });
    rest
}

fn unicode<'a>(text: &'a [u8], plain: &mut Vec<u8>) -> &'a [u8] {
    let (first, rest) = unit(text);
    let (mut code, mut rest_behind) = (first, rest);
    if (0xd800..0xdc00).contains(&first)
        && let Some(behind) = rest.strip_prefix(b"\\u")
        && let (second @ 0xdc00..0xe000, behind) = unit(behind)
    {
        code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        rest_behind = behind;
    }
    let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    plain.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    rest_behind
}

fn unit(text: &[u8]) -> (u32, &[u8]) {
    let (digits, rest) = text.split_at(text.len().min(4));
    (digits.iter().fold(0, |n, &d| n * 16 + char::from(d).to_digit(16).unwrap_or(0)), rest)
}

/// The values directly inside an array or object, keys included.
struct Parts<'a> {
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(raw: &Raw<'a>, kind: Kind) -> Self {
        let rest = if raw.kind() == kind { raw.0.get(1..).unwrap_or_default() } else { &[] };
        Self { rest }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        let start = self.rest.iter().position(|&c| !is_space(c) && c != b',' && c != b':')?;
        let text = &self.rest[start..];
        if matches!(text[0], b'}' | b']') {
            self.rest = &[];
            return None;
        }
        let (value, rest) = text.split_at(length(text));
        self.rest = rest;
        Some(Raw(value))
    }
}

/// Length of the value at the start of `text`.
fn length(text: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        match c {
            b'"' => at += string_length(&text[at..]),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            _ if depth == 0 && (is_space(c) || matches!(c, b',' | b':' | b'}' | b']')) => return at,
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&c) = text.get(at) {
        at += if c == b'\\' { 2 } else { 1 };
        if c == b'"' {
            break;
        }
    }
    at.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::first(text.as_bytes()).expect("json")
    }

    // Proves that members and elements are found whatever they contain and however they are spaced.
    #[test]
    fn objects_and_arrays_are_walked() {
        let text = r#" { "a" : 1 ,"b\"}":[ {"x":"]"},2 ], "c":{"d":{}},"e":null,"f":true ,"g":"" } tail"#;
        let found: Vec<_> = raw(text).members().map(|(k, v)| (k, v.literal().to_owned())).collect();
        let expected = [
            ("a", "1"),
            ("b\"}", r#"[ {"x":"]"},2 ]"#),
            ("c", r#"{"d":{}}"#),
            ("e", "null"),
            ("f", "true"),
            ("g", "\"\""),
        ];
        assert_eq!(found.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Vec<_>>(), expected);
        let elements: Vec<_> = raw("[1, [], -2.5e3 ,\"a,b\"]").elements().map(|e| (e.kind(), e.literal())).collect();
        let expected = [(Kind::Number, "1"), (Kind::Array, "[]"), (Kind::Number, "-2.5e3"), (Kind::String, "\"a,b\"")];
        assert_eq!(elements, expected);
        assert_eq!((raw("5").members().count(), raw("{}").elements().count(), raw("[]").elements().count()), (0, 0, 0));
    }

    // Proves the escapes, pairs of surrogates, and that half a pair and broken UTF-8 become replacement characters.
    #[test]
    fn strings_are_unescaped() {
        assert_eq!(raw(r#""a\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00""#).string(), "a\"\\/\u{8}\u{c}\n\r\tAé😀");
        assert_eq!(raw(r#""\ud83dx\ude00""#).string(), "\u{fffd}x\u{fffd}");
        assert_eq!(raw(r#""\ud83d\u0041""#).string(), "\u{fffd}A");
        assert_eq!(Raw::first(b"\"\xff\"").expect("json").string(), "\u{fffd}");
    }
}
