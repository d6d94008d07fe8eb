//! Every mutant of the package `judge` in one build, chosen when a test runs. One build for each mutant, as usual,
//! takes days; this takes an hour or two.

mod cover;
mod mutant;
mod print;
mod report;
mod rewrite;
mod run;
mod site;
mod viable;

use std::path::Path;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: mutants run REPOSITORY WORK [FILE]   WORK/mutants.json into a copy, WORK/tree; run; results to WORK/results.tsv;
                                            of FILE only, a path that the list names
       mutants report WORK                  the survivors and the counts
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["run", repository, work] => go(Path::new(repository), Path::new(work), None),
        ["run", repository, work, file] => go(Path::new(repository), Path::new(work), Some(file)),
        ["report", work] => report::report(&Path::new(work).join("results.tsv")).map(|text| print!("{text}")),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("mutants: {why}");
            ExitCode::FAILURE
        }
    }
}

fn go(repository: &Path, work: &Path, only: Option<&str>) -> Result<(), String> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()));
    let (repository, work) = (absolute(repository)?, absolute(work)?);
    let mut list = mutant::load(&work.join("mutants.json"))?;
    // Other files keep their original text, which makes the build of a part quick.
    if let Some(only) = only {
        list.files.retain(|file, _| file == only);
        if list.files.is_empty() {
            return Err(format!("the list has no mutant of {only}"));
        }
    }
    let tree = work.join("tree");
    if !tree.exists() {
        copy(&repository, &tree)?;
    }
    let left = viable::instrument(&repository, &tree, &list)?;
    let cover = cover::measure(&tree, &work.join("cover"))?;
    run::run(&tree, &list, &left, &cover, only, &work.join("results.tsv"))
}

/// A clone and not a copy, so that nothing that was built comes along.
fn copy(repository: &Path, tree: &Path) -> Result<(), String> {
    let status = Command::new("git").args(["clone", "--quiet"]).arg(repository).arg(tree).status();
    match status.map_err(|error| format!("cannot run git: {error}"))?.success() {
        true => Ok(()),
        false => Err(format!("git cannot clone {}", repository.display())),
    }
}
