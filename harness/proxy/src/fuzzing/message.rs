//! One message read from pieces as a connection would read it, and the ways to cut its bytes.

use bytes::{Bytes, BytesMut};

use crate::http::body::{BodyReader, Framing};
use crate::http::head::length;

/// A low limit, so that inputs of ordinary length reach it.
const HEAD_BYTES: usize = 512;

/// What was understood of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Read<H> {
    /// The bytes end before its head does.
    Partial,
    /// It is refused, with a word that says where.
    Refused(&'static str),
    /// Its head came, with as much of its body as there was.
    Message { head: H, payload: Vec<u8>, taken: usize, whole: bool },
}

/// How to read a head: whether the bytes may begin one, and what is in it.
pub(super) struct Grammar<H> {
    pub(super) may_be: fn(&[u8]) -> bool,
    pub(super) parse: fn(Bytes) -> Option<(H, Framing)>,
}

impl<H> Grammar<H> {
    /// Reads one message from pieces; `taken` counts the bytes that belong to it.
    pub(super) fn read<'a>(&self, pieces: impl Iterator<Item = &'a [u8]>) -> Read<H> {
        let mut inbox = BytesMut::new();
        let mut pieces = pieces.filter(|piece| !piece.is_empty());
        let (head, framing, mut taken) = loop {
            if !(self.may_be)(&inbox) {
                return Read::Refused("noise");
            }
            match length(&inbox) {
                Some(n) if n <= HEAD_BYTES => match (self.parse)(inbox.split_to(n).freeze()) {
                    Some((head, framing)) => break (head, framing, n),
                    None => return Read::Refused("head"),
                },
                None if inbox.len() < HEAD_BYTES => {}
                _ => return Read::Refused("long"),
            }
            let Some(piece) = pieces.next() else { return Read::Partial };
            inbox.extend_from_slice(piece);
        };
        let (mut reader, mut payload) = (BodyReader::new(framing), Vec::new());
        loop {
            let room = inbox.len();
            match reader.take(&inbox, u64::MAX, |bytes| payload.extend_from_slice(bytes)) {
                Ok(step) => {
                    assert!(step.raw <= room, "took {} of {room} bytes", step.raw);
                    assert!(step.raw == room || reader.is_done(), "left bytes of an unfinished body");
                    taken += step.raw;
                }
                Err(_) => return Read::Refused("body"),
            }
            inbox.clear();
            match pieces.next() {
                Some(piece) if !reader.is_done() => inbox.extend_from_slice(piece),
                _ => return Read::Message { head, payload, taken, whole: reader.is_done() },
            }
        }
    }
}

/// Claims that the bytes mean the same wherever the network cuts them; returns what they mean.
pub(super) fn split_invariant<H: PartialEq + std::fmt::Debug>(grammar: &Grammar<H>, bytes: &[u8]) -> Read<H> {
    let whole = grammar.read(std::iter::once(bytes));
    assert_eq!(grammar.read(bytes.chunks(1)), whole, "byte by byte");
    assert_eq!(grammar.read(Cuts::new(bytes)), whole, "in uneven pieces");
    whole
}

/// Claims that payload limits of any kind only slow the reading of a body down.
pub(super) fn limit_invariant(framing: Framing, bytes: &[u8]) {
    let all = |limit: u64| {
        let (mut reader, mut payload, mut at) = (BodyReader::new(framing), Vec::new(), 0);
        loop {
            let step = reader.take(&bytes[at..], limit, |piece| payload.extend_from_slice(piece)).ok()?;
            assert!(step.payload <= limit, "{} payload bytes of {limit}", step.payload);
            at += step.raw;
            if step.raw == 0 {
                return Some((payload, at, reader.is_done()));
            }
        }
    };
    let unlimited = all(u64::MAX);
    for limit in [1, 7] {
        assert_eq!(all(limit), unlimited, "at most {limit} at a time");
    }
}

/// Cuts bytes into uneven pieces that depend on the bytes alone.
struct Cuts<'a> {
    rest: &'a [u8],
    state: u64,
}

impl<'a> Cuts<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        // FNV-1a: a different cut for each input is all that is asked of it.
        let state =
            bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
        Self { rest: bytes, state }
    }
}

impl<'a> Iterator for Cuts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let wanted = (self.state >> 59) as usize + 1;
        let (piece, rest) = self.rest.split_at(wanted.min(self.rest.len()));
        self.rest = rest;
        Some(piece)
    }
}
