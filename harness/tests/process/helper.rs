//! Services to start, and ways to see whether a process is there. The test program itself is the HTTP service and the
//! harness to be killed: run again with the name of an ignored test.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use harness::place::{Process, ProcessSpec, Ready};
use harness::record::ProcessId;

/// Longer than anything here takes on a busy machine; reaching it is a failure.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A directory that goes away with this value.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        let dir = std::env::temp_dir().join(format!("harness-test-{}", uuid::Uuid::new_v4()));
        fs::create_dir_all(&dir).expect("a scratch directory");
        Self(dir)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A shell script as a service; `echo up` makes it ready.
pub fn script(text: &str) -> ProcessSpec {
    ProcessSpec::new("script", ["/bin/sh", "-c", text], Ready::line("up").deadline(PATIENCE))
}

/// A service that heeds neither its stdin nor any signal that can be ignored, with a child of its own that does neither.
/// Its last line of output before `up` is `pids PARENT CHILD`.
pub fn stubborn() -> ProcessSpec {
    script(
        "trap '' TERM INT HUP QUIT
         sh -c 'while :; do sleep 0.05; done' &
         echo \"pids $$ $!\"
         echo up
         while :; do sleep 0.05; done",
    )
}

/// The pids that [`stubborn`] printed.
pub fn pids(process: &Process) -> Vec<ProcessId> {
    let lines = process.log().tail(10);
    let line = lines.iter().find_map(|l| l.strip_prefix("pids ")).expect("it printed its pids");
    line.split_whitespace().map(|pid| alive(pid.parse().expect("a pid"))).collect()
}

/// The process with that pid, which must be running.
pub fn alive(pid: u32) -> ProcessId {
    ProcessId::of(pid).unwrap_or_else(|| panic!("no process {pid}"))
}

/// Looks again and again until it is so.
pub fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// This test program as the HTTP service below.
pub fn http(ready: Ready, env: &[(&str, &str)]) -> ProcessSpec {
    let mut spec = again("helper::http_service", env);
    spec.ready = ready.deadline(PATIENCE);
    spec
}

/// This test program, running one of its ignored tests.
pub fn again(test: &str, env: &[(&str, &str)]) -> ProcessSpec {
    let exe = std::env::current_exe().expect("our own path");
    let command =
        [exe.to_str().expect("a path in UTF-8"), "--ignored", "--exact", test, "--nocapture", "--test-threads=1"];
    let mut spec = ProcessSpec::new(test, command, Ready::line("running 1 test"));
    spec.env = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<BTreeMap<_, _>>();
    spec
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Answers 503 to the first `UNREADY` requests and 200 to all later ones, on `PORT` (0: any).
#[test]
#[ignore = "role: a service that other tests start"]
fn http_service() {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u16>().ok()).unwrap_or(0);
    let listener = match TcpListener::bind(("127.0.0.1", number("PORT"))) {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!("cannot bind: {error}");
            std::process::exit(2);
        }
    };
    println!("listening on http://{}", listener.local_addr().expect("an address"));
    for (request, stream) in (0_u16..).zip(listener.incoming()) {
        let mut stream = stream.expect("a connection");
        let mut seen = Vec::new();
        let mut chunk = [0; 1024];
        while !seen.windows(4).any(|w| w == b"\r\n\r\n") {
            match stream.read(&mut chunk) {
                Ok(n) if n > 0 => seen.extend_from_slice(&chunk[..n]),
                _ => break,
            }
        }
        let status = if request < number("UNREADY") { "503 Service Unavailable" } else { "200 OK" };
        println!("answered {status}");
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        let _ = stream.write_all(answer.as_bytes());
    }
}
