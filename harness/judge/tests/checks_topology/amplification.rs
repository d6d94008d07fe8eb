//! R11, on two layers that retry.

use judge::Ruling;
use judge::checks::catalogue::R11;
use judge::checks::topology::bounded_amplification;
use judge::promise::AmplificationPolicy;

use crate::layers::{BOTH, Layers, SOUND, policy, request, run};
use crate::stage::{Ask, Stage};
use crate::support::MS;

/// Proves that layers within the declared bound pass, with a table of every hop, also at the bound itself.
#[test]
fn layers_within_the_bound_pass() {
    for (layers, at_most) in [(SOUND, Some(3)), (Layers { front: 2, ..SOUND }, None)] {
        let finding = bounded_amplification(&policy(at_most)).judge(&run(layers, &BOTH));
        assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
        assert!(finding.exhibit.iter().any(|l| l.contains("constant/bank") && l.contains("x3.00")), "{finding:#?}");
        assert_eq!(finding.subject, "checkout -> bank");
    }
}

/// Proves that a front that retries what the back has already retried is failed for the product, with the wire lines of
/// one request, and that a single layer beyond its own number is named as that.
#[test]
fn layers_that_multiply_are_failed() {
    let finding = bounded_amplification(&policy(Some(3))).judge(&run(Layers { front: 2, ..SOUND }, &BOTH));
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert_eq!(finding.bug_class.as_deref(), Some(R11.bug_classes[0]));
    assert!(finding.headline.contains("x6.00, declared x3"), "{}", finding.headline);
    assert!(finding.lines.len() >= 6, "{:#?}", finding.lines);
    let finding = bounded_amplification(&policy(None)).judge(&run(Layers { back: 4, ..SOUND }, &BOTH));
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert_eq!(finding.bug_class.as_deref(), Some(R11.bug_classes[1]));
    assert!(finding.headline.contains("40 arrivals at bank for 10 calls, declared 3"), "{}", finding.headline);
}

/// Proves that one request beyond the bound fails although the step as a whole stays below it: an average hides nothing.
#[test]
fn one_request_beyond_the_bound_is_enough() {
    let mut s = Stage::new("amplification", "checkout");
    for step in BOTH {
        s.step(step, |s| {
            (0..9).for_each(|_| request(s, Layers { back: 1, ..SOUND }));
            request(s, Layers { front: 2, back: 2, traced: true });
        });
        s.fault("bank", 10, 10);
    }
    let finding = bounded_amplification(&policy(Some(3))).judge(&s.e);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("the worst one 4"), "{}", finding.headline);
}

/// Proves that a refused connection counts as an arrival: a layer that hammers a closed port is seen.
#[test]
fn refused_connections_count() {
    let mut evidence = run(SOUND, &["flapping/bank"]);
    let mut s = Stage::new("amplification", "checkout");
    s.now = 60_000 * MS;
    s.step("constant/payments", |s| {
        let (trace, sent) = (s.trace(), s.now);
        (0..5).for_each(|_| s.refuse("payments"));
        s.now += MS;
        let ended = s.now;
        s.ask(Ask { route: None, trace, sent, ended, status: 502, degraded: false });
    });
    evidence.steps.extend(s.e.steps);
    evidence.outcomes.extend(s.e.outcomes);
    evidence.connections.extend(s.e.connections);
    let finding = bounded_amplification(&policy(Some(3))).judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("5 arrivals at payments for 1 calls, declared 2"), "{}", finding.headline);
}

/// Proves that missing evidence is no pass: no run at all, one kind of fault, a fault that struck too seldom, attempts
/// that join to nothing, requests without an outcome.
#[test]
fn too_little_is_inconclusive() {
    let check = || bounded_amplification(&policy(Some(3)));
    let none = check().judge(&Stage::new("amplification", "checkout").e);
    let one = check().judge(&run(SOUND, &["constant/bank"]));
    let mut seldom = run(SOUND, &BOTH);
    seldom.faults[0].fired = 9;
    let unjoined = run(Layers { traced: false, ..SOUND }, &BOTH);
    let without = |link: &str| {
        let mut evidence = run(Layers { front: 2, ..SOUND }, &BOTH);
        evidence.attempts.retain(|a| a.link != link);
        evidence
    };
    let mut open = run(SOUND, &BOTH);
    open.outcomes[0].answer = judge::evidence::Answer::TimedOut;
    for (finding, word) in [
        (none, "did not run"),
        (one, "flapping"),
        (check().judge(&seldom), "9 times of 10"),
        (check().judge(&unjoined), "neither a known key nor a known trace"),
        (check().judge(&open), "no outcome"),
        (check().judge(&without("bank")), "nothing arrived at bank"),
        (check().judge(&without("payments")), "nothing arrived at payments"),
        (
            bounded_amplification(&AmplificationPolicy { hops: Vec::new(), at_most: None }).judge(&run(SOUND, &BOTH)),
            "no hop",
        ),
    ] {
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
        assert!(finding.headline.contains(word), "{word}: {}", finding.headline);
        assert!(finding.advice.is_some());
    }
}
