//! The processes of a run. Each is ended when its guard is dropped.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::error::BenchError;

/// The longest that a process may take to say where it listens. Only a hang is ended by it.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A running process.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Starts a process that prints nothing of interest.
    pub(crate) fn quiet(mut command: Command, what: &str) -> Result<Self, BenchError> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|e| BenchError::start(what, e))?;
        Ok(Self { child })
    }

    /// Starts a process and waits until it has printed a line `LABEL ... ADDRESS ...` for each label; returns those
    /// addresses in the order of the labels.
    pub(crate) fn announced(
        mut command: Command,
        what: &str,
        labels: &'static [&'static str],
    ) -> Result<(Self, Vec<SocketAddr>), BenchError> {
        // Our own parts end when this pipe is closed, also when the bench itself is killed.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(|e| BenchError::start(what, e))?;
        let out = child.stdout.take();
        let running = Self { child };
        let out = out.ok_or_else(|| BenchError::start(what, "no standard output"))?;
        let (tell, told) = mpsc::channel();
        thread::spawn(move || addresses(out, labels, &tell));
        let found = told.recv_timeout(START_LIMIT);
        let found = found.map_err(|_| BenchError::start(what, format!("it did not announce {}", labels.join(", "))))?;
        Ok((running, found))
    }
}

/// Reads to the end, so that the process never waits for a reader, but tells once every label was there.
fn addresses(out: ChildStdout, labels: &[&str], tell: &mpsc::Sender<Vec<SocketAddr>>) {
    let mut found = vec![None; labels.len()];
    for line in BufReader::new(out).lines().map_while(Result::ok) {
        let mut words = line.split_whitespace();
        let label = words.next().unwrap_or_default();
        let Some(place) = labels.iter().position(|l| *l == label) else { continue };
        found[place] = words.find_map(|word| word.trim_start_matches("http://").parse().ok());
        if let Some(all) = found.iter().copied().collect::<Option<Vec<_>>>() {
            // An error says that nobody waits any more.
            let _late = tell.send(all);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Errors say that it has ended by itself.
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// This program again, in another part.
pub(crate) fn ourselves(part: &[&str]) -> Result<Command, BenchError> {
    let program = std::env::current_exe().map_err(|e| BenchError::start("the bench itself", e))?;
    let mut command = Command::new(program);
    command.args(part);
    Ok(command)
}

/// For our own parts: ends the process when the bench closes the pipe on standard input, or is gone.
pub(crate) fn end_with_the_bench() {
    thread::spawn(|| {
        let mut line = String::new();
        while matches!(std::io::stdin().lock().read_line(&mut line), Ok(n) if n > 0) {
            line.clear();
        }
        std::process::exit(0);
    });
}
