//! A JSON reader for the output of `cargo metadata`: the standard library has none, and this package has no
//! dependencies.

/// A JSON value. Numbers are kept as they are written: nobody here computes with them.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Deeper documents are not what cargo writes; the bound keeps the recursion off the end of the stack.
const MAX_DEPTH: usize = 100;

impl Json {
    /// Reads one document.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text, whole: text.len() };
        let value = reader.value(0)?;
        reader.space();
        if reader.rest.is_empty() { Ok(value) } else { Err(reader.wrong("the end")) }
    }

    /// A field of an object.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
    whole: usize,
}

impl Reader<'_> {
    fn wrong(&self, wanted: &str) -> String {
        format!("byte {}: expected {wanted}", self.whole - self.rest.len())
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest;
        true
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(self.wrong(token)) }
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("less nesting"));
        }
        self.space();
        match self.rest.chars().next() {
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some('"') => self.string().map(Json::Text),
            Some('-' | '0'..='9') => self.number(),
            _ if self.take("null") => Ok(Json::Null),
            _ if self.take("true") => Ok(Json::Bool(true)),
            _ if self.take("false") => Ok(Json::Bool(false)),
            _ => Err(self.wrong("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.expect("{")?;
        let mut fields = Vec::new();
        if self.take("}") {
            return Ok(Json::Object(fields));
        }
        loop {
            self.space();
            let name = self.string()?;
            self.expect(":")?;
            fields.push((name, self.value(depth + 1)?));
            if self.take("}") {
                return Ok(Json::Object(fields));
            }
            self.expect(",")?;
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, String> {
        self.expect("[")?;
        let mut items = Vec::new();
        if self.take("]") {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take("]") {
                return Ok(Json::List(items));
            }
            self.expect(",")?;
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let end = self.rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let (text, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        text.parse::<f64>().map_err(|_| self.wrong("a number"))?;
        self.rest = rest;
        Ok(Json::Number(text.to_owned()))
    }

    fn string(&mut self) -> Result<String, String> {
        let mut rest = self.rest.strip_prefix('"').ok_or_else(|| self.wrong("a string"))?;
        let mut text = String::new();
        loop {
            let end = rest.find(['"', '\\']).ok_or_else(|| self.wrong("the end of this string"))?;
            let (plain, special) = rest.split_at(end);
            if plain.contains(|c: char| c < ' ') {
                return Err(self.wrong("no control character in this string"));
            }
            text.push_str(plain);
            if let Some(after) = special.strip_prefix('"') {
                self.rest = after;
                return Ok(text);
            }
            let (escaped, after) = escape(&special[1..]).ok_or_else(|| self.wrong("valid escapes in this string"))?;
            text.push(escaped);
            rest = after;
        }
    }
}

/// The character of an escape (without its backslash) and what follows it.
fn escape(text: &str) -> Option<(char, &str)> {
    let plain = match text.chars().next()? {
        '"' => '"',
        '\\' => '\\',
        '/' => '/',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return unicode(&text[1..]),
        _ => return None,
    };
    Some((plain, &text[1..]))
}

/// Four hexadecimal digits, or two such escapes that are a surrogate pair.
fn unicode(text: &str) -> Option<(char, &str)> {
    let (first, rest) = unit(text)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, rest));
    }
    let (second, rest) = unit(rest.strip_prefix("\\u")?)?;
    let pair = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((character, rest))
}

fn unit(text: &str) -> Option<(u32, &str)> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some((u32::from_str_radix(digits, 16).ok()?, &text[4..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves every kind of value, nesting, order of fields and white space.
    #[test]
    fn documents_are_read() {
        let json =
            Json::parse(" { \"a\" : [ 1 , -2.5e3, true, false, null, \"x\" ], \"b\": {}, \"c\": [] }\n").expect("JSON");
        let numbers = ["1", "-2.5e3"].map(|it| Json::Number(it.to_owned()));
        let rest = [Json::Bool(true), Json::Bool(false), Json::Null, Json::Text("x".to_owned())];
        assert_eq!(json.get("a").map(Json::items), Some(&[&numbers[..], &rest[..]].concat()[..]));
        assert_eq!(json.get("b"), Some(&Json::Object(Vec::new())));
        assert_eq!(json.get("c"), Some(&Json::List(Vec::new())));
        assert_eq!(json.get("d"), None);
        assert_eq!(json.text(), None);
    }

    /// Proves the escapes, among them a surrogate pair.
    #[test]
    fn escapes_are_read() {
        let json = Json::parse(r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é""#).expect("JSON");
        assert_eq!(json.text(), Some("\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}\u{e9}"));
    }

    /// Proves that broken documents are errors and never panics, also cut anywhere and nested without end.
    #[test]
    fn broken_documents_are_refused() {
        let broken = [
            "",
            "{",
            "[1",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12é4\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"a\nb\"",
            "1 2",
            "tru",
            "-",
            "1e",
            "+",
            "{,}",
            "[,]",
        ];
        for text in broken {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        let whole = r#"{"k": ["\u00e9", {"n": 1.5}, null]}"#;
        assert!(Json::parse(whole).is_ok());
        for end in 0..whole.len() {
            assert!(Json::parse(&whole[..end]).is_err(), "cut at {end}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
        let error = Json::parse("[1, x]").expect_err("not JSON");
        assert_eq!(error, "byte 4: expected a value");
    }
}
