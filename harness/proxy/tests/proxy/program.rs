//! The program: what it prints, what it writes, how it ends.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use crate::kit::{Ended, REPLY, Upstream, post};
use evidence::Record;
use tokio::net::TcpStream;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chaos-proxy"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(args: &[&str]) -> Output {
    program().args(args).output().expect("run")
}

fn scratch(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(std::process::id().to_string());
    std::fs::create_dir_all(&dir).expect("scratch folder");
    dir.join(name)
}

/// Ends the program with its test, whatever happens.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // It has usually ended already.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

// Proves the whole life of the program: it announces its addresses, the rule strikes, SIGTERM ends it with 0, and the
// file then has every record between its header and its end line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_serves_strikes_and_writes_its_events() {
    let upstream = Upstream::start().await;
    let (rules, events) = (scratch("rules.json"), scratch("events.ndjson"));
    let rule = r#"[{"id":"lost","schedule":{"fail_first":{"n":1}},"fault":{"at":"response","effect":"reset"}},
                   {"id":"idle","match":{"path":"/never"},"fault":{"at":"request","effect":"hang"}}]"#;
    std::fs::write(&rules, rule).expect("rules");
    let link = format!("bank=127.0.0.1:0->{}", upstream.addr);
    let mut command = program();
    command.args(["--link", &link, "--seed=7"]).arg("--rules").arg(&rules).arg("--events").arg(&events);
    let mut child = Guard(command.spawn().expect("start"));
    let mut line = String::new();
    let mut stdout = BufReader::new(child.0.stdout.take().expect("stdout"));
    stdout.read_line(&mut line).expect("announcement");
    let words: Vec<_> = line.split_whitespace().collect();
    assert_eq!((&words[..3], words[4], words[5]), (&["link", "bank", "http"][..], "->", &*upstream.addr.to_string()));
    for (text, end) in [("", Ended::Reset), (REPLY, Ended::Fin)] {
        let mut client = crate::kit::Client(TcpStream::connect(words[3]).await.expect("connect"));
        client.send(post("k", "x").replace("host: bank", "connection: close")).await;
        let (got, ended) = client.rest().await;
        assert_eq!((got.as_str(), ended), (text, end));
    }
    let pid = rustix::process::Pid::from_child(&child.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("signal");
    assert_eq!(child.0.wait().expect("wait").code(), Some(0));
    let mut report = String::new();
    child.0.stderr.take().expect("stderr").read_to_string(&mut report).expect("report");
    assert!(report.contains("rule `lost` struck 1 times") && report.contains("rule `idle` never struck"), "{report}");
    let text = std::fs::read_to_string(&events).expect("events");
    let lines: Vec<_> = text.lines().collect();
    let head: serde_json::Value = serde_json::from_str(lines[0]).expect("header");
    assert_eq!(
        (&head["format"], &head["version"], &head["seed"]),
        (&"chaos-proxy-events".into(), &1.into(), &7.into())
    );
    let records: Vec<Record> =
        lines[1..lines.len() - 1].iter().map(|l| serde_json::from_str(l).expect("record")).collect();
    let attempts: Vec<_> =
        records.iter().filter_map(|r| if let Record::Attempt(a) = r { Some(a) } else { None }).collect();
    assert_eq!(attempts.iter().map(|a| (a.seq, a.ordinal)).collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    assert_eq!(attempts[0].upstream.status, Some(201), "the withheld answer is on record");
    let end: serde_json::Value = serde_json::from_str(lines[lines.len() - 1]).expect("end");
    assert_eq!(end["end"], serde_json::json!({ "records": records.len(), "dropped": 0 }));
}

// Proves that wrong command lines and rules end with 2, failures outside with 1, and that each says what would do.
#[test]
fn it_refuses_with_a_reason() {
    let bad = scratch("bad.json");
    std::fs::write(&bad, r#"[{"id":"r","fault":{"at":"connect","effect":{"reply":{"status":503}}}}]"#).expect("rules");
    let bad = bad.display().to_string();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    let on_taken = format!("a={},127.0.0.1:9", taken.local_addr().expect("addr"));
    let good = "a=127.0.0.1:0->127.0.0.1:9";
    let cases: [(&[&str], i32, &str); 12] = [
        (&[], 2, "no link given"),
        (&["--lnik", good], 2, "unknown argument `--lnik`"),
        (&["--link"], 2, "--link needs a value"),
        (&["--link", "a=127.0.0.1:0-"], 2, "in quotes"),
        (&["--link", "127.0.0.1:0->127.0.0.1:9"], 2, "no name"),
        (&["--link", "a=here->127.0.0.1:9"], 2, "not IP:PORT"),
        (&["--link", "a=127.0.0.1:0->bank"], 2, "write host:port"),
        (&["--link", good, "--seed", "-1"], 2, "--seed needs a whole number"),
        (&["--link", good, "--rules", "/nowhere/rules.json"], 2, "cannot read the rules in /nowhere/rules.json"),
        (&["--link", good, "--rules", &bad], 2, "`reply` cannot happen at `connect`"),
        (&["--link", good, "--events", "/nowhere/events"], 1, "cannot write the events to /nowhere/events"),
        (&["--link", &on_taken], 1, "choose a free port"),
    ];
    for (args, code, expected) in cases {
        let output = run(args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(expected), "{args:?}: {text}");
    }
    let help = run(&["--help"]);
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("Exit codes:"));
    assert!(String::from_utf8_lossy(&run(&["--version"]).stdout).starts_with("chaos-proxy "));
}
