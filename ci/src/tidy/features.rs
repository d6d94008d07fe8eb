//! Nothing is compiled twice: the builds that people mix must ask for the same features of every crate they
//! share, or cargo compiles it again for each.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::Failure;
use crate::step::{cargo, output};

/// The builds a working day mixes: the command line, the suites, the reference service.
const BUILDS: &[(&str, &str)] =
    &[("harness-cli", "normal,build"), ("suites", "normal,build,dev"), ("payments", "normal,build")];

/// For each crate (with its version) the feature sets it is built with; more than one where a build script or
/// a macro wants others than the program.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Asks cargo for the graph of each build and compares them.
pub fn check() -> Result<Vec<Finding>, Failure> {
    let mut graphs = Vec::new();
    for (package, edges) in BUILDS {
        let tree = ["tree", "--locked", "-p", package, "-e", edges, "-f", "{p}|{f}", "--prefix", "none"];
        graphs.push((*package, graph(&output(cargo(), &tree)?)));
    }
    Ok(compare(&graphs))
}

fn graph(tree: &str) -> Graph {
    let mut graph = Graph::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let line = line.strip_suffix(" (*)").unwrap_or(line);
        let (package, features) = line.split_once('|').unwrap_or((line, ""));
        let name: Vec<&str> = package.split(' ').take(2).collect();
        graph.entry(name.join(" ")).or_default().insert(features.to_owned());
    }
    graph
}

fn compare(graphs: &[(&str, Graph)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, (first, left)) in graphs.iter().enumerate() {
        for (second, right) in &graphs[index + 1..] {
            for (package, ours) in left {
                if let Some(theirs) = right.get(package).filter(|theirs| *theirs != ours) {
                    findings.push(difference(package, (first, ours), (second, theirs)));
                }
            }
        }
    }
    findings
}

fn difference(package: &str, left: (&str, &BTreeSet<String>), right: (&str, &BTreeSet<String>)) -> Finding {
    let only = |here: &BTreeSet<String>, there: &BTreeSet<String>| {
        let split = |sets: &BTreeSet<String>| -> BTreeSet<String> {
            sets.iter().flat_map(|set| set.split(',')).filter(|it| !it.is_empty()).map(str::to_owned).collect()
        };
        split(here).difference(&split(there)).cloned().collect::<Vec<_>>().join(", ")
    };
    let (more, fewer) = (only(left.1, right.1), only(right.1, left.1));
    let name = package.split(' ').next().unwrap_or(package);
    let missing =
        [more.as_str(), fewer.as_str()].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ");
    let say = |(build, _): (&str, _), features: &str| match features {
        "" => format!("{build} asks for nothing more"),
        features => format!("{build} adds {features}"),
    };
    let what = format!("{package} is compiled twice: {}, {}", say(left, &more), say(right, &fewer));
    let fix = match missing.as_str() {
        "" => format!(
            "a build script or macro shares it only in one; see `cargo tree -p {} -i {name} -e features`",
            left.0
        ),
        features => format!(
            "add {features} of {name} to the table in Cargo.toml, or to the crate that asks (`cargo tree -p {} -i {name} -e features`)",
            if more.is_empty() { right.0 } else { left.0 }
        ),
    };
    Finding::new("Cargo.toml", 1, what, fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that equal features pass in any order of lines, with repeats, and whatever else a build has.
    #[test]
    fn equal_features_pass() {
        let one = graph("a v1.0.0 (/w)|\nb v2.0.0|std,x\nb v2.0.0|std,x (*)\nc v1.0.0|\n");
        let two = graph("b v2.0.0|std,x\nd v1.0.0|y\n");
        assert_eq!(compare(&[("one", one), ("two", two)]), []);
    }

    /// Proves that a difference names the crate, who adds what, and the line to add.
    #[test]
    fn a_difference_names_the_feature() {
        let one = graph("b v2.0.0|std,x\n");
        let two = graph("b v2.0.0|std\n");
        let [finding] = &compare(&[("one", one), ("two", two)])[..] else { panic!("one finding") };
        assert_eq!(finding.what, "b v2.0.0 is compiled twice: one adds x, two asks for nothing more");
        assert!(finding.fix.starts_with("add x of b to the table"), "{finding}");
    }

    /// Proves that two versions of a crate are two crates.
    #[test]
    fn versions_are_apart() {
        assert_eq!(compare(&[("one", graph("b v1.0.0|x\n")), ("two", graph("b v2.0.0|y\n"))]), []);
    }
}
