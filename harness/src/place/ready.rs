//! Waiting until a process is up: never a sleep, always an observation with a deadline.

use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::sleep;

use super::error::PlaceError;
use super::group::Group;
use super::log::ServiceLog;
use super::spec::ProcessSpec;

/// First pause between two questions; it doubles up to [`SLOWEST_POLL`].
const FASTEST_POLL: Duration = Duration::from_millis(5);
const SLOWEST_POLL: Duration = Duration::from_millis(50);
/// A service that accepts and does not answer is asked again after this time.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// How long the last words of an ended process may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What the announced line gives: nothing yet, or `Some` with the address in it, if it has one.
pub(super) type Announced = watch::Receiver<Option<Option<String>>>;

/// Waits for the line, then for the answer; returns the base URL, when one is known.
pub(super) async fn wait(
    spec: &ProcessSpec,
    port: Option<u16>,
    group: &Group,
    log: &ServiceLog,
    announced: Option<Announced>,
) -> Result<Option<String>, PlaceError> {
    let started = Instant::now();
    let mut waiting_for = String::new();
    let ready = observe(spec, announced, &mut waiting_for);
    tokio::select! {
        // An end is looked at first: another process may answer at the address that the dead one could not get.
        biased;
        status = group.exited() => Err(ended(spec, port, status, started.elapsed(), log).await),
        url = ready => Ok(url),
        () = sleep(spec.ready.deadline) => Err(PlaceError::NotReady {
            name: spec.name.clone(),
            deadline: spec.ready.deadline,
            waiting_for,
            excerpt: log.excerpt(),
        }),
    }
}

/// Ends when the process is up. `waiting_for` always says what is still missing.
async fn observe(spec: &ProcessSpec, announced: Option<Announced>, waiting_for: &mut String) -> Option<String> {
    let mut base = None;
    if let Some(mut announced) = announced {
        *waiting_for = format!("no line like `{}` was printed", spec.ready.line.as_deref().unwrap_or_default());
        let line = announced.wait_for(Option::is_some).await.map(|line| line.clone().flatten());
        match line {
            Ok(address) => base = address,
            // All output is closed and the line was not in it. The end of the process or the deadline tells.
            Err(_) => std::future::pending().await,
        }
    }
    let Some(url) = &spec.ready.url else { return base };
    let url = if url.starts_with('/') { format!("{}{url}", base.as_deref().unwrap_or_default()) } else { url.clone() };
    answer(&url, waiting_for).await;
    base.or_else(|| origin(&url))
}

async fn answer(url: &str, waiting_for: &mut String) {
    let mut pause = FASTEST_POLL;
    loop {
        match ask(url).await {
            Ok(()) => return,
            Err(why) => *waiting_for = format!("GET {url} {why}"),
        }
        sleep(pause).await;
        pause = (pause * 2).min(SLOWEST_POLL);
    }
}

async fn ask(url: &str) -> Result<(), String> {
    // No proxy: a corporate `http_proxy` must not stand between us and the loopback. No pool: a connection that was
    // made before the service was ready is no proof that it accepts new ones.
    let client = reqwest::Client::builder()
        .no_proxy()
        .pool_max_idle_per_host(0)
        .redirect(reqwest::redirect::Policy::none())
        .timeout(ANSWER_WITHIN)
        .build()
        .map_err(|e| format!("could not be sent: {}", root_cause(&e)))?;
    let answer = client.get(url).send().await.map_err(|e| format!("failed: {}", root_cause(&e)))?;
    if answer.status().is_success() { Ok(()) } else { Err(format!("was answered {}", answer.status())) }
}

fn root_cause(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {ANSWER_WITHIN:?}");
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// `http://host:port` of a URL.
fn origin(url: &str) -> Option<String> {
    let authority = url.strip_prefix("http://")?.split(['/', '?', '#']).next()?;
    Some(format!("http://{authority}"))
}

async fn ended(
    spec: &ProcessSpec,
    port: Option<u16>,
    status: Option<std::process::ExitStatus>,
    after: Duration,
    log: &ServiceLog,
) -> PlaceError {
    let closing = log.clone();
    // A join error would mean that the runtime ends; then the excerpt is as complete as it gets.
    let _ = tokio::task::spawn_blocking(move || closing.wait_closed(LAST_WORDS)).await;
    let (name, excerpt, status) = (spec.name.clone(), log.excerpt(), status.unwrap_or_default());
    if excerpt.lines.iter().any(|line| says_address_in_use(line)) {
        return PlaceError::PortInUse { name, status, port, excerpt };
    }
    PlaceError::ExitedEarly { name, status, after, excerpt }
}

/// Whether a line tells of `EADDRINUSE`, in the words of the C library, Go, Node, Java, Python or Rust.
fn says_address_in_use(line: &str) -> bool {
    let line = line.to_lowercase();
    ["address already in use", "address in use", "eaddrinuse", "addrinuse"].iter().any(|words| line.contains(words))
}
