//! What runs through a chain.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use crate::toxics::board::Entry;

/// One thing in a queue.
#[derive(Debug)]
pub(super) struct Parcel {
    pub(super) load: Load,
    /// When it came here, or should have: a delay moves it on, so that the next stage counts from there.
    pub(super) at: u64,
}

/// Bytes, or the end of them.
#[derive(Debug)]
pub(crate) enum Load {
    Bytes(Bytes),
    End(End),
}

/// How a direction, or the whole connection, ends.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// The sender has closed this direction.
    Fin,
    /// A toxic closes both sides with FIN.
    Cut(Arc<Entry>),
    /// A toxic resets both sides.
    Reset(Arc<Entry>),
}

/// Where a stage puts what it lets through.
pub(super) struct Sink<'a> {
    pub(super) queue: &'a mut VecDeque<Parcel>,
    pub(super) room: usize,
    pub(super) moved: bool,
}

impl Sink<'_> {
    pub(super) fn has_room(&self) -> bool {
        self.queue.len() < self.room
    }

    pub(super) fn push(&mut self, parcel: Parcel) {
        self.moved = true;
        self.queue.push_back(parcel);
    }
}
