//! The one place where the collector and the probes read a clock.

use judge::evidence::{At, TimeBase};
use rustix::time::{ClockId, clock_gettime};

/// The present moment on the run's axis.
pub(crate) fn now(time: &TimeBase) -> At {
    let read = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(read.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(read.tv_nsec).unwrap_or(0);
    time.from_monotonic(seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
}
