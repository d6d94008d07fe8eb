//! Images of our own players: one static binary each, nothing else in it.

use std::fs;
use std::path::Path;

use crate::Failure;
use crate::step::{Step, output};
use crate::workspace::Workspace;

/// Packages whose binary (of the same name) becomes an image.
const PLAYERS: &[&str] = &["payments", "mock-bank", "chaos-proxy"];

/// Naming the target keeps the static linking away from build scripts and macros, which cannot have it.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Builds the binaries and then `harness/PLAYER:TAG` for each.
pub fn run(tag: &str) -> Result<(), Failure> {
    engine()?;
    let workspace = Workspace::load()?;
    let mut build = vec!["build", "--locked", "--profile", "image", "--target", TARGET];
    for player in PLAYERS {
        build.extend(["-p", player]);
    }
    Step::cargo("static binaries", &build).env("RUSTFLAGS", "-C target-feature=+crt-static").run()?;
    let built = workspace.target.join(TARGET).join("image");
    let dockerfile = workspace.root.join("fixtures/images/Dockerfile");
    for player in PLAYERS {
        let context = workspace.target.join("images").join(player);
        stage(&built.join(player), &context)
            .map_err(|error| Failure::Tool(format!("cannot stage the binary of {player}: {error}")))?;
        let image = format!("harness/{player}:{tag}");
        let binary = format!("BINARY={player}");
        let (dockerfile, context) = (dockerfile.to_string_lossy(), context.to_string_lossy());
        let arguments = ["build", "--file", &dockerfile, "--build-arg", &binary, "--tag", &image, &context];
        Step::program("image", "docker", &arguments).run()?;
        println!("{image}");
    }
    Ok(())
}

/// Asks before the long build whether there is anything to build images with.
fn engine() -> Result<(), Failure> {
    let answer = output("docker", &["version", "--format", "{{.Server.Os}}/{{.Server.Arch}}"]);
    let advice = "`cargo ci images` needs a Docker engine: start one, or set DOCKER_HOST";
    match answer.map(|platform| platform.trim().to_owned()) {
        Ok(platform) if platform == "linux/amd64" => Ok(()),
        Ok(platform) => {
            Err(Failure::Tool(format!("the Docker engine is for {platform}, the binaries for linux/amd64")))
        }
        Err(Failure::Tool(what)) => Err(Failure::Tool(format!("{advice}\n{what}"))),
        Err(other) => Err(other),
    }
}

/// A build context with nothing but the binary and an empty directory for its data: the whole target directory
/// would be sent to the engine otherwise.
fn stage(binary: &Path, context: &Path) -> std::io::Result<()> {
    fs::create_dir_all(context.join("data"))?;
    let name = binary.file_name().ok_or(std::io::ErrorKind::InvalidInput)?;
    fs::copy(binary, context.join(name))?;
    Ok(())
}
