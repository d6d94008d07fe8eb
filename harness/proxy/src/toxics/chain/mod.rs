//! The toxics of one direction of one connection at work: a chain of stages that bytes run through. Nothing here waits or
//! touches a socket. Who drives it feeds it, lets it step at the moments it asks for, and sends what comes out.

mod gates;
mod paced;
mod parcel;
mod stage;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

pub(crate) use paced::Line;
pub(crate) use parcel::{End, Load};
use parcel::{Parcel, Sink};
use stage::Stage;

use super::board::{Entry, ToxicBoard, ToxicSet};
use super::draw::draw;
use super::kind::ToxicKind;
use super::spec::Direction;

/// The longest chunk.
pub(crate) const MAX_CHUNK: usize = 32 << 10;
/// Chunks that a delay holds at a time.
const DELAY_ROOM: usize = 1_024;

/// Which direction of which connection a chain belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) direction: Direction,
    /// The connection's number on its link.
    pub(crate) conn: u64,
}

/// The chain of one direction.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    stages: Vec<Stage>,
    out: VecDeque<Parcel>,
}

/// What a step came to.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// When it wants to step again, even if nothing comes or goes.
    pub(crate) wake: Option<u64>,
    /// The connection is to end at once, over whatever the chain holds.
    pub(crate) strike: Option<End>,
    moved: bool,
}

/// What is in force for one direction of one connection.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    set: &'a ToxicSet,
    /// The toxics that this connection drew and that do something, with the seeds of their generators.
    struck: Vec<(Arc<Entry>, u64)>,
}

impl Chain {
    /// What `set` comes to in this direction; `None` when it touches nothing of it.
    pub(crate) fn plan<'a>(origin: Origin, board: &ToxicBoard, set: &'a ToxicSet) -> Plan<'a> {
        let here = set.entries.iter().filter(|e| e.toxic.direction() == origin.direction);
        let struck = here.filter(|e| e.toxic.kind != ToxicKind::Noop).filter_map(|entry| {
            let drawn = draw(board.seed(), entry, origin.conn);
            (drawn.strike < f64::from(entry.toxic.toxicity)).then(|| (Arc::clone(entry), drawn.seed))
        });
        Plan { set, struck: struck.collect() }
    }

    /// Puts a plan in force. What removed or changed stages hold back is let go. The end, if taking a stage away ends the
    /// connection.
    pub(crate) fn apply(&mut self, plan: Plan<'_>, start: stage::Start) -> Option<End> {
        let mut ends = None;
        let mut kept: Vec<Stage> = Vec::new();
        // From the last to the first, so that what is let go keeps its order in the queue it joins.
        for stage in std::mem::take(&mut self.stages).into_iter().rev() {
            let stays = plan.struck.iter().any(|(entry, _)| stage.runs(entry));
            if stays {
                kept.push(stage);
                continue;
            }
            if !plan.set.entries.iter().any(|e| e.id == stage.entry.id) {
                ends = ends.or_else(|| stage.parting());
            }
            let carried = stage.carried();
            let changed = plan.struck.iter().find(|(entry, _)| entry.id == stage.entry.id);
            let after = changed.map(|(entry, seed)| Stage::new(entry, *seed, start, carried));
            let next = kept.last_mut().map_or(&mut self.out, |stage| &mut stage.queue);
            next.extend(stage.release());
            kept.extend(after);
        }
        kept.reverse();
        let known = |stages: &[Stage], entry: &Entry| stages.iter().any(|s| s.entry.id == entry.id);
        for (entry, seed) in &plan.struck {
            if !known(&kept, entry) {
                kept.push(Stage::new(entry, *seed, start, 0));
            }
        }
        self.stages = kept;
        ends
    }

    /// Whether it does nothing any more: bytes may go past it.
    pub(crate) fn is_spent(&self) -> bool {
        self.stages.is_empty() && self.out.is_empty()
    }

    /// Whether it takes a chunk now.
    pub(crate) fn has_room(&self) -> bool {
        self.stages.first().map_or(self.out.is_empty(), Stage::has_room)
    }

    /// Takes what came at `now`.
    pub(crate) fn feed(&mut self, load: Load, now: u64) {
        let queue = self.stages.first_mut().map_or(&mut self.out, |stage| &mut stage.queue);
        queue.push_back(Parcel { load, at: now });
    }

    /// Takes bytes that came before and are still to be sent, in chunks.
    pub(crate) fn feed_all(&mut self, mut bytes: Bytes, now: u64) {
        while !bytes.is_empty() {
            let chunk = bytes.split_to(bytes.len().min(MAX_CHUNK));
            self.feed(Load::Bytes(chunk), now);
        }
    }

    /// Moves everything as far as `now` allows.
    pub(crate) fn step(&mut self, now: u64) -> Turn {
        loop {
            let mut turn = Turn::default();
            for i in 0..self.stages.len() {
                let (before, behind) = self.stages.split_at_mut(i + 1);
                let mut sink = match behind.first_mut() {
                    Some(next) => Sink { room: next.room(), queue: &mut next.queue, moved: false },
                    None => Sink { room: 1, queue: &mut self.out, moved: false },
                };
                let Some(stage) = before.last_mut() else { continue };
                let one = stage.step(now, &mut sink);
                turn.moved |= sink.moved || one.moved;
                turn.wake = [turn.wake, one.wake].into_iter().flatten().min();
                if one.strike.is_some() {
                    return one;
                }
            }
            if !turn.moved {
                return turn;
            }
        }
    }

    /// What is to be sent next.
    pub(crate) fn front(&self) -> Option<&Load> {
        self.out.front().map(|parcel| &parcel.load)
    }

    pub(crate) fn pop(&mut self) -> Option<Load> {
        self.out.pop_front().map(|parcel| parcel.load)
    }

    /// Throws away what is to be sent: nobody is there to get it.
    pub(crate) fn discard(&mut self) {
        self.out.clear();
    }
}

impl Plan<'_> {
    /// Whether it leaves the direction alone.
    pub(crate) fn is_empty(&self) -> bool {
        self.struck.is_empty()
    }
}

pub(crate) use stage::Start;

#[cfg(test)]
mod tests;
