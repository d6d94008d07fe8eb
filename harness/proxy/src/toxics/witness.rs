//! What a board tells the event log: from when to when which toxic was on its link.

use std::collections::HashMap;
use std::sync::Mutex;

use evidence::{At, EdgeChange, FaultEdge, FaultKind};

use super::board::{Entry, ToxicSet};
use super::spec::{Direction, Toxic};
use crate::clock::Clock;
use crate::log::Log;
use crate::sync::locked;

/// Writes an edge for each toxic that comes, changes or goes.
#[derive(Debug)]
pub(super) struct Witness {
    link: String,
    log: Log,
    clock: Clock,
    /// When each toxic of the set came, by its id.
    since: Mutex<HashMap<u64, At>>,
}

impl Witness {
    pub(super) fn new(link: String, log: Log, clock: Clock) -> Self {
        Self { link, log, clock, since: Mutex::default() }
    }

    /// Called once for each swap, in their order.
    pub(super) fn saw(&self, old: &ToxicSet, new: &ToxicSet) {
        let at = self.clock.now();
        let mut since = locked(&self.since);
        let of = |set: &ToxicSet, id: u64| set.entries.iter().find(|e| e.id == id).cloned();
        for gone in old.entries.iter().filter(|e| of(new, e.id).is_none()) {
            let came = since.remove(&gone.id);
            self.edge(gone, EdgeChange::Disarmed, at, new.epoch, came);
        }
        for entry in &new.entries {
            match of(old, entry.id) {
                None => {
                    since.insert(entry.id, at);
                    self.edge(entry, EdgeChange::Armed, at, new.epoch, None);
                }
                Some(before) if before.version != entry.version => {
                    self.edge(entry, EdgeChange::Changed, at, new.epoch, since.get(&entry.id).copied());
                }
                Some(_) => {}
            }
        }
    }

    fn edge(&self, entry: &Entry, change: EdgeChange, at: At, epoch: u64, since: Option<At>) {
        self.log.edge(FaultEdge {
            at,
            change,
            kind: FaultKind::Toxic,
            rule: entry.toxic.name.clone(),
            link: self.link.clone(),
            what: what(&entry.toxic),
            epoch,
            scope: None,
            since,
            fired: None,
        });
    }
}

/// Direction, type and attributes, e.g. `downstream/latency {"latency":100,"jitter":0}`.
fn what(toxic: &Toxic) -> String {
    let direction = match toxic.direction() {
        Direction::Upstream => "upstream",
        Direction::Downstream => "downstream",
    };
    // Attributes have text keys and finite numbers; without them the edge still says what it is.
    let attributes = serde_json::to_string(&toxic.kind.attributes()).unwrap_or_default();
    let share = if toxic.toxicity < 1.0 { format!(" on a share of {}", toxic.toxicity) } else { String::new() };
    format!("{direction}/{} {attributes}{share}", toxic.kind.type_name())
}
