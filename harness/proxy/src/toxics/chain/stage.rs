//! One toxic at work in a chain.

use std::collections::VecDeque;
use std::sync::Arc;

use super::gates::{Cut, Limit, Loss, ResetPeer, SlowClose, Timeout};
use super::paced::{Late, Paced, Sliced};
use super::parcel::{End, Load, Parcel, Sink};
use super::{DELAY_ROOM, Turn};
use crate::toxics::board::Entry;
use crate::toxics::draw::Generator;
use crate::toxics::kind::ToxicKind;

/// When and how a stage starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) now: u64,
    /// The connection has just been made, so the toxic was there before it.
    pub(crate) fresh: bool,
    /// Toxiproxy's oddities are wanted.
    pub(crate) quirks: bool,
}

/// One toxic at work.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) entry: Arc<Entry>,
    /// What came and was not let through yet.
    pub(super) queue: VecDeque<Parcel>,
    work: Work,
}

#[derive(Debug)]
enum Work {
    Late(Late),
    Paced(Paced),
    Sliced(Sliced),
    SlowClose(SlowClose),
    Timeout(Timeout),
    ResetPeer(ResetPeer),
    Limit(Limit),
    Loss(Loss),
    Cut(Cut),
    /// Passes everything.
    Open,
}

impl Stage {
    /// `carried` is what the same toxic counted before it was changed.
    pub(super) fn new(entry: &Arc<Entry>, seed: u64, start: Start, carried: u64) -> Self {
        let generator = Generator::new(seed);
        let work = match &entry.toxic.kind {
            ToxicKind::Latency { latency, jitter } => Work::Late(Late::latency(*latency, *jitter, generator)),
            ToxicKind::Delay { distribution } => Work::Late(Late::drawn(distribution.clone(), generator)),
            ToxicKind::Bandwidth { rate } => Work::Paced(Paced::bandwidth(*rate)),
            ToxicKind::Throttle { bytes_per_s, per } => Work::Paced(Paced::throttle(*bytes_per_s, *per, &entry.line)),
            ToxicKind::Slicer { average_size, size_variation, delay } => {
                Work::Sliced(Sliced::new(*average_size, *size_variation, *delay, generator))
            }
            ToxicKind::SlowClose { delay } => Work::SlowClose(SlowClose::new(*delay)),
            ToxicKind::Timeout { timeout } => Work::Timeout(Timeout::new(*timeout, start)),
            ToxicKind::ResetPeer { timeout } => Work::ResetPeer(ResetPeer::new(*timeout, start)),
            ToxicKind::LimitData { bytes } => {
                let limit = u64::try_from(*bytes).unwrap_or(0);
                Work::Limit(Limit::new(limit, carried, End::Cut(Arc::clone(entry))))
            }
            ToxicKind::Reset { after_bytes: 0 } => Work::ResetPeer(ResetPeer::at_once(start)),
            ToxicKind::Reset { after_bytes } => {
                Work::Limit(Limit::new(*after_bytes, carried, End::Reset(Arc::clone(entry))))
            }
            ToxicKind::PacketLoss { loss_rate, correlation } => {
                Work::Loss(Loss::new(*loss_rate, *correlation, generator))
            }
            ToxicKind::Cut => Work::Cut(Cut::default()),
            ToxicKind::Noop => Work::Open,
        };
        Self { entry: Arc::clone(entry), queue: VecDeque::new(), work }
    }

    /// Whether this is the toxic as `entry` has it.
    pub(super) fn runs(&self, entry: &Entry) -> bool {
        let ours = (self.entry.id, self.entry.version, self.entry.redraw);
        ours == (entry.id, entry.version, entry.redraw)
    }

    /// Chunks that may wait here.
    pub(super) fn room(&self) -> usize {
        if matches!(self.work, Work::Late(_)) { DELAY_ROOM } else { 1 }
    }

    pub(super) fn has_room(&self) -> bool {
        self.queue.len() < self.room()
    }

    /// What it has counted, which a change of its attributes does not undo.
    pub(super) fn carried(&self) -> u64 {
        if let Work::Limit(limit) = &self.work { limit.passed() } else { 0 }
    }

    /// How the connection ends when this toxic is removed, if it does.
    pub(super) fn parting(&self) -> Option<End> {
        matches!(self.work, Work::Timeout(_)).then(|| End::Cut(Arc::clone(&self.entry)))
    }

    /// What it holds back.
    pub(super) fn release(self) -> impl Iterator<Item = Parcel> {
        let end = if let Work::Cut(cut) = self.work { cut.swallowed() } else { None };
        self.queue.into_iter().chain(end)
    }

    pub(super) fn step(&mut self, now: u64, sink: &mut Sink<'_>) -> Turn {
        let Self { entry, queue, work } = self;
        match work {
            Work::Late(late) => late.step(now, queue, sink),
            Work::Paced(paced) => paced.step(now, queue, sink),
            Work::Sliced(sliced) => sliced.step(now, queue, sink),
            Work::SlowClose(slow) => slow.step(now, queue, sink),
            Work::Timeout(timeout) => timeout.step(now, queue, sink, entry),
            Work::ResetPeer(reset) => reset.step(now, queue, sink, entry),
            Work::Limit(limit) => limit.step(queue, sink),
            Work::Loss(loss) => loss.step(queue, sink),
            Work::Cut(cut) => cut.step(queue, sink),
            Work::Open => {
                pass(queue, sink, |_| true);
                Turn::default()
            }
        }
    }
}

/// Lets through what `wanted` wants, drops other bytes, and always lets ends through.
pub(super) fn pass(queue: &mut VecDeque<Parcel>, sink: &mut Sink<'_>, mut wanted: impl FnMut(&[u8]) -> bool) {
    while sink.has_room()
        && let Some(parcel) = queue.pop_front()
    {
        let drops = matches!(&parcel.load, Load::Bytes(bytes) if !wanted(bytes));
        if drops {
            sink.moved = true;
        } else {
            sink.push(parcel);
        }
    }
}
