//! Images of our own players: one static binary each, nothing else in it.

mod check;
mod postgres;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::Failure;
use crate::options;
use crate::step::{Step, output};
use crate::workspace::Workspace;

/// Packages whose binary (of the same name) becomes an image.
const PLAYERS: &[&str] = &["payments", "mock-bank", PROXY];
/// It takes Toxiproxy's place, so it has that image's layout.
const PROXY: &str = "chaos-proxy";
/// Names under which the proxy's binary is found too.
const PROXY_NAMES: &[&str] = &["toxiproxy", "toxiproxy-cli"];
/// The proxy's binary may have this many bytes.
const MAX_PROXY_BYTES: u64 = 6_000_000;

/// Naming the target keeps the static linking away from build scripts and macros, which cannot have it.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Linked for one address: nothing is relocated at the start, and no table of relocations is shipped.
const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    tag: String,
    players: Vec<&'static str>,
    check: bool,
    postgres: bool,
}

/// Reads `--tag TAG`, `--player NAME` (all when absent), `--check` and `--postgres-from-debian`.
fn wanted(arguments: &[String]) -> Result<Wanted, Failure> {
    let (mut tag, mut player, mut check, mut postgres) = (Vec::new(), Vec::new(), false, false);
    let mut words = arguments.iter().cloned();
    while let Some(word) = words.next() {
        let list = if word.starts_with("--player") { &mut player } else { &mut tag };
        match word.as_str() {
            "--check" => check = true,
            "--postgres-from-debian" => postgres = true,
            "--player" | "--tag" => list.extend([Some(word), words.next()].into_iter().flatten()),
            _ => list.push(word),
        }
    }
    let player = options::text(&player, "--player", "all")?;
    let players: Vec<_> = PLAYERS.iter().copied().filter(|known| player == "all" || *known == player).collect();
    match players.is_empty() {
        true => Err(Failure::Usage(format!("--player is one of {}", PLAYERS.join(", ")))),
        false => Ok(Wanted { tag: options::text(&tag, "--tag", "local")?, players, check, postgres }),
    }
}

/// Builds the binaries and then `harness/PLAYER:TAG` for each; with `--check` runs the proxy's image too.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let Wanted { tag, players, check, postgres } = wanted(arguments)?;
    engine()?;
    if postgres {
        postgres::run(&tag)?;
    }
    let workspace = Workspace::load()?;
    let mut build = vec!["build", "--locked", "--profile", "image", "--target", TARGET];
    for player in &players {
        build.extend(["-p", player]);
    }
    Step::cargo("static binaries", &build).env("RUSTFLAGS", STATIC).run()?;
    let built = workspace.target.join(TARGET).join("image");
    for player in &players {
        let context = workspace.target.join("images").join(player);
        let failed = |error| Failure::Tool(format!("cannot stage the binary of {player}: {error}"));
        stage(&built.join(player), &context).map_err(failed)?;
        let recipe = if *player == PROXY { "chaos-proxy.Dockerfile" } else { "Dockerfile" };
        let recipe = workspace.root.join("fixtures/images").join(recipe);
        let image = format!("harness/{player}:{tag}");
        let binary = format!("BINARY={player}");
        let (recipe, context) = (recipe.to_string_lossy(), context.to_string_lossy());
        let mut arguments = vec!["build", "--file", &recipe, "--tag", &image];
        if *player != PROXY {
            arguments.extend(["--build-arg", &binary]);
        }
        arguments.push(&context);
        Step::program("image", "docker", &arguments).run()?;
        println!("{image}");
    }
    if !players.contains(&PROXY) {
        return Ok(());
    }
    small(&built.join(PROXY))?;
    if check { check::run(&format!("harness/{PROXY}:{tag}")) } else { Ok(()) }
}

/// Builds and tries the proxy's image where there is an engine; says so where there is none.
pub fn proxy_where_possible() -> Result<(), Failure> {
    match engine() {
        Ok(()) => run(&["--player", PROXY, "--tag", "ci", "--check"].map(str::to_owned)),
        Err(why) => {
            println!("the image of {PROXY} was not tried: {why}");
            Ok(())
        }
    }
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
    let name = binary.file_name().ok_or(std::io::ErrorKind::InvalidInput)?;
    if name != PROXY {
        fs::create_dir_all(context.join("data"))?;
        fs::copy(binary, context.join(name))?;
        return Ok(());
    }
    let root = context.join("root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    fs::create_dir_all(&root)?;
    fs::copy(binary, root.join(name))?;
    PROXY_NAMES.iter().try_for_each(|other| symlink(PROXY, root.join(other)))
}

/// Holds the proxy's binary to its size.
fn small(binary: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::Tool(format!("cannot look at {}: {error}", binary.display()));
    let bytes = fs::metadata(binary).map_err(failed)?.len();
    println!("{PROXY}: {bytes} bytes, static and stripped");
    match bytes {
        0..=MAX_PROXY_BYTES => Ok(()),
        _ => Err(Failure::Red(format!("the binary of {PROXY} may have {MAX_PROXY_BYTES} bytes at most"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves what is asked for in any order, and that nothing unknown is passed over.
    #[test]
    fn options_come_in_any_order() {
        let asked = |line: &str| wanted(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let all = Wanted { tag: "local".to_owned(), players: PLAYERS.to_vec(), check: false, postgres: false };
        assert_eq!(asked(""), Ok(all));
        let one = Wanted { tag: "t".to_owned(), players: vec![PROXY], check: true, postgres: true };
        assert_eq!(asked("--check --player chaos-proxy --postgres-from-debian --tag=t"), Ok(one));
        for wrong in ["--player", "--player nobody", "--tag", "--chekc", "--tag a --tag b"] {
            assert!(matches!(asked(wrong), Err(Failure::Usage(_))), "{wrong}");
        }
    }

    /// Proves the proxy's layout: one binary, and links to it that hold wherever the folder goes.
    #[test]
    fn the_proxy_is_found_under_three_names() {
        let folder = std::env::temp_dir().join(format!("ci-images-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("folder");
        let binary = folder.join(PROXY);
        fs::write(&binary, "binary").expect("binary");
        let context = folder.join("context");
        for _again in 0..2 {
            stage(&binary, &context).expect("staged");
        }
        for name in ["chaos-proxy", "toxiproxy", "toxiproxy-cli"] {
            assert_eq!(fs::read_to_string(context.join("root").join(name)).expect("a name"), "binary");
        }
        assert_eq!(fs::read_link(context.join("root/toxiproxy")).expect("a link"), Path::new(PROXY));
        fs::remove_dir_all(&folder).expect("removed");
    }
}
