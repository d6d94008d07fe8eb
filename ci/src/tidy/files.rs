//! Rules for every text file that is, or is about to be, in the repository.

use std::path::Path;

use super::{Finding, rust};
use crate::Failure;
use crate::step::output;

/// Directories of somebody's machine. Written in two parts, so that this file keeps its own rule.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("/t", "mp/")];

/// Inputs of fuzz targets are bytes, also where they look like text.
const CORPUS: &str = "/fuzz/corpus/";

/// A run that was killed leaves half a line at the end of its evidence, and incidents of that kind are kept as they were.
const EVIDENCE: &str = "/evidence.jsonl";

/// Asks git for the files, so that what is ignored stays ignored.
pub fn check(root: &Path) -> Result<Vec<Finding>, Failure> {
    let list = output("git", &["-C", &root.to_string_lossy(), "ls-files", "-z", "-co", "--exclude-standard"])?;
    let mut findings = Vec::new();
    for path in list.split('\0').filter(|path| !path.is_empty() && !path.contains(CORPUS)) {
        // A file deleted but not yet committed is still listed; a binary file has no lines.
        let Ok(bytes) = std::fs::read(root.join(path)) else { continue };
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if !text.contains('\0') {
            findings.extend(check_text(path, &text));
        }
    }
    Ok(findings)
}

fn check_text(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !text.is_empty() && !text.ends_with('\n') && !path.ends_with(EVIDENCE) {
        findings.push(Finding::new(path, text.lines().count(), "no newline at the end", "add one"));
    }
    if text.ends_with("\n\n") {
        findings.push(Finding::new(path, text.lines().count(), "empty lines at the end", "remove them"));
    }
    for (index, line) in text.split('\n').enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            findings.push(Finding::new(path, index + 1, "white space at the end of the line", "remove it"));
        }
        for machine in MACHINE_PATHS.iter().filter(|machine| names_directory(line, machine)) {
            let fix = "make it relative, or ask the system for its directory";
            findings.push(Finding::new(path, index + 1, format!("the path of a machine ({machine})"), fix));
        }
    }
    if path.ends_with(".rs") {
        findings.extend(rust::check(path, text));
    }
    findings
}

/// Whether the directory starts a path here: `a/tmp/b` and `https://host/home/` are other things.
fn names_directory(line: &str, directory: &str) -> bool {
    line.match_indices(directory).any(|(start, _)| {
        !line[..start].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | ')' | '/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check_text(path, text).into_iter().map(|finding| finding.line).collect()
    }

    /// Proves the rules on line ends.
    #[test]
    fn line_ends_are_clean() {
        assert_eq!(lines("a.md", "a\nb\n"), []);
        assert_eq!(lines("a.md", ""), []);
        assert_eq!(lines("a.md", "a\nb"), [2]);
        assert_eq!(lines("fixtures/incidents/killed/scenarios/steady/evidence.jsonl", "{}\n{\"att"), []);
        assert_eq!(lines("a.md", "a\n\n"), [2]);
        assert_eq!(lines("a.md", "a \nb\t\nc\r\n"), [1, 2, 3]);
    }

    /// Proves that paths of a machine are found, and parts of other paths are not.
    #[test]
    fn machine_paths_are_found() {
        for machine in MACHINE_PATHS {
            assert_eq!(lines("a.toml", &format!("path = \"{machine}x\"\n")), [1], "{machine}");
            assert_eq!(lines("a.toml", &format!("path = \"target{machine}x\"\n")), [], "{machine}");
            assert_eq!(lines("a.md", &format!("https://example.org{machine}x\n")), [], "{machine}");
        }
    }

    /// Proves that Rust rules are asked of Rust files alone.
    #[test]
    fn rust_rules_are_for_rust() {
        let text = concat!("todo", "!(\n");
        assert_eq!(lines("a.rs", text), [1]);
        assert_eq!(lines("a.md", text), []);
    }
}
