//! Stages that drop bytes or end connections.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Turn;
use super::parcel::{End, Load, Parcel, Sink};
use super::stage::{Start, pass};
use crate::toxics::board::Entry;
use crate::toxics::draw::Generator;

const NS_PER_MS: u64 = 1_000_000;

fn after_ms(now: u64, ms: i64) -> u64 {
    now.saturating_add(u64::try_from(ms).unwrap_or(0).saturating_mul(NS_PER_MS))
}

/// Throws away bytes and FIN; what other toxics have decided goes on. Whether anything came.
fn swallow(queue: &mut VecDeque<Parcel>, sink: &mut Sink<'_>) -> bool {
    let came = !queue.is_empty();
    for parcel in queue.drain(..) {
        if matches!(parcel.load, Load::End(End::Cut(_) | End::Reset(_))) {
            sink.push(parcel);
        }
    }
    sink.moved |= came;
    came
}

/// The end of the stream passes late.
#[derive(Debug)]
pub(super) struct SlowClose {
    delay_ms: i64,
    due: Option<u64>,
}

impl SlowClose {
    pub(super) fn new(delay_ms: i64) -> Self {
        Self { delay_ms, due: None }
    }

    pub(super) fn step(&mut self, now: u64, queue: &mut VecDeque<Parcel>, sink: &mut Sink<'_>) -> Turn {
        while sink.has_room()
            && let Some(front) = queue.front()
        {
            if matches!(front.load, Load::End(_)) {
                let due = *self.due.get_or_insert(after_ms(now, self.delay_ms));
                if now < due {
                    return Turn { wake: Some(due), ..Turn::default() };
                }
            }
            sink.queue.extend(queue.pop_front());
            sink.moved = true;
        }
        Turn::default()
    }
}

/// Drops everything, and closes both sides after a while.
#[derive(Debug)]
pub(super) struct Timeout {
    timeout_ms: i64,
    due: Option<u64>,
    /// Toxiproxy starts the clock again with every chunk.
    restarts: bool,
}

impl Timeout {
    pub(super) fn new(timeout_ms: i64, start: Start) -> Self {
        let due = (timeout_ms > 0).then(|| after_ms(start.now, timeout_ms));
        Self { timeout_ms, due, restarts: start.quirks }
    }

    pub(super) fn step(
        &mut self,
        now: u64,
        queue: &mut VecDeque<Parcel>,
        sink: &mut Sink<'_>,
        entry: &Arc<Entry>,
    ) -> Turn {
        let came = swallow(queue, sink);
        if came && self.restarts && self.due.is_some() {
            self.due = Some(after_ms(now, self.timeout_ms));
        }
        if self.due.is_some_and(|due| due <= now) && sink.has_room() {
            self.due = None;
            sink.push(Parcel { load: Load::End(End::Cut(Arc::clone(entry))), at: now });
        }
        Turn { wake: self.due.filter(|due| now < *due), ..Turn::default() }
    }
}

/// Drops everything, and resets both sides after a while.
#[derive(Debug)]
pub(super) struct ResetPeer {
    timeout_ms: i64,
    due: Option<u64>,
    /// With Toxiproxy's oddities: what it does instead.
    odd: Option<Odd>,
}

/// Toxiproxy waits for the first chunk, and sends a plain FIN on connections that are older than the toxic.
#[derive(Debug, Clone, Copy)]
struct Odd {
    resets: bool,
}

impl ResetPeer {
    pub(super) fn new(timeout_ms: i64, start: Start) -> Self {
        let odd = start.quirks.then_some(Odd { resets: start.fresh });
        let due = odd.is_none().then(|| after_ms(start.now, timeout_ms));
        Self { timeout_ms, due, odd }
    }

    pub(super) fn at_once(start: Start) -> Self {
        Self { timeout_ms: 0, due: Some(start.now), odd: None }
    }

    pub(super) fn step(
        &mut self,
        now: u64,
        queue: &mut VecDeque<Parcel>,
        sink: &mut Sink<'_>,
        entry: &Arc<Entry>,
    ) -> Turn {
        let came = swallow(queue, sink);
        if came && self.due.is_none() {
            self.due = Some(after_ms(now, self.timeout_ms));
        }
        let Some(due) = self.due else { return Turn::default() };
        if now < due {
            return Turn { wake: Some(due), ..Turn::default() };
        }
        let strike = match self.odd {
            Some(Odd { resets: false }) => End::Cut(Arc::clone(entry)),
            _ => End::Reset(Arc::clone(entry)),
        };
        Turn { strike: Some(strike), ..Turn::default() }
    }
}

/// Lets a number of bytes through, and then ends the connection.
#[derive(Debug)]
pub(super) struct Limit {
    bytes: u64,
    passed: u64,
    end: End,
    /// The limit is reached; the end is to be said.
    reached: bool,
    over: bool,
}

impl Limit {
    pub(super) fn new(bytes: u64, passed: u64, end: End) -> Self {
        Self { bytes, passed, end, reached: false, over: false }
    }

    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    pub(super) fn step(&mut self, queue: &mut VecDeque<Parcel>, sink: &mut Sink<'_>) -> Turn {
        while sink.has_room() {
            if self.over {
                swallow(queue, sink);
                break;
            }
            if self.reached {
                self.over = true;
                sink.push(Parcel { load: Load::End(self.end.clone()), at: 0 });
                continue;
            }
            let Some(mut parcel) = queue.pop_front() else { break };
            if let Load::Bytes(bytes) = &mut parcel.load {
                let left = usize::try_from(self.bytes.saturating_sub(self.passed)).unwrap_or(usize::MAX);
                bytes.truncate(left);
                self.passed += bytes.len() as u64;
                self.reached = self.passed >= self.bytes;
                if bytes.is_empty() {
                    continue;
                }
            }
            sink.push(parcel);
        }
        Turn::default()
    }
}

/// Drops whole chunks.
#[derive(Debug)]
pub(super) struct Loss {
    rate: f64,
    /// What is added to the rate right after a drop.
    correlation: f64,
    dropped: bool,
    generator: Generator,
}

impl Loss {
    pub(super) fn new(rate: f64, correlation: f64, generator: Generator) -> Self {
        Self { rate, correlation, dropped: false, generator }
    }

    pub(super) fn step(&mut self, queue: &mut VecDeque<Parcel>, sink: &mut Sink<'_>) -> Turn {
        pass(queue, sink, |_| {
            let rate = self.rate + if self.dropped { self.correlation } else { 0.0 };
            self.dropped = self.generator.fraction() < rate;
            !self.dropped
        });
        Turn::default()
    }
}

/// The direction is gone: bytes vanish, and the FIN waits until it is back.
#[derive(Debug, Default)]
pub(super) struct Cut {
    fin: Option<Parcel>,
}

impl Cut {
    pub(super) fn step(&mut self, queue: &mut VecDeque<Parcel>, sink: &mut Sink<'_>) -> Turn {
        let fin = queue.iter().position(|p| matches!(p.load, Load::End(End::Fin)));
        if let Some(fin) = fin {
            self.fin = queue.remove(fin);
        }
        swallow(queue, sink);
        Turn::default()
    }

    pub(super) fn swallowed(self) -> Option<Parcel> {
        self.fin
    }
}
