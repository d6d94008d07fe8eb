//! R2 at its edges: how much may be missing, and which class a wrong law is of.

use std::time::Duration;

use judge::checks::retry;
use judge::evidence::{Answer, Evidence};
use judge::law::{Law, LawSpec};
use judge::promise::{Noise, RetryPolicy};
use judge::sim::{Fleet, Policy};
use judge::{Finding, Ruling};

use crate::judged::{LINK, r2};
use crate::scenarios::{Player, all_fail, retry_policy};
use crate::service::Defect;
use crate::world::Fault;

fn sound() -> Evidence {
    all_fail("waves", Policy::Full, 100, Defect::Sound)
}

/// The `nth` class of bugs of R2.
fn is_class(finding: &Finding, nth: usize, what: &str) {
    assert_eq!(finding.ruling, Ruling::Fail, "{what}: {finding:#?}");
    let class = r2().info().bug_classes[nth];
    assert_eq!(finding.bug_class.as_deref(), Some(class), "{what}: {}", finding.headline);
}

/// Proves that two of a hundred payments may be cut short by the driver and three may not, and that a payment with all its
/// attempts is not cut short whatever its client was told.
#[test]
fn two_percent_may_be_cut_short() {
    for (cut, ruling) in [(2, Ruling::Pass), (3, Ruling::Inconclusive)] {
        let mut evidence = sound();
        for outcome in &mut evidence.outcomes[..cut] {
            outcome.answer = Answer::TimedOut;
            let trace = outcome.context.trace;
            let last = evidence.attempts.iter().rposition(|a| a.context.is_some_and(|c| c.trace == trace));
            evidence.attempts.remove(last.expect("an attempt"));
        }
        let finding = r2().judge(&evidence);
        assert_eq!(finding.ruling, ruling, "{finding:#?}");
        let says = "the driver gave up on 3 of 100 payments before their last attempt";
        assert_eq!(finding.headline == says, ruling == Ruling::Inconclusive, "{}", finding.headline);
    }
    let mut told_nothing = sound();
    told_nothing.outcomes.iter_mut().for_each(|o| o.answer = Answer::TimedOut);
    assert_eq!(r2().judge(&told_nothing).ruling, Ruling::Pass);
}

/// Proves that six of three hundred gaps may be missing and seven may not, where an attempt never came and where its wait was
/// not the law's.
#[test]
fn two_percent_may_be_missing() {
    for (n, ruling) in [(6, Ruling::Pass), (7, Ruling::Inconclusive)] {
        let says = "7 of 300 expected gaps are missing";
        let mut gone = sound();
        let mut left = n;
        gone.attempts.retain(|a| {
            let goes = a.ordinal == 4 && left > 0;
            left -= usize::from(goes);
            !goes
        });
        let mut told = sound();
        let third = told.attempts.iter_mut().filter(|a| a.ordinal == 3);
        third.take(n).for_each(|a| a.reply.retry_after = Some("1".to_owned()));
        for evidence in [gone, told] {
            let finding = r2().judge(&evidence);
            assert_eq!(finding.ruling, ruling, "{finding:#?}");
            assert_eq!(finding.headline == says, ruling == Ruling::Inconclusive, "{}", finding.headline);
        }
    }
}

/// Proves that a fault which struck too seldom is advised about, and that nothing is told of spans where there are none.
#[test]
fn what_else_is_told() {
    let mut unfired = sound();
    unfired.faults[0].fired -= 1;
    let advice = "see that the service calls the dependency through the link that the contract names";
    assert_eq!(r2().judge(&unfired).advice.as_deref(), Some(advice));
    let mut without = sound();
    let compared = |finding: Finding| finding.facts.iter().any(|f| f.name.contains("spans"));
    assert!(compared(r2().judge(&without)));
    without.spans.clear();
    assert!(!compared(r2().judge(&without)));
}

/// Proves that the declared noise bound is the one that the gaps are held to.
#[test]
fn the_noise_bound_is_the_declared_one() {
    let immediate = RetryPolicy { backoff: Law::immediate(), ..retry_policy() };
    let noise = Noise { eps: Duration::from_millis(20) };
    let evidence = all_fail("waves", Policy::FixedExponential, 100, Defect::Sound);
    let finding = retry::backoff_law(&immediate, LINK, noise).judge(&evidence);
    assert!(finding.lines.iter().all(|l| l.text.contains("allowed 0.0 to 20.0 ms")), "{finding:#?}");
}

/// Every payment waits exactly so, in milliseconds.
fn waiting(waits: &[f64], defect: Defect) -> Evidence {
    played(&vec![waits.to_vec(); 100], defect)
}

fn played(rows: &[Vec<f64>], defect: Defect) -> Evidence {
    let mut p = Player::new("retry-law", defect);
    let orders: Vec<_> = rows.iter().map(|_| p.order()).collect();
    let service = &mut p.service;
    p.world.step("waves", rows.len() as u64, |w| {
        for (order, row) in orders.iter().zip(rows) {
            service.waits.clone_from(row);
            service.ask(w, "waves", order, &[], Some(Fault::Status(503)));
        }
    });
    p.world.finish()
}

/// Proves that waits which all payments share are without jitter where they stay, or grow by a step or by a factor, and drawn
/// from one seed where they do neither: two waits that grow could be anything.
#[test]
fn a_rule_is_told_from_a_shared_seed() {
    let (no_jitter, same_seed) = (0, 1);
    let cases: [(&[f64], Defect, usize); 7] = [
        (&[137.0, 137.0, 137.0, 137.0], Defect::Sound, no_jitter),
        (&[137.0, 274.0, 411.0, 548.0], Defect::Sound, no_jitter),
        (&[70.0, 210.0, 630.0, 1890.0], Defect::Sound, no_jitter),
        (&[137.0, 390.0, 260.0, 300.0], Defect::Sound, same_seed),
        (&[90.0, 110.0, 700.0, 800.0], Defect::Sound, same_seed),
        (&[190.0, 150.0, 110.0, 70.0], Defect::Sound, same_seed),
        (&[70.0, 390.0, 500.0], Defect::OneAttemptLess, same_seed),
    ];
    for (waits, defect, class) in cases {
        is_class(&r2().judge(&waiting(waits, defect)), class, &format!("{waits:?}"));
    }
}

/// Proves the class of each wrong law, where jitter is promised and where it is not.
#[test]
fn wrong_laws_have_their_class() {
    let (exponent, other) = (3, 6);
    let fixed = LawSpec::exponential(Duration::from_millis(200)).cap(Duration::from_secs(5)).build().expect("valid");
    let fixed = RetryPolicy { backoff: fixed, ..retry_policy() };
    let fixed = retry::backoff_law(&fixed, LINK, Noise::default());
    for (policy, jitter, without) in [
        (Policy::NoGrowth, exponent, exponent),
        (Policy::CeilingDoubled, exponent, exponent),
        (Policy::CeilingHalved, exponent, exponent),
        (Policy::FixedConstant, 0, other),
    ] {
        let evidence = all_fail("waves", policy, 100, Defect::Sound);
        is_class(&r2().judge(&evidence), jitter, &format!("{policy} for full jitter"));
        is_class(&fixed.judge(&evidence), without, &format!("{policy} for no jitter"));
    }
}

/// Proves that seconds which were read as milliseconds, or cut to whole ones, are of that class, where jitter is promised and
/// where it is not.
#[test]
fn wrong_units_have_their_class() {
    for (policy, base) in [(Policy::MillisecondsForSeconds, 200), (Policy::WholeSeconds, 20)] {
        let cap = Duration::from_secs(100 * base);
        let fleet = Fleet { cap: cap.as_secs_f64(), ..Fleet::new(policy, 100) }.base(base as f64).retries(12);
        let rows = fleet.observe(11).gaps.rows().to_vec();
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|gap| 1e3 * gap).collect()).collect();
        let evidence = played(&rows, Defect::Sound);
        let base = Duration::from_secs(base);
        for law in [LawSpec::full(base), LawSpec::exponential(base)] {
            let promised = RetryPolicy { backoff: law.cap(cap).build().expect("valid"), ..retry_policy() };
            let finding = retry::backoff_law(&promised, LINK, Noise::default()).judge(&evidence);
            is_class(&finding, 4, &format!("{policy} for {}", promised.backoff.describe()));
        }
    }
}

/// Proves that six of three hundred attempts may have waited inside the service and seven may not.
#[test]
fn two_percent_may_have_queued() {
    for (queued, ruling) in [(6, Ruling::Pass), (7, Ruling::Inconclusive)] {
        let mut evidence = sound();
        let last = evidence.attempts.iter().filter(|a| a.ordinal == 4).take(queued);
        let spans: Vec<_> = last.filter_map(|a| a.context.map(|c| c.parent)).collect();
        let begun = evidence.spans.iter_mut().filter(|s| spans.contains(&s.span));
        begun.for_each(|s| s.start.0 -= 200 * crate::support::MS);
        let finding = r2().judge(&evidence);
        assert_eq!(finding.ruling, ruling, "{queued}: {finding:#?}");
    }
}
