//! Counters over everything that was written, for the metrics: dropped and drained records count too.

use std::collections::BTreeMap;

use evidence::{ConnectionEnd, EdgeChange, End, FaultKind, NoteWeight, Record, Struck};

/// Links, and rules, that are counted apart; the rest counts under [`OTHERS`].
pub(crate) const MAX_COUNTED: usize = 10_000;
/// The name under which all counts that came after [`MAX_COUNTED`] names.
pub(crate) const OTHERS: &str = "(others)";

/// The counters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) links: BTreeMap<Box<str>, LinkTally>,
    pub(crate) rules: BTreeMap<Box<str>, RuleTally>,
    /// Notes that spoil a verdict.
    pub(crate) spoils: u64,
}

/// What happened on one link: counts by the word for how it ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct LinkTally {
    pub(crate) attempts: Vec<(&'static str, u64)>,
    pub(crate) connections: Vec<(&'static str, u64)>,
}

/// What one rule did; rules of one id count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleTally {
    pub(crate) struck: u64,
    pub(crate) armed: u64,
    pub(crate) disarmed: u64,
}

impl Tally {
    pub(super) fn count(&mut self, record: &Record) {
        match record {
            Record::Attempt(a) => {
                named(&mut self.links, &a.link, |link| bump(&mut link.attempts, end_word(a.reply.end)));
                self.struck(a.fault.as_ref());
            }
            Record::Connection(c) => {
                named(&mut self.links, &c.link, |link| bump(&mut link.connections, connection_end(c.end)));
                self.struck(c.fault.as_ref());
            }
            Record::Edge(e) if e.kind == FaultKind::Rule => named(&mut self.rules, &e.rule, |rule| match e.change {
                EdgeChange::Armed => rule.armed += 1,
                EdgeChange::Disarmed => rule.disarmed += 1,
                EdgeChange::Changed => {}
            }),
            Record::Note(n) if n.weight == NoteWeight::Spoils => self.spoils += 1,
            _ => {}
        }
    }

    fn struck(&mut self, fault: Option<&Struck>) {
        if let Some(fault) = fault {
            named(&mut self.rules, &fault.rule, |rule| rule.struck += 1);
        }
    }
}

/// The word for how an attempt ended, as in its record.
pub(crate) fn end_word(end: End) -> &'static str {
    match end {
        End::Replied => "replied",
        End::Reset => "reset",
        End::Cut => "cut",
        End::ClientLeft => "client_left",
        End::UpstreamFailed => "upstream_failed",
        End::Unfinished => "unfinished",
        End::Malformed => "malformed",
    }
}

fn connection_end(end: ConnectionEnd) -> &'static str {
    match end {
        ConnectionEnd::ByClient => "by_client",
        ConnectionEnd::ByUpstream => "by_upstream",
        ConnectionEnd::CutByFault => "cut_by_fault",
        ConnectionEnd::ResetByFault => "reset_by_fault",
        ConnectionEnd::ByShutdown => "by_shutdown",
    }
}

fn bump(counts: &mut Vec<(&'static str, u64)>, word: &'static str) {
    match counts.iter_mut().find(|(w, _)| *w == word) {
        Some((_, n)) => *n += 1,
        None => counts.push((word, 1)),
    }
}

/// Changes the counters of a name; no text is made for a name that is known.
fn named<T: Default>(counts: &mut BTreeMap<Box<str>, T>, name: &str, change: impl FnOnce(&mut T)) {
    if let Some(known) = counts.get_mut(name) {
        return change(known);
    }
    let name = if counts.len() < MAX_COUNTED { name } else { OTHERS };
    change(counts.entry(Box::from(name)).or_default());
}
