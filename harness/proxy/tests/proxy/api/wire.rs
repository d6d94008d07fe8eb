//! Toxiproxy's recorded answers, replayed: 72 requests to Toxiproxy 2.12 and what it said to each, byte for byte.
//!
//! `toxiproxy-wire.txt` is the recording; an empty body is written as `""` there, and empty lines at its end are gone.

use std::collections::HashMap;

use super::kit::{Answer, Plane};

const RECORDING: &str = include_str!("toxiproxy-wire.txt");
/// Where the recorded control plane listened.
const RECORDED_PORT: &str = "18474";

/// Where our answers differ on purpose.
const DEVIATIONS: &[Deviation] = &[
    Deviation {
        name: "our own version",
        reason: "it says what it is compatible with, and what it is",
        request: "http://127.0.0.1:18474/version",
        after: "",
        recorded: r#"{"version": "2.12.0-f48fd7f"}"#,
        ours: concat!(r#"{"version": "2.12.0+chaos-proxy."#, env!("CARGO_PKG_VERSION"), r#""}"#),
    },
    Deviation {
        name: "a failed update changes nothing",
        reason: "Toxiproxy had taken the good half of a bad update: latency became 7 although it answered 400",
        request: "http://127.0.0.1:18474/proxies/p1/toxics/latency_downstream",
        after: r#"-d {"attributes":{"jitter":"x","latency":7}}"#,
        recorded: r#"{"latency":7,"jitter":5}"#,
        ours: r#"{"latency":100,"jitter":5}"#,
    },
];

struct Deviation {
    name: &'static str,
    reason: &'static str,
    request: &'static str,
    /// How the request right before it ends; empty where that is no matter.
    after: &'static str,
    recorded: &'static str,
    ours: &'static str,
}

/// One recorded request and its answer.
struct Exchange {
    command: &'static str,
    method: &'static str,
    path: &'static str,
    agent: &'static str,
    body: &'static str,
    answer: Answer,
}

fn recording() -> Vec<Exchange> {
    RECORDING.split("### ").skip(1).map(exchange).collect()
}

fn exchange(text: &'static str) -> Exchange {
    let (command, answer) = text.split_once('\n').expect("a command");
    let (options, body) = command.split_once(" -d ").unwrap_or((command, ""));
    let words: Vec<_> = options.split(' ').collect();
    let option = |name| words.iter().position(|w| *w == name).map(|at| words[at + 1]);
    let method = option("-X").unwrap_or(if words.contains(&"-I") { "HEAD" } else { "GET" });
    let url = words.iter().find(|w| w.starts_with("http://")).expect("a URL");
    let path = &url[url.match_indices('/').nth(2).expect("a path").0..];
    let body = if body == "\"\"" { "" } else { body };
    let agent = option("-A").unwrap_or("curl/8.5.0");
    Exchange { command, method, path, agent, body, answer: recorded_answer(answer) }
}

fn recorded_answer(text: &str) -> Answer {
    let (head, rest) = text.split_once("\n\n").unwrap_or((text.trim_end(), ""));
    let mut lines = head.lines();
    let status_line = lines.next().expect("a status line").to_owned();
    let headers = lines.map(|l| l.split_once(": ").map(|(n, v)| (n.to_owned(), v.to_owned())).expect("a header"));
    let mut answer = Answer { status_line, headers: headers.collect(), body: String::new() };
    let length = answer.header("Content-Length").map(|n| n.parse::<usize>().expect("a length"));
    answer.body = match length {
        Some(length) => rest[..length].to_owned(),
        // Where the length was not recorded the newline at the end of refusals was lost among those of the shell.
        None if answer.header("Content-Type").is_some_and(|t| t.starts_with("text/plain")) => {
            rest.trim_end().to_owned() + "\n"
        }
        None => rest.trim_end().to_owned(),
    };
    answer
}

/// Which of our ports stands for which recorded one: chosen by the kernel, so any is right, but always the same.
#[derive(Default)]
struct Ports(HashMap<String, String>);

impl Ports {
    /// `ours` with its ports replaced by the recorded ones, where both have an address.
    fn normalised(&mut self, recorded: &str, ours: &str) -> String {
        let (theirs, mine) = (ports(recorded), ports(ours));
        let mut text = String::new();
        let mut copied = 0;
        for (i, &(at, port)) in mine.iter().enumerate() {
            let wanted = theirs.get(i).map_or(port, |(_, port)| port);
            let known = self.0.entry(port.to_owned()).or_insert_with(|| wanted.to_owned());
            text += &ours[copied..at];
            text += known;
            copied = at + port.len();
        }
        text + &ours[copied..]
    }
}

/// Position and text of the port of each address.
fn ports(text: &str) -> Vec<(usize, &str)> {
    let starts = ["127.0.0.1:", "[::]:"].into_iter().flat_map(|host| text.match_indices(host));
    let mut found: Vec<_> = starts
        .map(|(at, host)| {
            let digits = &text[at + host.len()..];
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            (at + host.len(), &digits[..end])
        })
        .collect();
    found.sort_unstable();
    found
}

/// Names and values but for those that differ from run to run, and what the recording left out.
fn comparable(answer: &Answer, complete: bool) -> Vec<(String, String)> {
    let mut kept: Vec<_> = answer
        .headers
        .iter()
        .filter(|(name, _)| complete || !["X-Toxiproxy-Request-Id", "Date", "Content-Length"].contains(&name.as_str()))
        .map(|(name, value)| match name.as_str() {
            "X-Toxiproxy-Request-Id" => (name.clone(), format!("{} characters", value.len())),
            "Date" => (name.clone(), format!("{} characters", value.len())),
            // Compared with the body itself below: it depends on the digits of ports.
            "Content-Length" => (name.clone(), "the body's".to_owned()),
            _ => (name.clone(), value.clone()),
        })
        .collect();
    kept.sort();
    kept
}

// Proves compatibility on the wire: 72 requests on one connection, each answer equal to Toxiproxy's in status, headers
// and bytes but for ports, ids, dates, and the named deviations, each of which must have been met.
#[tokio::test]
async fn every_recorded_answer_is_ours_too() {
    let plane = Plane::start().await;
    let port = plane.server.address().port().to_string();
    let mut client = plane.client().await;
    let mut ports = Ports::default();
    ports.0.insert(port.clone(), RECORDED_PORT.to_owned());
    let (mut replayed, mut met, mut before) = (0, Vec::new(), "");
    for Exchange { command, method, path, agent, body, answer: recorded } in recording() {
        let body = body.replace(RECORDED_PORT, &port);
        let ours = client.call_as(agent, &format!("{method} {path}"), &body).await;
        assert_eq!(ours.status_line, recorded.status_line, "{command}");
        let complete = recorded.header("Date").is_some();
        let mut headers = comparable(&ours, complete);
        if recorded.header("Content-Length").is_none() {
            headers.retain(|(name, _)| name != "Content-Length");
        }
        assert_eq!(headers, comparable(&recorded, complete), "{command}");
        let mut expected = recorded.body.clone();
        for deviation in DEVIATIONS.iter().filter(|d| d.request == command && before.ends_with(d.after)) {
            assert!(expected.contains(deviation.recorded), "{}: {}", deviation.name, deviation.reason);
            expected = expected.replace(deviation.recorded, deviation.ours);
            met.push(deviation.name);
        }
        assert_eq!(ports.normalised(&expected, &ours.body), expected, "{command}");
        (before, replayed) = (command, replayed + 1);
    }
    assert_eq!(replayed, 72);
    assert_eq!(met, DEVIATIONS.iter().map(|d| d.name).collect::<Vec<_>>());
}

// Proves that the replay above cannot pass on other bytes: the normalisation touches ports alone, and one port of ours
// cannot stand for two recorded ones.
#[test]
fn only_ports_are_normalised() {
    let mut ports = Ports::default();
    assert_eq!(ports.normalised("a 127.0.0.1:111 b", "a 127.0.0.1:9 b"), "a 127.0.0.1:111 b");
    assert_eq!(ports.normalised("[::]:222", "[::]:9"), "[::]:111");
    assert_eq!(ports.normalised("x 127.0.0.1:111", "y 127.0.0.1:9"), "y 127.0.0.1:111");
    let recorded = recording();
    assert_eq!(recorded.iter().filter(|e| e.answer.header("Date").is_some()).count(), 29);
    assert!(recorded.iter().all(|e| e.answer.status() >= 200 && e.path.starts_with('/')));
}
