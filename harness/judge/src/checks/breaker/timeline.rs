//! The breaker's states as the wire shows them.

use crate::evidence::At;

use super::view::{Hit, View};

/// Longest exhibit; a long soak shows its first changes.
const MAX_CHANGES: usize = 40;

/// A state that calls and arrivals prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Calls arrive.
    Closed,
    /// Calls are rejected.
    Open,
    /// A call arrived after rejections, and its end decides.
    HalfOpen,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Closed => "closed",
            State::Open => "open",
            State::HalfOpen => "half-open",
        }
    }
}

/// The beginning of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The state.
    pub state: State,
    /// Since when.
    pub at: At,
    /// How the wire shows it.
    pub why: String,
    /// Calls that arrived in the state before it.
    pub passed: usize,
}

#[derive(Clone, Copy)]
enum Event<'a> {
    Arrived(Hit<'a>),
    Rejected { sent: At },
}

/// Replays the wire through closed, open and half-open.
pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let Some(first) = view.calls.first() else { return Vec::new() };
    let mut events: Vec<(At, Event<'_>)> =
        view.hits().into_iter().map(|(_, h)| (h.arrived, Event::Arrived(h))).collect();
    let rejected = view.calls.iter().filter(|c| c.rejected());
    events.extend(rejected.map(|c| (c.outcome.ended, Event::Rejected { sent: c.outcome.sent })));
    events.sort_by_key(|(at, _)| *at);
    let begin = Change { state: State::Closed, at: first.outcome.sent, why: "first call".to_owned(), passed: 0 };
    let mut walk = Walk { changes: vec![begin], last: None, passed: 0, probes: Vec::new(), permitted: view.probes };
    for (at, event) in events {
        match event {
            Event::Arrived(hit) => walk.arrived(hit),
            Event::Rejected { sent } => walk.rejected(sent, at),
        }
    }
    walk.settle(At(u64::MAX));
    walk.changes
}

/// Where the replay stands.
struct Walk<'a> {
    changes: Vec<Change>,
    last: Option<Hit<'a>>,
    passed: usize,
    probes: Vec<Hit<'a>>,
    /// So many good probes close it.
    permitted: usize,
}

impl<'a> Walk<'a> {
    fn state(&self) -> State {
        self.changes.last().map_or(State::Closed, |c| c.state)
    }

    fn turn(&mut self, state: State, at: At, why: String) {
        self.changes.push(Change { state, at, why, passed: self.passed });
        self.passed = 0;
    }

    /// Ends half-open when all probes are over by `now`, and a failure or enough of them decide.
    fn settle(&mut self, now: At) {
        let Some(end) = self.probes.iter().map(|h| h.ended).max() else { return };
        if self.state() != State::HalfOpen || end > now {
            return;
        }
        let n = self.probes.len();
        if self.probes.iter().all(|h| h.ok) && n < self.permitted {
            return;
        }
        if self.probes.iter().all(|h| h.ok) {
            self.turn(State::Closed, end, format!("{n} probe(s) answered well"));
        } else {
            self.turn(State::Open, end, format!("{n} probe(s), not all answered well"));
        }
        self.probes.clear();
    }

    fn arrived(&mut self, hit: Hit<'a>) {
        self.settle(hit.arrived);
        if self.state() == State::Open {
            self.turn(State::HalfOpen, hit.arrived, "a call arrived".to_owned());
        }
        if self.state() == State::HalfOpen {
            self.probes.push(hit);
        }
        self.passed += 1;
        self.last = Some(hit);
    }

    fn rejected(&mut self, sent: At, ended: At) {
        self.settle(sent);
        if self.state() == State::Closed {
            // The wire's open instant: the last thing that arrived before the rejection, once it had ended.
            let since = self.last.map(|h| h.ended).filter(|at| *at <= ended).unwrap_or(ended);
            let why = format!("first rejected call; {} arrived since it closed", self.passed);
            self.turn(State::Open, since, why);
        }
    }
}

/// The timeline as lines of text.
pub(super) fn exhibit(view: &View<'_>) -> Vec<String> {
    let changes = changes(view);
    let mut lines: Vec<String> = changes
        .iter()
        .take(MAX_CHANGES)
        .map(|c| format!("{:>16}  {:<9}  {}", c.at.to_string(), c.state.word(), c.why))
        .collect();
    if changes.len() > MAX_CHANGES {
        lines.push(format!("and {} more changes", changes.len() - MAX_CHANGES));
    }
    lines
}
