//! Waiting for a machine that is quiet.

use std::io;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Canary, EchoServer};
use crate::clock::Clock;

/// What counts as a moment: long enough for some sixty echoes, and for a burst of another's work to show.
const MOMENT: Duration = Duration::from_secs(1);
/// A machine that has had no such moment within this time will have none soon.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until no echo of a whole second was later than `bound`, or until twenty seconds have passed: who measures then has
/// a canary of his own to tell what the machine was like.
///
/// # Errors
/// When loopback cannot be used.
pub async fn quiet_moment(bound: Duration) -> io::Result<()> {
    quiet(bound, MOMENT, PATIENCE).await.map(drop)
}

/// Whether there was such a moment within the patience.
async fn quiet(bound: Duration, moment: Duration, patience: Duration) -> io::Result<bool> {
    let echo = EchoServer::start().await?;
    let until = Instant::now() + patience;
    while Instant::now() < until {
        let canary = Canary::start(echo.addr(), Clock::start(), 1).await?;
        sleep(moment).await;
        if u128::from(canary.stop().await.max_ns) <= bound.as_nanos() {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that it takes one moment where nothing disturbs, and that it does not wait for ever where everything does.
    #[tokio::test]
    async fn it_waits_for_a_moment_and_not_for_ever() {
        const MOMENT: Duration = Duration::from_millis(50);
        let began = Instant::now();
        assert!(quiet(Duration::MAX, MOMENT, 3 * MOMENT).await.unwrap());
        assert!(began.elapsed() >= MOMENT, "{:?}", began.elapsed());
        let began = Instant::now();
        assert!(!quiet(Duration::ZERO, MOMENT, 3 * MOMENT).await.unwrap());
        assert!(began.elapsed() >= 3 * MOMENT, "{:?}", began.elapsed());
    }
}
