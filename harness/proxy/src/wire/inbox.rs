//! What came and was not yet looked at, with the moment of each read.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};
use evidence::At;

/// Room that is made for each read.
const READ_BYTES: usize = 16 << 10;

/// Bytes that came and were not yet looked at, and when they came.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: BytesMut,
    /// For each read: the stream position behind it, and its moment.
    marks: VecDeque<(u64, At)>,
    received: u64,
    last: At,
}

impl Inbox {
    /// Where what was read goes; [`Inbox::came`] follows it.
    pub(super) fn tail(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }

    /// The same, with room for a read.
    pub(super) fn room(&mut self) -> &mut BytesMut {
        self.bytes.reserve(READ_BYTES);
        &mut self.bytes
    }

    pub(super) fn came(&mut self, n: usize, at: At) {
        self.received += n as u64;
        self.last = at;
        if n > 0 {
            self.marks.push_back((self.received, at));
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// When the first of the bytes came.
    pub(crate) fn first_came(&self) -> At {
        self.marks.front().map_or(self.last, |(_, at)| *at)
    }

    /// When the last read ended, also when it met the end of the stream or an error.
    pub(crate) fn last_came(&self) -> At {
        self.last
    }

    pub(crate) fn take(&mut self, n: usize) -> Bytes {
        let taken = self.bytes.split_to(n).freeze();
        self.forget_marks();
        taken
    }

    pub(crate) fn skip(&mut self, n: usize) {
        self.bytes.advance(n);
        self.forget_marks();
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.forget_marks();
    }

    /// Gives memory back while the connection is idle.
    pub(crate) fn shrink(&mut self) {
        if self.bytes.is_empty() {
            self.bytes = BytesMut::new();
        }
    }

    fn forget_marks(&mut self) {
        let position = self.received - self.bytes.len() as u64;
        while self.marks.front().is_some_and(|(upto, _)| *upto <= position) {
            self.marks.pop_front();
        }
    }
}
