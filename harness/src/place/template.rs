//! Variables in a contract's commands and environment: `{bank.url}`, `{service.port}`, `{run.dir}`.
//!
//! `{{` and `}}` stand for literal braces, so a JSON value in an environment variable is written with doubled braces.

use std::collections::BTreeMap;

/// The variables that a text may use, by name.
pub type Vars = BTreeMap<String, String>;

/// Why a text cannot be rendered. Columns count characters from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// No variable of that name.
    #[error("`{{{name}}}` is not a variable here{}; known: {}", did_you_mean(.suggestion.as_deref()), list(.known))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The known name that looks most like it.
        suggestion: Option<String>,
        /// All known names, sorted.
        known: Vec<String>,
    },
    /// A `{` without its `}`.
    #[error("the `{{` at column {column} of `{text}` is never closed; write `{{{{` for a literal brace")]
    Unclosed {
        /// Where.
        column: usize,
        /// The whole text.
        text: String,
    },
    /// A `}` without its `{`.
    #[error("the `}}` at column {column} of `{text}` closes nothing; write `}}}}` for a literal brace")]
    Stray {
        /// Where.
        column: usize,
        /// The whole text.
        text: String,
    },
    /// What stands between the braces is not a name.
    #[error(
        "`{{{found}}}` at column {column} is not a variable name (letters, digits, `_`, `-`, `.`); write `{{{{` for a \
         literal brace"
    )]
    NotAName {
        /// Where.
        column: usize,
        /// What stands there.
        found: String,
    },
}

/// Replaces every `{name}` in `text` by its value. Values are taken as they are: they are not rendered again.
///
/// # Errors
/// When a variable is unknown (with the name that was probably meant) or a brace has no partner.
pub fn render(text: &str, vars: &Vars) -> Result<String, TemplateError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let column = text[..text.len() - rest.len() + at].chars().count() + 1;
        out.push_str(&rest[..at]);
        let open = rest[at..].starts_with('{');
        let after = &rest[at + 1..];
        if after.starts_with(if open { '{' } else { '}' }) {
            out.push(if open { '{' } else { '}' });
            rest = &after[1..];
        } else if open {
            let Some(end) = after.find('}') else {
                return Err(TemplateError::Unclosed { column, text: text.to_owned() });
            };
            out.push_str(value(&after[..end], column, vars)?);
            rest = &after[end + 1..];
        } else {
            return Err(TemplateError::Stray { column, text: text.to_owned() });
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn value<'v>(name: &str, column: usize, vars: &'v Vars) -> Result<&'v str, TemplateError> {
    if let Some(found) = vars.get(name) {
        return Ok(found);
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(TemplateError::NotAName { column, found: name.to_owned() });
    }
    Err(TemplateError::Unknown {
        name: name.to_owned(),
        suggestion: nearest(name, vars.keys()),
        known: vars.keys().cloned().collect(),
    })
}

fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k String>) -> Option<String> {
    let scored = known.map(|k| (strsim::jaro_winkler(name, k), k)).filter(|(score, _)| *score > 0.8);
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, k)| k.clone())
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|s| format!(" (did you mean `{{{s}}}`?)")).unwrap_or_default()
}

fn list(known: &[String]) -> String {
    if known.is_empty() {
        return "none".to_owned();
    }
    known.iter().map(|k| format!("{{{k}}}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{TemplateError, Vars, render};

    fn vars() -> Vars {
        [("bank.url", "http://127.0.0.1:9"), ("service.port", "8080"), ("odd", "{seed}")]
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into()
    }

    // Proves that variables are replaced, doubled braces become single ones, and a value is not rendered again.
    #[test]
    fn variables_and_literal_braces() {
        let r = |text: &str| render(text, &vars());
        assert_eq!(r("{bank.url}/charges"), Ok("http://127.0.0.1:9/charges".to_owned()));
        assert_eq!(r("{{\"port\":{service.port}}}"), Ok("{\"port\":8080}".to_owned()));
        assert_eq!(r("{{}}"), Ok("{}".to_owned()));
        assert_eq!(r("{odd}"), Ok("{seed}".to_owned()));
        assert_eq!(r(""), Ok(String::new()));
        assert_eq!(r("né {service.port} €"), Ok("né 8080 €".to_owned()));
    }

    // Proves that a misspelt variable is an error which names the right one and lists what exists.
    #[test]
    fn a_misspelt_variable_is_corrected() {
        let error = render("x={bank.ulr}", &vars()).unwrap_err();
        let text = error.to_string();
        assert!(matches!(&error, TemplateError::Unknown { suggestion: Some(s), .. } if s == "bank.url"), "{error:?}");
        assert!(text.contains("did you mean `{bank.url}`?") && text.contains("{service.port}"), "{text}");
        let alone = render("{zzz}", &vars()).unwrap_err();
        assert!(matches!(&alone, TemplateError::Unknown { suggestion: None, .. }), "{alone:?}");
    }

    // Proves that a brace without a partner is an error that points at its column and says how to write it.
    #[test]
    fn a_lone_brace_is_an_error_with_its_column() {
        let error = |text: &str| render(text, &vars()).unwrap_err();
        assert!(matches!(error("é{bank.url"), TemplateError::Unclosed { column: 2, .. }));
        assert!(matches!(error("ab}"), TemplateError::Stray { column: 3, .. }));
        assert!(matches!(error("{\"a\": 1}"), TemplateError::NotAName { column: 1, .. }));
        assert!(matches!(error("{}"), TemplateError::NotAName { .. }));
        assert!(error("ab}").to_string().contains("write `}}` for a literal brace"));
    }
}
