//! The workspace as cargo sees it.

use std::path::PathBuf;

use crate::Failure;
use crate::json::Json;
use crate::step::{cargo, output};

/// The members and where they live.
#[derive(Debug)]
pub struct Workspace {
    pub root: PathBuf,
    pub target: PathBuf,
    pub members: Vec<Member>,
}

/// One package of ours.
#[derive(Debug, Clone)]
pub struct Member {
    pub name: String,
    /// Its manifest, relative to the root.
    pub manifest: String,
    /// Names of its direct dependencies of every kind, without duplicates, sorted.
    pub dependencies: Vec<String>,
}

impl Workspace {
    /// Asks cargo.
    pub fn load() -> Result<Self, Failure> {
        let text = output(cargo(), &["metadata", "--format-version", "1", "--no-deps", "--locked"])?;
        Self::parse(&text).map_err(|what| Failure::Tool(format!("cargo metadata printed something unexpected: {what}")))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let json = Json::parse(text)?;
        let root = field(&json, "workspace_root")?;
        let members = json.get("packages").ok_or("no packages")?.items();
        let members = members.iter().map(|package| member(package, root)).collect::<Result<_, _>>()?;
        Ok(Self { root: root.into(), target: field(&json, "target_directory")?.into(), members })
    }
}

fn member(package: &Json, root: &str) -> Result<Member, String> {
    let manifest = field(package, "manifest_path")?;
    let manifest = manifest.strip_prefix(root).unwrap_or(manifest).trim_start_matches('/').to_owned();
    let dependencies = package.get("dependencies").ok_or("a package without dependencies")?.items();
    let mut dependencies: Vec<String> =
        dependencies.iter().map(|it| field(it, "name").map(str::to_owned)).collect::<Result<_, _>>()?;
    dependencies.sort();
    dependencies.dedup();
    Ok(Member { name: field(package, "name")?.to_owned(), manifest, dependencies })
}

fn field<'a>(json: &'a Json, name: &str) -> Result<&'a str, String> {
    json.get(name).and_then(Json::text).ok_or_else(|| format!("no {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves what is read from a small metadata document, and that a missing part is named.
    #[test]
    fn metadata_is_read() {
        let text = r#"{"packages": [{"name": "a", "manifest_path": "/w/x/Cargo.toml", "dependencies": [
            {"name": "serde", "kind": null}, {"name": "b", "kind": "dev"}, {"name": "serde", "kind": "build"}]}],
            "workspace_root": "/w", "target_directory": "/t"}"#;
        let workspace = Workspace::parse(text).expect("metadata");
        assert_eq!((workspace.root, workspace.target), ("/w".into(), "/t".into()));
        let [member] = &workspace.members[..] else { panic!("one member") };
        assert_eq!((member.name.as_str(), member.manifest.as_str()), ("a", "x/Cargo.toml"));
        assert_eq!(member.dependencies, ["b", "serde"]);
        let error = Workspace::parse(&text.replace("workspace_root", "root")).expect_err("incomplete");
        assert_eq!(error, "no workspace_root");
    }

    /// Proves that the real workspace can be read: this package is in it and depends on nothing.
    #[test]
    fn this_workspace_is_read() {
        let workspace = Workspace::load().expect("cargo metadata");
        let ours = workspace.members.iter().find(|member| member.name == "ci").expect("this package");
        assert_eq!((ours.manifest.as_str(), ours.dependencies.len()), ("ci/Cargo.toml", 0));
        assert!(workspace.root.join(&ours.manifest).is_file());
    }
}
