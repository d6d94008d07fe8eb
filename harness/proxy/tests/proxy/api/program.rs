//! The program in Toxiproxy's place: its names, flags, log, configuration file and command line tool.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use chaos_proxy::TOXIPROXY_VERSION;
use serde_json::Value;

use super::kit::{Through, echo, is_refused};

/// The program, called by another name as a link in an image would.
fn called(name: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chaos-proxy"));
    command.arg0(name).args(args).env_remove("LOG_LEVEL").env_remove("TOXIPROXY_URL");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(name: &str, args: &[&str]) -> Output {
    called(name, args).output().expect("run")
}

fn file(name: &str, text: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(std::process::id().to_string());
    std::fs::create_dir_all(&dir).expect("scratch folder");
    std::fs::write(dir.join(name), text).expect("file");
    dir.join(name)
}

/// A running server; ended with its test, whatever happens.
struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let mut child = command.spawn().expect("start");
        let out = BufReader::new(child.stdout.take().expect("stdout"));
        Self { child, out }
    }

    /// Reads the log up to a message; all its lines, and the last one's `address`.
    fn until(&mut self, message: &str) -> (Vec<Value>, String) {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.out.read_line(&mut line).expect("a line") > 0, "never logged: {message}; got {lines:?}");
            let line: Value = serde_json::from_str(&line).expect("a JSON line");
            let found = line["message"] == message;
            let address = line["address"].as_str().unwrap_or_default().to_owned();
            lines.push(line);
            if found {
                return (lines, address);
            }
        }
    }

    /// SIGTERM; the exit code, and the rest of the log.
    fn end(mut self) -> (Option<i32>, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("signal");
        let code = self.child.wait().expect("wait").code();
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("log");
        (code, rest)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has usually ended already.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

const SERVING: &str = "Starting Toxiproxy HTTP server";

// Proves the server's role: proxies from the file, a log of JSON lines, the tool's every command against it, and a clean
// end with 0.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_takes_toxiproxys_place() {
    let upstream = echo().await.to_string();
    let config = format!(r#"[{{"name":"db","listen":"127.0.0.1:0","upstream":"{upstream}","enabled":true}}]"#);
    let config = file("toxiproxy.json", &config).display().to_string();
    let config = format!("-config={config}");
    let mut server = Server::start(called("toxiproxy", &["-host=127.0.0.1", "-port", "0", &config, "-proxy-metrics"]));
    let (lines, api) = server.until(SERVING);
    // In a container a proxy on a loopback address is warned about too.
    let is_good =
        |line: &Value| line["version"] == TOXIPROXY_VERSION && ["info", "warn"].iter().any(|l| line["level"] == *l);
    assert!(lines.iter().all(is_good), "{lines:?}");
    let populated = lines.iter().find(|line| line["message"] == "Populated proxies from file").expect("a line");
    assert_eq!(populated["proxies"], 1);
    let at = lines.iter().find(|line| line["name"] == "db").and_then(|line| line["proxy"].as_str()).expect("db");
    assert!(Through::to(at).await.echoes("hello").await);
    let tool = |args: &[&str]| {
        let output = called("toxiproxy-cli", args).env("TOXIPROXY_URL", format!("http://{api}")).output().expect("run");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let good = |args: &[&str]| {
        let (code, out, err) = tool(args);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{args:?}: {out}");
        out
    };
    assert_eq!(good(&["ls"]), format!("db\t{at}\t{upstream}\tenabled\t0\n"));
    assert_eq!(good(&["create", "-l", "127.0.0.1:0", "-u", &upstream, "second"]), "Created new proxy second\n");
    let added = good(&["toxic", "add", "-t", "latency", "-a", "latency=100", "--tox", "0.5", "second"]);
    assert_eq!(added, "Added downstream latency toxic 'latency_downstream' on proxy 'second'\n");
    let shown = |toxicity: &str, jitter: u32| {
        let attributes = format!("attributes=[\tjitter={jitter}\tlatency=100\t]");
        format!("latency_downstream\ttype=latency\tstream=downstream\ttoxicity={toxicity}\t{attributes}\n")
    };
    let update = ["toxic", "update", "-n", "latency_downstream", "-a", "jitter=5", "second"];
    assert_eq!(good(&update), "Updated toxic 'latency_downstream' on proxy 'second'\n");
    assert_eq!(good(&["inspect", "second"]), shown("0.50", 5), "the toxicity stays");
    good(&[&["--toxiproxy-quirks"], &update[..]].concat());
    assert_eq!(good(&["i", "second"]), shown("1.00", 5), "Toxiproxy's tool resets it");
    let removed = good(&["t", "d", "-n", "latency_downstream", "second"]);
    assert_eq!(removed, "Removed toxic 'latency_downstream' on proxy 'second'\n");
    assert_eq!(good(&["toggle", "db"]), "Proxy db is now disabled\n");
    assert!(is_refused(at).await);
    assert_eq!(good(&["tog", "db"]), "Proxy db is now enabled\n");
    assert_eq!(good(&["delete", "second"]), "Deleted proxy second\n");
    let (code, out, err) = tool(&["inspect", "second"]);
    let told = "toxiproxy-cli: Failed to retrieve proxy second: HTTP 404: proxy not found\n";
    assert_eq!((code, out.as_str(), err.as_str()), (Some(1), "", told));
    let (code, rest) = server.end();
    assert!(code == Some(0) && rest.contains("Shutdown started"), "{code:?} {rest}");
}

// Proves that a configuration file that is missing or wrong is told in one line, and the server starts empty.
#[test]
fn a_bad_configuration_is_told_and_passed_over() {
    let broken = file("broken.json", "[{\"name\":\"a\"}]").display().to_string();
    for (path, reason) in
        [("/nowhere/t.json", "Error reading config file"), (&broken, "missing required field: upstream at proxy 1")]
    {
        let config = format!("-config={path}");
        let mut command = called("toxiproxy-server", &["-port=0", &config]);
        command.env("LOG_LEVEL", "error").stderr(Stdio::null());
        let mut server = Server::start(command);
        let mut line = String::new();
        server.out.read_line(&mut line).expect("a line");
        let line: Value = serde_json::from_str(&line).expect("a JSON line");
        assert!(line["message"].as_str().is_some_and(|m| m.contains(reason)) && line["level"] == "error", "{line}");
        let (code, rest) = server.end();
        assert_eq!((code, rest.as_str()), (Some(0), ""), "one line");
    }
}

// Proves what each name says of itself, and that a taken port ends the program with 1.
#[test]
fn names_versions_and_failures() {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(
        text(&run("toxiproxy", &["-version"]).stdout),
        format!("toxiproxy-server version {TOXIPROXY_VERSION}\n")
    );
    assert_eq!(
        text(&run("toxiproxy-cli", &["--version"]).stdout),
        format!("toxiproxy-cli version {TOXIPROXY_VERSION}\n")
    );
    assert!(text(&run("toxiproxy", &["-h"]).stdout).contains("-host=0.0.0.0"));
    assert!(text(&run("chaos-proxy", &["cli", "help"]).stdout).contains("toxic add"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    let port = taken.local_addr().expect("address").port().to_string();
    let output = run("chaos-proxy", &["-host", "127.0.0.1", "-port", &port]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("choose another with -host and -port"), "{}", text(&output.stderr));
    let refused = run("toxiproxy", &["-nope"]);
    assert_eq!((refused.status.code(), text(&refused.stderr).contains("unknown argument `-nope`")), (Some(2), true));
}

// Proves that links of the command line and an API live in one run, each told on a line of its own.
#[tokio::test]
async fn links_and_an_api_in_one_run() {
    let link = format!("bank=127.0.0.1:0->{}", echo().await);
    let mut server = Server::start(called("chaos-proxy", &["--tcp", &link, "--host", "127.0.0.1", "--port", "0"]));
    let mut lines = [String::new(), String::new()];
    for line in &mut lines {
        server.out.read_line(line).expect("a line");
    }
    let at = lines[0].strip_prefix("link bank tcp ").and_then(|rest| rest.split(' ').next()).expect("the link's line");
    let api = lines[1].trim_end().strip_prefix("api http://").expect("the API's line");
    assert!(Through::to(at).await.echoes("hello").await);
    let output = run("chaos-proxy", &["cli", "--host", api, "list"]);
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("bank\t"), "{output:?}");
    assert_eq!(server.end().0, Some(0));
}
