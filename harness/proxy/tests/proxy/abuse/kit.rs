//! What the tests of abuse measure: tasks of a runtime, descriptors and memory of the program.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use chaos_proxy::Proxy;
use tokio::net::TcpStream;

use crate::kit::{PATIENCE, eventually, soon};

/// How many tasks the runtime of this test had when nothing was going on.
pub struct Floor(usize);

impl Floor {
    pub fn here() -> Self {
        Self(tasks())
    }

    /// Waits until it has no more than that again: every task that was started since has ended.
    pub async fn regained(&self) {
        eventually("tasks back at their floor", || tasks() <= self.0).await;
    }
}

fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// Waits until nothing is in flight and nothing is connected any more.
pub async fn quiet(proxy: &Proxy, link: &str) {
    proxy.settle(PATIENCE).await.expect("settled");
    eventually("no connection left", || proxy.link_status(link).expect("link").connections == 0).await;
    assert_eq!(proxy.in_flight(link).expect("link"), 0);
    assert!(proxy.live(link).expect("link").is_empty());
}

/// Sends RST when it is dropped.
pub fn resets(stream: &TcpStream) {
    stream.set_zero_linger().expect("linger");
}

pub async fn dial(addr: SocketAddr) -> TcpStream {
    soon(TcpStream::connect(addr)).await.expect("connect")
}

/// The program with one link, as a process of its own: its descriptors and its memory are nobody else's.
pub struct Program {
    child: Child,
    pub addr: SocketAddr,
}

impl Program {
    /// Starts it with the link `bank` to an upstream; `kind` is `--link` for HTTP and `--tcp` for bytes.
    pub fn start(kind: &str, upstream: SocketAddr, more: &[&str]) -> Self {
        let link = format!("bank=127.0.0.1:0->{upstream}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_chaos-proxy"));
        command.args([kind, &link]).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("start");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let addr = loop {
            let mut line = String::new();
            assert!(stdout.read_line(&mut line).expect("announcement") > 0, "it ended without a word");
            let words: Vec<_> = line.split_whitespace().collect();
            if let ["link", "bank", _, addr, ..] = words[..] {
                break addr.parse().expect("an address");
            }
        };
        Self { child, addr }
    }

    pub fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Descriptors that it has open.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("its descriptors").count()
    }

    /// Memory that it really has, in KiB.
    pub fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("its status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
        line.trim().trim_end_matches(" kB").trim().parse().expect("a number")
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_none()
    }

    /// Kills it without a warning and waits until it is gone.
    pub fn kill(&mut self) {
        self.child.kill().expect("kill");
        self.child.wait().expect("wait");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may be gone already.
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}
