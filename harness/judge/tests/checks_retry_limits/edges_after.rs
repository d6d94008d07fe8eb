//! R8 at its edges: what a value promises, and what came, to the nanosecond.

use std::time::Duration;

use judge::checks::retry;
use judge::evidence::{Answer, At, Evidence};
use judge::law::LawSpec;
use judge::promise::{Noise, OnTop, RetryAfterPolicy, RetryPolicy};
use judge::{Finding, Ruling};

use crate::after_service::{Reads, play};
use crate::policy;
use crate::support::MS;
use crate::world::{Met, World, reply};

const MILLI: Duration = Duration::from_millis(1);
const NANO: Duration = Duration::from_nanos(1);

fn judged(evidence: &Evidence) -> Finding {
    retry::retry_after_is_honoured(&policy(), &RetryAfterPolicy::default(), "bank", Noise::default()).judge(evidence)
}

/// What one payment that was told to wait for a second is promised, in the words of the exhibit.
fn promised(policy: &RetryPolicy, after: &RetryAfterPolicy, eps: Duration) -> String {
    let mut w = World::new("retry-after");
    // Its failure is seen 2 ms after it was sent.
    let p = w.pay(10 * MS);
    let failed = w.attempt(p, 11 * MS, 0, &Met::Told(503, "1".into()));
    w.answer(p, "told", failed + MS, reply(504));
    let finding = retry::retry_after_is_honoured(policy, after, "bank", Noise { eps }).judge(&w.evidence);
    assert_eq!(finding.exhibit.len(), 2, "{finding:#?}");
    let row = finding.exhibit[1].strip_prefix("503    1").expect("the row of the value");
    row.trim().trim_end_matches("none").trim().to_owned()
}

/// Proves that a wait is too long from the noise bound beyond the time that is left or the limit, due from the noise bound
/// below it, what may come on top included, and either between the two.
#[test]
fn a_limit_within_the_noise_is_either() {
    let none = RetryAfterPolicy { jitter: OnTop::None, ..RetryAfterPolicy::default() };
    let (eps, ms) = (60 * MILLI, |n: u32| n * MILLI);
    let by = |deadline| RetryPolicy { deadline, ..policy() };
    let limits = [
        (ms(940) - NANO, "none, at once"),
        (ms(940), "either"),
        (ms(1060), "either"),
        (ms(1060) + NANO, "1000 to 1000 ms"),
    ];
    for (limit, words) in limits {
        let after = RetryAfterPolicy { limit: Some(limit), ..none };
        assert_eq!(promised(&by(None), &after, eps), words, "limit {limit:?}");
        assert_eq!(promised(&by(Some(ms(9000))), &after, eps), words, "limit {limit:?} and a deadline");
    }
    for (deadline, words) in [(ms(942) - NANO, "none, at once"), (ms(942), "either")] {
        assert_eq!(promised(&by(Some(deadline)), &none, eps), words, "deadline {deadline:?}");
        let far = RetryAfterPolicy { limit: Some(ms(9000)), ..none };
        assert_eq!(promised(&by(Some(deadline)), &far, eps), words, "deadline {deadline:?} and a limit");
    }
    // Nine tenths of 1400 ms, 2 ms of them spent: 1258 are left for 1000, up to 200 on top, and the noise bound.
    let law = RetryAfterPolicy::default();
    for (eps, words) in [(ms(58), "either"), (ms(58) - NANO, "1000 to 1200 ms")] {
        assert_eq!(promised(&by(Some(ms(1400))), &law, eps), words, "{eps:?}");
    }
}

/// Proves that the floor of a law is waited for on top, too.
#[test]
fn the_floor_comes_on_top() {
    let backoff = LawSpec::equal(Duration::from_millis(200)).build().expect("valid");
    let equal = RetryPolicy { backoff, deadline: None, ..policy() };
    assert_eq!(promised(&equal, &RetryAfterPolicy::default(), 60 * MILLI), "1100 to 1200 ms");
}

/// The sound evidence with the next attempt of one value so many nanoseconds after the failure.
fn after(text: &str, gap: u64) -> Evidence {
    let mut evidence = play(Reads::Rightly);
    let told = evidence.attempts.iter().position(|a| a.reply.retry_after.as_deref() == Some(text)).expect("told");
    let from = evidence.attempts[told].reply.ended.0;
    let next = &mut evidence.attempts[told + 1];
    (next.arrived, next.reply.ended) = (At(from + gap), At(from + gap + MS));
    evidence
}

/// Proves that the next attempt is in time from 2 ms before its earliest instant to the noise bound after its latest.
#[test]
fn a_value_is_kept_between_its_edges() {
    let cases = [
        ("1", 998 * MS - 1, Some(0)),
        ("1", 998 * MS, None),
        ("1", 1260 * MS, None),
        ("1", 1260 * MS + 1, Some(1)),
        ("soon", 260 * MS, None),
        ("soon", 260 * MS + 1, Some(3)),
    ];
    for (text, gap, class) in cases {
        match class {
            None => assert_eq!(judged(&after(text, gap)).ruling, Ruling::Pass, "{text} after {gap}"),
            Some(class) => {
                crate::fails(
                    &retry::retry_after_is_honoured(&policy(), &RetryAfterPolicy::default(), "bank", Noise::default()),
                    &after(text, gap),
                    class,
                );
            }
        }
    }
}

/// Proves that one that waits too long at all is told from one that does not wait: by 2 ms before the end of the value.
#[test]
fn sleeping_it_out_is_told_from_ignoring_it() {
    for (gap, class) in [(86_400_000 * MS - 2 * MS - 1, 0), (86_400_000 * MS - 2 * MS, 2)] {
        let mut evidence = play(Reads::Rightly);
        let told = evidence.attempts.iter().position(|a| a.reply.retry_after.as_deref() == Some("86400"));
        let first = evidence.attempts[told.expect("told")].clone();
        let mut next = evidence.attempts[0].clone();
        (next.key, next.context, next.ordinal) = (first.key.clone(), first.context, 2);
        next.seq = 9_999;
        next.arrived = At(first.reply.ended.0 + gap);
        (next.reply.ended, next.reply.retry_after) = (At(next.arrived.0 + MS), None);
        evidence.attempts.push(next);
        let check = retry::retry_after_is_honoured(&policy(), &RetryAfterPolicy::default(), "bank", Noise::default());
        crate::fails(&check, &evidence, class);
    }
}

/// Proves that a value that is too long is answered within half a second and the noise bound, and one that ends in silence
/// is failed when its wait and the noise bound are over.
#[test]
fn answers_at_their_edges() {
    let answered = |text: &str, after: u64, answer: Option<Answer>| {
        let mut evidence = play(Reads::Rightly);
        let told = evidence.attempts.iter().position(|a| a.reply.retry_after.as_deref() == Some(text));
        let first = evidence.attempts[told.expect("told")].clone();
        evidence.attempts.retain(|a| a.key != first.key || a.ordinal == 1);
        let outcome = evidence.outcomes.iter_mut().find(|o| o.key == first.key).expect("an outcome");
        outcome.ended = At(first.reply.ended.0 + after);
        answer.into_iter().for_each(|a| outcome.answer = a);
        judged(&evidence)
    };
    assert_eq!(answered("86400", 560 * MS, None).ruling, Ruling::Pass);
    assert!(answered("86400", 560 * MS + 1, None).headline.contains("was answered only 560.0 ms later"));
    let silent = |after| answered("1", after, Some(Answer::TimedOut));
    assert!(silent(1260 * MS).headline.contains("has no outcome"), "{:#?}", silent(1260 * MS));
    assert!(silent(1260 * MS + 1).headline.contains("no attempt came within"), "{:#?}", silent(1260 * MS + 1));
}

/// Proves that only a failure that is retried, with another attempt to go, is held to its value.
#[test]
fn what_has_no_attempt_to_go_is_not_judged() {
    let mut evidence = play(Reads::Rightly);
    let mut w = World::new("retry-after");
    w.evidence = evidence.clone();
    for (number, mets) in [
        (900, vec![Met::Told(400, "1".into())]),
        (901, (0..4).map(|n| if n == 3 { Met::Told(503, "1".into()) } else { Met::Status(503) }).collect()),
    ] {
        let p = crate::world::Payment { sent: 500 * MS, number, trace: crate::support::trace(number) };
        let mut at = p.sent + MS;
        for (rank, met) in mets.iter().enumerate() {
            at = w.attempt_under(p, at, rank, met, judge::evidence::SpanId((number * 100 + rank as u64).to_be_bytes()));
        }
        w.answer(p, "told", at + MS, reply(502));
    }
    std::mem::swap(&mut evidence, &mut w.evidence);
    let finding = judged(&evidence);
    assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
    assert!(finding.headline.starts_with("16 values"), "{}", finding.headline);
}

/// Proves that a value that is too long must be shown where the service has a limit or a deadline of its own, and only there;
/// the other kinds must be shown in any case.
#[test]
fn what_must_have_been_shown() {
    let without = |word: &str| {
        let mut evidence = play(Reads::Rightly);
        let told = |t: &Option<String>| t.as_ref().is_some_and(|t| t.contains(word));
        evidence.attempts.iter_mut().filter(|a| told(&a.reply.retry_after)).for_each(|a| a.reply.retry_after = None);
        evidence
    };
    let limited = RetryAfterPolicy { limit: Some(Duration::from_secs(60)), ..RetryAfterPolicy::default() };
    let no_deadline = RetryPolicy { deadline: None, ..policy() };
    let cases = [
        ("86400", policy(), RetryAfterPolicy::default(), Ruling::Inconclusive),
        ("86400", no_deadline.clone(), limited, Ruling::Inconclusive),
        ("86400", no_deadline.clone(), RetryAfterPolicy::default(), Ruling::Pass),
        ("08:49", no_deadline, limited, Ruling::Inconclusive),
    ];
    for (word, policy, after, ruling) in cases {
        let check = retry::retry_after_is_honoured(&policy, &after, "bank", Noise::default());
        let finding = check.judge(&without(word));
        assert_eq!(finding.ruling, ruling, "{word}: {finding:#?}");
    }
    let unlimited = RetryPolicy { deadline: None, ..policy() };
    let mut no_dates = without("08:49");
    no_dates.attempts.retain(|a| a.reply.retry_after.as_deref() != Some("86400"));
    let check = retry::retry_after_is_honoured(&unlimited, &RetryAfterPolicy::default(), "bank", Noise::default());
    crate::is_unclear(&check, &no_dates, "a date to wait for");
}
