//! Which test reaches which mutant, and how long it takes: a mutant is only worth running against the tests that
//! reach it, quickest first.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::viable::{self, PACKAGE};

/// Slower tests are left out of the runs.
const SLOW: Duration = Duration::from_secs(2);

/// No test of the package takes longer, even with every site noted.
const LIMIT: Duration = Duration::from_secs(600);

/// A test, and its time on the original.
#[derive(Debug)]
pub struct Test {
    pub program: PathBuf,
    pub name: String,
    pub time: Duration,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Passed,
    Failed,
    TimedOut,
}

/// The tests, and for each mutant those that reach it, by index.
pub struct Cover {
    pub tests: Vec<Test>,
    pub reach: HashMap<u32, Vec<usize>>,
}

/// Builds the tests in the copy, and runs each twice: for its time, and for what it reaches.
pub fn measure(tree: &Path, notes: &Path) -> Result<Cover, String> {
    let mut cover = Cover { tests: Vec::new(), reach: HashMap::new() };
    fs::create_dir_all(notes).map_err(|error| format!("cannot create {}: {error}", notes.display()))?;
    for program in programs(tree)? {
        for name in names(&program)? {
            let start = Instant::now();
            match run(tree, &program, &name, ("MUTANT", "0"), SLOW)? {
                Ending::Passed => {}
                Ending::Failed => return Err(format!("{name} fails on the original; repair it first")),
                Ending::TimedOut => {
                    eprintln!("left out, for it is slow: {name}");
                    continue;
                }
            }
            let time = start.elapsed();
            let index = cover.tests.len();
            let file = notes.join(index.to_string());
            let _ = fs::remove_file(&file);
            run(tree, &program, &name, ("MUTANT_COVER", &file.to_string_lossy()), LIMIT)?;
            // A test that reaches no mutant writes no file.
            let reached = fs::read_to_string(&file).unwrap_or_default();
            for id in reached.lines().filter_map(|line| line.parse().ok()) {
                cover.reach.entry(id).or_default().push(index);
            }
            cover.tests.push(Test { program: program.clone(), name, time });
        }
    }
    for tests in cover.reach.values_mut() {
        tests.sort_by_key(|&index| cover.tests[index].time);
    }
    Ok(cover)
}

fn programs(tree: &Path) -> Result<Vec<PathBuf>, String> {
    let messages = viable::cargo(tree, &["test", "--lib", "--tests", "--no-run"])?;
    let tests = messages.iter().filter(|message| message["profile"]["test"] == true);
    let programs: Vec<PathBuf> =
        tests.filter_map(|message| message["executable"].as_str()).map(PathBuf::from).collect();
    match programs.is_empty() {
        true => Err(format!("the tests of {PACKAGE} do not build; try cargo test -p {PACKAGE} in {}", tree.display())),
        false => Ok(programs),
    }
}

fn names(program: &Path) -> Result<Vec<String>, String> {
    let output = Command::new(program).arg("--list").output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// Runs one test in a process of its own, so that a mutant that loops or aborts takes nothing with it.
pub fn run(tree: &Path, program: &Path, name: &str, choice: (&str, &str), limit: Duration) -> Result<Ending, String> {
    let folder = tree.join("harness").join(PACKAGE);
    // A mutant of a size asks for all memory there is.
    let mut command = Command::new("prlimit");
    command.arg("--as=5000000000").arg(program).args(["--exact", name, "--test-threads=1"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.current_dir(&folder).env("CARGO_MANIFEST_DIR", &folder).env(choice.0, choice.1);
    command.env("RUST_BACKTRACE", "0").env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
    command.env("PROPTEST_MAX_SHRINK_ITERS", "0").env("PROPTEST_CASES", "16");
    let mut child = command.spawn().map_err(|error| format!("cannot run prlimit (of util-linux): {error}"))?;
    let start = Instant::now();
    loop {
        let ended = child.try_wait().map_err(|error| format!("cannot wait for {name}: {error}"))?;
        if let Some(status) = ended {
            return Ok(if status.success() { Ending::Passed } else { Ending::Failed });
        }
        if start.elapsed() > limit {
            child.kill().map_err(|error| format!("cannot stop {name}: {error}"))?;
            child.wait().map_err(|error| format!("cannot wait for {name}: {error}"))?;
            return Ok(Ending::TimedOut);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
