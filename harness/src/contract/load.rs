//! Reading a contract from a file or a text.

use std::path::Path;

use super::{Contract, ContractError};

impl Contract {
    /// Reads and validates a contract file.
    ///
    /// # Errors
    /// [`ContractError`] with the place and what to do.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ContractError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ContractError::Unreadable { path: path.to_owned(), source })?;
        let mut contract = Self::parse(&text, &path.display().to_string())?;
        let dir = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        contract.dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        Ok(contract)
    }

    /// Reads and validates a contract text; `origin` names it in errors.
    ///
    /// # Errors
    /// [`ContractError`] with the place and what to do.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ContractError> {
        let mut contract: Contract = toml::from_str(text).map_err(|error| syntax(&error, text, origin))?;
        contract.text = text.to_owned();
        contract.validate(origin)?;
        Ok(contract)
    }
}

fn syntax(error: &toml::de::Error, text: &str, origin: &str) -> ContractError {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = &text[..floor_char(text, at)];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let shown = text.lines().nth(line - 1).unwrap_or_default();
    let excerpt = format!("    {shown}\n    {}^", " ".repeat(column - 1));
    let message = error.message().trim().to_owned();
    ContractError::Syntax { origin: origin.to_owned(), line, column, hint: nearest(&message), message, excerpt }
}

fn floor_char(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The nearest of the words that serde lists after "unknown field `x`, expected one of `a`, `b`" (or variant).
fn nearest(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field `").or_else(|| message.strip_prefix("unknown variant `"))?;
    let (unknown, rest) = rest.split_once('`')?;
    let known = rest.split('`').skip(1).step_by(2);
    let score = |word: &str| strsim::damerau_levenshtein(unknown, word);
    let best = known.min_by_key(|word| score(word))?;
    (score(best) <= 1 + unknown.len() / 3).then(|| best.to_owned())
}
