//! The README keeps its promise of two commands.

use std::path::Path;

use super::Finding;

/// What a newcomer types.
const COMMANDS: &[&str] =
    &["cargo run -p harness-cli -- verify fixtures/payments/contract.toml", "cargo test -p suites"];

/// Reads the README.
pub fn check(root: &Path) -> Vec<Finding> {
    match std::fs::read_to_string(root.join("README.md")) {
        Ok(text) => check_text(&text),
        Err(error) => vec![Finding::new("README.md", 1, format!("cannot be read: {error}"), "write it")],
    }
}

fn check_text(text: &str) -> Vec<Finding> {
    let missing = COMMANDS.iter().filter(|command| !text.contains(**command));
    missing
        .map(|command| Finding::new("README.md", 1, format!("does not say `{command}`"), "show the command"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that each command is asked for.
    #[test]
    fn both_commands_are_asked_for() {
        assert_eq!(check_text(&COMMANDS.join("\n")), []);
        assert_eq!(check_text(COMMANDS[0]).len(), 1);
        assert_eq!(check_text("").len(), 2);
    }
}
