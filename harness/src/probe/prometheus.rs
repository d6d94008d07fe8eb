//! The Prometheus text format, as much of it as a breaker needs.
//!
//! Reads version 0.0.4 and OpenMetrics: escapes in label values, a comma after the last label, blanks between tokens,
//! timestamps, exemplars and comments. A line that is none of it is an error: a scrape that is half garbage is not
//! evidence.

/// One sample.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    pub name: String,
    pub labels: Vec<(String, String)>,
    pub value: f64,
}

impl Sample {
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// The samples whose name begins with `prefix`; the other lines are skipped without a look into them, since a scrape
/// has thousands.
pub(super) fn samples(text: &str, prefix: &str) -> Result<Vec<Sample>, String> {
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.starts_with(prefix) {
            continue;
        }
        let sample = Cursor { rest: line }.sample();
        found.push(sample.ok_or_else(|| format!("line {} is not a sample: `{}`", i + 1, clip(line)))?);
    }
    Ok(found)
}

/// Whether a text looks like an exposition at all: every line that is not empty or a comment begins with a name.
pub(super) fn plausible(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty()).peekable();
    lines.peek().is_some() && lines.all(|l| l.starts_with(|c: char| c == '#' || is_name_start(c)))
}

fn clip(line: &str) -> String {
    line.chars().take(100).collect()
}

struct Cursor<'a> {
    rest: &'a str,
}

impl Cursor<'_> {
    fn sample(mut self) -> Option<Sample> {
        let name = self.name()?;
        self.blank();
        let labels = if self.eat('{') { self.labels()? } else { Vec::new() };
        // A timestamp and an exemplar may follow the value; neither is needed.
        let value = self.rest.split_whitespace().next()?;
        Some(Sample { name, labels, value: number(value)? })
    }

    fn labels(&mut self) -> Option<Vec<(String, String)>> {
        let mut labels = Vec::new();
        loop {
            self.blank();
            if self.eat('}') {
                return Some(labels);
            }
            let name = self.name()?;
            self.blank();
            if !self.eat('=') {
                return None;
            }
            self.blank();
            labels.push((name, self.quoted()?));
            self.blank();
            if !self.eat(',') && !self.rest.starts_with('}') {
                return None;
            }
        }
    }

    fn name(&mut self) -> Option<String> {
        let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name.starts_with(is_name_start).then(|| name.to_owned())
    }

    fn quoted(&mut self) -> Option<String> {
        if !self.eat('"') {
            return None;
        }
        let mut out = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[i + 1..];
                    return Some(out);
                }
                '\\' => match chars.next()?.1 {
                    'n' => out.push('\n'),
                    escaped @ ('\\' | '"') => out.push(escaped),
                    // The format knows no other escape; parsers keep both characters.
                    other => out.extend(['\\', other]),
                },
                other => out.push(other),
            }
        }
        None
    }

    fn blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

fn number(text: &str) -> Option<f64> {
    match text {
        "+Inf" => Some(f64::INFINITY),
        "-Inf" => Some(f64::NEG_INFINITY),
        other => other.parse().ok(),
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == ':'
}

fn is_name(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit()
}
