//! Rules for Rust sources.

use super::{Finding, purity};

/// Longer files say more than one thing.
const MAX_LINES: usize = 500;

/// Text that must not stand in a source, and what to do instead. Written in two parts, so that this file
/// keeps its own rule.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("todo", "!("), "write it, or cut the feature"),
    (concat!("unimplemented", "!("), "write it, or cut the feature"),
    (concat!("#[", "ignore"), "repair the test or delete it"),
    (concat!("#[", "allow("), "repair the cause, or use expect with a reason"),
    (concat!("#![", "allow("), "repair the cause, or use expect with a reason"),
];

/// Not a test that is switched off, but a program that other tests start as a process of its own and kill.
const ROLE: &str = concat!("#[", "ignore = \"role: ");

/// Applies every rule to one file.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > MAX_LINES {
        let what = format!("{lines} lines, the limit is {MAX_LINES}");
        findings.push(Finding::new(path, MAX_LINES + 1, what, "split it by idea"));
    }
    let suite = path.starts_with("suites/");
    for (index, line) in text.lines().enumerate() {
        let forbidden = FORBIDDEN.iter().filter(|(token, _)| line.contains(token) && !line.contains(ROLE));
        for (token, fix) in forbidden {
            findings.push(Finding::new(path, index + 1, format!("`{token}`"), *fix));
        }
        if suite && code(line).contains("sleep(") {
            let fix = "wait for the event itself: hold a call, wait until open, settle";
            findings.push(Finding::new(path, index + 1, "a suite sleeps", fix));
        }
    }
    if ["harness/judge/src/", "harness/evidence/src/"].iter().any(|pure| path.starts_with(pure)) {
        findings.extend(purity::check_source(path, text));
    }
    findings
}

/// The line without its `//` comment. A `//` in a string ends the line too early; for these rules that only
/// means looking at less of it.
pub fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or(line)
}

/// The identifiers of a line.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whats(path: &str, text: &str) -> Vec<(usize, String)> {
        check(path, text).into_iter().map(|finding| (finding.line, finding.what)).collect()
    }

    /// Proves that each forbidden text is found with its line.
    #[test]
    fn forbidden_text_is_found() {
        for (token, _) in FORBIDDEN {
            assert_eq!(whats("a.rs", &format!("fn a() {{\n    {token}\n}}\n")), [(2, format!("`{token}`"))]);
        }
        assert_eq!(whats("a.rs", "#[expect(unused, reason = \"why\")]\n"), []);
        assert_eq!(whats("a.rs", &format!("{ROLE}a harness that another test kills\")]\n")), []);
    }

    /// Proves the limit on lines at its edge.
    #[test]
    fn long_files_are_found() {
        assert_eq!(whats("a.rs", &"\n".repeat(500)), []);
        assert_eq!(whats("a.rs", &"\n".repeat(501)).len(), 1);
    }

    /// Proves that a sleep is found in a suite and only there, and not in a comment.
    #[test]
    fn suites_do_not_sleep() {
        let sleep = "tokio::time::sleep(SECOND).await;\n";
        assert_eq!(whats("suites/tests/a.rs", sleep), [(1, "a suite sleeps".to_owned())]);
        assert_eq!(whats("harness/src/a.rs", sleep), []);
        assert_eq!(whats("suites/tests/a.rs", "// no sleep() here\n"), []);
    }

    /// Proves that purity is asked of the sources of judge and of the evidence that it judges alone.
    #[test]
    fn only_judge_and_evidence_must_be_pure() {
        assert_eq!(whats("harness/evidence/src/a.rs", "use std::fs;\n").len(), 1);
        assert_eq!(whats("harness/judge/src/a.rs", "use std::fs;\n").len(), 1);
        assert_eq!(whats("harness/judge/tests/a.rs", "use std::fs;\n"), []);
        assert_eq!(whats("harness/src/a.rs", "use std::fs;\n"), []);
    }
}
