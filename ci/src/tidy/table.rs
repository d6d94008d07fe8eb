//! One version table: every line of it is used, and no member has a version of its own.

use std::collections::BTreeMap;
use std::path::Path;

use super::Finding;
use crate::Failure;
use crate::workspace::Workspace;

/// Reads the manifests of the workspace and its members.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>, Failure> {
    let root = read(&workspace.root, "Cargo.toml")?;
    let used: Vec<&str> =
        workspace.members.iter().flat_map(|member| member.dependencies.iter().map(String::as_str)).collect();
    let mut findings = unused(&root, &used);
    for member in &workspace.members {
        findings.extend(own_versions(&member.manifest, &read(&workspace.root, &member.manifest)?));
    }
    Ok(findings)
}

/// Reads a manifest.
pub fn read(root: &Path, path: &str) -> Result<String, Failure> {
    std::fs::read_to_string(root.join(path)).map_err(|error| Failure::Tool(format!("cannot read {path}: {error}")))
}

/// The crates of the table and their line numbers.
pub fn lines(root: &str) -> BTreeMap<&str, usize> {
    entries(root, |section| section == "workspace.dependencies").map(|(line, name, _)| (name, line)).collect()
}

fn unused(root: &str, used: &[&str]) -> Vec<Finding> {
    entries(root, |section| section == "workspace.dependencies")
        .filter(|(_, name, value)| {
            // A renamed crate is used under its own name in the metadata.
            let package = value.split_once("package = \"").and_then(|(_, rest)| rest.split('"').next());
            !used.contains(&package.unwrap_or(name))
        })
        .map(|(line, name, _)| Finding::new("Cargo.toml", line, format!("no member uses {name}"), "remove the line"))
        .collect()
}

fn own_versions(manifest: &str, text: &str) -> Vec<Finding> {
    entries(text, |section| section.ends_with("dependencies"))
        .filter(|(_, name, value)| !value.contains("workspace = true") && !name.ends_with(".workspace"))
        .map(|(line, name, _)| {
            let fix = "move the version to the table in Cargo.toml and write { workspace = true }";
            Finding::new(manifest, line, format!("{name} has a version of its own"), fix)
        })
        .collect()
}

/// The `name = value` lines of the wanted sections, with their line numbers. Our manifests keep one
/// dependency a line; that is what makes this enough.
fn entries(text: &str, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (usize, &str, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = wanted(section);
            return None;
        }
        let (name, value) = line.split_once('=').filter(|_| inside && !line.starts_with('#'))?;
        Some((index + 1, name.trim().trim_matches('"'), value.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that an unused line is found by its number, and a used or renamed one is not.
    #[test]
    fn unused_lines_are_found() {
        let root = "[workspace.dependencies]\n# data\na = \"1\"\nb = { version = \"1\", package = \"c\" }\nd = \"1\"\n\n[profile.dev]\ndebug = 1\n";
        let findings = unused(root, &["a", "c"]);
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [5]);
        assert_eq!(unused(root, &["a", "c", "d"]), []);
    }

    /// Proves that a version outside the table is found in every kind of section.
    #[test]
    fn own_versions_are_found() {
        let text = "[package]\nversion = \"1\"\n[dependencies]\na = { workspace = true }\nb = \"1\"\n[dev-dependencies]\nc = { version = \"1\" }\nd.workspace = true\n[target.'cfg(unix)'.dependencies]\ne = \"1\"\n";
        let findings = own_versions("m", text);
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [5, 7, 10]);
    }
}
