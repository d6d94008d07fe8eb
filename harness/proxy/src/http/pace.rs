//! Slow delivery: a few bytes, a wait, a few bytes.

use std::sync::atomic::{AtomicU64, Ordering};

use evidence::Struck;

use crate::clock::{Clock, pause};
use crate::rules::Part;
use crate::strike::Pace;

/// Waits of one slow delivery, as asked for and as measured.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    requested_ns: AtomicU64,
    injected_ns: AtomicU64,
}

impl Waits {
    /// Puts them on record, if there were any.
    pub(crate) fn onto(&self, struck: &mut Option<Struck>) {
        let requested = self.requested_ns.load(Ordering::Acquire);
        if let Some(struck) = struck.as_mut().filter(|_| requested > 0) {
            struck.delay_requested_ns = Some(requested);
            struck.delay_injected_ns = Some(self.injected_ns.load(Ordering::Acquire));
        }
    }
}

/// Sets the pace of one delivery.
#[derive(Debug)]
pub(crate) struct Pacer<'a> {
    pace: Pace,
    clock: Clock,
    waits: &'a Waits,
    begun: bool,
}

impl<'a> Pacer<'a> {
    pub(crate) fn new(pace: Pace, clock: Clock, waits: &'a Waits) -> Self {
        Self { pace, clock, waits, begun: false }
    }

    /// Whether that part of the message is slow.
    pub(crate) fn slows(&self, part: Part) -> bool {
        self.pace.part == Part::All || self.pace.part == part
    }

    /// How many bytes go out together.
    pub(crate) fn bytes(&self) -> usize {
        self.pace.bytes
    }

    /// Waits as long as a head of that size would take, for heads that cannot be sent in pieces.
    pub(crate) async fn head(&mut self, bytes: usize) {
        if self.slows(Part::Head) {
            for _ in 0..bytes.div_ceil(self.bytes().max(1)) {
                self.next().await;
            }
        }
    }

    /// Waits before every piece but the first.
    pub(crate) async fn next(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            let from = self.clock.now();
            self.waits.requested_ns.fetch_add(nanos(self.pace.every), Ordering::AcqRel);
            pause(self.pace.every).await;
            self.waits.injected_ns.fetch_add(nanos(self.clock.now().since(from)), Ordering::AcqRel);
        }
    }
}

fn nanos(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
