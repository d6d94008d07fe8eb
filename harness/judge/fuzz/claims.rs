//! What the fuzz targets claim of any bytes. The tests of `judge` run the same over the corpus.

use judge::checks::topology::{self, Beside};
use judge::checks::{Check, breaker, degradation, idempotency, retry, storm, timeout, trust};
use judge::evidence::{Evidence, Record, read, read_tolerant, write};
use judge::promise::{BreakerPolicy, BudgetPolicy, CapCheck, DegradationPolicy, IdempotencyPolicy, Noise, RetryPolicy};
use judge::{MAX_LINES, Ruling};
use serde::de::DeserializeOwned;

/// Runs one target.
///
/// # Panics
/// When a claim is broken, or there is no such target.
pub fn run(target: &str, bytes: &[u8]) {
    match target {
        "evidence" => evidence(bytes),
        "verdicts" => verdicts(bytes),
        other => panic!("there is no target `{other}`"),
    }
}

/// The readers take any bytes; they agree; no whole record is lost; what is written of them is read again as the same.
fn evidence(bytes: &[u8]) {
    let strict = read(bytes);
    let Ok((tolerant, report)) = read_tolerant(bytes) else {
        assert!(strict.is_err(), "the tolerant reader refuses what the strict one takes");
        return;
    };
    assert_eq!(strict.is_ok(), report.sealed && report.bad == 0, "{:?} of {report:?}", strict.err());
    if let Ok(strict) = &strict {
        assert_eq!(strict, &tolerant);
    }
    assert_eq!(tolerant.sealed, report.sealed);
    let lines = bytes.split_inclusive(|b| *b == b'\n').skip(1);
    let whole: Vec<Record> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let mut expected = Evidence::new(tolerant.header.clone());
    whole.into_iter().for_each(|record| expected.push(record));
    assert_eq!(without_notes(&tolerant), without_notes(&expected), "a whole record is lost");
    assert!(tolerant.notes.starts_with(&expected.notes), "a note is lost");
    let whole = report.sealed && report.bad == 0 && report.unknown.is_empty();
    assert!(
        whole || tolerant.spoiling_notes().next().is_some(),
        "something is missing and nothing says so: {report:?}"
    );
    assert!(!whole || tolerant.notes == expected.notes, "a note without a cause");
    let again = written(&tolerant);
    let (once, report) = read_tolerant(again.as_slice()).expect("our own header");
    assert_eq!((&once, report.bad, report.unknown.len()), (&tolerant, 0, 0), "what was written is not what is read");
    assert_eq!(written(&once), again, "writing is not stable");
}

fn written(evidence: &Evidence) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(evidence, &mut bytes).expect("memory");
    bytes
}

fn without_notes(evidence: &Evidence) -> Evidence {
    Evidence { notes: Vec::new(), sealed: false, ..evidence.clone() }
}

/// Whatever was read is judged by every check that needs nothing else, and in the one shape of findings.
fn verdicts(bytes: &[u8]) {
    let Ok((evidence, report)) = read_tolerant(bytes) else { return };
    // One who fuzzes cannot guess a seal; whole files are judged as if it fitted.
    let sealed = Evidence { sealed: true, notes: Vec::new(), ..evidence.clone() };
    for check in checks() {
        let finding = check.judge(&sealed);
        assert_eq!(finding, check.judge(&sealed), "the same evidence, another finding");
        assert!(!finding.headline.is_empty() && finding.lines.len() <= MAX_LINES, "{finding:?}");
        assert_eq!(finding.chance.is_some(), finding.ruling == Ruling::Fail, "{finding:?}");
        assert!(finding.ruling != Ruling::Inconclusive || finding.advice.is_some(), "{finding:?}");
        let finding = check.judge(&evidence);
        assert!(report.sealed || finding.ruling == Ruling::Inconclusive, "{finding:?}");
    }
}

const LINK: &str = "bank";

/// Every check of the catalogue that can be bound to a promise without evidence: all but S1, which holds it against a
/// control's, and H5 and H6, which judge findings. The promises are those of a service that promises everything.
pub fn checks() -> Vec<Check> {
    [retries(), keys(), breakers(), answers(), of_the_run()].into_iter().flatten().collect()
}

fn promise<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("a promise")
}

fn retries() -> Vec<Check> {
    let noise = Noise::default();
    let policy: RetryPolicy = promise(
        r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms", "cap": "5s" }, "attempt_timeout": "1s",
             "retryable": [408, 425, 429, 500, 502, 503, 504, "refuse", "reset", "cut", "hang", "lost"],
             "deadline": "3s", "stops_when_client_leaves": true, "retry_after": { "limit": "10s", "jitter": "law" },
             "pushback": true }"#,
    );
    let budgets: [BudgetPolicy; 4] = [
        r#"{ "model": "grpc-tokens", "max_tokens": 20, "token_ratio": 0.1 }"#,
        r#"{ "model": "ratio", "ratio": 0.2, "min_per_second": 1, "ttl": "10s" }"#,
        r#"{ "model": "active-share", "percent": 20, "min_concurrency": 2 }"#,
        r#"{ "model": "aws-quota" }"#,
    ]
    .map(promise);
    let mut all = vec![
        retry::bounded_attempts(&policy, LINK),
        retry::backoff_law(&policy, LINK, noise),
        retry::no_herd(&policy, LINK, noise),
        retry::draws_anew(&policy, LINK, noise),
        retry::cap_holds(&policy, &CapCheck::default(), LINK, noise),
        retry::retries_only_the_retryable(&policy, LINK),
        retry::retry_after_is_honoured(&policy, &policy.retry_after.unwrap_or_default(), LINK, noise),
        retry::deadline_and_cancel(&policy, LINK, noise),
        retry::payload_is_stable(LINK),
        retry::key_is_stable(LINK),
        retry::pushback_is_obeyed(&policy, LINK, noise),
        retry::spans_tell_of_resends(LINK),
    ];
    all.extend(budgets.iter().map(|budget| retry::budget_holds(&policy, budget, LINK, noise)));
    all
}

fn keys() -> Vec<Check> {
    let policy: IdempotencyPolicy = promise(
        r#"{ "replay_marker": "X-Idempotency-Replay", "in_flight": 409, "mismatch": 422, "missing": 400,
             "survives_restart": true, "lease": "1s", "memo": "2xx+4xx", "scope": ["caller", "route"],
             "scope_route": "refund", "ttl": "1500ms", "after_ttl": "new", "fingerprint": "canonical", "waits_out": { "status": 409 } }"#,
    );
    vec![
        idempotency::exactly_one_effect(LINK),
        idempotency::one_of_many_runs(&policy, LINK),
        idempotency::replay_is_faithful(&policy, LINK),
        idempotency::mismatch_is_rejected(&policy, LINK),
        idempotency::missing_key_is_rejected(&policy, LINK),
        idempotency::survives_crash(&policy, LINK),
        idempotency::failures_are_remembered(&policy, LINK),
        idempotency::key_belongs_to_its_owner(&policy, LINK),
        idempotency::key_expires_as_declared(&policy, LINK),
        idempotency::conflict_is_pending(&policy, LINK),
    ]
}

fn breakers() -> Vec<Check> {
    let noise = Noise::default();
    let policy: BreakerPolicy = promise(
        r#"{ "threshold": 5, "open": "500ms", "growth": 2.0, "slow_call": "300ms",
             "outcomes": { "success": [402], "ignored": [409], "failure": [429, "hang", "refuse"] } }"#,
    );
    vec![
        breaker::trips_at_threshold(&policy, LINK),
        breaker::open_fails_fast(&policy, LINK, noise),
        breaker::stays_open(&policy, LINK, noise),
        breaker::half_open_single_probe(&policy, LINK),
        breaker::probe_failure_reopens(&policy, LINK, noise),
        breaker::probe_success_resets(&policy, LINK),
        breaker::probe_never_answers(&policy, LINK, noise),
        breaker::stale_outcomes_change_nothing(&policy, LINK, noise),
        breaker::outcomes_count_as_declared(&policy, LINK, noise),
        breaker::overshoot_is_bounded(&policy, LINK),
        breaker::state_is_truthful(&policy, LINK),
        breaker::sequence_is_legal(&policy, LINK),
        topology::breaker_isolation(&policy, LINK, &beside()),
    ]
}

/// A route that uses another link.
fn beside() -> [Beside; 1] {
    [Beside { route: "rates".to_owned(), link: "rates".to_owned() }]
}

/// What is promised of answers: in time, while degraded, after a disturbance, under load, over several services.
fn answers() -> Vec<Check> {
    let noise = Noise::default();
    let degraded: DegradationPolicy = promise(
        r#"{ "read": "/payments/{id}", "marker": "X-Degraded", "age": "Age", "max_age": "1m", "fresh_within": "1s",
             "confirmed": ["confirmed"] }"#,
    );
    let hops =
        r#"{ "hops": [{ "link": "payments", "attempts": 2 }, { "link": "bank", "attempts": 3 }], "at_most": 3 }"#;
    vec![
        timeout::answers_in_time(&promise(r#"{ "answer": "2s" }"#), LINK, noise),
        degradation::degraded_is_marked(&degraded, LINK),
        degradation::age_is_bounded(&degraded, LINK),
        degradation::fresh_again(&degraded, LINK),
        degradation::confirmed_has_a_row(&degraded, LINK),
        storm::recovers_after_trigger(&promise(r#"{ "within": "2s" }"#), LINK),
        storm::goodput(&promise(r#"{ "goodput": 0.8 }"#), LINK, 100.0),
        topology::bounded_amplification(&promise(hops)),
        topology::bulkhead_holds(&promise(r#"{ "routes": ["rates"], "callers": 2 }"#), LINK, &beside(), noise),
    ]
}

fn of_the_run() -> Vec<Check> {
    vec![
        trust::canary_is_quiet(Noise::default()),
        trust::faults_fired(),
        trust::spans_match_wire(LINK),
        trust::steady_state(LINK),
    ]
}
