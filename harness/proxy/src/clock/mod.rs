//! Moments and waits on the run's one time axis.

mod timer;

use evidence::{At, TimeBase};
use rustix::time::{ClockId, clock_gettime};

pub(crate) use timer::{FineTimer, pause};

/// Reads `CLOCK_MONOTONIC` as moments of the run.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    base: TimeBase,
}

impl Clock {
    /// A clock whose axis begins at `base`.
    #[must_use]
    pub fn new(base: TimeBase) -> Self {
        Self { base }
    }

    /// A time base whose origin is this moment.
    #[must_use]
    pub fn base_now() -> TimeBase {
        TimeBase { monotonic_ns: read(ClockId::Monotonic), wall_ns: read(ClockId::Realtime) }
    }

    /// The axis.
    #[must_use]
    pub fn base(&self) -> TimeBase {
        self.base
    }

    /// This moment.
    #[must_use]
    pub fn now(&self) -> At {
        self.base.from_monotonic(monotonic_ns())
    }
}

fn read(id: ClockId) -> u64 {
    let t = clock_gettime(id);
    let seconds = u64::try_from(t.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(t.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) fn monotonic_ns() -> u64 {
    read(ClockId::Monotonic)
}
