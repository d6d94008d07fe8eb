//! Every moment of a record, so that what another player wrote on an axis of its own can be placed on the run's.

use super::codec::Record;
use super::time::{At, TimeBase};
use super::wire::{Attempt, Connection, Delivery, Reply, Struck, Upstream};
use super::{FaultEdge, FaultWindow, Span, Step};

impl Record {
    /// Gives each moment of the record to `change`, once.
    pub fn each_moment(&mut self, change: &mut impl FnMut(&mut At)) {
        match self {
            Record::Step(Step { from, to, .. }) => [from, to].into_iter().for_each(change),
            Record::Attempt(attempt) => of_attempt(attempt, change),
            Record::Connection(Connection { accepted, closed, fault, .. }) => {
                [accepted, closed].into_iter().for_each(&mut *change);
                of_struck(fault.as_mut(), change);
            }
            Record::Outcome(outcome) => [&mut outcome.sent, &mut outcome.ended].into_iter().for_each(change),
            Record::Ledger(reading) => change(&mut reading.at),
            Record::Bank(entry) => change(&mut entry.at),
            Record::Span(Span { start, end, events, .. }) => {
                [start, end].into_iter().for_each(&mut *change);
                events.iter_mut().for_each(|event| change(&mut event.at));
            }
            Record::Breaker(reading) => change(&mut reading.at),
            Record::Fault(window) => window.each_moment(change),
            Record::Edge(FaultEdge { at, since, .. }) => {
                [Some(at), since.as_mut()].into_iter().flatten().for_each(change)
            }
            Record::Canary(canary) => change(&mut canary.worst_at),
            Record::Disk(_) => {}
            Record::Note(note) => change(&mut note.at),
        }
    }
}

impl FaultWindow {
    /// Gives each moment of the window to `change`, once.
    pub fn each_moment(&mut self, change: &mut impl FnMut(&mut At)) {
        [&mut self.applied, &mut self.healed].into_iter().for_each(change);
    }
}

impl TimeBase {
    /// Places a moment of another axis on this one; the two share `CLOCK_MONOTONIC`. What was before this axis began becomes
    /// zero.
    #[must_use]
    pub fn place(&self, at: At, of: &TimeBase) -> At {
        self.from_monotonic(of.monotonic_ns.saturating_add(at.0))
    }
}

fn of_attempt(attempt: &mut Attempt, change: &mut impl FnMut(&mut At)) {
    let Attempt { arrived, head, received, upstream, reply, fault, .. } = attempt;
    let Upstream { sent, answered, copies, .. } = upstream;
    let Reply { first_byte, ended, .. } = reply;
    let own = [
        Some(arrived),
        Some(head),
        received.as_mut(),
        sent.as_mut(),
        answered.as_mut(),
        first_byte.as_mut(),
        Some(ended),
    ];
    own.into_iter().flatten().for_each(&mut *change);
    for Delivery { sent, answered, .. } in copies {
        [sent, answered].into_iter().flatten().for_each(&mut *change);
    }
    of_struck(fault.as_mut(), change);
}

fn of_struck(struck: Option<&mut Struck>, change: &mut impl FnMut(&mut At)) {
    if let Some(Struck { held, released, .. }) = struck {
        [held, released].into_iter().flatten().for_each(change);
    }
}
