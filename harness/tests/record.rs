//! Run folders on a real file system.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harness::record::{ContractText, Manifest, RecordError, RunFolder, Start, runs, runs_root};
use judge::evidence::{At, Evidence, Header, Note, NoteWeight, Record, TimeBase};

/// A folder of runs that goes away with this value.
struct Root(PathBuf);

impl Root {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("harness-runs-{}", uuid::Uuid::new_v4())))
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn start(contract: Option<&str>) -> Start {
    let contract = contract.map(|text| ContractText { path: "fixtures/contract.toml".into(), text: text.to_owned() });
    Start { contract, seed: 42, placement: "process".to_owned(), tree: PathBuf::from(".") }
}

fn header(run: &RunFolder, scenario: &str) -> Header {
    Header {
        run: run.id().to_owned(),
        scenario: scenario.to_owned(),
        service: "payments".to_owned(),
        seed: 42,
        placement: "process".to_owned(),
        time: TimeBase { monotonic_ns: 1, wall_ns: 2 },
        eps_ns: 3,
        recorder: "test".to_owned(),
    }
}

fn note(n: u64) -> Record {
    let text = format!("note {n}");
    Record::Note(Note { at: At(n), weight: NoteWeight::Info, code: "test".to_owned(), text })
}

fn texts(evidence: &Evidence) -> Vec<&str> {
    evidence.notes.iter().map(|n| n.text.as_str()).collect()
}

// Proves that a run is found again under its path, its id, `latest`, a scenario's folder and an evidence file, and that
// what comes back is what went in, byte for byte where bytes matter.
#[test]
fn a_run_comes_back_by_each_of_its_names() {
    let root = Root::new();
    let (run, _register) = RunFolder::create(&root.0, &start(Some("[service]\n"))).expect("a run");
    for name in ["retry/full-jitter", "breaker"] {
        let scenario = run.scenario(name).expect("a folder");
        let mut recorder = scenario.recorder(&header(&run, name)).expect("a recorder");
        recorder.append(&[note(1), note(2)]).expect("written");
        recorder.append(&[note(3)]).expect("written");
        assert_eq!(recorder.records(), 3);
        recorder.seal().expect("sealed");
    }
    let folder = run.dir().join("scenarios/breaker");
    for name in [run.dir(), Path::new(run.id()), Path::new("latest"), &root.0.join("latest")] {
        let found = RunFolder::open(name, &root.0).unwrap_or_else(|e| panic!("{}: {e}", name.display()));
        assert_eq!(found.manifest(), run.manifest());
        assert_eq!(found.contract().expect("a copy").as_deref(), Some("[service]\n"));
        let names: Vec<_> = found.scenarios().expect("a list").iter().map(|s| s.name().to_owned()).collect();
        assert_eq!(names, ["breaker", "retry-full-jitter"]);
    }
    for name in [folder.clone(), folder.join("evidence.jsonl")] {
        let only = RunFolder::open(&name, &root.0).expect("its run").scenarios().expect("a list");
        assert_eq!(only.iter().map(|s| s.name()).collect::<Vec<_>>(), ["breaker"]);
    }
    let evidence = run.find_scenario("retry-full-jitter").expect("there").read().expect("sealed");
    assert_eq!(evidence.header, header(&run, "retry/full-jitter"));
    assert_eq!((evidence.sealed, texts(&evidence)), (true, vec!["note 1", "note 2", "note 3"]));
}

// Proves the public format of run.json on the fields that others read; the digest is that of `sha256sum`.
#[test]
fn the_manifest_says_what_was_run() {
    let root = Root::new();
    let (run, _register) = RunFolder::create(&root.0, &start(Some("[service]\n"))).expect("a run");
    let text = fs::read_to_string(run.dir().join("run.json")).expect("a manifest");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&json["schema"], &json["version"]), (&"harness-run".into(), &1.into()));
    assert_eq!((&json["run"], &json["seed"], &json["placement"]), (&run.id().into(), &42.into(), &"process".into()));
    assert_eq!(json["contract"]["sha256"], "59d5286ead5bf3f5a1a02cc72b04d73c0300b2f84c831e452aebbb9898e53987");
    let date = json["started"].as_str().expect("a date").replace(['-', ':'], "");
    assert!(run.id().starts_with(date.split('.').next().expect("a second")), "{} is not of {date}", run.id());
    assert_eq!(serde_json::from_str::<Manifest>(&text).expect("a manifest"), *run.manifest());
}

// Proves that `latest` follows the newest run, that runs are listed newest first, and that the link is not a run itself.
#[test]
fn latest_follows_the_newest_run() {
    let root = Root::new();
    let ids: Vec<String> = (0..3)
        .map(|_| {
            let (run, _register) = RunFolder::create(&root.0, &start(None)).expect("a run");
            let latest = RunFolder::open(Path::new("latest"), &root.0).expect("the link");
            assert_eq!(latest.id(), run.id());
            assert_eq!(fs::read_link(root.0.join("latest")).expect("a link"), Path::new(run.id()), "not relative");
            run.id().to_owned()
        })
        .collect();
    let listed: Vec<String> = runs(&root.0).expect("a list").into_iter().map(|r| r.id).collect();
    assert_eq!(listed.len(), 3);
    assert!(listed.is_sorted_by(|a, b| a > b) && ids.iter().all(|id| listed.contains(id)), "{listed:?}");
    assert_eq!(runs(&root.0.join("none")).expect("no folder, no runs"), []);
}

// Proves that scenarios of one name do not overwrite each other, that no name leaves the folder, and that a scenario takes
// one evidence only.
#[test]
fn names_stay_apart_and_inside() {
    let root = Root::new();
    let (run, _register) = RunFolder::create(&root.0, &start(None)).expect("a run");
    let name = |of: &str| run.scenario(of).expect("a folder").name().to_owned();
    assert_eq!([name("a/b"), name("a b"), name("a-b")], ["a-b", "a-b-2", "a-b-3"]);
    assert_eq!([name("../../etc"), name(""), name("é\0")], ["-..-etc", "unnamed", "--"]);
    for bad in ["../x", "", ".hidden", "a/b", "/etc/x"] {
        assert!(matches!(run.write_atomic(bad, b"x"), Err(RecordError::BadName { .. })), "`{bad}` was written");
    }
    let scenario = run.scenario("once").expect("a folder");
    scenario.recorder(&header(&run, "once")).expect("the first");
    assert!(matches!(scenario.recorder(&header(&run, "once")), Err(RecordError::Io { .. })));
}

// Proves that a file is replaced as a whole and that nothing else is left beside it.
#[test]
fn files_are_replaced_whole() {
    let root = Root::new();
    let (run, _register) = RunFolder::create(&root.0, &start(None)).expect("a run");
    let scenario = run.scenario("s").expect("a folder");
    for text in ["first", "second"] {
        scenario.write_atomic("verdict.json", text.as_bytes()).expect("written");
        assert_eq!(fs::read_to_string(scenario.dir().join("verdict.json")).expect("there"), text);
    }
    assert_eq!(fs::read_dir(scenario.dir()).expect("a folder").count(), 1);
}

// Proves that each kind of wrong name has its own error, and that it says what could be meant.
#[test]
fn what_is_no_run_is_told_apart() {
    let root = Root::new();
    let open = |name: &Path| RunFolder::open(name, &root.0).expect_err("not a run");
    assert!(open(Path::new("latest")).to_string().ends_with("no run was recorded yet"));
    let (run, _register) = RunFolder::create(&root.0, &start(None)).expect("a run");
    assert!(open(Path::new("20200101")).to_string().contains(run.id()), "the error does not name the run there is");
    assert!(open(&root.0).to_string().contains("it holds several runs"));
    assert!(matches!(open(&std::env::temp_dir()), RecordError::NotARun { .. }));
    let error = run.find_scenario("none").expect_err("no such scenario");
    assert!(matches!(error, RecordError::NoSuchScenario { .. }));
    let manifest = run.dir().join("run.json");
    fs::write(&manifest, r#"{"schema":"harness-run","version":99,"new":true}"#).expect("written");
    assert!(matches!(open(run.dir()), RecordError::TooNew { found: 99, .. }));
    fs::write(&manifest, r#"{"schema":"other","version":1}"#).expect("written");
    assert!(open(run.dir()).to_string().contains("the schema `other`"));
    fs::write(&manifest, "{").expect("written");
    assert!(open(run.dir()).to_string().contains("damaged"));
}

// Proves that a place where nothing can be made is a typed error which names the way out.
#[test]
fn a_place_that_takes_nothing() {
    let root = Root::new();
    fs::create_dir_all(&root.0).expect("a folder");
    let file = root.0.join("file");
    fs::write(&file, "x").expect("written");
    assert!(matches!(RunFolder::create(&file, &start(None)), Err(RecordError::Io { .. })));
    // /proc takes no folders from anybody, not even from root, for whom permissions do not count.
    let error = RunFolder::create(Path::new("/proc/harness-runs"), &start(None)).expect_err("no folder there");
    assert!(error.to_string().contains("/proc/harness-runs"), "{error}");
}

// Proves that the folder of runs is the workspace's, wherever below it one stands, unless HARNESS_RUNS names another.
#[test]
fn runs_belong_to_the_workspace() {
    let root = Root::new();
    let deep = root.0.join("suites/tests");
    fs::create_dir_all(&deep).expect("folders");
    let named = std::env::var_os("HARNESS_RUNS").filter(|v| !v.is_empty());
    let or_named = |other: PathBuf| named.as_ref().map_or(other, |n| deep.join(n));
    assert_eq!(runs_root(&deep), or_named(deep.join("runs")));
    fs::write(root.0.join("Cargo.lock"), "").expect("written");
    assert_eq!(runs_root(&deep), or_named(root.0.join("runs")));
}

/// A recorder that writes batches of ten until it is killed, and says after each what is safe.
#[test]
#[ignore = "role: a harness that another test kills"]
fn endless_recorder() {
    let root = PathBuf::from(std::env::var_os("RECORD_ROOT").expect("set by the test"));
    let (run, _register) = RunFolder::create(&root, &start(None)).expect("a run");
    let mut recorder =
        run.scenario("endless").expect("a folder").recorder(&header(&run, "endless")).expect("a recorder");
    for batch in 0_u64.. {
        recorder.append(&(0..10).map(|i| note(batch * 10 + i)).collect::<Vec<_>>()).expect("written");
        println!("\nsafe {}", recorder.records());
    }
}

// Proves that SIGKILL in mid-run loses nothing that was acknowledged: at least the records that the recorder had called
// safe come back, in order and whole, and the evidence says that it is not sealed.
#[test]
fn a_killed_run_leaves_a_readable_prefix() {
    let root = Root::new();
    let exe = std::env::current_exe().expect("our own path");
    let mut doomed = Command::new(exe)
        .args(["--ignored", "--exact", "endless_recorder", "--nocapture"])
        .env("RECORD_ROOT", &root.0)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let lines = BufReader::new(doomed.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let safe = lines.filter_map(|l| l.strip_prefix("safe ")?.parse::<u64>().ok()).find(|n| *n >= 500);
    doomed.kill().expect("it runs");
    doomed.wait().expect("it ends");
    let safe = safe.expect("it wrote 500 records");
    let run = RunFolder::open(Path::new("latest"), &root.0).expect("a run");
    let scenario = run.find_scenario("endless").expect("evidence");
    assert!(scenario.read().is_err(), "unsealed evidence was taken for whole");
    let (evidence, report) = scenario.read_tolerant().expect("a prefix");
    assert!(!report.sealed && report.bad_lines.len() <= 1, "{:?}", report.bad_lines);
    assert!(report.records >= safe, "{} of {safe} records", report.records);
    let kept: Vec<&str> = texts(&evidence).into_iter().take(report.records as usize).collect();
    assert!(kept.iter().enumerate().all(|(n, text)| *text == format!("note {n}")), "out of order");
    assert!(evidence.spoiling_notes().any(|n| n.code == "unsealed"));
}
