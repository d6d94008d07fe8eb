//! The one time axis of a run: nanoseconds on the monotonic clock since the rig started.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment of the run: nanoseconds on the monotonic clock since the rig's origin.
///
/// All players on one kernel share that clock, so moments of the proxy, the bank and the load driver may be
/// subtracted from one another. Moments derived from wall-clock claims (span times) are labelled where they are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct At(pub u64);

impl At {
    /// Time from `earlier` to `self`; zero when `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: At) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Signed seconds from `origin` to `self`, for print and arithmetic on gaps.
    #[must_use]
    pub fn seconds_from(self, origin: At) -> f64 {
        (self.0 as f64 - origin.0 as f64) / 1e9
    }

    /// Milliseconds since the rig started.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add<Duration> for At {
    type Output = At;
    fn add(self, d: Duration) -> At {
        At(self.0.saturating_add(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl Sub<Duration> for At {
    type Output = At;
    fn sub(self, d: Duration) -> At {
        At(self.0.saturating_sub(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t+{:.3} ms", self.as_millis_f64())
    }
}

/// Ties the run's axis to the absolute clocks, so that another player's readings can be placed on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeBase {
    /// `CLOCK_MONOTONIC` at the rig's origin, nanoseconds.
    pub monotonic_ns: u64,
    /// Wall clock at the same instant, nanoseconds since the Unix epoch.
    pub wall_ns: u64,
}

impl TimeBase {
    /// Places a `CLOCK_MONOTONIC` reading; readings before the origin become zero.
    #[must_use]
    pub fn from_monotonic(&self, ns: u64) -> At {
        At(ns.saturating_sub(self.monotonic_ns))
    }

    /// Places a wall-clock reading. A claim, not a measurement: use it for joins, never for law checks.
    #[must_use]
    pub fn from_wall(&self, ns: u64) -> At {
        At(ns.saturating_sub(self.wall_ns))
    }

    /// Wall clock of a moment of the run, nanoseconds since the Unix epoch.
    #[must_use]
    pub fn to_wall(&self, at: At) -> u64 {
        self.wall_ns.saturating_add(at.0)
    }
}
