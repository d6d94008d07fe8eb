//! Children end with the harness, whatever ends it. The harness that dies here is this test program, run again.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Stdio};

use harness::place::{Builder, Process};
use harness::record::ProcessId;
use rustix::process::{Pid, Signal, kill_process_group};

use super::helper::{again, alive, eventually, pids, stubborn};

/// A harness with two stubborn services, one of them paused. It prints their pids and waits to be killed.
#[tokio::test]
#[ignore = "role: a harness that another test kills"]
async fn doomed_harness() {
    let builder = Builder::default();
    let one = Process::start(stubborn(), &builder, None).await.expect("up");
    let two = Process::start(stubborn(), &builder, None).await.expect("up");
    for child in [&one, &two] {
        println!("family {}", pids(child).iter().map(|id| id.pid.to_string()).collect::<Vec<_>>().join(" "));
    }
    two.pause().expect("it runs");
    println!("waiting");
    std::future::pending::<()>().await;
}

/// Starts the doomed harness in a process group of its own, ends it by `signal`, and waits for its services to go.
fn end_by(signal: Signal) {
    let spec = again("orphans::doomed_harness", &[]);
    // A background job of a shell without job control is born with SIGINT ignored, and so are its children: CI may be one.
    let mut command = Command::new("env");
    command
        .arg("--default-signal=INT")
        .args(&spec.command)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    let mut doomed = command.spawn().expect("it starts");
    let lines = BufReader::new(doomed.stdout.take().expect("a pipe")).lines();
    let said: Vec<String> = lines.map_while(Result::ok).take_while(|line| line != "waiting").collect();
    let family: Vec<ProcessId> = said
        .iter()
        .filter_map(|line| line.split_once("family "))
        .flat_map(|(_, pids)| pids.split_whitespace())
        .map(|pid| alive(pid.parse().expect("a pid")))
        .collect();
    assert_eq!(family.len(), 4, "{said:?}");
    // As a terminal does it on Ctrl-C: the whole group gets the signal.
    let group = Pid::from_raw(doomed.id().cast_signed()).expect("a pid");
    kill_process_group(group, signal).expect("it runs");
    let mut ended = None;
    eventually("the harness is ended by the signal", || {
        ended = doomed.try_wait().expect("it can be asked");
        ended.is_some()
    });
    let status = ended.expect("it ended");
    assert_eq!(status.signal(), Some(signal.as_raw()), "ended by something else");
    eventually(&format!("all services are gone after {signal:?}"), || family.iter().all(|id| !id.is_alive()));
}

// Proves that after SIGKILL of the harness no service is left, though these ignore their stdin and every signal they can,
// and one of them is paused. Seen by pid and start time of all four processes.
#[test]
fn sigkill_leaves_nobody() {
    end_by(Signal::KILL);
}

// Proves the same for Ctrl-C.
#[test]
fn ctrl_c_leaves_nobody() {
    end_by(Signal::INT);
}

// Proves the same for SIGTERM, by which a CI system ends a job, and for an abort.
#[test]
fn sigterm_and_abort_leave_nobody() {
    end_by(Signal::TERM);
    end_by(Signal::ABORT);
}
