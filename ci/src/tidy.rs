//! The rules of this repository that no compiler knows. Each finding is one line: where, what, and what to do.

mod direction;
mod features;
mod files;
mod purity;
mod readme;
mod rust;
mod table;

use std::fmt;

use crate::Failure;
use crate::workspace::Workspace;

/// Something to repair.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    line: usize,
    what: String,
    fix: String,
}

impl Finding {
    /// A finding about a line, counted from 1.
    pub fn new(path: &str, line: usize, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), fix: fix.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.path, self.line, self.what, self.fix)
    }
}

/// Applies every rule and prints what they find.
pub fn run() -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    let mut findings = direction::check(&workspace.members);
    findings.extend(table::check(&workspace)?);
    findings.extend(purity::check()?);
    findings.extend(features::check(&workspace.root)?);
    findings.extend(files::check(&workspace.root)?);
    findings.extend(readme::check(&workspace.root));
    findings.sort();
    findings.dedup();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(Failure::Red(format!("tidy found {count} to repair"))),
    }
}
