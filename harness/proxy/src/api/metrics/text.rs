//! Prometheus' text format.

use std::fmt::{Display, Write};

/// Metrics as they are written down.
#[derive(Debug, Default)]
pub(super) struct Text(String);

impl Text {
    /// Begins a family: its samples follow.
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {}\n# TYPE {name} {kind}", Escaped(help, false)));
    }

    /// One sample of the family begun last.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let mut between = "{";
        self.push(format_args!("{name}"));
        for (label, text) in labels {
            self.push(format_args!("{between}{label}=\"{}\"", Escaped(text, true)));
            between = ",";
        }
        let end = if labels.is_empty() { "" } else { "}" };
        self.line(format_args!("{end} {value}"));
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // A String takes whatever is written.
        let _never = self.0.write_fmt(text);
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        self.push(text);
        self.0.push('\n');
    }
}

/// A text in which nothing ends its line, nor its quotes when it stands in some.
struct Escaped<'a>(&'a str, bool);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '"' if self.1 => f.write_str("\\\"")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves that no label value can end its line or its quotes.
    #[test]
    fn texts_are_escaped() {
        let mut text = Text::default();
        text.family("f", "gauge", "a \"b\" \\ c\nd");
        text.sample("f", &[("l", "a\"b\\c\nd"), ("m", "")], 1.5);
        text.sample("f", &[], 2);
        let wanted = "# HELP f a \"b\" \\\\ c\\nd\n# TYPE f gauge\nf{l=\"a\\\"b\\\\c\\nd\",m=\"\"} 1.5\nf 2\n";
        assert_eq!(text.finish(), wanted);
    }
}
