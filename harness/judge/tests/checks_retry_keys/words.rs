//! What a person reads: the words of findings, by example.

use judge::checks::idempotency;
use judge::sim::Policy;

use crate::judged::{LINK, r1, r2};
use crate::scenarios::{all_fail, one_effect};
use crate::service::Defect;

/// Proves that a failed law reads as the catalogue says: declared law, tests, attempts with their band, nearest law.
#[test]
fn a_failed_law_explains_itself() {
    let finding = r2().judge(&all_fail("waves", Policy::FixedExponential, 100, Defect::Sound));
    assert_eq!(finding.subject, "payments -> bank");
    assert_eq!(finding.promise, "3 retries, full jitter: U(0, 200ms * 2^k), cap 5s");
    assert!(finding.headline.starts_with("300 gaps of 100 payments: "), "{}", finding.headline);
    assert!(finding.headline.contains("rule out full jitter; looks like: fixed exponential"), "{}", finding.headline);
    assert!(finding.measured.contains("retry 1: n 100, min "), "{}", finding.measured);
    let row = finding.measured.contains("declared 0") && finding.measured.contains(" to 200 ms, sd ");
    assert!(row, "{}", finding.measured);
    assert!(finding.exhibit.iter().any(|l| l.contains("chance on a correct service")), "{:#?}", finding.exhibit);
    let line = &finding.lines[0].text;
    assert!(line.contains("ended (503 last byte, request/reply 503): allowed "), "{line}");
}

/// Proves that a double charge names the payment, both charges and the attempts with the fault between them.
#[test]
fn a_double_charge_shows_how_it_came_about() {
    let finding = idempotency::exactly_one_effect(LINK).judge(&one_effect(Defect::ChargesAgainAfterLost));
    assert!(finding.headline.contains("took effect more than once"), "{}", finding.headline);
    assert!(finding.bug_class.is_some_and(|c| c.contains("after a lost answer charges again")));
    let has = |word: &str| finding.lines.iter().any(|l| l.text.contains(word));
    assert!(has("bank charge") && has("ledger row") && has("RST sent, response/reset"), "{:#?}", finding.lines);
    assert!(finding.measured.contains("charged at the bank: "), "{}", finding.measured);
}

/// Proves that many offenders do not flood the finding: ten lines, the last one counting the rest.
#[test]
fn ten_lines_are_enough() {
    let finding = r1().judge(&all_fail("waves", Policy::Full, 100, Defect::OneAttemptMore));
    assert_eq!(finding.lines.len(), judge::MAX_LINES);
    assert_eq!(finding.lines[9].text, "and 91 more lines");
    assert_eq!(finding.exhibit, ["5 attempts: 100 payments"]);
}
