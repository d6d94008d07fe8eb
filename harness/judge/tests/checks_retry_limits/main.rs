//! The checks of what limits retries against simulated services: a sound one passes, each wrong one is failed with the class
//! of its mistake, and evidence that shows too little is inconclusive.

mod after;
mod after_service;
mod budget;
mod budget_service;
mod cap;
mod cap_service;
mod deadline;
mod deadline_service;
mod edges_after;
mod edges_bound;
mod edges_budget;
mod edges_cap;
mod edges_deadline;
mod edges_pushback;
mod edges_table;
mod edges_told;
mod pages;
mod promise;
mod pushback;
mod pushback_service;
mod telemetry;
mod telemetry_service;
mod timeout;
mod timeout_service;
mod world;

#[path = "../support/page.rs"]
mod page;
#[path = "../support/mod.rs"]
mod support;

use judge::checks::Check;
use judge::evidence::Evidence;
use judge::{Finding, Ruling};
use promise::policy;

fn passes(check: &Check, evidence: &Evidence) {
    let finding = check.judge(evidence);
    assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
    assert_eq!(finding.chance, None, "a pass claims no chance: {finding:#?}");
}

/// Fails with the `class`-th class of its entry, in the shape that every failure has.
fn fails(check: &Check, evidence: &Evidence, class: usize) -> Finding {
    let finding = check.judge(evidence);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert_eq!(finding.bug_class.as_deref(), Some(check.info().bug_classes[class]), "{finding:#?}");
    assert_eq!(finding.chance.and_then(|c| c.probability()), Some(0.0), "{finding:#?}");
    assert!(!finding.lines.is_empty() && finding.lines.len() <= judge::MAX_LINES, "{finding:#?}");
    assert!(finding.lines.iter().any(|l| l.key.is_some() && l.trace.is_some()), "{finding:#?}");
    finding
}

/// Inconclusive, with what is missing in the headline and something to do.
fn is_unclear(check: &Check, evidence: &Evidence, says: &str) {
    let finding = check.judge(evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.headline.contains(says), "`{says}` is not in: {}", finding.headline);
    assert!(finding.advice.is_some_and(|a| !a.is_empty()), "{}", finding.check);
}

/// The same evidence after a machine that stood still for 200 ms.
fn noisy(evidence: &Evidence) -> Evidence {
    let mut evidence = evidence.clone();
    evidence.canary.iter_mut().for_each(|c| c.max_ns = 200_000_000);
    evidence
}

/// The same evidence in which no attempt can be joined to its payment.
fn unjoined(evidence: &Evidence) -> Evidence {
    let mut evidence = evidence.clone();
    evidence.attempts.iter_mut().for_each(|a| {
        a.key = None;
        a.context = None;
    });
    evidence
}
