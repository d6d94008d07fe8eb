//! Reading a contract from a file or a text.

use std::io::Read;
use std::path::Path;

use super::{Contract, ContractError};

/// Far beyond any contract: a larger file is a mistaken path.
const LARGEST: u64 = 1024 * 1024;

impl Contract {
    /// Reads and validates a contract file.
    ///
    /// # Errors
    /// [`ContractError`] with the place and what to do.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ContractError> {
        let path = path.as_ref();
        let text = read(path).map_err(|source| ContractError::Unreadable { path: path.to_owned(), source })?;
        if text.len() as u64 > LARGEST {
            return Err(ContractError::TooLarge { path: path.to_owned() });
        }
        let origin = path.display().to_string();
        let mut contract = Self::parse(&text, &origin)?;
        let dir = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        contract.dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        contract.validate_place(&origin)?;
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

/// Reads one byte more than is allowed, so that a device or a huge file ends in an error and not in our memory.
fn read(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        // The cut may lie within a character; what is too large is not looked at.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|e| std::io::Error::new(std::io::ErrorKind::InvalidData, e.utf8_error()))
}

fn syntax(error: &toml::de::Error, text: &str, origin: &str) -> ContractError {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = &text[..floor_char(text, at)];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let shown = text.lines().nth(line - 1).unwrap_or_default();
    let excerpt = format!("    {shown}\n    {}^", " ".repeat(column - 1));
    let mut message = error.message().trim().to_owned();
    for (missing, table) in [("links", "[links.bank]"), ("request", "[request]"), ("service", "[service]")] {
        if message == format!("missing field `{missing}`") {
            message.push_str(&format!("; add {table}, see the guide's chapter on the contract"));
        }
    }
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
