//! Nothing is compiled twice: the builds that people mix must ask for the same features of every crate they
//! share, or cargo compiles it, and everything above it, again for each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{Finding, table};
use crate::Failure;
use crate::step::{cargo, output};

/// The builds a working day mixes: the command line, the suites, the reference service.
const BUILDS: &[(&str, &str)] =
    &[("harness-cli", "normal,build"), ("suites", "normal,build,dev"), ("payments", "normal,build")];

/// For each crate (with its version) the feature sets it is built with: more than one where a build script or
/// a macro wants others than the program.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Asks cargo for the graph of each build and compares them.
pub fn check(root: &Path) -> Result<Vec<Finding>, Failure> {
    let mut graphs = Vec::new();
    for (package, edges) in BUILDS {
        let tree = ["tree", "--locked", "-p", package, "-e", edges, "-f", "{p}|{f}", "--prefix", "none"];
        graphs.push((*package, graph(&output(cargo(), &tree)?)));
    }
    let manifest = table::read(root, "Cargo.toml")?;
    Ok(compare(&graphs, &table::lines(&manifest)))
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

/// One finding for each crate that two builds want differently, at its line in the table if it has one.
fn compare(graphs: &[(&str, Graph)], table: &BTreeMap<&str, usize>) -> Vec<Finding> {
    let packages: BTreeSet<&String> = graphs.iter().flat_map(|(_, graph)| graph.keys()).collect();
    let mut findings = Vec::new();
    for package in packages {
        let wanted: Vec<(&str, &BTreeSet<String>)> =
            graphs.iter().filter_map(|(build, graph)| Some((*build, graph.get(package)?))).collect();
        // Where one build has every variant of the other, the other costs nothing more.
        let twice =
            wanted.iter().any(|(_, one)| wanted.iter().any(|(_, two)| !one.is_subset(two) && !two.is_subset(one)));
        if twice {
            findings.push(difference(package, &wanted, table));
        }
    }
    findings
}

fn difference(package: &str, wanted: &[(&str, &BTreeSet<String>)], table: &BTreeMap<&str, usize>) -> Finding {
    let name = package.split(' ').next().unwrap_or(package);
    let features: Vec<(&str, BTreeSet<&str>)> = wanted
        .iter()
        .map(|(build, sets)| (*build, sets.iter().flat_map(|set| set.split(',')).filter(|it| !it.is_empty()).collect()))
        .collect();
    let all: BTreeSet<&str> = features.iter().flat_map(|(_, features)| features).copied().collect();
    let missing = |features: &BTreeSet<&str>| all.difference(features).copied().collect::<Vec<_>>().join(", ");
    let lacks: Vec<String> = features
        .iter()
        .filter(|(_, features)| features.len() < all.len())
        .map(|(build, features)| format!("{build} lacks {}", missing(features)))
        .collect();
    let what = match lacks.as_slice() {
        [] => format!("{package} is compiled twice: its variants for programs and for macros are mixed differently"),
        lacks => format!("{package} is compiled twice: {}", lacks.join(", ")),
    };
    let tree = features.iter().max_by_key(|(_, features)| features.len()).map_or("", |(build, _)| build);
    let fix = match table.contains_key(name) {
        true => {
            "add what is missing to this line; if it is there, a member of that build must name the crate".to_owned()
        }
        false => format!(
            "add {name} with these features to the table and to a member of the build that lacks them (who asks: `cargo tree -p {tree} -i {name} -e features`)"
        ),
    };
    Finding::new("Cargo.toml", table.get(name).copied().unwrap_or(1), what, fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(trees: &[&str]) -> Vec<Finding> {
        let graphs: Vec<_> = ["one", "two", "three"].into_iter().zip(trees.iter().map(|tree| graph(tree))).collect();
        compare(&graphs, &BTreeMap::from([("b", 7)]))
    }

    /// Proves that equal features pass in any order of lines, with repeats, and whatever else a build has.
    #[test]
    fn equal_features_pass() {
        let one = "a v1.0.0 (/w)|\nb v2.0.0|std,x\nb v2.0.0|std,x (*)\nc v1.0.0|\n";
        assert_eq!(findings(&[one, "b v2.0.0|std,x\nd v1.0.0|y\n"]), []);
    }

    /// Proves that a difference names the crate, who lacks what, and the line of the table.
    #[test]
    fn a_difference_names_the_feature() {
        let [finding] = &findings(&["b v2.0.0|std,x\n", "b v2.0.0|std\n", "b v2.0.0|std,x,y\n"])[..] else {
            panic!("one finding")
        };
        assert_eq!(finding.what, "b v2.0.0 is compiled twice: one lacks y, two lacks x, y");
        assert_eq!((finding.line, finding.fix.starts_with("add what is missing to this line")), (7, true), "{finding}");
    }

    /// Proves that a crate outside the table gets the advice to bring it in.
    #[test]
    fn a_crate_outside_the_table_is_brought_in() {
        let [finding] = &findings(&["c v2.0.0|x\n", "c v2.0.0|\n"])[..] else { panic!("one finding") };
        assert!(finding.fix.contains("cargo tree -p one -i c"), "{finding}");
    }

    /// Proves that a variant more, for a macro, is no second compilation of the other.
    #[test]
    fn a_variant_for_macros_is_apart() {
        assert_eq!(findings(&["b v2.0.0|x\n", "b v2.0.0|x\nb v2.0.0|y\n"]), []);
        assert_eq!(findings(&["b v2.0.0|x\nb v2.0.0|z\n", "b v2.0.0|x\nb v2.0.0|y\n"]).len(), 1);
    }

    /// Proves that two versions of a crate are two crates.
    #[test]
    fn versions_are_apart() {
        assert_eq!(findings(&["b v1.0.0|x\n", "b v2.0.0|y\n"]), []);
    }
}
