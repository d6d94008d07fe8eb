//! Strings and floats as Go writes them.

use std::fmt::Write;

/// A string in quotes. Characters that mean something in HTML are escaped, others outside ASCII are not.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a string does not fail.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..' ' => _ = write!(out, "\\u{:04x}", u32::from(c)),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A 32-bit float in its shortest form.
pub(crate) fn float32(x: f32) -> String {
    shortest(&format!("{x}"), &format!("{x:e}"), x == 0.0 || (1e-6..1e21).contains(&x.abs()))
}

/// A 64-bit float in its shortest form.
pub(crate) fn float64(x: f64) -> String {
    shortest(&format!("{x}"), &format!("{x:e}"), x == 0.0 || (1e-6..1e21).contains(&x.abs()))
}

/// Very small and very large ones have an exponent, with its sign.
fn shortest(plain: &str, exponent: &str, is_plain: bool) -> String {
    if is_plain {
        return plain.to_owned();
    }
    if exponent.contains("e-") { exponent.to_owned() } else { exponent.replace('e', "e+") }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves the escapes, and that other characters stay as they are.
    #[test]
    fn strings_are_escaped_for_html_too() {
        assert_eq!(quoted("a\"\\\n<b>&é\u{1}\u{2028}😀"), "\"a\\\"\\\\\\n\\u003cb\\u003e\\u0026é\\u0001\\u2028😀\"");
    }

    // Proves the shortest form of each width, and where the exponent begins.
    #[test]
    fn floats_are_short() {
        for (x, text) in [(1.0, "1"), (0.3, "0.3"), (-1.0, "-1"), (0.0, "0"), (1e-7, "1e-7"), (1e21, "1e+21")] {
            assert_eq!(float32(x), text);
        }
        assert_eq!(
            (float64(0.1), float64(2.5e-9), float64(1e20)),
            ("0.1".into(), "2.5e-9".into(), "1".to_owned() + &"0".repeat(20))
        );
    }
}
