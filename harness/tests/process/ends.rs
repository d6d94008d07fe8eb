//! Signals, and every way in which a child ends while its harness lives.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use harness::place::{Builder, PlaceError, Process, Ready, ReservedPort};
use harness::record::ProcessId;

use super::helper::{PATIENCE, Scratch, alive, eventually, http, pids, read, script, stubborn};

async fn start(spec: harness::place::ProcessSpec) -> Process {
    Process::start(spec, &Builder::default(), None).await.expect("it is up")
}

fn gone(children: &[ProcessId]) -> bool {
    children.iter().all(|c| !c.is_alive())
}

// Proves that dropping the value ends a child that ignores its stdin and SIGTERM, and that its own child goes with it.
// The child is reaped when the drop returns, without any waiting here.
#[tokio::test]
async fn a_dropped_child_is_gone_with_its_children() {
    let child = start(stubborn()).await;
    let family = pids(&child);
    drop(child);
    assert!(!family[0].is_alive(), "the child outlived the drop");
    eventually("the grandchild is gone", || gone(&family));
}

// Proves that a panic, which unwinds past the child, ends it as well.
#[tokio::test]
async fn a_panic_ends_the_child() {
    let child = start(stubborn()).await;
    let family = pids(&child);
    let task = tokio::spawn(async move {
        assert_eq!(child.name(), "something else", "this panic is meant");
    });
    assert!(task.await.expect_err("it panicked").is_panic());
    eventually("the family is gone", || gone(&family));
}

// Proves that a child which handles SIGTERM is given the time to finish: it ends by itself, with its own status, and its
// last words are in the log.
#[tokio::test]
async fn a_graceful_child_is_left_to_finish() {
    let mut spec = script("trap 'sleep 0.1; echo flushed; exit 7' TERM; echo up; while :; do sleep 0.02; done");
    spec.stop_grace = PATIENCE;
    let child = start(spec).await;
    let log = child.log().clone();
    let stopped = child.stop().await.expect("stopped");
    assert_eq!((stopped.forced, stopped.status.and_then(|s| s.code())), (false, Some(7)));
    eventually("its last words arrive", || log.tail(1) == ["flushed"]);
}

// Proves that the grace ends: a child that ignores SIGTERM is killed, and the report says so.
#[tokio::test]
async fn a_stubborn_child_is_killed_after_its_grace() {
    let mut spec = stubborn();
    spec.stop_grace = Duration::from_millis(100);
    let child = start(spec).await;
    let family = pids(&child);
    let stopped = child.stop().await.expect("stopped");
    assert_eq!((stopped.forced, stopped.status.and_then(|s| s.signal())), (true, Some(9)));
    assert!(stopped.took >= Duration::from_millis(100), "killed before its grace was over: {stopped:?}");
    eventually("the family is gone", || gone(&family));
}

// Proves that a child which ended by itself is reported as it ended, that a signal to it is an error and never reaches
// another process, and that its children do not outlive it.
#[tokio::test]
async fn a_child_that_ended_by_itself() {
    let spec = script("sh -c 'while :; do sleep 0.05; done' & echo \"pids $$ $!\"; echo up; read -r _; exit 4");
    let child = start(spec).await;
    let family = pids(&child);
    assert_eq!(child.status(), None);
    // `read` gets the end of stdin only from us, so ask the shell to end in another way.
    child.terminate().expect("it runs");
    let status = child.exited().await.expect("a status");
    assert_eq!((child.status(), status.signal()), (Some(status), Some(15)));
    let error = child.pause().expect_err("it has ended");
    assert!(matches!(&error, PlaceError::Ended { action: "pause", .. }), "{error}");
    assert!(child.kill().await.is_err());
    eventually("its child is gone", || gone(&family));
    assert_eq!(child.stop().await.expect("nothing to stop").status, Some(status));
}

// Proves that a pause halts the whole family in the kernel's own words, and that resuming lets both go on.
#[tokio::test]
async fn a_pause_halts_the_whole_family() {
    let child = start(stubborn()).await;
    let family = pids(&child);
    let state = |id: &ProcessId| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.pid)).unwrap_or_default();
        stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next())
    };
    // A shell that is just starting a program waits for it in state D, and as the program is halted, so is the shell.
    let halted = |id: &ProcessId| matches!(state(id), Some('T' | 'D'));
    child.pause().expect("it runs");
    eventually("both are halted", || family.iter().all(halted));
    child.resume().expect("it runs");
    eventually("both go on", || family.iter().all(|id| matches!(state(id), Some('S' | 'R'))));
    child.pause().expect("it runs");
    drop(child);
    eventually("a halted family can be ended", || gone(&family));
}

// Proves that a crash and a restart give a new process on the same port that answers, with one log for both lives.
#[tokio::test]
async fn a_killed_child_comes_back_on_its_port() {
    let (scratch, port) = (Scratch::new(), ReservedPort::pick().expect("a port"));
    let number = port.number();
    let ready = Ready::url(format!("http://127.0.0.1:{number}/ready"));
    let spec = http(ready, &[("PORT", &number.to_string())]).log_path(scratch.path("log"));
    let mut child = Process::start(spec, &Builder::default(), Some(port)).await.expect("it is up");
    let (first, url) = (alive(child.pid()), child.url().map(str::to_owned));
    child.kill().await.expect("it runs");
    assert!(!first.is_alive() && child.status().and_then(|s| s.signal()) == Some(9));
    child.restart(None).await.expect("it is up again");
    assert_ne!(alive(child.pid()), first);
    assert_eq!(child.url().map(str::to_owned), url);
    let count = |words: &str| read(&scratch.path("log")).matches(words).count();
    eventually("both lives are in the log", || count("answered 200 OK") == 2 && count("as pid") == 2);
}

// Proves that a child is ended when its time is up, although nobody asks for it, and that the log says why.
#[tokio::test]
async fn a_child_ends_at_its_maximum_lifetime() {
    let scratch = Scratch::new();
    let mut spec = stubborn().log_path(scratch.path("log"));
    spec.max_lifetime = Duration::from_secs(1);
    let child = start(spec).await;
    let family = pids(&child);
    let status = tokio::time::timeout(PATIENCE, child.exited()).await.expect("in time").expect("a status");
    assert_eq!(status.signal(), Some(9));
    eventually("the family is gone", || gone(&family));
    let log = read(&scratch.path("log"));
    assert!(log.contains("its maximum lifetime was reached"), "{log}");
}
