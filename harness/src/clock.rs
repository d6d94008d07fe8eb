//! The run's clock: nanoseconds on `CLOCK_MONOTONIC` since the rig started.
//!
//! `std::time::Instant` hides its origin. The raw reading is what players on one kernel can compare, so the rig takes
//! it once and hands copies of the [`Clock`] to everybody who notes a time.

use std::time::{SystemTime, UNIX_EPOCH};

use judge::evidence::{At, TimeBase};
use rustix::time::{ClockId, clock_gettime};

/// How often the pair of clocks is read at the start; the closest pair is kept.
const PAIRINGS: usize = 5;

/// The run's time axis. Cheap to copy; every copy tells the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    base: TimeBase,
}

impl Clock {
    /// Starts the axis now.
    #[must_use]
    pub fn start() -> Self {
        let closest = (0..PAIRINGS).map(|_| pair()).min_by_key(|(spread, _)| *spread);
        Self { base: closest.map_or_else(|| pair().1, |(_, base)| base) }
    }

    /// An axis that somebody else started, e.g. read from a header of evidence.
    #[must_use]
    pub fn from_base(base: TimeBase) -> Self {
        Self { base }
    }

    /// The present moment.
    #[must_use]
    pub fn now(&self) -> At {
        self.base.from_monotonic(monotonic_ns())
    }

    /// What ties this axis to the absolute clocks.
    #[must_use]
    pub fn base(&self) -> TimeBase {
        self.base
    }
}

/// Both clocks at the same instant, as near as one can: the wall clock is read between two monotonic readings, so their
/// distance bounds the error of the pair. A task switch in between shows as a wide pair, which loses to a closer one.
fn pair() -> (u64, TimeBase) {
    let before = monotonic_ns();
    let wall_ns = wall_ns();
    let after = monotonic_ns();
    let spread = after.saturating_sub(before);
    (spread, TimeBase { monotonic_ns: before + spread / 2, wall_ns })
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

fn wall_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Clock;

    // Proves that copies share one axis and that it does not run backwards: bound by order alone, not by durations.
    #[test]
    fn copies_tell_the_same_time() {
        let clock = Clock::start();
        let copy = clock;
        let readings = [clock.now(), copy.now(), clock.now(), Clock::from_base(copy.base()).now()];
        assert!(readings.is_sorted(), "{readings:?}");
    }

    // Proves that the two clocks of the base belong together: a wall reading that lies between two moments, converted
    // by the base, lies between them on the axis, within a bound that only a clock step could break.
    #[test]
    fn the_wall_clock_fits_the_axis() {
        let clock = Clock::start();
        let before = clock.now();
        let wall = clock.base().from_wall(super::wall_ns());
        let after = clock.now();
        let slack = std::time::Duration::from_secs(1);
        assert!(wall >= before - slack && wall <= after + slack, "{before} <= {wall} <= {after}");
    }
}
