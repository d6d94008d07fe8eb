//! The program's events file when it cannot be written.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use tokio::net::TcpStream;

use crate::kit::{Client, Upstream, post};

/// Ends the program with its test, whatever happens.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // It has usually ended already.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

fn start(upstream: &Upstream, events: &str) -> Guard {
    let link = format!("bank=127.0.0.1:0->{}", upstream.addr);
    let mut command = Command::new(env!("CARGO_BIN_EXE_chaos-proxy"));
    command.args(["--link", &link, "--events", events]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Guard(command.spawn().expect("start"))
}

/// Its exit code, and what it said.
fn ended(mut child: Guard) -> (Option<i32>, String) {
    let mut said = String::new();
    child.0.stderr.take().expect("stderr").read_to_string(&mut said).expect("text");
    (child.0.wait().expect("wait").code(), said)
}

// Proves that a disk that is full from the start ends the program with 1 and the reason, before it serves anybody.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_told() {
    let upstream = Upstream::start().await;
    let (code, said) = ended(start(&upstream, "/dev/full"));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot write the events to /dev/full: No space left on device"), "{said}");
}

// Proves that a reader that closes its pipe while the proxy serves ends the program with 1 and the reason: no record is
// lost in silence, and nothing panics.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_pipe_is_told() {
    let upstream = Upstream::start().await;
    let mut child = start(&upstream, "/dev/stdout");
    let mut stdout = BufReader::new(child.0.stdout.take().expect("stdout"));
    let mut lines = [String::new(), String::new()];
    lines.iter_mut().for_each(|line| _ = stdout.read_line(line).expect("a line"));
    assert!(lines[0].starts_with("{\"format\":\"chaos-proxy-events\""), "{lines:?}");
    let address = lines[1].split_whitespace().nth(3).expect("an address").to_owned();
    drop(stdout);
    let serve = async {
        // Refused once the program is gone.
        while let Ok(stream) = TcpStream::connect(&address).await {
            let mut client = Client(stream);
            client.send(post("k", "").replace("host: bank", "connection: close")).await;
            client.rest().await;
        }
    };
    crate::kit::soon(serve).await;
    let (code, said) = ended(child);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot write the events to /dev/stdout: Broken pipe"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}
