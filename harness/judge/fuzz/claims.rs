//! What the fuzz targets claim of any bytes. The tests of `judge` run the same over the corpus.

use judge::checks::{Check, breaker, idempotency, retry, trust};
use judge::evidence::{Evidence, Record, read, read_tolerant, write};
use judge::promise::{BreakerPolicy, IdempotencyPolicy, Noise, RetryPolicy};
use judge::{MAX_LINES, Ruling};

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

/// Whatever was read is judged by every check, and in the one shape of findings.
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

/// Every check, by the promises of the reference service.
fn checks() -> Vec<Check> {
    let (link, noise) = ("bank", Noise::default());
    let policy: RetryPolicy = serde_json::from_str(
        r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms", "cap": "5s" }, "attempt_timeout": "1s",
             "retryable": [408, 425, 429, 500, 502, 503, 504, "refuse", "reset", "cut", "hang", "lost"] }"#,
    )
    .expect("a policy");
    let keys: IdempotencyPolicy = serde_json::from_str(
        r#"{ "replay_marker": "X-Idempotency-Replay", "in_flight": 409, "mismatch": 422, "missing": 400,
             "survives_restart": true }"#,
    )
    .expect("a policy");
    let fuse: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "500ms" }"#).expect("a policy");
    vec![
        retry::bounded_attempts(&policy, link),
        retry::backoff_law(&policy, link, noise),
        retry::no_herd(&policy, link, noise),
        retry::retries_only_the_retryable(&policy, link),
        retry::payload_is_stable(link),
        retry::key_is_stable(link),
        idempotency::exactly_one_effect(link),
        idempotency::one_of_many_runs(&keys, link),
        idempotency::replay_is_faithful(&keys, link),
        idempotency::mismatch_is_rejected(&keys, link),
        idempotency::missing_key_is_rejected(&keys, link),
        idempotency::survives_crash(&keys, link),
        breaker::trips_at_threshold(&fuse, link),
        breaker::open_fails_fast(&fuse, link, noise),
        breaker::stays_open(&fuse, link, noise),
        breaker::half_open_single_probe(&fuse, link),
        breaker::probe_failure_reopens(&fuse, link, noise),
        breaker::probe_success_resets(&fuse, link),
        breaker::probe_never_answers(&fuse, link, noise),
        breaker::state_is_truthful(&fuse, link),
        trust::canary_is_quiet(noise),
        trust::faults_fired(),
        trust::spans_match_wire(link),
        trust::steady_state(link),
    ]
}
