//! A service that hands on neither key nor trace: nothing may be concluded from attempts and charges that join to nothing.

use judge::Ruling;
use judge::checks::{Check, idempotency, retry, trust};
use judge::evidence::Evidence;
use judge::sim::Policy;

use crate::judged::{LINK, i2, i3, i4, i5, i6, r1, r2, r3, r6};
use crate::scenarios::{all_fail, duplicates, one_effect, restart, retry_table, steady};
use crate::service::Defect;

/// The same run behind a client that drops the trace and derives keys of its own. `kept`: how many attempts of each
/// payment still join.
fn derived(mut e: Evidence, kept: u32) -> Evidence {
    let own = |key: &Option<String>| key.as_ref().map(|k| format!("derived-{k}"));
    for a in e.attempts.iter_mut().filter(|a| a.ordinal > kept) {
        (a.key, a.context) = (own(&a.key), None);
    }
    for b in &mut e.bank {
        (b.key, b.context) = (own(&b.key), None);
    }
    e.ledger.iter_mut().flat_map(|l| &mut l.rows).for_each(|r| r.downstream_key = None);
    e
}

/// Proves that no check fails or passes a sound service whose attempts cannot be joined, whole or in part, and that each
/// says what would make them join.
#[test]
fn what_cannot_be_joined_is_no_verdict() {
    let waves = || all_fail("waves", Policy::Full, 100, Defect::Sound);
    let herd = || all_fail("herd", Policy::Full, 100, Defect::Sound);
    for kept in [0, 1] {
        let cases: Vec<(Evidence, Vec<Check>)> = vec![
            (waves(), vec![r1(), r2(), retry::key_is_stable(LINK), retry::payload_is_stable(LINK)]),
            (herd(), vec![r3()]),
            (retry_table(Defect::Sound), vec![r6(), idempotency::exactly_one_effect(LINK)]),
            (one_effect(Defect::Sound), vec![idempotency::exactly_one_effect(LINK)]),
        ];
        for (evidence, checks) in cases {
            let evidence = derived(evidence, kept);
            for check in checks {
                let finding = check.judge(&evidence);
                assert_eq!(finding.ruling, Ruling::Inconclusive, "{kept} kept: {finding:#?}");
                let advice = finding.advice.unwrap_or_default();
                assert!(advice.contains("pass the client's"), "{kept} kept: {}: {advice}", finding.check);
            }
        }
    }
    let once: Vec<(Evidence, Vec<Check>)> = vec![
        (steady(Defect::Sound), vec![trust::steady_state(LINK)]),
        (duplicates(Defect::Sound), vec![i2()]),
        (duplicates(Defect::ReplayReruns), vec![i3()]),
        (duplicates(Defect::MissingKeyCallsBank), vec![i5()]),
        (restart(Defect::Sound), vec![i6()]),
    ];
    for (evidence, checks) in once {
        let evidence = derived(evidence, 0);
        for check in checks {
            let finding = check.judge(&evidence);
            assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
            assert!(finding.advice.is_some_and(|a| a.contains("pass the client's")), "{}", finding.check);
        }
    }
    // No call came meanwhile that could be the refused request's: that is still known.
    assert_eq!(i4().judge(&derived(duplicates(Defect::Sound), 0)).ruling, Ruling::Pass);
}

/// Proves that counting still convicts: more confirmed payments than charges of any name.
#[test]
fn fewer_charges_than_confirmations_are_failed() {
    let mut e = derived(steady(Defect::Sound), 0);
    let one = e.bank.iter().rposition(|b| b.charge.is_some() && b.kind == judge::evidence::BankEntryKind::Charge);
    e.bank.remove(one.expect("a charge"));
    let finding = idempotency::exactly_one_effect(LINK).judge(&e);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.starts_with("at least 1 payments"), "{}", finding.headline);
}

/// Proves that a derived key joins where the ledger's row holds it beside the client's.
#[test]
fn the_ledger_ties_a_derived_key() {
    let sound = steady(Defect::Sound);
    let mut e = derived(sound.clone(), 0);
    for (row, named) in e.ledger[0].rows.iter_mut().zip(&sound.ledger[0].rows) {
        row.downstream_key = named.downstream_key.as_ref().or(named.key.as_ref()).map(|k| format!("derived-{k}"));
    }
    let finding = idempotency::exactly_one_effect(LINK).judge(&e);
    assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
    assert_eq!(trust::steady_state(LINK).judge(&e).ruling, Ruling::Pass);
}

/// Proves that a ledger which nobody read has no number in the finding.
#[test]
fn an_unread_ledger_has_no_number() {
    let mut e = steady(Defect::Sound);
    e.ledger.clear();
    let finding = idempotency::exactly_one_effect(LINK).judge(&e);
    assert!(!finding.measured.contains("settled"), "{}", finding.measured);
    assert!(finding.facts.iter().all(|f| f.name != "settled rows"));
}

/// Proves that the class follows the nearest law: a wait without jitter is never a shared seed, neither where jitter was
/// declared nor where it was not.
#[test]
fn the_class_follows_the_nearest_law() {
    let policy = |backoff: &str| {
        let text = format!(r#"{{ "attempts": 4, "backoff": {backoff}, "retryable": [503] }}"#);
        serde_json::from_str(&text).expect("a policy")
    };
    let constant = all_fail("waves", Policy::FixedConstant, 100, Defect::Sound);
    let cases = [
        (r#"{ "law": "fixed", "base": "50ms" }"#, "configured delay"),
        (r#"{ "law": "full", "base": "1s" }"#, "no jitter"),
    ];
    for (law, class) in cases {
        let check = retry::backoff_law(&policy(law), LINK, judge::promise::Noise::default());
        let finding = check.judge(&constant);
        assert_eq!(finding.ruling, Ruling::Fail, "{law}: {finding:#?}");
        assert!(finding.bug_class.as_deref().is_some_and(|c| c.contains(class)), "{law}: {:?}", finding.bug_class);
    }
}

/// Proves that "only exceptions are retried" is said only where exceptions are retried and no status is.
#[test]
fn only_exceptions_needs_exceptions() {
    let finding = r6().judge(&retry_table(Defect::NeverRetries503));
    assert_eq!((finding.ruling, finding.bug_class), (Ruling::Fail, None), "other statuses are retried");
}

/// Proves that a request by another route is no payment, also under the key of one: its attempts and its charges are put
/// aside by their trace, and no check of payments asks for its row.
#[test]
fn a_request_by_another_route_is_no_payment() {
    let mut e = steady(Defect::Sound);
    let (mut ask, mut attempt) = (e.outcomes[0].clone(), e.attempts[0].clone());
    let payments = judge::evidence::Joined::of(&e, LINK).payments.len();
    let mut context = ask.context;
    context.trace.0[1] ^= 0x5a;
    (ask.context, ask.route, ask.seq) = (context, Some("refund".to_owned()), 9_999);
    (attempt.context, attempt.seq) = (Some(context), 9_999);
    let mut charge = e.bank.iter().find(|b| b.kind == judge::evidence::BankEntryKind::Charge).expect("charged").clone();
    (charge.context, charge.seq) = (Some(context), 9_999);
    e.outcomes.push(ask);
    e.attempts.push(attempt);
    e.bank.push(charge);
    let joined = judge::evidence::Joined::of(&e, LINK);
    assert_eq!((joined.payments.len(), joined.other_routes.len()), (payments, 1));
    assert!(joined.orphan_attempts.is_empty() && joined.orphan_charges.is_empty());
    for check in [idempotency::exactly_one_effect(LINK), trust::steady_state(LINK)] {
        let finding = check.judge(&e);
        assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
    }
    // Who takes it for a payment has all of it under its key.
    let keyed = judge::evidence::Joined::among(&e, LINK, |o| o.key.is_some());
    let (alone, all) = (&joined.payments[0], &keyed.payments[0]);
    assert_eq!((keyed.payments.len(), keyed.other_routes.len()), (payments, 0));
    assert_eq!((all.outcomes.len(), all.attempts.len()), (alone.outcomes.len() + 1, alone.attempts.len() + 1));
    assert_eq!(all.charges.len(), alone.charges.len() + 1);
}
