//! The processes' canary against a process that is really kept from its processor, and one that asks for none.
#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use harness::canary::WaitCanary;
use harness::clock::Clock;
use judge::evidence::Canary;

/// Longer than anything here takes on a busy machine; reaching it is a failure.
const PATIENCE: Duration = Duration::from_secs(30);

/// A process that ends with the test.
struct Ours(Child);

impl Ours {
    fn start(words: &[&str]) -> Self {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().expect("it starts"))
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The first processor that we may use.
fn a_processor() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is Linux");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a list");
    list.trim().split(['-', ',']).next().expect("a processor").to_owned()
}

/// The reading of a canary that watched it for so long.
fn watched(process: &Ours, long: Duration) -> Option<Canary> {
    let clock = Clock::start();
    let canary = WaitCanary::start(clock).expect("a thread");
    canary.watch("service", process.0.id());
    std::thread::sleep(long);
    let mut readings = canary.stop();
    assert!(readings.len() <= 1, "{readings:?}");
    let reading = readings.pop()?;
    assert!(reading.p99_ns <= reading.max_ns && reading.worst_at <= clock.now(), "{reading:?}");
    assert_eq!(reading.process.as_deref(), Some("service"));
    Some(reading)
}

/// Watches it until a reading is as it should be.
fn eventually(process: &Ours, what: &str, right: impl Fn(&Canary) -> bool) {
    let mut long = Duration::from_millis(500);
    loop {
        let reading = watched(process, long);
        if reading.as_ref().is_some_and(&right) {
            return;
        }
        long *= 2;
        assert!(long < PATIENCE, "{what}: {reading:?}");
    }
}

// Proves that a process which wants to run, beside others that are served before it on the same processor, is told with a wait
// that is longer than the default noise bound.
#[test]
fn a_process_without_a_processor_is_told() {
    const BUSY: &str = "while :; do :; done";
    let on = a_processor();
    let _others: Vec<_> = (0..4).map(|_| Ours::start(&["taskset", "-c", &on, "sh", "-c", BUSY])).collect();
    let kept = Ours::start(&["taskset", "-c", &on, "chrt", "--idle", "0", "sh", "-c", BUSY]);
    eventually(&kept, "no wait was told", |reading| reading.max_ns > 60_000_000);
}

// Proves that a process which asks for no processor waits for none, however busy the machine is.
#[test]
fn a_process_that_sleeps_waits_for_nothing() {
    let mut quiet = Ours::start(&["cat"]);
    quiet.0.stdin.as_mut().expect("its input").write_all(b"x").expect("it listens");
    let mut back = [0];
    quiet.0.stdout.as_mut().expect("its output").read_exact(&mut back).expect("it answers");
    // The first reading may still have its way back into sleep.
    eventually(&quiet, "it waited", |reading| reading.samples > 1 && reading.max_ns == 0);
}

// Proves that a process which is gone has no reading, and that nothing is claimed of one that never was.
#[test]
fn nobody_has_no_reading() {
    let mut gone = Ours::start(&["true"]);
    gone.0.wait().expect("its end");
    assert_eq!(watched(&gone, Duration::from_millis(200)), None);
}
