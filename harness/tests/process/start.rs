//! From a spec to a process that is up, or to an error that says why not.

use std::net::TcpListener;
use std::time::Duration;

use harness::place::{Builder, Inherit, PlaceError, Process, ProcessSpec, Ready, ReservedPort};

use super::helper::{PATIENCE, Scratch, eventually, http, read, script};

async fn start(spec: ProcessSpec) -> Result<Process, PlaceError> {
    Process::start(spec, &Builder::default(), None).await
}

// Proves that a reserved port is handed over: the child binds the very port that was held for it, and it counts as up
// only after a 2xx. Bounded by count: exactly the three 503 and one 200 were asked for.
#[tokio::test]
async fn a_child_on_a_reserved_port_is_up_at_the_first_2xx() {
    let port = ReservedPort::pick().expect("a port");
    let number = port.number();
    let ready = Ready::url(format!("http://127.0.0.1:{number}/ready"));
    let spec = http(ready, &[("PORT", &number.to_string()), ("UNREADY", "3")]);
    let child = Process::start(spec, &Builder::default(), Some(port)).await.expect("it is up");
    assert_eq!(child.url(), Some(format!("http://127.0.0.1:{number}").as_str()));
    eventually("the 2xx is in the log", || child.log().tail(1) == ["answered 200 OK"]);
    let answers: Vec<_> = child.log().tail(100).into_iter().filter(|l| l.starts_with("answered")).collect();
    let expected = ["answered 503 Service Unavailable"; 3].into_iter().chain(["answered 200 OK"]);
    assert!(answers.iter().eq(expected), "{answers:?}");
}

// Proves that a child on port 0 is found by the line it prints, and asked on the announced address.
#[tokio::test]
async fn a_child_on_port_zero_is_found_by_its_line() {
    let spec = http(Ready::line("listening on {url}").path("/ready"), &[("PORT", "0"), ("UNREADY", "1")]);
    let child = start(spec).await.expect("it is up");
    let url = child.url().expect("an address").to_owned();
    let printed = format!("listening on {url}");
    assert!(child.log().tail(100).iter().any(|line| line.ends_with(&printed)), "{url} is not what was printed");
    eventually("it was asked on that address", || child.log().tail(1) == ["answered 200 OK"]);
}

// Proves that a child which ends before it is up is noticed at once, with its status and last line. Bounded by the
// readiness deadline, which is far beyond the test's own: waiting for it would fail.
#[tokio::test]
async fn an_early_end_is_told_at_once_with_the_last_line() {
    let mut spec = script("echo first; echo 'no database at /x' >&2; exit 3");
    spec.ready.deadline = Duration::from_secs(3600);
    let error = tokio::time::timeout(PATIENCE, start(spec)).await.expect("at once").expect_err("it ended");
    let PlaceError::ExitedEarly { status, excerpt, .. } = &error else { panic!("{error}") };
    assert_eq!(status.code(), Some(3));
    assert_eq!(excerpt.lines, ["first", "no database at /x"]);
    assert!(error.to_string().ends_with("| no database at /x"), "{error}");
}

// Proves that an occupied address is recognised in the child's words, and told apart: a fixed port, and a lost race for a
// reserved one, which alone is worth another try.
#[tokio::test]
async fn an_occupied_port_is_called_that() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let number = taken.local_addr().expect("an address").port().to_string();
    let spec = http(Ready::line("listening on {url}"), &[("PORT", &number)]);
    let fixed = start(spec.clone()).await.expect_err("the port is taken");
    assert!(matches!(&fixed, PlaceError::PortInUse { port: None, .. }) && !fixed.is_port_race(), "{fixed}");
    let reserved = ReservedPort::pick().expect("a port");
    let number = reserved.number();
    let race = Process::start(spec, &Builder::default(), Some(reserved)).await.expect_err("the port is taken");
    assert!(race.is_port_race() && race.to_string().contains(&format!("port {number}")), "{race}");
}

// Proves that the deadline holds for a child that runs but does not answer, that the error has the last refusal and the
// last line, and that the child is gone afterwards: its end is in the log.
#[tokio::test]
async fn a_child_that_never_answers_is_given_up() {
    let (scratch, port) = (Scratch::new(), ReservedPort::pick().expect("a port"));
    let url = format!("http://127.0.0.1:{}/ready", port.number());
    let mut spec = script("echo warming; exec sleep 600").log_path(scratch.path("logs/service.log"));
    spec.ready = Ready::url(&url).deadline(Duration::from_millis(300));
    let error = Process::start(spec, &Builder::default(), Some(port)).await.expect_err("it never answers");
    let PlaceError::NotReady { waiting_for, excerpt, .. } = &error else { panic!("{error}") };
    assert!(waiting_for.starts_with(&format!("GET {url} failed: ")), "{waiting_for}");
    assert!(waiting_for.to_lowercase().contains("refused"), "{waiting_for}");
    assert_eq!(excerpt.lines, ["warming"]);
    let log = read(&scratch.path("logs/service.log"));
    assert!(
        log.contains("[harness] started `script` as pid ") && log.contains("[harness] `script` ended after"),
        "{log}"
    );
}

// Proves that a missing line is named in the error, also when the child has closed its output.
#[tokio::test]
async fn a_line_that_never_comes_is_named() {
    let mut spec = script("echo 'listening on a socket'; exec sleep 600 >&- 2>&-");
    spec.ready = Ready::line("listening on {url}").deadline(Duration::from_millis(300));
    let error = start(spec).await.expect_err("no such line").to_string();
    assert!(
        error.contains("no line like `listening on {url}` was printed") && error.contains("| listening on a socket")
    );
}

// Proves that each way in which there is no program has its own words, with the places that were looked at.
#[tokio::test]
async fn a_program_that_is_not_there() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("data"), "text").expect("written");
    let word = |path: &str| scratch.path(path).display().to_string();
    for (program, words, looked) in [
        ("no-such-program-anywhere".to_owned(), "in PATH", "/no-such-program-anywhere".to_owned()),
        (word("none"), "is it built?", word("none")),
        (word("data"), "chmod +x", word("data")),
        (word(""), "is a directory", word("")),
    ] {
        let spec = ProcessSpec::new("service", [program.clone()], Ready::line("up"));
        let error = start(spec).await.expect_err("no program");
        assert!(matches!(error, PlaceError::CommandNotFound { .. }), "{program}: {error}");
        assert!(error.to_string().contains(words) && error.to_string().contains(&looked), "{program}: {error}");
    }
    let mut spec = script("echo up");
    spec.cwd = Some(scratch.path("none"));
    assert!(start(spec).await.expect_err("no directory").to_string().contains("working directory does not exist"));
}

// Proves that what contradicts itself is refused before anything is started.
#[tokio::test]
async fn a_spec_that_makes_no_sense_is_refused() {
    let up = || Ready::line("up");
    let none = Ready { line: None, url: None, deadline: PATIENCE };
    for (spec, words) in [
        (ProcessSpec::new("s", Vec::<String>::new(), up()), "`command` is empty"),
        (ProcessSpec::new("s", ["x"], none), "`ready` needs"),
        (ProcessSpec::new("s", ["x"], Ready::url("https://localhost/")), "must begin with `http://`"),
        (ProcessSpec::new("s", ["x"], Ready::line("up").path("/ready")), "announces the address"),
        (ProcessSpec::new("s", ["x"], Ready::line("{url}")), "some text around"),
        (ProcessSpec::new("s", ["x"], up()).env("A=B", "c"), "cannot be the name"),
        (ProcessSpec::new("s", ["x", "a\0b"], up()), "NUL"),
        (ProcessSpec::new("s", ["x"], up()).build(Vec::<String>::new()), "`build` is empty"),
    ] {
        let error = start(spec).await.expect_err(words);
        assert!(matches!(error, PlaceError::BadSpec { .. }) && error.to_string().contains(words), "{error}");
    }
}

// Proves what a child sees: the spec's variables, also with names that no shell could pass on, and of ours only what is
// on the list. Bounded by the child's complete environment.
#[tokio::test]
async fn a_child_sees_its_own_environment_and_the_listed_part_of_ours() {
    let scratch = Scratch::new();
    // A line that no variable of any machine holds: CI sets CARGO_TERM_PROGRESS_WHEN=never.
    let spec =
        ProcessSpec::new("env", ["env"], Ready::line("=no variable says this=")).env("spring.datasource.url", "jdbc:x");
    let ended = start(spec.log_path(scratch.path("log"))).await.expect_err("env ends at once");
    assert!(matches!(ended, PlaceError::ExitedEarly { .. }), "{ended}");
    let text = read(&scratch.path("log"));
    let seen: Vec<&str> = text.lines().filter(|l| !l.starts_with("[harness]")).collect();
    assert!(seen.contains(&"spring.datasource.url=jdbc:x") && seen.iter().any(|l| l.starts_with("PATH=")), "{text}");
    let strangers: Vec<_> = seen
        .iter()
        .filter_map(|l| l.split_once('='))
        .filter(|(name, _)| std::env::var_os(name).is_some() && !Inherit::default().passes(name))
        .collect();
    assert!(strangers.is_empty(), "{strangers:?}");

    let also = Inherit::Basics { also: vec!["PAYMENTS_*".to_owned(), "DEBUG".to_owned()] };
    for (name, basics, more) in [
        ("PATH", true, true),
        ("CARGO_HOME", true, true),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", false, false),
        ("http_proxy", false, false),
        ("PAYMENTS_DEFECT", false, true),
        ("DEBUG", false, true),
        ("DEBUG_MORE", false, false),
    ] {
        assert_eq!((Inherit::default().passes(name), also.passes(name)), (basics, more), "{name}");
        assert!(Inherit::All.passes(name));
    }
}
