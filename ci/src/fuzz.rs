//! Fuzzing: every target of the crates that read foreign bytes, for a while, with the compiler's own coverage
//! instrumentation. The stable toolchain has it; only the sanitizers need a nightly one, and the crates under test have no
//! unsafe code for them to watch.

use std::fs;
use std::path::{Path, PathBuf};

use crate::step::Step;
use crate::workspace::Workspace;
use crate::{Failure, options};

/// Naming the target keeps the instrumentation away from build scripts and macros.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Where the targets are; each is a package of its own, outside the workspace.
const FOLDERS: [&str; 2] = ["harness/proxy/fuzz", "harness/judge/fuzz"];

/// What libFuzzer needs to see: an eight-bit counter for each edge, and the operands of comparisons.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Longer inputs say nothing new: the limits that the targets set are below it.
const MAX_INPUT: &str = "-max_len=4096";

/// Runs each target, or one, for `seconds`, starting from the kept corpus. New inputs go to the target directory.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let (seconds, only) = parse(arguments)?;
    let workspace = Workspace::load()?;
    let targets = targets(&workspace.root, only.as_deref())?;
    let built = workspace.target.join("fuzz");
    for folder in FOLDERS.iter().filter(|folder| targets.iter().any(|target| target.folder == **folder)) {
        build(&workspace.root.join(folder), &built)?;
    }
    let mut red = Vec::new();
    for Target { folder, name } in &targets {
        let found = built.join("found").join(name);
        fs::create_dir_all(&found)
            .map_err(|error| Failure::Tool(format!("cannot create {}: {error}", found.display())))?;
        let step = fuzz(name, &built, &workspace.root.join(folder), &found, seconds);
        match step.run() {
            Ok(()) => {}
            Err(Failure::Red(_)) => red.push(name.as_str()),
            Err(broken) => return Err(broken),
        }
    }
    verdict(&red, &built)
}

fn parse(arguments: &[String]) -> Result<(u32, Option<String>), Failure> {
    let (mut time, mut only) = (Vec::new(), None);
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        if let Some(name) = word.strip_prefix("--target=") {
            only = Some(name.to_owned());
        } else if word == "--target" {
            let name = rest.next().ok_or_else(|| Failure::Usage("--target needs the name of a target".to_owned()))?;
            only = Some(name.clone());
        } else {
            // `60s` and `60` are the same.
            time.push(word.strip_suffix('s').unwrap_or(word).to_owned());
        }
    }
    Ok((options::number(&time, "--for", 60)?, only))
}

/// A fuzz target: its package's folder, and its name, which no other package has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    folder: &'static str,
    name: String,
}

fn build(folder: &Path, built: &Path) -> Result<(), Failure> {
    let manifest = folder.join("Cargo.toml");
    let (manifest, target_dir) = (manifest.to_string_lossy(), built.to_string_lossy());
    let mut build = vec!["build", "--release", "--manifest-path", &manifest];
    build.extend(["--target", TARGET, "--target-dir", &target_dir]);
    Step::cargo("fuzz targets", &build).env("RUSTFLAGS", FLAGS).run()
}

/// The targets are what has a file; each crate's own tests see to it that each has a corpus.
fn targets(root: &Path, only: Option<&str>) -> Result<Vec<Target>, Failure> {
    let mut targets = Vec::new();
    for folder in FOLDERS {
        let sources = root.join(folder).join("fuzz_targets");
        let broken = |error| Failure::Tool(format!("cannot list {}: {error}", sources.display()));
        for entry in fs::read_dir(&sources).map_err(broken)? {
            let stem = entry.map_err(broken)?.path().file_stem().map(|name| name.to_string_lossy().into_owned());
            targets.extend(stem.map(|name| Target { folder, name }));
        }
    }
    targets.sort();
    let known: Vec<String> = targets.iter().map(|target| target.name.clone()).collect();
    targets.retain(|target| only.is_none_or(|only| only == target.name));
    match targets.is_empty() {
        true => Err(Failure::Usage(format!("no such fuzz target; the targets are: {}", known.join(", ")))),
        false => Ok(targets),
    }
}

fn fuzz(target: &str, built: &Path, folder: &Path, found: &Path, seconds: u32) -> Step {
    let program: PathBuf = built.join(TARGET).join("release").join(target);
    let (corpus, found) = (folder.join("corpus").join(target), found.to_string_lossy());
    let time = format!("-max_total_time={seconds}");
    let crashes = format!("-artifact_prefix={}/{target}-", built.display());
    let arguments =
        [&time, MAX_INPUT, &crashes, "-timeout=10", "-print_final_stats=1", &found, &corpus.to_string_lossy()];
    Step::program("fuzz", program, &arguments)
}

fn verdict(red: &[&str], built: &Path) -> Result<(), Failure> {
    if red.is_empty() {
        return Ok(());
    }
    let what = format!("{} broke its claims; the input is {}/TARGET-crash-*", red.join(", "), built.display());
    Err(Failure::Red(format!("{what}. Repair it, and keep the input in the corpus of its target")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::words;

    /// Proves the spellings of time and target, the default, and that nothing unknown is passed over.
    #[test]
    fn options_are_read_strictly() {
        let rules = || Some("rules".to_owned());
        assert_eq!(parse(&[]), Ok((60, None)));
        assert_eq!(parse(&words("--for 90s --target rules")), Ok((90, rules())));
        assert_eq!(parse(&words("--target=rules --for=5")), Ok((5, rules())));
        for wrong in ["--for", "--for 0s", "--for 1m", "--target", "--four 5", "--for 5 6"] {
            assert!(matches!(parse(&words(wrong)), Err(Failure::Usage(_))), "{wrong}");
        }
    }

    /// Proves that an unknown target is refused with the known ones, and that a broken claim names its target.
    #[test]
    fn targets_are_named() {
        let root = Workspace::load().expect("workspace").root;
        let named = |folder, name: &str| Ok(vec![Target { folder, name: name.to_owned() }]);
        assert_eq!(targets(&root, Some("rules")), named("harness/proxy/fuzz", "rules"));
        assert_eq!(targets(&root, Some("evidence")), named("harness/judge/fuzz", "evidence"));
        let unknown = targets(&root, Some("rule"));
        assert!(matches!(unknown, Err(Failure::Usage(what)) if what.contains("request, response, rules")));
        let all = targets(&root, None).expect("targets");
        let names: std::collections::BTreeSet<_> = all.iter().map(|target| &target.name).collect();
        assert_eq!(names.len(), all.len(), "a name is one target's");
        assert_eq!(verdict(&[], Path::new("t")), Ok(()));
        assert!(matches!(verdict(&["rules"], Path::new("t")), Err(Failure::Red(what)) if what.starts_with("rules")));
    }
}
