//! Stages that let everything through, later: delays, limits of bytes a second, slices.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::parcel::{Load, Parcel, Sink};
use super::{MAX_CHUNK, Turn};
use crate::physics::Distribution;
use crate::sync::locked;
use crate::toxics::draw::Generator;
use crate::toxics::kind::Share;

const NS_PER_US: f64 = 1e3;
const NS_PER_MS: f64 = 1e6;
const NS_PER_S: u128 = 1_000_000_000;
/// How much a line may make up for after it was kept from sending.
const CATCH_UP_NS: u64 = 10_000_000;

/// Each chunk leaves a while after it came. Chunks wait side by side, not one after the other, and never overtake.
#[derive(Debug)]
pub(super) struct Late {
    span: Span,
    generator: Generator,
    /// When the first chunk of the queue leaves.
    due: Option<u64>,
    /// When the chunk before it was to leave.
    last: u64,
}

#[derive(Debug)]
enum Span {
    Latency { latency: f64, jitter: f64 },
    Drawn(Distribution),
}

impl Late {
    pub(super) fn latency(latency: i64, jitter: i64, generator: Generator) -> Self {
        let span = Span::Latency { latency: latency as f64, jitter: jitter.max(0) as f64 };
        Self { span, generator, due: None, last: 0 }
    }

    pub(super) fn drawn(distribution: Distribution, generator: Generator) -> Self {
        Self { span: Span::Drawn(distribution), generator, due: None, last: 0 }
    }

    /// Nanoseconds; sums below zero are none.
    fn draw(&mut self) -> u64 {
        match &self.span {
            Span::Latency { latency, jitter } => {
                let ms = latency + self.generator.between(-jitter, *jitter);
                (ms * NS_PER_MS).max(0.0) as u64
            }
            Span::Drawn(distribution) => {
                let drawn = distribution.sample(self.generator.fraction());
                u64::try_from(drawn.as_nanos()).unwrap_or(u64::MAX)
            }
        }
    }

    pub(super) fn step(&mut self, now: u64, queue: &mut VecDeque<Parcel>, sink: &mut Sink<'_>) -> Turn {
        while sink.has_room()
            && let Some(front) = queue.front_mut()
        {
            if matches!(front.load, Load::Bytes(_)) {
                let due = match self.due {
                    Some(due) => due,
                    None => {
                        let due = front.at.saturating_add(self.draw()).max(self.last);
                        *self.due.insert(due)
                    }
                };
                if now < due {
                    return Turn { wake: Some(due), ..Turn::default() };
                }
                front.at = due;
                self.last = due;
                self.due = None;
            }
            sink.queue.extend(queue.pop_front());
            sink.moved = true;
        }
        Turn::default()
    }
}

/// When a line is free again. Connections that share one reserve on it in the order they ask.
#[derive(Debug, Default)]
pub(crate) struct Line {
    free: Mutex<u64>,
}

impl Line {
    /// Reserves the line for a while, from `from` on or later; when that is over.
    fn reserve(&self, from: u64, span: u64) -> u64 {
        let mut free = locked(&self.free);
        *free = (*free).max(from).saturating_add(span);
        *free
    }
}

/// At most so many bytes a second.
#[derive(Debug)]
pub(super) struct Paced {
    line: Arc<Line>,
    /// 0 stalls.
    bytes_per_s: u64,
    /// Bytes that leave together.
    slice: usize,
    due: Option<u64>,
}

impl Paced {
    /// Toxiproxy's: thousands of bytes a second, in slices of 100 ms.
    pub(super) fn bandwidth(rate: i64) -> Self {
        let rate = u64::try_from(rate).unwrap_or(0);
        let slice = usize::try_from(rate.saturating_mul(100)).unwrap_or(usize::MAX);
        Self { line: Arc::default(), bytes_per_s: rate.saturating_mul(1_000), slice, due: None }
    }

    /// Ours, in slices of 10 ms, so that those who share a line take turns.
    pub(super) fn throttle(bytes_per_s: u64, per: Share, shared: &Arc<Line>) -> Self {
        let line = match per {
            Share::Connection => Arc::default(),
            Share::Link => Arc::clone(shared),
        };
        let slice = usize::try_from(bytes_per_s / 100).unwrap_or(usize::MAX).clamp(1, MAX_CHUNK);
        Self { line, bytes_per_s, slice, due: None }
    }

    pub(super) fn step(&mut self, now: u64, queue: &mut VecDeque<Parcel>, sink: &mut Sink<'_>) -> Turn {
        while sink.has_room()
            && let Some(front) = queue.front_mut()
        {
            let Load::Bytes(bytes) = &mut front.load else {
                sink.queue.extend(queue.pop_front());
                sink.moved = true;
                continue;
            };
            if self.bytes_per_s == 0 {
                return Turn::default();
            }
            let slice = bytes.len().min(self.slice);
            let due = match self.due {
                Some(due) => due,
                None => {
                    let span = slice as u128 * NS_PER_S / u128::from(self.bytes_per_s);
                    let from = front.at.max(now.saturating_sub(CATCH_UP_NS));
                    *self.due.insert(self.line.reserve(from, u64::try_from(span).unwrap_or(u64::MAX)))
                }
            };
            if now < due {
                return Turn { wake: Some(due), ..Turn::default() };
            }
            self.due = None;
            sink.push(Parcel { load: Load::Bytes(bytes.split_to(slice)), at: due });
            if bytes.is_empty() {
                queue.pop_front();
            }
        }
        Turn::default()
    }
}

/// Cuts chunks into pieces, with a pause after each.
#[derive(Debug)]
pub(super) struct Sliced {
    average: usize,
    variation: usize,
    pause: u64,
    generator: Generator,
    /// Sizes of what is left of the first chunk of the queue.
    pieces: VecDeque<usize>,
    next: u64,
}

impl Sliced {
    pub(super) fn new(average: i64, variation: i64, delay_us: i64, generator: Generator) -> Self {
        let size = |n: i64| usize::try_from(n).unwrap_or(0);
        let pause = (delay_us as f64 * NS_PER_US).max(0.0) as u64;
        let pieces = VecDeque::new();
        Self { average: size(average), variation: size(variation), pause, generator, pieces, next: 0 }
    }

    pub(super) fn step(&mut self, now: u64, queue: &mut VecDeque<Parcel>, sink: &mut Sink<'_>) -> Turn {
        while sink.has_room()
            && let Some(front) = queue.front_mut()
        {
            if now < self.next {
                return Turn { wake: Some(self.next), ..Turn::default() };
            }
            let Load::Bytes(bytes) = &mut front.load else {
                sink.queue.extend(queue.pop_front());
                sink.moved = true;
                continue;
            };
            if self.pieces.is_empty() {
                self.cut(bytes.len());
            }
            let piece = self.pieces.pop_front().unwrap_or(bytes.len()).min(bytes.len());
            let at = front.at;
            sink.push(Parcel { load: Load::Bytes(bytes.split_to(piece)), at });
            if bytes.is_empty() {
                self.pieces.clear();
                queue.pop_front();
            }
            if self.pause > 0 {
                self.next = now.saturating_add(self.pause);
            }
        }
        Turn::default()
    }

    /// Halves again and again, off the middle by at most the variation, until a piece is no longer than average and
    /// variation together. A byte is not cut.
    fn cut(&mut self, len: usize) {
        let longest = self.average.saturating_add(self.variation).max(1);
        let mut open = vec![len];
        while let Some(len) = open.pop() {
            if len <= longest {
                self.pieces.push_back(len);
                continue;
            }
            let off = self.generator.between(-(self.variation as f64), self.variation as f64);
            let middle = (len / 2) as f64 + off;
            let first = (middle.max(1.0) as usize).min(len - 1);
            open.push(len - first);
            open.push(first);
        }
    }
}
