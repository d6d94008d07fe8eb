//! Records of different witnesses put together, one payment at a time.
//!
//! Joins go by idempotency key first, then by trace. A payment is what one client key asked for; requests without a
//! key are payments of their own, named by their trace. What joins to nothing is kept apart: an attempt or a row that
//! nobody asked for is a finding. Requests by another route of the contract are no payments unless a check says so: what
//! their traces explain is kept apart, too.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Attempt, BankEntry, BankEntryKind, Connection, ConnectionEnd, Evidence, LedgerRow, Outcome, TraceId};

/// Everything that one payment left behind on one link.
#[derive(Debug, Clone, Default)]
pub struct Payment<'a> {
    /// The client's key, or the trace id of a keyless request.
    pub name: String,
    /// Client requests, in the order they were sent.
    pub outcomes: Vec<&'a Outcome>,
    /// Attempts at the proxy, in the order they arrived.
    pub attempts: Vec<&'a Attempt>,
    /// Rows of the final ledger reading.
    pub rows: Vec<&'a LedgerRow>,
    /// Charges in the bank's journal.
    pub charges: Vec<&'a BankEntry>,
}

impl<'a> Payment<'a> {
    /// Whether any client was told that it took effect.
    #[must_use]
    pub fn confirmed(&self) -> bool {
        self.outcomes.iter().any(|o| o.succeeded())
    }

    /// The attempts that one client request caused: those of its trace, or all of them when the service does not
    /// propagate traces and the payment had only this one request.
    #[must_use]
    pub fn attempts_of(&self, outcome: &Outcome) -> Vec<&'a Attempt> {
        let traced: Vec<_> = self
            .attempts
            .iter()
            .filter(|a| a.context.is_some_and(|c| c.trace == outcome.context.trace))
            .copied()
            .collect();
        if traced.is_empty() && self.outcomes.len() == 1 { self.attempts.clone() } else { traced }
    }
}

/// The joined view of one link.
#[derive(Debug, Clone, Default)]
pub struct Joined<'a> {
    /// Payments, in the order their first request was sent.
    pub payments: Vec<Payment<'a>>,
    /// Attempts that no client request explains, in the order they arrived.
    pub orphan_attempts: Vec<&'a Attempt>,
    /// Ledger rows that no client request explains.
    pub orphan_rows: Vec<&'a LedgerRow>,
    /// Charges that no client request explains.
    pub orphan_charges: Vec<&'a BankEntry>,
    /// Connections that a fault ended before any request was read, in the order they were accepted: attempts without a
    /// name.
    pub refused: Vec<&'a Connection>,
    /// Attempts that a request by another route explains.
    pub other_routes: Vec<&'a Attempt>,
}

impl<'a> Joined<'a> {
    /// Joins the evidence of `link`.
    #[must_use]
    pub fn of(evidence: &'a Evidence, link: &str) -> Self {
        Self::among(evidence, link, Outcome::is_payment)
    }

    /// Joins the evidence of `link` for a promise that is not about the payment's route alone: the requests that `pays`
    /// picks are payments, all others are requests by another route.
    #[must_use]
    pub fn among(evidence: &'a Evidence, link: &str, pays: impl Fn(&Outcome) -> bool) -> Self {
        let mut book = Book::default();
        let (mut outcomes, others): (Vec<_>, Vec<_>) = evidence.outcomes.iter().partition(|o| pays(o));
        let others: HashSet<TraceId> = others.iter().map(|o| o.context.trace).collect();
        outcomes.sort_by_key(|o| (o.sent, o.seq));
        for outcome in outcomes {
            book.ask(outcome);
        }
        let mut joined = Joined { refused: refused(evidence, link), ..Self::default() };
        // A key that the service derives is known by the row that holds both.
        for row in evidence.final_ledger().map(|l| l.rows.as_slice()).unwrap_or_default() {
            if let Some(i) = book.find(row.key.as_deref(), None) {
                book.learn(row.downstream_key.as_deref(), i);
            }
        }
        let mut attempts: Vec<_> = evidence.attempts.iter().filter(|a| a.link == link).collect();
        attempts.sort_by_key(|a| (a.arrived, a.seq));
        for attempt in attempts {
            // Its trace is the better name here: a key may be used on two routes.
            if attempt.context.is_some_and(|c| others.contains(&c.trace)) {
                joined.other_routes.push(attempt);
                continue;
            }
            match book.find(attempt.key.as_deref(), attempt.context.map(|c| c.trace)) {
                Some(i) => {
                    book.learn(attempt.key.as_deref(), i);
                    book.payments[i].attempts.push(attempt);
                }
                None => joined.orphan_attempts.push(attempt),
            }
        }
        for row in evidence.final_ledger().map(|l| l.rows.as_slice()).unwrap_or_default() {
            match book.find(row.key.as_deref(), None).or_else(|| book.find(row.downstream_key.as_deref(), None)) {
                Some(i) => {
                    book.learn(row.downstream_key.as_deref(), i);
                    book.payments[i].rows.push(row);
                }
                None => joined.orphan_rows.push(row),
            }
        }
        let charges = evidence.bank.iter().filter(|b| b.kind == BankEntryKind::Charge);
        for charge in charges.filter(|b| b.context.is_none_or(|c| !others.contains(&c.trace))) {
            match book.find(charge.key.as_deref(), charge.context.map(|c| c.trace)) {
                Some(i) => book.payments[i].charges.push(charge),
                None => joined.orphan_charges.push(charge),
            }
        }
        joined.payments = book.payments;
        joined
    }

    /// The payment that a client request belongs to.
    #[must_use]
    pub fn payment_of(&self, outcome: &Outcome) -> Option<&Payment<'a>> {
        self.payments.iter().find(|p| p.outcomes.iter().any(|o| o.seq == outcome.seq))
    }

    /// Connections refused between the send and the end of a client request.
    #[must_use]
    pub fn refused_during(&self, outcome: &Outcome) -> &[&'a Connection] {
        // They are kept in the order in which they were accepted.
        let from = self.refused.partition_point(|c| c.accepted < outcome.sent);
        let to = self.refused.partition_point(|c| c.accepted <= outcome.ended);
        &self.refused[from..to.max(from)]
    }
}

fn refused<'a>(evidence: &'a Evidence, link: &str) -> Vec<&'a Connection> {
    let mut found: Vec<_> = evidence
        .connections
        .iter()
        .filter(|c| c.link == link && c.requests == 0 && c.fault.is_some())
        .filter(|c| matches!(c.end, ConnectionEnd::ResetByFault | ConnectionEnd::CutByFault))
        .collect();
    found.sort_by_key(|c| c.accepted);
    found
}

/// Payments under construction, with what is known to name each.
#[derive(Default)]
struct Book<'a> {
    payments: Vec<Payment<'a>>,
    by_key: BTreeMap<String, usize>,
    by_trace: HashMap<TraceId, usize>,
}

impl<'a> Book<'a> {
    fn ask(&mut self, outcome: &'a Outcome) {
        let trace = outcome.context.trace;
        let known = outcome.key.as_ref().and_then(|k| self.by_key.get(k)).copied();
        let i = known.unwrap_or_else(|| {
            let name = outcome.key.clone().unwrap_or_else(|| trace.to_string());
            self.payments.push(Payment { name, ..Payment::default() });
            self.payments.len() - 1
        });
        self.learn(outcome.key.as_deref(), i);
        self.by_trace.insert(trace, i);
        self.payments[i].outcomes.push(outcome);
    }

    fn learn(&mut self, key: Option<&str>, payment: usize) {
        if let Some(key) = key {
            self.by_key.entry(key.to_owned()).or_insert(payment);
        }
    }

    fn find(&self, key: Option<&str>, trace: Option<TraceId>) -> Option<usize> {
        let by_key = key.and_then(|k| self.by_key.get(k));
        by_key.or_else(|| trace.and_then(|t| self.by_trace.get(&t))).copied()
    }
}
