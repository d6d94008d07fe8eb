//! `judge`, with the `evidence` that it judges, is pure: the same evidence gives the same verdict on every machine and in every year.

use super::Finding;
use super::rust::{code, words};
use crate::Failure;
use crate::step::{cargo, output};

/// Crates that do I/O or keep time. They must not be reachable from `judge`.
const IMPURE_CRATES: &[&str] =
    &["tokio", "async-std", "smol", "mio", "socket2", "rustix", "chrono", "time", "hyper", "reqwest"];

/// Modules of the standard library that reach the world.
const IMPURE_MODULES: &[&str] = &["env", "fs", "net", "process", "thread"];

/// Names that mean a clock or an ambient generator wherever they stand.
const IMPURE_NAMES: &[&str] = &["Instant", "SystemTime", "OsRng", "SysRng", "ThreadRng", "thread_rng", "RandomState"];

/// Looks at the dependency tree of `judge`; its sources are seen with all others.
pub fn check() -> Result<Vec<Finding>, Failure> {
    let tree = output(cargo(), &["tree", "--locked", "-p", "judge", "-e", "normal", "-f", "{p}", "--prefix", "none"])?;
    Ok(check_tree(&tree))
}

fn check_tree(tree: &str) -> Vec<Finding> {
    let mut found: Vec<&str> =
        tree.lines().filter_map(|line| line.split(' ').next()).filter(|name| IMPURE_CRATES.contains(name)).collect();
    found.sort_unstable();
    found.dedup();
    let finding = |name: &&str| {
        let fix = format!("find the way with `cargo tree -p judge -i {name}` and cut it");
        Finding::new("harness/judge/Cargo.toml", 1, format!("judge reaches {name}, which does I/O"), fix)
    };
    found.iter().map(finding).collect()
}

/// Looks at one source file of `judge` or `evidence`.
pub fn check_source(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = code(line);
        let module = IMPURE_MODULES.iter().find(|module| {
            let group = line.contains("std::{") && words(line).any(|word| word == **module);
            group || words_follow(line, "std", module)
        });
        let name = IMPURE_NAMES.iter().find(|name| words(line).any(|word| word == **name));
        if let Some(what) = module.map(|it| format!("std::{it}")).or(name.map(|&it| it.to_owned())) {
            let fix = "judge and evidence are pure: take the data, the time or the generator as an argument";
            findings.push(Finding::new(path, index + 1, format!("it names {what}"), fix));
        }
    }
    findings
}

/// Whether `first::second` stands in the line as a path.
fn words_follow(line: &str, first: &str, second: &str) -> bool {
    let path = format!("{first}::{second}");
    line.match_indices(&path).any(|(start, _)| {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        !line[..start].ends_with(part) && !line[start + path.len()..].starts_with(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that impure crates are found once whatever their version, and others are not.
    #[test]
    fn impure_crates_are_found() {
        let tree = "judge v0.1.0 (/w)\nserde v1.0.0\ntokio v1.54.0\ntokio v1.54.0 (*)\ntokio-util v0.7.0\n";
        let findings = check_tree(tree);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].what.contains("tokio"));
        assert_eq!(check_tree("judge v0.1.0\nserde v1.0.0\n"), []);
    }

    /// Proves which lines are impure: paths, groups and names, but not comments or longer words.
    #[test]
    fn impure_lines_are_found() {
        for line in [
            "use std::fs;",
            "use std::fs::File;",
            "use std::{fmt, fs};",
            "    let x = std::net::Ipv4Addr::LOCALHOST;",
            "use std::time::{Duration, Instant};",
            "let now = SystemTime::now();",
            "std::thread::spawn(f); // why",
            "let mut rng = rand::thread_rng();",
        ] {
            assert_eq!(check_source("p", &format!("\n{line}\n")).len(), 1, "{line}");
            assert_eq!(check_source("p", &format!("\n{line}\n"))[0].line, 2);
        }
        for line in [
            "use std::time::Duration;",
            "use std::{fmt, mem};",
            "// std::fs is not for us",
            "/// An `Instant` is a claim.",
            "let x = my_std::fs;",
            "use std::fsx;",
            "struct InstantReply;",
        ] {
            assert_eq!(check_source("p", line), [], "{line}");
        }
    }
}
