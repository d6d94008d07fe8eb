//! One order for all records, so that no verdict depends on the order in which they were written.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde::Serialize;

use super::{Evidence, LedgerReading};

impl Evidence {
    /// The same evidence with every list in one order: by time, then by number and name, then by content. Two recorders
    /// that saw the same write down the same after this, whoever was first with which record. Only a breaker's changes
    /// of state that were read at one moment stay as they were, behind the readings of that moment. Borrowed when it is in
    /// that order already.
    ///
    /// `judge::checks::Check::judge` judges what this gives, so a check need not think of it.
    #[must_use]
    pub fn ordered(&self) -> Cow<'_, Self> {
        let rows = |l: &LedgerReading| in_order(&l.rows, |r| (&r.key, &r.id));
        let sorted = in_order(&self.steps, |s| (s.from, s.to, &s.name))
            && in_order(&self.attempts, |a| (a.arrived, &a.link, a.seq))
            && in_order(&self.connections, |c| (c.accepted, &c.link, c.conn))
            && in_order(&self.outcomes, |o| (o.sent, o.seq))
            && in_order(&self.ledger, |l| (l.at, &l.step, &l.source))
            && self.ledger.iter().all(rows)
            && in_order(&self.bank, |b| (b.at, b.seq))
            && in_order(&self.spans, |s| (s.start, s.trace, s.span))
            && self.breakers.is_sorted_by(|a, b| a.at < b.at)
            && in_order(&self.faults, |f| (f.applied, &f.link, &f.rule))
            && in_order(&self.edges, |e| (e.at, &e.link, &e.rule))
            && in_order(&self.canary, |c| (c.worst_at, c.max_ns))
            && in_order(&self.disk, |d| (d.max_ns, d.writes))
            && in_order(&self.notes, |n| (n.at, &n.code, &n.text));
        if sorted { Cow::Borrowed(self) } else { Cow::Owned(self.clone().sorted()) }
    }

    fn sorted(mut self) -> Self {
        self.ledger.iter_mut().for_each(|l| sort(&mut l.rows, |a, b| (&a.key, &a.id).cmp(&(&b.key, &b.id))));
        sort(&mut self.steps, |a, b| (a.from, a.to, &a.name).cmp(&(b.from, b.to, &b.name)));
        sort(&mut self.attempts, |a, b| (a.arrived, &a.link, a.seq).cmp(&(b.arrived, &b.link, b.seq)));
        sort(&mut self.connections, |a, b| (a.accepted, &a.link, a.conn).cmp(&(b.accepted, &b.link, b.conn)));
        sort(&mut self.outcomes, |a, b| (a.sent, a.seq).cmp(&(b.sent, b.seq)));
        sort(&mut self.ledger, |a, b| (a.at, &a.step, &a.source).cmp(&(b.at, &b.step, &b.source)));
        sort(&mut self.bank, |a, b| (a.at, a.seq).cmp(&(b.at, b.seq)));
        sort(&mut self.spans, |a, b| (a.start, a.trace, a.span).cmp(&(b.start, b.trace, b.span)));
        // Changes that were read at one moment come in the order in which they happened, and nothing else tells it.
        let (changes, mut readings): (Vec<_>, Vec<_>) = self.breakers.into_iter().partition(|b| b.from.is_some());
        sort(&mut readings, |a, b| (a.at, &a.source, &a.name).cmp(&(b.at, &b.source, &b.name)));
        readings.extend(changes);
        readings.sort_by_key(|b| b.at);
        self.breakers = readings;
        sort(&mut self.faults, |a, b| (a.applied, &a.link, &a.rule).cmp(&(b.applied, &b.link, &b.rule)));
        sort(&mut self.edges, |a, b| (a.at, &a.link, &a.rule).cmp(&(b.at, &b.link, &b.rule)));
        sort(&mut self.canary, |a, b| (a.worst_at, a.max_ns).cmp(&(b.worst_at, b.max_ns)));
        sort(&mut self.disk, |a, b| (a.max_ns, a.writes).cmp(&(b.max_ns, b.writes)));
        sort(&mut self.notes, |a, b| (a.at, &a.code, &a.text).cmp(&(b.at, &b.code, &b.text)));
        self
    }
}

/// Whether each record comes strictly after the one before. Two with equal keys are left to the sort, which looks closer.
fn in_order<'a, T, K: Ord + 'a>(records: &'a [T], key: impl Fn(&'a T) -> K) -> bool {
    records.is_sorted_by(|a, b| key(a) < key(b))
}

/// By key; records with equal keys by what is written of them.
fn sort<T: Serialize>(records: &mut [T], by_key: impl Fn(&T, &T) -> Ordering) {
    // A record has no map with keys other than text, so it can always be written.
    let written = |record: &T| serde_json::to_string(record).unwrap_or_default();
    records.sort_by(|a, b| by_key(a, b).then_with(|| written(a).cmp(&written(b))));
}
