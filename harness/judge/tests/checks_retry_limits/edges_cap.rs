//! R5 at its edges: what ended a payment, how many waits may be missing, and how retries are put together.

use std::time::Duration;

use judge::checks::retry;
use judge::evidence::{Answer, Evidence};
use judge::promise::{CapCheck, Noise, RetryPolicy};
use judge::{Finding, Ruling};

use crate::cap_service::{Ends, Service, Waits};
use crate::support::MS;
use crate::world::{Met, World, reply};
use crate::{noisy, policy};

fn promised() -> RetryPolicy {
    RetryPolicy { deadline: None, ..policy() }
}

fn full() -> Service {
    Service::new(&promised(), CapCheck::default())
}

fn judged(check: CapCheck, evidence: &Evidence) -> Finding {
    retry::cap_holds(&promised(), &check, "bank", Noise::default()).judge(evidence)
}

/// One payment of two attempts: when the second one ended, and when what the client got came, after it was sent.
fn two(ended: u64, answered: u64, answer: Answer) -> Evidence {
    let mut w = World::new("retry-cap");
    let p = w.pay(MS);
    let first = w.attempt(p, 2 * MS, 0, &Met::Status(503));
    w.attempt(p, first + MS, 1, &Met::Hang(p.sent + ended - first - MS));
    w.answer(p, "capped", p.sent + answered, answer);
    w.evidence
}

/// Proves that the deadline excuses by the wait that was next, 2 ms after two attempts; that silence begins with that wait, the
/// noise bound and half a second; and that a pause excuses by a timeout for each attempt that is missing.
#[test]
fn what_ended_a_payment() {
    let hurried = CapCheck { deadline: Some(Duration::from_secs(1)), ..CapCheck::default() };
    let calm = CapCheck { deadline: Some(Duration::from_secs(9000)), ..CapCheck::default() };
    for (ended, ruling) in [(898 * MS - 1, Ruling::Fail), (898 * MS, Ruling::Inconclusive)] {
        let finding = judged(hurried, &two(ended, ended + MS, reply(503)));
        assert_eq!(finding.ruling, ruling, "{ended}: {finding:#?}");
    }
    for (silent, ruling) in [(562 * MS, Ruling::Inconclusive), (562 * MS + 1, Ruling::Fail)] {
        let finding = judged(calm, &two(10 * MS, 10 * MS + silent, Answer::TimedOut));
        assert_eq!(finding.ruling, ruling, "{silent}: {finding:#?}");
    }
    for (lasted, ruling) in [(73_000 * MS - 1, Ruling::Fail), (73_000 * MS, Ruling::Inconclusive)] {
        let finding = judged(calm, &noisy(&two(10 * MS, lasted, reply(503))));
        assert_eq!(finding.ruling, ruling, "{lasted}: {finding:#?}");
    }
}

/// Proves that a refused connection, which may be any payment's attempt, leaves open which of them was given up; and that a
/// pause is the one thing that is said of payments that are whole.
#[test]
fn who_was_given_up_is_known() {
    let mut refused = World::new("retry-cap");
    refused.evidence = full().ending(Ends::InAPanicAfter(33)).play();
    refused.refuse(100 * MS);
    let finding = judged(CapCheck::default(), &refused.evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.headline.starts_with("for 12 requests nobody can say"), "{}", finding.headline);
    let paused = judged(CapCheck::default(), &noisy(&full().play()));
    assert!(paused.headline.starts_with("the machine paused"), "{}", paused.headline);
}

/// Proves that eighteen of nine hundred waits may be missing, and nineteen may not.
#[test]
fn two_percent_may_be_missing() {
    let check = CapCheck { attempts: 76, ..CapCheck::default() };
    for (gone, ruling) in [(18, Ruling::Pass), (19, Ruling::Inconclusive)] {
        let mut evidence = Service { check, ..full() }.play();
        // The wait after an attempt that was told when to come again is not the law's, nor is any later one.
        for payment in 0..12 {
            let waits = 1 + u32::from(payment < gone - 12);
            let key = evidence.outcomes[payment].key.clone();
            let told = evidence.attempts.iter_mut().find(|a| a.key == key && a.ordinal == 76 - waits);
            told.expect("an attempt").reply.retry_after = Some("1".to_owned());
        }
        let finding = judged(check, &evidence);
        assert_eq!(finding.ruling, ruling, "{gone}: {finding:#?}");
        let says = "19 of 900 expected waits are missing";
        assert_eq!(finding.headline == says, ruling == Ruling::Inconclusive, "{}", finding.headline);
    }
}

/// Proves that four retries beside a block belong to it, and that five are one of their own.
#[test]
fn a_short_rest_belongs_to_its_block() {
    for (attempts, rows) in [(20, vec!["retries 8 to 19: "]), (21, vec!["retries 8 to 15: ", "retries 16 to 20: "])] {
        let check = CapCheck { attempts, ..CapCheck::default() };
        let finding = judged(check, &Service { check, ..full() }.play());
        assert_eq!(finding.exhibit.len(), rows.len(), "{finding:#?}");
        assert!(finding.exhibit.iter().zip(rows).all(|(line, row)| line.starts_with(row)), "{finding:#?}");
    }
}

/// Proves that waits of many caps are without one, also where they are shorter than three seconds.
#[test]
fn no_cap_is_told_from_another_one() {
    let hurried = CapCheck { deadline: Some(Duration::from_secs(3)), ..CapCheck::default() };
    let service = Service { check: hurried, deadline: 2.7, ..full().waiting(Waits::WithoutACap) };
    let check = retry::cap_holds(&promised(), &hurried, "bank", Noise::default());
    let finding = check.judge(&service.play());
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert_eq!(finding.bug_class.as_deref(), Some(check.info().bug_classes[2]), "{finding:#?}");
}

/// Proves that the declared noise bound is the one that the waits are held to.
#[test]
fn the_noise_bound_is_the_declared_one() {
    let evidence = Service { noise: 0.040, ..full() }.play();
    for (eps, above) in [(20, true), (60, false)] {
        let noise = Noise { eps: Duration::from_millis(eps) };
        let finding = retry::cap_holds(&promised(), &CapCheck::default(), "bank", noise).judge(&evidence);
        let fact = finding.facts.iter().find(|f| f.name == "waits above the cap and the noise bound");
        let seen = fact.and_then(|f| f.value.as_f64()).expect("a number");
        assert_eq!(seen > 0.0, above, "{eps} ms: {finding:#?}");
    }
}

/// Proves that nine waits at the cap are too few to show a loop without a wait, where one in twenty-five is as short by right,
/// and that twelve are enough for that.
#[test]
fn a_hot_loop_shows_from_some_waits_on() {
    for (attempts, says) in [(11, "9 waits at the cap of 3 payments are too few"), (12, "hides the jitter of 12 waits")]
    {
        let check = CapCheck { attempts, ..CapCheck::default() };
        let finding = judged(check, &Service { check, payments: 3, ..full() }.play());
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
        assert!(finding.headline.contains(says), "{}", finding.headline);
    }
}

/// Proves that as many waits above the cap as are granted as outliers are no breach, and that one more is.
#[test]
fn as_many_outliers_as_are_granted() {
    for (n, ruling) in [(45, Ruling::Pass), (46, Ruling::Fail)] {
        let mut evidence = full().play();
        evidence.spans.clear();
        // Each of them before another retry, by turns of the payments; what follows in the payment comes later, too.
        for late in 0..n {
            let key = evidence.outcomes[late % 12].key.clone();
            let own = evidence.attempts.iter_mut().filter(|a| a.key == key && a.ordinal as usize >= 12 + late);
            own.for_each(|a| (a.arrived.0, a.reply.ended.0) = (a.arrived.0 + 170 * MS, a.reply.ended.0 + 170 * MS));
            evidence.outcomes[late % 12].ended.0 += 170 * MS;
        }
        let finding = judged(CapCheck::default(), &evidence);
        assert_eq!(finding.ruling, ruling, "{n}: {finding:#?}");
        let fact = |name: &str| finding.facts.iter().find(|f| f.name == name).and_then(|f| f.value.as_f64());
        assert_eq!(fact("of them granted as outliers"), Some(45.0), "{finding:#?}");
        assert_eq!(fact("waits above the cap and the noise bound"), Some(n as f64), "{finding:#?}");
    }
}
