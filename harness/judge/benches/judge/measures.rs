//! The measures.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter};
use std::time::Instant;

use judge::checks::{Check, idempotency, retry, trust};
use judge::evidence::{CodecError, Evidence, read, write};
use judge::promise::{Noise, RetryPolicy};

use crate::machine::{cpu, forget_peak, resident};
use crate::simulated::{ATTEMPTS_EACH, LINK, evidence as simulate};

fn policy() -> RetryPolicy {
    let text = r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms", "cap": "5s" }, "retryable": [503] }"#;
    serde_json::from_str(text).expect("a policy")
}

fn checks() -> Vec<Check> {
    let (policy, noise) = (policy(), Noise::default());
    vec![
        retry::bounded_attempts(&policy, LINK),
        retry::backoff_law(&policy, LINK, noise),
        retry::no_herd(&policy, LINK, noise),
        retry::key_is_stable(LINK),
        retry::payload_is_stable(LINK),
        idempotency::exactly_one_effect(LINK),
        trust::canary_is_quiet(noise),
        trust::faults_fired(),
        trust::spans_match_wire(LINK),
    ]
}

/// The law check as a run of the battery makes it: 100 clients by 3 retries.
pub fn law() {
    let evidence = simulate(200 * ATTEMPTS_EACH);
    let check = retry::backoff_law(&policy(), LINK, Noise::default());
    let mut times: Vec<f64> = (0..51)
        .map(|_| {
            let start = Instant::now();
            let finding = check.judge(&evidence);
            assert_eq!(finding.ruling, judge::Ruling::Pass, "{finding:#?}");
            1e3 * start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("R2 over 100 clients x 3 retries: median {:.2} ms, {:.2} to {:.2} ms\n", times[25], times[0], times[50]);
}

/// Everything over many attempts: memory of the evidence, each check, writing and reading.
pub fn evidence(attempts: usize) -> Result<(), CodecError> {
    let before = resident()[0];
    let evidence = simulate(attempts);
    let (attempts, held) = (evidence.attempts.len(), resident()[0].saturating_sub(before));
    let per = |bytes: u64| bytes / attempts as u64;
    println!("evidence: {attempts} attempts of {} payments, with a span for each attempt", attempts / ATTEMPTS_EACH);
    println!("in memory: {} MB, {} bytes an attempt with its share of everything\n", held >> 20, per(held));
    println!("| measure | s | CPU s | attempts/s | peak above the evidence, MB | bytes an attempt | says |");
    println!("|---|---|---|---|---|---|---|");
    for check in checks() {
        let name = format!("{} {}", check.info().id, check.info().name);
        row(&name, attempts, || format!("{:?}", check.judge(&evidence).ruling));
    }
    row("all of them", attempts, || format!("{} findings", judge_all(&evidence)));
    codec(&evidence, attempts)
}

fn judge_all(evidence: &Evidence) -> usize {
    judge::checks::judge(evidence, &checks()).findings.len()
}

/// Writing and reading JSON lines, through a file as a run does.
fn codec(evidence: &Evidence, attempts: usize) -> Result<(), CodecError> {
    let path = std::env::temp_dir().join(format!("judge-bench-{}.jsonl", std::process::id()));
    let outcome = written(evidence, attempts, &path);
    // It is removed whatever came of it; who cannot remove it has said so by the first error.
    let _ = fs::remove_file(&path);
    outcome
}

fn written(evidence: &Evidence, attempts: usize, path: &std::path::Path) -> Result<(), CodecError> {
    let mut failed = None;
    row("writing JSON lines", attempts, || {
        failed =
            File::create(path).map_err(CodecError::from).and_then(|f| write(evidence, &mut BufWriter::new(f))).err();
        size(path)
    });
    failed.map_or(Ok(()), Err)?;
    let mut back = None;
    row("reading JSON lines", attempts, || {
        back = Some(File::open(path).map_err(CodecError::from).and_then(|f| read(BufReader::new(f))));
        size(path)
    });
    match back {
        Some(Ok(back)) if back == *evidence => Ok(()),
        Some(Ok(_)) => Err(io::Error::other("what was read is not what was written").into()),
        Some(Err(error)) => Err(error),
        None => Ok(()),
    }
}

fn size(path: &std::path::Path) -> String {
    format!("{} MB", fs::metadata(path).map_or(0, |m| m.len()) >> 20)
}

/// One line of the table.
fn row(name: &str, attempts: usize, measured: impl FnOnce() -> String) {
    forget_peak();
    let (before, used, start) = (resident()[0], cpu(), Instant::now());
    let says = measured();
    let (seconds, used) = (start.elapsed().as_secs_f64(), cpu() - used);
    let peak = resident()[1].saturating_sub(before);
    println!(
        "| {name} | {seconds:.2} | {used:.2} | {:.0} | {} | {} | {says} |",
        attempts as f64 / seconds,
        peak >> 20,
        peak / attempts as u64
    );
}
