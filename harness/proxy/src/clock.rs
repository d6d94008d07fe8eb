//! Moments and waits on the run's one time axis.

use std::time::Duration;

use judge::evidence::{At, TimeBase};
use rustix::time::{ClockId, clock_gettime};

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
        self.base.from_monotonic(read(ClockId::Monotonic))
    }
}

fn read(id: ClockId) -> u64 {
    let t = clock_gettime(id);
    let seconds = u64::try_from(t.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(t.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// Waits for `span`, never less, and finer than the runtime's wheel of whole milliseconds where the kernel has a timer
/// file descriptor for it.
pub(crate) async fn pause(span: Duration) {
    if span.is_zero() {
        return;
    }
    #[cfg(target_os = "linux")]
    if fine::pause(span).await.is_ok() {
        return;
    }
    tokio::time::sleep(span).await;
}

#[cfg(target_os = "linux")]
mod fine {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// An error says that no timer could be had (out of descriptors): the caller then falls back to the wheel.
    pub(super) async fn pause(span: Duration) -> io::Result<()> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        #[expect(
            deprecated,
            reason = "its caveat is about types that may change their descriptor; an OwnedFd does not"
        )]
        let timer: AsyncFd<OwnedFd> = AsyncFd::with_interest(fd, Interest::READABLE)?;
        let due = Timespec {
            tv_sec: i64::try_from(span.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(span.subsec_nanos()),
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: due };
        timerfd_settime(timer.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        timer.readable().await?.retain_ready();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves that a pause is never short, for spans below and above the runtime's millisecond wheel.
    #[tokio::test]
    async fn a_pause_is_never_short() {
        let clock = Clock::new(Clock::base_now());
        for micros in [1, 100, 900, 1_100, 5_300] {
            let asked = Duration::from_micros(micros);
            let before = clock.now();
            pause(asked).await;
            assert!(clock.now().since(before) >= asked, "{micros} us");
        }
    }
}
