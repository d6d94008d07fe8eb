//! Payments that all fail, and come back as their service waits.

use judge::evidence::Evidence;
use judge::promise::RetryPolicy;
use judge::sim::{Fleet, Policy};

use super::stage::{Try, fault, payment};
use crate::support::{MS, evidence};

/// What it promises.
pub fn policy() -> RetryPolicy {
    serde_json::from_str(
        r#"{ "attempts": 3, "backoff": { "law": "full", "base": "911ms", "cap": "20s" }, "retryable": [503] }"#,
    )
    .expect("a policy")
}

/// A herd whose payments are sent evenly over four seconds and all fail; the waits are those of a simulated fleet.
pub fn herd(waits: Policy, clients: usize, retries: usize) -> Evidence {
    let mut evidence = evidence("retry-storm/x");
    let fleet = Fleet { cap: 20.0, ..Fleet::new(waits, clients) }.base(0.911).retries(retries.max(1));
    let seen = fleet.observe(5);
    let mut last = 0;
    for (i, gaps) in seen.gaps.rows().iter().enumerate() {
        let sent = MS + 4_000 * MS * i as u64 / clients as u64;
        let mut tries = vec![Try { at: sent + MS, took: MS, status: 503 }];
        for gap in gaps.iter().take(retries) {
            let before = tries[tries.len() - 1];
            tries.push(Try { at: before.at + before.took + (1e9 * gap) as u64, took: MS, status: 503 });
        }
        last = last.max(tries[tries.len() - 1].at + 3 * MS);
        payment(&mut evidence, "herd", sent, &tries);
    }
    let strikes = (clients * (1 + retries)) as u64;
    fault(&mut evidence, (0, last), strikes, strikes);
    evidence
}
