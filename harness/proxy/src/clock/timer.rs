//! Waits finer than the runtime's wheel of whole milliseconds, where the kernel has timers for it.

use std::time::Duration;

use super::monotonic_ns;

/// Waits for `span`, never less.
pub(crate) async fn pause(span: Duration) {
    if span.is_zero() {
        return;
    }
    let span = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
    FineTimer::default().until(monotonic_ns().saturating_add(span)).await;
}

/// A timer that can be set again and again; it takes a descriptor when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct FineTimer {
    #[cfg(target_os = "linux")]
    fine: Option<fine::Timer>,
}

impl FineTimer {
    /// Waits until `due` of the monotonic clock, never less. Dropping the wait early leaves the timer usable.
    pub(crate) async fn until(&mut self, due: u64) {
        #[cfg(target_os = "linux")]
        if self.fine(due).await.is_ok() {
            return;
        }
        // Out of descriptors, or no such timer here: the wheel is late by a millisecond, never early.
        loop {
            let left = due.saturating_sub(monotonic_ns());
            if left == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_nanos(left)).await;
        }
    }

    #[cfg(target_os = "linux")]
    async fn fine(&mut self, due: u64) -> std::io::Result<()> {
        if monotonic_ns() >= due {
            return Ok(());
        }
        let timer = match self.fine.take() {
            Some(timer) => timer,
            None => fine::Timer::new()?,
        };
        self.fine.insert(timer).until(due).await
    }
}

#[cfg(target_os = "linux")]
mod fine {
    use std::io;
    use std::os::fd::OwnedFd;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    use crate::clock::monotonic_ns;

    #[derive(Debug)]
    pub(super) struct Timer {
        fd: AsyncFd<OwnedFd>,
        /// What it is set to, so that a wait that goes on after an interruption does not set it again.
        set: u64,
    }

    impl Timer {
        pub(super) fn new() -> io::Result<Self> {
            let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
            #[expect(
                deprecated,
                reason = "its caveat is about types that may change their descriptor; an OwnedFd does not"
            )]
            let fd = AsyncFd::with_interest(fd, Interest::READABLE)?;
            Ok(Self { fd, set: 0 })
        }

        pub(super) async fn until(&mut self, due: u64) -> io::Result<()> {
            while monotonic_ns() < due {
                if self.set != due {
                    self.set(due)?;
                }
                // What is left of an earlier setting can make it ready too early; then it is set once more.
                self.fd.readable().await?.clear_ready();
                self.set = 0;
            }
            Ok(())
        }

        fn set(&mut self, due: u64) -> io::Result<()> {
            let at = Timespec {
                tv_sec: i64::try_from(due / 1_000_000_000).unwrap_or(i64::MAX),
                tv_nsec: i64::try_from(due % 1_000_000_000).unwrap_or(0),
            };
            let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
            timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::ABSTIME, &once)?;
            self.set = due;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves that a pause is never short, for spans below and above the runtime's millisecond wheel.
    #[tokio::test]
    async fn a_pause_is_never_short() {
        for micros in [1, 100, 900, 1_100, 5_300] {
            let before = monotonic_ns();
            pause(Duration::from_micros(micros)).await;
            assert!(monotonic_ns() - before >= micros * 1_000, "{micros} us");
        }
    }

    // Proves that one timer serves many waits, also after one that was interrupted, and after one that was moved up:
    // none is short, and none hangs.
    #[tokio::test]
    async fn a_timer_is_set_again() {
        let mut timer = FineTimer::default();
        for micros in [300, 50, 1_200, 10] {
            let far = monotonic_ns() + 3_600_000_000_000;
            tokio::select! {
                biased;
                () = timer.until(far) => panic!("an hour went by"),
                () = tokio::task::yield_now() => {}
            }
            let due = monotonic_ns() + micros * 1_000;
            timer.until(due).await;
            assert!(monotonic_ns() >= due);
        }
    }
}
