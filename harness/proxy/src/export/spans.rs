//! From records of the log to spans.

use std::collections::HashMap;

use evidence::{
    At, Attempt, Connection, ConnectionEnd, EdgeChange, End, FaultEdge, FaultKind, Record, SpanId, Struck, TimeBase,
    TraceId,
};

use super::ids::{About, Ids};
use super::json::{Attributes, Kind, Span};
use crate::log::end_word;

/// Windows whose beginning is remembered after they have ended, for requests that they still strike.
const REMEMBERED: usize = 20_000;

/// Turns records into spans.
#[derive(Debug)]
pub(super) struct Spans {
    time: TimeBase,
    seed: u64,
    ids: Ids,
    /// Faults in force, as they were armed.
    open: HashMap<(FaultKind, String, String), FaultEdge>,
    /// The window that a rule was last armed for.
    windows: HashMap<String, (TraceId, SpanId)>,
}

impl Spans {
    pub(super) fn new(time: TimeBase, seed: u64) -> Self {
        Self { time, seed, ids: Ids::new(time, seed), open: HashMap::new(), windows: HashMap::new() }
    }

    /// The span of a record, as JSON; most records have none.
    pub(super) fn of(&mut self, record: &Record) -> Option<String> {
        match record {
            Record::Attempt(attempt) => Some(self.attempt(attempt, attempt.fault.as_ref()?)),
            Record::Connection(connection) => Some(self.connection(connection, connection.fault.as_ref()?)),
            Record::Edge(edge) => self.edge(edge),
            _ => None,
        }
    }

    fn edge(&mut self, edge: &FaultEdge) -> Option<String> {
        let key = (edge.kind, edge.link.clone(), edge.rule.clone());
        match edge.change {
            EdgeChange::Armed => {
                if edge.kind == FaultKind::Rule {
                    if self.windows.len() >= REMEMBERED {
                        self.windows.clear();
                    }
                    self.windows.insert(edge.rule.clone(), self.window_ids(edge, edge.at));
                }
                self.open.insert(key, edge.clone());
                None
            }
            EdgeChange::Changed => None,
            EdgeChange::Disarmed => {
                let armed = self.open.remove(&key)?;
                Some(self.window(&armed, edge))
            }
        }
    }

    fn window_ids(&self, edge: &FaultEdge, since: At) -> (TraceId, SpanId) {
        let kind = kind(edge.kind);
        self.ids.of(About::Window { kind, link: &edge.link, rule: &edge.rule, since: since.0 })
    }

    fn window(&self, armed: &FaultEdge, last: &FaultEdge) -> String {
        let mut attributes = Attributes::default();
        attributes.text("chaos.kind", Some(kind(armed.kind)));
        attributes.text("chaos.rule", Some(&armed.rule));
        attributes.text("chaos.link", Some(&armed.link));
        attributes.text("chaos.what", Some(&last.what));
        attributes.text("chaos.scope", armed.scope.as_deref());
        attributes.number("chaos.seed", Some(self.seed));
        attributes.number("chaos.epoch", Some(armed.epoch));
        attributes.number("chaos.epoch.disarmed", Some(last.epoch));
        attributes.number("chaos.fired", last.fired);
        let span = Span {
            ids: self.window_ids(armed, armed.at),
            parent: None,
            name: format!("{} {} in force", kind(armed.kind), armed.rule),
            kind: Kind::Internal,
            start: self.time.to_wall(armed.at),
            end: self.time.to_wall(last.at),
            failed: false,
            attributes,
            link: None,
        };
        span.into_json()
    }

    fn attempt(&self, a: &Attempt, fault: &Struck) -> String {
        let (own_trace, span) = self.ids.of(About::Attempt(a.seq));
        let mut attributes = self.common(fault, &a.link, a.conn);
        attributes.text("chaos.scope", a.scope.as_deref());
        attributes.text("chaos.key", a.key.as_deref());
        attributes.number("chaos.ordinal", Some(u64::from(a.ordinal)));
        attributes.text("chaos.outcome", Some(end_word(a.reply.end)));
        let withheld = a.upstream.status.filter(|_| a.upstream.status != a.reply.status);
        attributes.number("chaos.withheld_status", withheld.map(u64::from));
        attributes.text("http.request.method", Some(&a.method));
        attributes.text("url.path", Some(a.path.split('?').next().unwrap_or_default()));
        attributes.number("http.response.status_code", a.reply.status.map(u64::from));
        attributes.number("rpc.grpc.status_code", a.reply.grpc_status.map(u64::from));
        let span = Span {
            ids: (a.context.map_or(own_trace, |context| context.trace), span),
            parent: a.context.map(|context| context.parent),
            name: format!("fault {}", fault.what),
            kind: Kind::Server,
            start: self.time.to_wall(a.arrived),
            end: self.time.to_wall(a.reply.ended),
            failed: a.reply.end != End::Replied || a.reply.status.is_some_and(|status| status >= 500),
            attributes,
            link: self.windows.get(&fault.rule).copied(),
        };
        span.into_json()
    }

    fn connection(&self, c: &Connection, fault: &Struck) -> String {
        let span = Span {
            ids: self.ids.of(About::Connection(c.conn)),
            parent: None,
            name: format!("fault {}", fault.what),
            kind: Kind::Server,
            start: self.time.to_wall(c.accepted),
            end: self.time.to_wall(c.closed),
            failed: matches!(c.end, ConnectionEnd::CutByFault | ConnectionEnd::ResetByFault),
            attributes: self.common(fault, &c.link, c.conn),
            link: self.windows.get(&fault.rule).copied(),
        };
        span.into_json()
    }

    /// What every strike is told with.
    fn common(&self, fault: &Struck, link: &str, conn: u64) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.text("chaos.rule", Some(&fault.rule));
        attributes.text("chaos.what", Some(&fault.what));
        attributes.text("chaos.phase", fault.what.split('/').next());
        attributes.text("chaos.link", Some(link));
        attributes.number("chaos.conn", Some(conn));
        attributes.number("chaos.seed", Some(self.seed));
        attributes.number("chaos.epoch", Some(fault.epoch));
        attributes.number("chaos.delay.requested_ns", fault.delay_requested_ns);
        attributes.number("chaos.delay.injected_ns", fault.delay_injected_ns);
        let held = fault.held.zip(fault.released).map(|(from, to)| to.0.saturating_sub(from.0));
        attributes.number("chaos.held_ns", held);
        attributes
    }
}

fn kind(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Rule => "rule",
        FaultKind::Toxic => "toxic",
    }
}
