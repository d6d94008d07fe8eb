//! The grammar: finds the end of the first value of a text, or says what is wrong in Go's words.

/// Deeper nesting is refused.
const MAX_DEPTH: usize = 10_000;

/// What may come next.
#[derive(Clone, Copy)]
enum Expect {
    Value,
    /// In an array that has just begun.
    ValueOrEnd,
    Key,
    /// In an object that has just begun.
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Object,
    Array,
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    stack: Vec<Inside>,
}

/// The first value of `text` without the space around it. What follows it is not looked at.
pub(super) fn first_value(text: &[u8]) -> Result<&[u8], String> {
    let start = text.iter().position(|&c| !is_space(c)).ok_or("EOF")?;
    let mut scanner = Scanner { text, at: start, stack: Vec::new() };
    scanner.run()?;
    Ok(&text[start..scanner.at])
}

pub(super) fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\r' | b'\n')
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), String> {
        let mut expect = Expect::Value;
        loop {
            let c = self.next_visible()?;
            expect = match (expect, c) {
                (Expect::ValueOrEnd, b']') | (Expect::KeyOrEnd, b'}') => self.close(),
                (Expect::Value | Expect::ValueOrEnd, _) => self.value(c)?,
                (Expect::Key | Expect::KeyOrEnd, b'"') => {
                    self.string()?;
                    Expect::Colon
                }
                (Expect::Key | Expect::KeyOrEnd, _) => {
                    return Err(invalid(c, "looking for beginning of object key string"));
                }
                (Expect::Colon, b':') => Expect::Value,
                (Expect::Colon, _) => return Err(invalid(c, "after object key")),
                (Expect::CommaOrEnd, _) => self.after_value(c)?,
            };
            if self.stack.is_empty() {
                return Ok(());
            }
        }
    }

    fn value(&mut self, c: u8) -> Result<Expect, String> {
        match c {
            b'{' => return self.open(Inside::Object, Expect::KeyOrEnd),
            b'[' => return self.open(Inside::Array, Expect::ValueOrEnd),
            b'"' => self.string()?,
            b'-' | b'0'..=b'9' => self.number(c)?,
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            b'n' => self.literal("null")?,
            _ => return Err(invalid(c, "looking for beginning of value")),
        }
        Ok(Expect::CommaOrEnd)
    }

    fn after_value(&mut self, c: u8) -> Result<Expect, String> {
        match (self.stack.last(), c) {
            (Some(Inside::Object), b',') => Ok(Expect::Key),
            (Some(Inside::Array), b',') => Ok(Expect::Value),
            (Some(Inside::Object), b'}') | (Some(Inside::Array), b']') => Ok(self.close()),
            (Some(Inside::Object), _) => Err(invalid(c, "after object key:value pair")),
            (_, _) => Err(invalid(c, "after array element")),
        }
    }

    fn open(&mut self, inside: Inside, expect: Expect) -> Result<Expect, String> {
        if self.stack.len() >= MAX_DEPTH {
            return Err("exceeded max depth".to_owned());
        }
        self.stack.push(inside);
        Ok(expect)
    }

    fn close(&mut self) -> Expect {
        self.stack.pop();
        Expect::CommaOrEnd
    }

    fn next_visible(&mut self) -> Result<u8, String> {
        loop {
            let c = self.next()?;
            if !is_space(c) {
                return Ok(c);
            }
        }
    }

    fn next(&mut self) -> Result<u8, String> {
        let c = self.peek().ok_or("unexpected EOF")?;
        self.at += 1;
        Ok(c)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Behind the opening quote.
    fn string(&mut self) -> Result<(), String> {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => self.escape()?,
                c if c < b' ' => return Err(invalid(c, "in string literal")),
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.next()? {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => Ok(()),
            b'u' => {
                for _ in 0..4 {
                    let c = self.next()?;
                    if !c.is_ascii_hexdigit() {
                        return Err(invalid(c, "in \\u hexadecimal character escape"));
                    }
                }
                Ok(())
            }
            c => Err(invalid(c, "in string escape code")),
        }
    }

    /// Behind the first character.
    fn number(&mut self, first: u8) -> Result<(), String> {
        let lead = if first == b'-' { self.digit("in numeric literal")? } else { first };
        if lead != b'0' {
            self.digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    fn digit(&mut self, place: &str) -> Result<u8, String> {
        let c = self.next()?;
        if c.is_ascii_digit() { Ok(c) } else { Err(invalid(c, place)) }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), String> {
        for expected in word.chars().skip(1) {
            let c = self.next()?;
            if char::from(c) != expected {
                return Err(invalid(c, &format!("in literal {word} (expecting '{expected}')")));
            }
        }
        Ok(())
    }
}

fn invalid(c: u8, place: &str) -> String {
    format!("invalid character {} {place}", quoted(c))
}

/// A byte as Go quotes it: read as the character of that number.
fn quoted(c: u8) -> String {
    match c {
        b'\'' => r"'\''".to_owned(),
        b'\\' => r"'\\'".to_owned(),
        0x07 => r"'\a'".to_owned(),
        0x08 => r"'\b'".to_owned(),
        0x0c => r"'\f'".to_owned(),
        b'\n' => r"'\n'".to_owned(),
        b'\r' => r"'\r'".to_owned(),
        b'\t' => r"'\t'".to_owned(),
        0x0b => r"'\v'".to_owned(),
        0..0x20 | 0x7f => format!("'\\x{c:02x}'"),
        0x80..=0xa0 | 0xad => format!("'\\u{c:04x}'"),
        _ => format!("'{}'", char::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves that each kind of mistake is told in the words that Go's library has for it.
    #[test]
    fn mistakes_are_told_as_go_tells_them() {
        let cases: &[(&str, &str)] = &[
            ("", "EOF"),
            (" \n", "EOF"),
            ("{", "unexpected EOF"),
            ("tru", "unexpected EOF"),
            ("-", "unexpected EOF"),
            ("\"abc", "unexpected EOF"),
            ("{bad", "invalid character 'b' looking for beginning of object key string"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("<", "invalid character '<' looking for beginning of value"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("[01]", "invalid character '1' after array element"),
            ("\"\u{1}\"", "invalid character '\\x01' in string literal"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            ("\"\\q\"", "invalid character 'q' in string escape code"),
            ("\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1ex", "invalid character 'x' in exponent of numeric literal"),
            ("nul!", "invalid character '!' in literal null (expecting 'l')"),
            ("'a'", "invalid character '\\'' looking for beginning of value"),
            ("é", "invalid character 'Ã' looking for beginning of value"),
        ];
        for (text, error) in cases {
            assert_eq!(first_value(text.as_bytes()), Err((*error).to_owned()), "{text}");
        }
    }

    // Proves that only the first value is read, whatever follows, and that nesting is bounded without recursion.
    #[test]
    fn only_the_first_value_counts() {
        for (text, value) in
            [(" {} x", "{}"), ("1 2", "1"), ("01", "0"), ("\"a\\\"\"b", "\"a\\\"\""), ("[[]]]", "[[]]")]
        {
            assert_eq!(first_value(text.as_bytes()), Ok(value.as_bytes()), "{text}");
        }
        let deep = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        assert_eq!(first_value(deep.as_bytes()), Ok(deep.as_bytes()));
        assert_eq!(first_value("[".repeat(MAX_DEPTH + 1).as_bytes()), Err("exceeded max depth".to_owned()));
    }
}
