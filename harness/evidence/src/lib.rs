//! What everybody saw: the recorded facts of one scenario, sealed before anybody judges them.

#![deny(missing_docs)]

mod breaker;
mod codec;
mod ids;
mod joined;
mod ledger;
mod merge;
mod moments;
mod order;
mod outcome;
mod setting;
mod span;
mod time;
mod version;
mod wire;
mod writer;

use serde::{Deserialize, Serialize};

pub use breaker::{BreakerReading, BreakerState};
pub use codec::{CodecError, MAX_BAD_LINES, ReadReport, Record, read, read_tolerant, write};
pub use ids::{IdError, SpanId, TraceContext, TraceId};
pub use joined::{Joined, Payment};
pub use ledger::{BankEntry, BankEntryKind, LedgerReading, LedgerRow};
pub use merge::MergeError;
pub use outcome::{Answer, ClientReply, Outcome};
pub use setting::{Canary, Disk, EdgeChange, FaultEdge, FaultKind, FaultWindow, Note, NoteWeight, Step};
pub use span::{Span, SpanEvent, SpanKind};
pub use time::{At, TimeBase};
pub use version::{FORMAT, MINOR, VERSION};
pub use wire::{Attempt, Body, Connection, ConnectionEnd, Delivery, End, Reply, Struck, Upstream};
pub use writer::EvidenceWriter;

/// Who recorded the evidence, of what, and on which clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The run.
    pub run: String,
    /// The scenario within the run.
    pub scenario: String,
    /// Name of the service under test.
    pub service: String,
    /// The run's seed.
    pub seed: u64,
    /// Placement: `process`, `containers`, `attach`, or `simulated`.
    pub placement: String,
    /// The time axis.
    pub time: TimeBase,
    /// The declared noise bound of gaps, nanoseconds.
    pub eps_ns: u64,
    /// Version of the harness that recorded.
    pub recorder: String,
}

/// The sealed evidence of one scenario. The order within each list is the recorder's; no finding depends on it
/// ([`Evidence::ordered`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Who, what, when.
    pub header: Header,
    /// Scenario steps.
    pub steps: Vec<Step>,
    /// Attempts at the proxies.
    pub attempts: Vec<Attempt>,
    /// Connections at the proxies.
    pub connections: Vec<Connection>,
    /// Client outcomes.
    pub outcomes: Vec<Outcome>,
    /// Ledger readings.
    pub ledger: Vec<LedgerReading>,
    /// The bank's journal.
    pub bank: Vec<BankEntry>,
    /// Spans.
    pub spans: Vec<Span>,
    /// Breaker readings.
    pub breakers: Vec<BreakerReading>,
    /// Fault windows.
    pub faults: Vec<FaultWindow>,
    /// Edges of faults.
    pub edges: Vec<FaultEdge>,
    /// Canary readings.
    pub canary: Vec<Canary>,
    /// Readings of the disk.
    pub disk: Vec<Disk>,
    /// Notes.
    pub notes: Vec<Note>,
    /// Whether the recorder reached the end and sealed it. A killed run leaves unsealed evidence.
    pub sealed: bool,
}

impl Evidence {
    /// Evidence of nothing yet.
    #[must_use]
    pub fn new(header: Header) -> Self {
        Self {
            header,
            steps: Vec::new(),
            attempts: Vec::new(),
            connections: Vec::new(),
            outcomes: Vec::new(),
            ledger: Vec::new(),
            bank: Vec::new(),
            spans: Vec::new(),
            breakers: Vec::new(),
            faults: Vec::new(),
            edges: Vec::new(),
            canary: Vec::new(),
            disk: Vec::new(),
            notes: Vec::new(),
            sealed: false,
        }
    }

    /// Adds one record.
    pub fn push(&mut self, record: Record) {
        match record {
            Record::Step(x) => self.steps.push(x),
            Record::Attempt(x) => self.attempts.push(x),
            Record::Connection(x) => self.connections.push(x),
            Record::Outcome(x) => self.outcomes.push(x),
            Record::Ledger(x) => self.ledger.push(x),
            Record::Bank(x) => self.bank.push(x),
            Record::Span(x) => self.spans.push(x),
            Record::Breaker(x) => self.breakers.push(x),
            Record::Fault(x) => self.faults.push(x),
            Record::Edge(x) => self.edges.push(x),
            Record::Canary(x) => self.canary.push(x),
            Record::Disk(x) => self.disk.push(x),
            Record::Note(x) => self.notes.push(x),
        }
    }

    /// The step of that name.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.steps.iter().find(|s| s.name == name)
    }

    /// Outcomes of the steps whose name is `prefix` or begins with `prefix/`, in the order they were sent.
    #[must_use]
    pub fn outcomes_of(&self, prefix: &str) -> Vec<&Outcome> {
        let mut found: Vec<_> = self.outcomes.iter().filter(|o| step_is(&o.step, prefix)).collect();
        found.sort_by_key(|o| (o.sent, o.seq));
        found
    }

    /// Names of the steps that are `prefix` or begin with `prefix/`, in time order.
    #[must_use]
    pub fn steps_of(&self, prefix: &str) -> Vec<&Step> {
        let mut found: Vec<_> = self.steps.iter().filter(|s| step_is(&s.name, prefix)).collect();
        found.sort_by_key(|s| s.from);
        found
    }

    /// The last ledger reading, if the ledger was read at all.
    #[must_use]
    pub fn final_ledger(&self) -> Option<&LedgerReading> {
        self.ledger.iter().max_by_key(|l| l.at)
    }

    /// The longest pause that any canary measured, of the harness or of a service, nanoseconds; `None` when the harness's own did
    /// not run: what a service waited says nothing of how late the witness was.
    #[must_use]
    pub fn canary_max_ns(&self) -> Option<u64> {
        self.longest_pause().map(|c| c.max_ns)
    }

    /// The reading with the longest pause, as [`canary_max_ns`](Self::canary_max_ns) has it.
    #[must_use]
    pub fn longest_pause(&self) -> Option<&Canary> {
        self.echoes().next()?;
        // Of two that are as long the harness's own: then it was the machine.
        self.canary.iter().filter(|c| c.samples > 0).max_by_key(|c| (c.max_ns, c.process.is_none()))
    }

    /// The readings of the harness's own canary.
    pub fn echoes(&self) -> impl Iterator<Item = &Canary> {
        self.canary.iter().filter(|c| c.samples > 0 && c.process.is_none())
    }

    /// The readings of services that waited for a processor.
    pub fn waits(&self) -> impl Iterator<Item = (&str, &Canary)> {
        self.canary.iter().filter(|c| c.samples > 0).filter_map(|c| Some((c.process.as_deref()?, c)))
    }

    /// The longest durable write that was measured, nanoseconds; `None` when the disk was not watched.
    #[must_use]
    pub fn disk_max_ns(&self) -> Option<u64> {
        self.disk.iter().map(|d| d.max_ns).max()
    }

    /// Notes that spoil a passing verdict.
    pub fn spoiling_notes(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|n| n.weight == NoteWeight::Spoils)
    }
}

fn step_is(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
