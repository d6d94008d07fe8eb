//! The two books and what may be concluded from them.

use std::collections::HashSet;

use crate::checks::support::{Tally, attempt_line, charge_line, outcome_line, row_line};
use crate::evidence::{At, Attempt, BankEntry, Evidence, Joined, LedgerRow, Outcome, Payment};
use crate::finding::Line;

/// The joined view, with what is known of each book.
pub(in crate::checks) struct Books<'a> {
    /// Everything by payment.
    pub joined: Joined<'a>,
    /// When the ledger was read last; `None`: it was not, or before the last request had ended.
    pub read: Option<At>,
    /// Whether the bank's journal was recorded.
    pub journal: bool,
    /// Rows that nobody asked for, those from before the run left out.
    pub foreign_rows: Vec<&'a LedgerRow>,
}

impl<'a> Books<'a> {
    /// Opens the books of `link`.
    pub fn of(evidence: &'a Evidence, link: &str) -> Self {
        Self::among(evidence, link, Outcome::is_payment)
    }

    /// Opens the books of `link`, with every request that `pays` picks as a payment: see [`Joined::among`].
    pub fn among(evidence: &'a Evidence, link: &str, pays: impl Fn(&Outcome) -> bool) -> Self {
        let joined = Joined::among(evidence, link, pays);
        let first = evidence.outcomes.iter().map(|o| o.sent).min().unwrap_or_default();
        let last = evidence.outcomes.iter().map(|o| o.ended).max().unwrap_or_default();
        let earlier: HashSet<(Option<&str>, Option<&str>)> =
            evidence.ledger.iter().filter(|l| l.at < first).flat_map(|l| &l.rows).map(identity).collect();
        let foreign_rows = joined.orphan_rows.iter().filter(|r| !earlier.contains(&identity(r))).copied().collect();
        // A journal without an entry is one that nobody kept, unless nothing was passed on to the bank.
        let asked_bank = evidence.attempts.iter().any(|a| a.link == link && a.upstream.status.is_some());
        Self {
            read: evidence.final_ledger().map(|l| l.at).filter(|at| *at >= last),
            journal: !evidence.bank.is_empty() || !asked_bank,
            joined,
            foreign_rows,
        }
    }

    /// Notes what cannot be judged for want of a book.
    pub fn gaps(&self, tally: &mut Tally) {
        if self.read.is_none() {
            tally.gap(
                "the ledger was not read after the last request had ended",
                "give the contract a [ledger], and see that it can be read while the service runs",
            );
        }
        if !self.journal {
            let advice = "let the harness play the bank, or give it a journal that can be read";
            tally.gap("the bank kept no journal", advice);
        }
    }

    /// Effects of one payment: the larger count of both books.
    pub fn effects(&self, p: &Payment<'_>) -> usize {
        p.rows.len().max(p.charges.len())
    }

    /// Everything that one payment left behind, in the order of time.
    pub fn lines(&self, p: &Payment<'_>) -> Vec<Line> {
        let mut lines: Vec<Line> = p.charges.iter().map(|c| charge_line(c, "")).collect();
        lines.extend(p.rows.iter().map(|r| row_line(r, self.read.unwrap_or_default(), "")));
        lines.extend(p.outcomes.iter().map(|o| outcome_line(o, "")));
        lines.extend(attempt_lines(&p.attempts));
        lines.sort_by_key(|l| l.at);
        lines
    }
}

/// Lines of attempts, each after the one before.
pub(super) fn attempt_lines(attempts: &[&Attempt]) -> Vec<Line> {
    let before = |i: usize| i.checked_sub(1).map(|b| attempts[b]);
    attempts.iter().enumerate().map(|(i, a)| attempt_line(a, i + 1, before(i), "")).collect()
}

/// Whether the client was told that the payment took effect. A degraded answer is marked as not being that.
pub(super) fn told_success(o: &Outcome) -> bool {
    o.succeeded() && o.reply().is_some_and(|r| r.degraded.is_none())
}

/// The amount that the payment was asked for first; a later request with another one must not change it.
pub(super) fn asked_amount(p: &Payment<'_>) -> Option<i64> {
    p.outcomes.first().and_then(|o| o.amount)
}

/// Sum of amounts; `None` when one of them is not known.
pub(super) fn sum<'x>(amounts: impl Iterator<Item = &'x Option<i64>>) -> Option<i64> {
    amounts.copied().try_fold(0_i64, |sum, amount| Some(sum.saturating_add(amount?)))
}

/// Sum of the charges of one payment.
pub(super) fn charged(charges: &[&BankEntry]) -> Option<i64> {
    sum(charges.iter().map(|c| &c.amount))
}

fn identity(row: &LedgerRow) -> (Option<&str>, Option<&str>) {
    (row.key.as_deref(), row.id.as_deref())
}
