//! An image of PostgreSQL from Debian's packages, for machines that reach a package mirror and no registry of images.
//!
//! It understands the environment of the official image, so that settings name either.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Failure;
use crate::folder::fresh;
use crate::step::{Step, output, pipe};
use crate::workspace::Workspace;

/// What a server in a container never reads: package lists and caches, pages for people, their translations, and the logs of
/// the installation.
const UNREAD: &[&str] = &[
    "var/cache/apt",
    "var/lib/apt/lists",
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/info",
    "var/log",
];
/// The server without its manners.
const BASE: &str = "harness/postgres-base:local";

/// Builds `harness/postgres:TAG`, unless it is there.
pub fn run(tag: &str) -> Result<(), Failure> {
    let image = format!("harness/postgres:{tag}");
    if output("docker", &["image", "inspect", "--format", "{{.Id}}", &image]).is_ok() {
        println!("{image} (kept; `docker image rm {image}` to build it afresh)");
        return Ok(());
    }
    let workspace = Workspace::load()?;
    let root = workspace.target.join("images").join("postgres-root");
    fresh(&root)?;
    let built = system(&root)
        .and_then(|()| trim(&root))
        .and_then(|()| import(&root, BASE))
        .and_then(|()| image_of(&workspace.root.join("fixtures/images"), &image));
    // Half a gigabyte that nobody reads again.
    let _left_over = fs::remove_dir_all(&root);
    built?;
    println!("{image}");
    Ok(())
}

/// The packages, into a folder. `DEBIAN_SUITE` and `DEBIAN_MIRROR` choose others than this machine's, or stable ones.
fn system(root: &Path) -> Result<(), Failure> {
    if output("id", &["-u"])?.trim() != "0" {
        let advice = "`--postgres-from-debian` needs root, as debootstrap does; elsewhere the official image serves";
        return Err(Failure::Tool(advice.to_owned()));
    }
    output("debootstrap", &["--version"]).map_err(|_| {
        Failure::Tool("`--postgres-from-debian` needs debootstrap: apt-get install debootstrap".to_owned())
    })?;
    let suite = std::env::var("DEBIAN_SUITE").unwrap_or_else(|_| this_suite());
    let root = root.to_string_lossy();
    let mut arguments = vec!["--variant=minbase", "--include=postgresql", &suite, &root];
    let mirror = std::env::var("DEBIAN_MIRROR").unwrap_or_default();
    if !mirror.is_empty() {
        arguments.push(&mirror);
    }
    Step::program("PostgreSQL from Debian", "debootstrap", &arguments).run()
}

/// The suite of this machine where it is a Debian.
fn this_suite() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let value = |name: &str| release.lines().find_map(|line| line.strip_prefix(name)).map(|it| it.trim_matches('"'));
    match (value("ID="), value("VERSION_CODENAME=")) {
        (Some("debian"), Some(suite)) => suite.to_owned(),
        _ => "stable".to_owned(),
    }
}

fn trim(root: &Path) -> Result<(), Failure> {
    for part in UNREAD {
        match fs::remove_dir_all(root.join(part)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::Tool(format!("cannot remove {part} of the image: {error}")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The base with its entry point.
fn image_of(folder: &Path, image: &str) -> Result<(), Failure> {
    let recipe = folder.join("postgres.Dockerfile");
    let (recipe, folder, base) = (recipe.to_string_lossy(), folder.to_string_lossy(), format!("BASE={BASE}"));
    let arguments = ["build", "--file", &recipe, "--build-arg", &base, "--tag", image, &folder];
    Step::program("image", "docker", &arguments).run()
}

/// One layer, through a pipe: `tar | docker import`.
fn import(root: &Path, image: &str) -> Result<(), Failure> {
    eprintln!("== image: {image}");
    let mut tar = Command::new("tar");
    tar.args(["--create", "--numeric-owner", "--one-file-system", "--directory"]).arg(root).arg(".");
    let mut docker = Command::new("docker");
    docker.args(["import", "-", image]).stdout(Stdio::null());
    let (packed, imported) = pipe(tar, docker)?;
    if packed.success() && imported.success() {
        return Ok(());
    }
    Err(Failure::Red(format!("{image} was not made: tar {packed}, docker import {imported}")))
}
