//! What a well-formed contract must also fulfil.

mod attach;
mod cap;
mod degradation;
mod fields;
mod keys;
mod limits;
mod promises;
mod rules;
mod shared;
mod topology;

use super::{Contract, ContractError};

/// A field, as a dotted path, and what is wrong with it.
type Problem = (String, String);
/// Nothing, or the first problem that was found.
type Checked = Result<(), Problem>;

impl Contract {
    /// Checks what the syntax cannot.
    pub(super) fn validate(&self, origin: &str) -> Result<(), ContractError> {
        fields::check(self)
            .and_then(|()| promises::check(&self.promises))
            .and_then(|()| cap::check(&self.promises))
            .and_then(|()| keys::check(self))
            .and_then(|()| degradation::check(self))
            .and_then(|()| shared::check(self))
            .and_then(|()| attach::check(self))
            .map_err(|p| invalid(origin, p))
    }

    /// Checks what only the place of the file can tell. A copy in a run folder lies elsewhere, so this is not part of
    /// [`validate`](Self::validate).
    pub(super) fn validate_place(&self, origin: &str) -> Result<(), ContractError> {
        for (table, service) in self.all_services() {
            let Some(cwd) = service.cwd.as_deref().filter(|cwd| !cwd.contains(['{', '}'])) else { continue };
            let dir = self.dir.join(cwd);
            if !dir.is_dir() {
                let dir = dir.display();
                let problem = format!("is `{cwd}`, but {dir} is not a directory; it is relative to the contract");
                return Err(invalid(origin, (format!("{table}.cwd"), problem)));
            }
        }
        Ok(())
    }
}

fn invalid(origin: &str, (field, problem): Problem) -> ContractError {
    ContractError::Invalid { origin: origin.to_owned(), field, problem }
}
