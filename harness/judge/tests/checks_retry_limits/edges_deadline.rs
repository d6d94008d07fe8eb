//! R9 at its edges: deadline, answer and departure, to the nanosecond, and what counts as ended by the deadline.

use judge::checks::retry;
use judge::evidence::{Answer, Evidence};
use judge::promise::{Noise, RetryPolicy};
use judge::{Finding, Ruling};

use crate::policy;
use crate::support::MS;
use crate::world::{Met, Payment, World, reply};

fn stayed(evidence: &Evidence) -> Finding {
    let promised = RetryPolicy { stops_when_client_leaves: false, ..policy() };
    retry::deadline_and_cancel(&promised, "bank", Noise::default()).judge(evidence)
}

fn left(evidence: &Evidence) -> Finding {
    let promised = RetryPolicy { deadline: None, ..policy() };
    retry::deadline_and_cancel(&promised, "bank", Noise::default()).judge(evidence)
}

/// One payment of that step, sent at 1 ms.
fn one(step: &str, body: impl Fn(&mut World, Payment) -> (u64, Answer)) -> Evidence {
    let mut w = World::new("retry-deadline");
    let p = w.pay(MS);
    let (at, answer) = body(&mut w, p);
    w.answer(p, step, at, answer);
    w.evidence
}

/// Proves that attempt, end and answer may come as late as the deadline and the noise bound, and no nanosecond later.
#[test]
fn all_may_end_with_the_noise_bound() {
    let over = MS + 3060 * MS;
    for (arrived, ended, answered, says) in [
        (over, over, over, ""),
        (over + 1, over + 1, over + 1, "attempt 1 arrived 3060.0 ms after the request"),
        (over, over + 1, over + 1, "an attempt ran on until 3060.0 ms after the request"),
        (over, over, over + 1, "the client was answered after 3060.0 ms"),
    ] {
        let finding = stayed(&one("hung", |w, p| {
            w.attempt(p, arrived, 0, &Met::Hang(ended - arrived));
            (answered, reply(504))
        }));
        let ruling = if says.is_empty() { Ruling::Pass } else { Ruling::Fail };
        assert_eq!(finding.ruling, ruling, "{finding:#?}");
        assert!(finding.headline.starts_with(says), "{}", finding.headline);
    }
}

/// Proves that an answer up to half a second and the noise bound after the last failure is no wait.
#[test]
fn a_wait_for_nothing_is_longer_than_at_once() {
    for (after, ruling) in [(560 * MS, Ruling::Pass), (560 * MS + 1, Ruling::Fail)] {
        let finding = stayed(&one("hung", |w, p| {
            let failed = w.attempt(p, 2 * MS, 0, &Met::Hang(2400 * MS));
            (failed + after, reply(504))
        }));
        assert_eq!(finding.ruling, ruling, "{after}: {finding:#?}");
    }
}

/// Proves which payments count as ended by their deadline: those whose next wait would not have fitted, and those that spent
/// it; none that succeeded, gave up with time to spare, made all its attempts, called nobody, or is of another step.
#[test]
fn what_the_deadline_ended() {
    type Play = fn(&mut World, Payment) -> (u64, Answer);
    let cases: [(&str, &str, Play, usize); 11] = [
        (
            "told to wait beyond it",
            "told-to-wait",
            |w, p| (w.attempt(p, 2 * MS, 0, &Met::Told(503, "3".into())), reply(504)),
            1,
        ),
        ("told a little", "told-to-wait", |w, p| (w.attempt(p, 2 * MS, 0, &Met::Told(503, "1".into())), reply(504)), 0),
        ("no room for 200 ms", "hung", |w, p| (w.attempt(p, 2 * MS, 0, &Met::Hang(2439 * MS)), reply(504)), 1),
        ("room for 200 ms", "hung", |w, p| (w.attempt(p, 2 * MS, 0, &Met::Hang(2438 * MS)), reply(504)), 0),
        (
            "a success after all",
            "hung",
            |w, p| {
                w.attempt(p, 2 * MS, 0, &Met::Hang(2439 * MS));
                (w.attempt(p, 2600 * MS, 1, &Met::Success), reply(201))
            },
            0,
        ),
        ("told a success", "hung", |w, p| (w.attempt(p, 2 * MS, 0, &Met::Hang(2439 * MS)), reply(201)), 0),
        (
            "all attempts made",
            "hung",
            |w, p| {
                let mut at = 2 * MS;
                for rank in 0..4 {
                    at = w.attempt(p, at, rank, &Met::Hang(650 * MS));
                }
                (at, reply(504))
            },
            0,
        ),
        ("no answer", "hung", |w, p| (w.attempt(p, 2 * MS, 0, &Met::Hang(2439 * MS)), Answer::TimedOut), 0),
        (
            "spent to the noise bound",
            "hung",
            |w, p| {
                w.attempt(p, 2 * MS, 0, &Met::Hang(2438 * MS));
                (2941 * MS, reply(504))
            },
            1,
        ),
        (
            "a wait for nothing",
            "hung",
            |w, p| {
                let failed = w.attempt(p, 2 * MS, 0, &Met::Status(503));
                (failed + 561 * MS, reply(504))
            },
            1,
        ),
        ("nothing called", "hung", |_, _| (2941 * MS, reply(504)), 0),
    ];
    for (what, step, play, expected) in cases {
        let finding = stayed(&one(step, play));
        let reached = finding.facts.iter().find(|f| f.name == "payments ended by their deadline").expect("counted");
        assert_eq!(reached.value, serde_json::Value::from(expected), "{what}: {finding:#?}");
    }
    let other = stayed(&one("waves", |w, p| (w.attempt(p, 2 * MS, 0, &Met::Hang(4000 * MS)), reply(504))));
    assert!(other.headline.contains("did not run"), "{}", other.headline);
}

/// Proves that an attempt may arrive up to the noise bound after the client left, and none later.
#[test]
fn a_client_is_gone_after_the_noise_bound() {
    for (after, ruling) in [(60 * MS, Ruling::Pass), (60 * MS + 1, Ruling::Fail)] {
        let mut evidence = one("left/hung", |w, p| {
            w.attempt(p, 2 * MS, 0, &Met::Status(503));
            w.attempt(p, 20 * MS + after, 1, &Met::Status(503));
            (20 * MS, Answer::Left)
        });
        evidence.steps[0].to.0 = 9000 * MS;
        assert_eq!(left(&evidence).ruling, ruling, "{after}: {:#?}", left(&evidence));
    }
}

/// Proves that whoever left is watched for as long as the next wait may take, from the last failure or the departure, to the
/// nanosecond: 400 ms after two attempts.
#[test]
fn a_departure_is_watched_for_the_next_wait() {
    // The last failure is seen at 11 ms.
    for (gone, watched, ruling) in [
        (5, 411 * MS, Ruling::Pass),
        (5, 411 * MS - 1, Ruling::Inconclusive),
        (20, 420 * MS, Ruling::Pass),
        (20, 420 * MS - 1, Ruling::Inconclusive),
    ] {
        let mut evidence = one("left/hung", |w, p| {
            w.attempt(p, 2 * MS, 0, &Met::Status(503));
            w.attempt(p, 10 * MS, 1, &Met::Status(503));
            (gone * MS, Answer::Left)
        });
        evidence.steps[0].to.0 = watched;
        let finding = left(&evidence);
        assert_eq!(finding.ruling, ruling, "{watched}: {finding:#?}");
    }
}
