//! The kept incidents are judged as they were.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use harness::judge::{Ruling, Verdict};
use harness::record::RunFolder;
use harness::replay;
use serde::Deserialize;

/// What an incident's `expected.toml` says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// The ruling of the whole run.
    ruling: Ruling,
    /// The check whose headline a reader looks at first, and words that must be in it.
    headline: BTreeMap<String, String>,
    /// For each scenario the ruling of each check.
    scenarios: BTreeMap<String, BTreeMap<String, Ruling>>,
}

fn incidents() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/incidents");
    let entries = std::fs::read_dir(folder).expect("the incidents").map(|e| e.expect("an entry").path());
    let mut found: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn judged(verdict: &Verdict) -> BTreeMap<String, BTreeMap<String, Ruling>> {
    let mut rulings: BTreeMap<String, BTreeMap<String, Ruling>> = BTreeMap::new();
    for finding in &verdict.findings {
        rulings.entry(finding.scenario.clone()).or_default().insert(finding.check.clone(), finding.ruling);
    }
    rulings
}

/// Proves that each incident is judged, check by check, as is expected of it: a change of a check or of the format that
/// changes a verdict on recorded evidence shows here.
#[test]
fn every_incident_has_its_expected_verdict() {
    for incident in incidents() {
        let name = incident.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(incident.join("expected.toml")).expect("expected.toml");
        let expected: Expected = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let folder = RunFolder::open(&incident, Path::new(".")).unwrap_or_else(|error| panic!("{name}: {error}"));
        let verdict = replay(&folder).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(judged(&verdict), expected.scenarios, "{name}");
        assert_eq!(verdict.ruling, expected.ruling, "{name}");
        for (check, words) in &expected.headline {
            let says = |f: &&harness::judge::Finding| &f.check == check && f.headline.contains(words.as_str());
            assert!(verdict.findings.iter().any(|f| says(&f)), "{name}: no {check} says `{words}`");
        }
    }
}

/// Proves that the incidents are what they are kept for: all three rulings occur, each is small, and its contract is the
/// one that its manifest names.
#[test]
fn incidents_are_small_and_of_every_kind() {
    let found = incidents();
    assert!(found.len() >= 7, "{} incidents", found.len());
    let mut rulings = BTreeSet::new();
    for incident in found {
        let folder = RunFolder::open(&incident, Path::new(".")).expect("a run");
        rulings.insert(replay(&folder).expect("judged").ruling);
        assert!(folder.contract().expect("readable").is_some(), "{}", incident.display());
        for scenario in folder.scenarios().expect("a list") {
            let path = incident.join("scenarios").join(scenario.name()).join("evidence.jsonl");
            let bytes = std::fs::metadata(&path).expect("evidence").len();
            assert!(bytes < 200 * 1024, "{}: {bytes} bytes", path.display());
        }
    }
    assert_eq!(rulings, BTreeSet::from([Ruling::Pass, Ruling::Inconclusive, Ruling::Fail]));
}
