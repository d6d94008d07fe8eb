//! Fuzzing: every target of `harness/proxy/fuzz` for a while, with the compiler's own coverage instrumentation. The stable
//! toolchain has it; only the sanitizers need a nightly one, and the crate under test has no unsafe code for them to watch.

use std::fs;
use std::path::{Path, PathBuf};

use crate::step::Step;
use crate::workspace::Workspace;
use crate::{Failure, options};

/// Naming the target keeps the instrumentation away from build scripts and macros.
const TARGET: &str = "x86_64-unknown-linux-gnu";

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
    let folder = workspace.root.join("harness/proxy/fuzz");
    let targets = targets(&folder, only.as_deref())?;
    let built = workspace.target.join("fuzz");
    let manifest = folder.join("Cargo.toml");
    let (manifest, target_dir) = (manifest.to_string_lossy(), built.to_string_lossy());
    let mut build = vec!["build", "--release", "--manifest-path", &manifest];
    build.extend(["--target", TARGET, "--target-dir", &target_dir]);
    Step::cargo("fuzz targets", &build).env("RUSTFLAGS", FLAGS).run()?;
    let mut red = Vec::new();
    for target in &targets {
        let found = built.join("found").join(target);
        fs::create_dir_all(&found)
            .map_err(|error| Failure::Tool(format!("cannot create {}: {error}", found.display())))?;
        let step = fuzz(target, &built, &folder, &found, seconds);
        match step.run() {
            Ok(()) => {}
            Err(Failure::Red(_)) => red.push(target.as_str()),
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

/// The targets are what has a file; the crate's own tests see to it that each has a corpus.
fn targets(folder: &Path, only: Option<&str>) -> Result<Vec<String>, Failure> {
    let sources = folder.join("fuzz_targets");
    let broken = |error| Failure::Tool(format!("cannot list {}: {error}", sources.display()));
    let mut names = Vec::new();
    for entry in fs::read_dir(&sources).map_err(broken)? {
        names.extend(entry.map_err(broken)?.path().file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    let known = names.join(", ");
    names.retain(|name| only.is_none_or(|only| only == name));
    match names.is_empty() {
        true => Err(Failure::Usage(format!("no such fuzz target; the targets are: {known}"))),
        false => Ok(names),
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
    Err(Failure::Red(format!("{what}. Repair it, and keep the input in harness/proxy/fuzz/corpus/TARGET")))
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
        let folder = Workspace::load().expect("workspace").root.join("harness/proxy/fuzz");
        assert_eq!(targets(&folder, Some("rules")), Ok(vec!["rules".to_owned()]));
        let unknown = targets(&folder, Some("rule"));
        assert!(matches!(unknown, Err(Failure::Usage(what)) if what.contains("request, response, rules")));
        assert_eq!(verdict(&[], Path::new("t")), Ok(()));
        assert!(matches!(verdict(&["rules"], Path::new("t")), Err(Failure::Red(what)) if what.starts_with("rules")));
    }
}
