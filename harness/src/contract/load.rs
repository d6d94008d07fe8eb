//! Reading a contract from a file or a text.

use std::io::Read;
use std::path::Path;

use super::{Contract, ContractError};
use crate::place_in_text::{Place, nearest};

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
    let Place { line, column, excerpt } = Place::at(text, error.span().map_or(0, |span| span.start));
    let mut message = error.message().trim().to_owned();
    for (missing, table) in [("links", "[links.bank]"), ("request", "[request]"), ("service", "[service]")] {
        if message == format!("missing field `{missing}`") {
            message.push_str(&format!("; add {table}, see the guide's chapter on the contract"));
        }
    }
    ContractError::Syntax { origin: origin.to_owned(), line, column, hint: nearest(&message), message, excerpt }
}
