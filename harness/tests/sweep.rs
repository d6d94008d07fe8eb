//! Sweeping after dead runs. The harness that dies here is this test program, run again.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use harness::record::{ChildEntry, ProcessId, RunFolder, Start};
use harness::sweep::sweep;

/// A folder of runs that goes away with this value.
struct Root(PathBuf);

impl Root {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("harness-sweep-{}", uuid::Uuid::new_v4())))
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that nobody watches, the leader of its own group. It is reaped here, so that it can be seen to be gone.
struct Stray(Child);

impl Stray {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").process_group(0).spawn().expect("it starts"))
    }

    fn id(&self) -> ProcessId {
        ProcessId::of(self.0.id()).expect("it runs")
    }
}

impl Drop for Stray {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start() -> Start {
    Start { contract: None, seed: 0, placement: "process".to_owned(), tree: PathBuf::from(".") }
}

/// A harness that registers the process whose pid it is told, and dies or stays as it is told.
#[test]
#[ignore = "role: a harness that other tests start"]
fn registering_harness() {
    let var = |name: &str| std::env::var(name).expect("set by the test");
    let pid: u32 = var("SWEEP_PID").parse().expect("a pid");
    let (run, register) = RunFolder::create(Path::new(&var("SWEEP_ROOT")), &start()).expect("a run");
    let entry = register.started("stray", pid, pid).expect("written").expect("it runs");
    if var("SWEEP_MODE") == "gone" {
        register.gone(&entry).expect("written");
    }
    println!("\nrun {}", run.id());
    if var("SWEEP_MODE") == "stay" {
        let _ = std::io::stdin().read_line(&mut String::new());
    }
}

/// Runs the harness above; returns it, still running only in mode `stay`, with the id of its run.
fn harness(root: &Root, stray: ProcessId, mode: &str) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().expect("our own path"))
        .args(["--ignored", "--exact", "registering_harness", "--nocapture"])
        .env("SWEEP_ROOT", &root.0)
        .env("SWEEP_PID", stray.pid.to_string())
        .env("SWEEP_MODE", mode)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let run = lines.find_map(|l| l.strip_prefix("run ").map(str::to_owned)).expect("it made a run");
    if mode != "stay" {
        child.wait().expect("it ends");
    }
    (child, run)
}

/// Changes the register of a run line by line.
fn rewrite(root: &Root, run: &str, change: impl Fn(&mut serde_json::Value)) {
    let path = root.0.join(run).join("children.jsonl");
    let text = fs::read_to_string(&path).expect("a register");
    let lines = text.lines().map(|line| {
        let mut json = serde_json::from_str(line).expect("JSON");
        change(&mut json);
        format!("{json}\n")
    });
    fs::write(&path, lines.collect::<String>()).expect("written");
}

// Proves that a leftover of a dead run is ended and reported, and that a second sweep finds nothing more to do.
#[test]
fn a_leftover_of_a_dead_run_is_ended() {
    let (root, stray) = (Root::new(), Stray::start());
    let id = stray.id();
    let (_, run) = harness(&root, id, "die");
    let report = sweep(&root.0).expect("a report");
    assert!(!id.is_alive(), "still there");
    let ended: Vec<_> = report.ended.iter().map(|l| (l.run.as_str(), l.name.as_str(), l.pid)).collect();
    assert_eq!(ended, [(run.as_str(), "stray", id.pid)]);
    assert!(report.failed.is_empty() && report.skipped.is_empty() && report.live.is_empty(), "{report:?}");
    assert_eq!(sweep(&root.0).expect("a report").ended, []);
}

// Proves that a run whose harness lives is left alone, and no longer once that harness is gone.
#[test]
fn a_live_run_is_left_alone() {
    let (root, stray) = (Root::new(), Stray::start());
    let id = stray.id();
    let (mut owner, run) = harness(&root, id, "stay");
    let report = sweep(&root.0).expect("a report");
    assert_eq!((report.live, report.ended.len()), (vec![run], 0));
    assert!(id.is_alive(), "a live run's child was ended");
    drop(owner.stdin.take());
    owner.wait().expect("it ends");
    assert_eq!(sweep(&root.0).expect("a report").ended.len(), 1);
    assert!(!id.is_alive());
}

// Proves that a pid which now belongs to another process is never touched: neither another start time, nor an entry that
// is noted as gone, nor another boot or container, nor a register that cannot be read leads to it.
#[test]
fn a_stranger_is_never_touched() {
    let (root, stray) = (Root::new(), Stray::start());
    let id = stray.id();
    let (_, other_start) = harness(&root, id, "die");
    rewrite(&root, &other_start, |line| {
        if let Some(start) = line.pointer_mut("/started/start") {
            *start = (id.start - 1).into();
        }
    });
    let (_, _gone) = harness(&root, id, "gone");
    let (_, other_boot) = harness(&root, id, "die");
    rewrite(&root, &other_boot, |line| {
        if let Some(boot) = line.pointer_mut("/owner/world/boot") {
            *boot = "another".into();
        }
    });
    let (_, other_pids) = harness(&root, id, "die");
    rewrite(&root, &other_pids, |line| {
        if let Some(pids) = line.pointer_mut("/owner/world/pids") {
            *pids = "pid:[1]".into();
        }
    });
    let (_, garbage) = harness(&root, id, "die");
    fs::write(root.0.join(&garbage).join("children.jsonl"), b"{\"started\":\n\xff\n").expect("written");
    let report = sweep(&root.0).expect("a report");
    assert!(id.is_alive(), "a stranger was ended: {report:?}");
    assert!(report.ended.is_empty() && report.failed.is_empty(), "{report:?}");
    let mut skipped: Vec<&str> = report.skipped.iter().map(|(run, _)| run.as_str()).collect();
    let mut expected = [other_boot.as_str(), other_pids.as_str(), garbage.as_str()];
    skipped.sort_unstable();
    expected.sort_unstable();
    assert_eq!((report.runs, skipped), (5, expected.to_vec()));
}

// Proves that a torn last line, which a killed harness may leave, does not hide the entries before it.
#[test]
fn a_torn_line_hides_nothing() {
    let (root, stray) = (Root::new(), Stray::start());
    let id = stray.id();
    let (_, run) = harness(&root, id, "die");
    let path = root.0.join(run).join("children.jsonl");
    let mut register = fs::OpenOptions::new().append(true).open(path).expect("a register");
    register.write_all(b"{\"started\":{\"name\":\"ha").expect("written");
    assert_eq!(sweep(&root.0).expect("a report").ended.len(), 1);
    assert!(!id.is_alive());
}

// Proves that the public format of an entry stays what it is.
#[test]
fn the_register_format() {
    let entry = ChildEntry { name: "service".to_owned(), id: ProcessId { pid: 7, start: 9 }, group: 5 };
    let text = serde_json::to_string(&entry).expect("JSON");
    assert_eq!(text, r#"{"name":"service","pid":7,"start":9,"group":5}"#);
    assert!(sweep(Path::new("/nowhere/at/all")).expect("no runs, nothing to do").ended.is_empty());
}
