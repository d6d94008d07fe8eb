//! Where something is in a TOML text: for errors that a person can act on.

use toml::de::{DeTable, DeValue};

/// A place in a text, with what stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// The line with a mark under the place.
    pub excerpt: String,
}

impl Place {
    /// The place at a byte.
    pub fn at(text: &str, byte: usize) -> Self {
        let before = &text[..floor_char(text, byte.min(text.len()))];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let shown = text.lines().nth(line - 1).unwrap_or_default();
        Self { line, column, excerpt: format!("    {shown}\n    {}^", " ".repeat(column - 1)) }
    }

    /// The place of a field by its dotted path, e.g. `variants[1].expect.R3`; that of the nearest table around it when
    /// the field itself is not there.
    pub fn of_field(text: &str, field: &str) -> Option<Self> {
        let table = DeTable::parse(text).ok()?;
        let mut at = None;
        let mut value = DeValue::Table(table.into_inner());
        for step in field.split(['.', '[']).filter(|s| !s.is_empty()) {
            let next = match (value, step.strip_suffix(']').and_then(|i| i.parse::<usize>().ok())) {
                (DeValue::Array(items), Some(i)) => items.into_iter().nth(i).map(|v| (v.span(), v.into_inner())),
                (DeValue::Table(entries), None) => {
                    let found = entries.into_iter().find(|(key, _)| key.get_ref().as_ref() == step);
                    found.map(|(key, v)| (key.span(), v.into_inner()))
                }
                _ => None,
            };
            let Some((span, inner)) = next else { break };
            (at, value) = (Some(span.start), inner);
        }
        at.map(|byte| Self::at(text, byte))
    }
}

/// The nearest of the words that serde lists after "unknown field `x`, expected one of `a`, `b`" (or variant).
pub(crate) fn nearest(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field `").or_else(|| message.strip_prefix("unknown variant `"))?;
    let (unknown, rest) = rest.split_once('`')?;
    let known = rest.split('`').skip(1).step_by(2);
    let score = |word: &str| strsim::damerau_levenshtein(unknown, word);
    let best = known.min_by_key(|word| score(word))?;
    (score(best) <= 1 + unknown.len() / 3).then(|| best.to_owned())
}

fn floor_char(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::Place;

    /// Proves that a field is found by its path, in arrays of tables and in inline tables, and that a missing one is
    /// placed at the table around it.
    #[test]
    fn fields_have_places() {
        let text = "a = 1\n[[b]]\nc = 2\n[[b]]\nc = { d = 3 }\n";
        let line = |field: &str| Place::of_field(text, field).map(|p| (p.line, p.column));
        assert_eq!(line("a"), Some((1, 1)));
        assert_eq!(line("b[0].c"), Some((3, 1)));
        assert_eq!(line("b[1].c.d"), Some((5, 7)));
        assert_eq!(line("b[1].c.nothing"), Some((5, 1)));
        assert_eq!(line("nothing"), None);
    }
}
