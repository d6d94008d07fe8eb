//! Checks of load that feeds on failure.
//!
//! [`storm_replay`] compares two evidences of one incident, the service's and a control's. [`recovers_after_trigger`] asks
//! whether a service comes back when a disturbance is over, [`goodput`] what is left of it under more load than its
//! dependency can bear. The last two count; they need an even load, and a dependency whose capacity is known.

mod goodput;
mod recovery;
mod replay;

pub use goodput::goodput;
pub use recovery::recovers_after_trigger;
pub use replay::storm_replay;

use std::time::Duration;

use super::support::{QUIETER, STANDSTILL, ms, pause};
use crate::evidence::Evidence;
use crate::promise::Noise;

/// Least payments of a stretch of time that a rate is read off.
const ENOUGH: usize = 50;

/// A pause of so many noise bounds brings what was due in it all at once: a service that bounds its work then sheds some of it.
/// Beside other work a sound one shed a tenth of its payments after 125 ms, at a bound of 60; alone, no defect of load made the
/// machine pause for more than 18 ms. The service's own threads wait for one another under such a load: theirs is the longer bound.
const SHEDDING: u32 = 2;

/// Why a shortfall says nothing of the service: the machine paused, was short of processor time all along, or its disk kept a
/// small durable write waiting. What succeeds in spite of that has succeeded; what does not may have been slow with the machine.
fn noisy(evidence: &Evidence) -> Option<(String, String)> {
    let eps = Duration::from_nanos(evidence.header.eps_ns);
    let still = eps.saturating_mul(STANDSTILL);
    let stalled = evidence.disk_max_ns().map(Duration::from_nanos).filter(|longest| *longest > still).map(|longest| {
        let what = format!(
            "a small durable write took {} on this disk, longer than the noise bound of {}",
            ms(longest),
            ms(still)
        );
        (what, "run it again while the disk is quiet, or keep the ledger and the run folder on a faster one".to_owned())
    });
    let brief = eps.saturating_mul(SHEDDING);
    let echo = evidence.echoes().map(|c| Duration::from_nanos(c.max_ns)).max().filter(|longest| *longest > brief);
    let echo = echo.map(|longest| {
        let what =
            format!("the machine paused for {}, longer than {SHEDDING} noise bounds, {}", ms(longest), ms(brief));
        (what, QUIETER.to_owned())
    });
    pause(evidence, Noise { eps: still }).or(echo).or(stalled).or_else(|| starved(evidence))
}

/// That one echo in a hundred was later than a third of the noise bound: not one pause, but a machine with less processor time than
/// was asked of it. A service that sheds load then sheds some of a load that it could bear elsewhere: 12 % at 126 ms, 11 % at
/// 25 ms. A defect does not look like that: with a queue of retries that never drains, and without any shedding, the canary's
/// 99th percentile was 8 ms. The waits of the service itself are not asked: under a load that is more than it can bear, its
/// threads wait for one another.
fn starved(evidence: &Evidence) -> Option<(String, String)> {
    let bound = Duration::from_nanos(evidence.header.eps_ns) / 3;
    let late = evidence.echoes().map(|c| Duration::from_nanos(c.p99_ns)).max().filter(|late| *late > bound)?;
    let what = format!(
        "one echo in a hundred was {} late, more than a third of the noise bound: the machine was short of processor time",
        ms(late)
    );
    Some((what, "run it again on a machine with less other work".to_owned()))
}

/// Why nothing can be concluded from what happened over that time: the machine paused for a good part of it.
fn long_pause(evidence: &Evidence, over: Duration) -> Option<(String, String)> {
    pause(evidence, Noise { eps: over / 4 })
}

/// Why a share that is none can be neither kept nor broken: no number is below NaN.
fn no_share(share: f64) -> Option<(String, String)> {
    let what = || format!("the promised share is {share}, which is none");
    (!(0.0..=1.0).contains(&share)).then(|| (what(), "promise a goodput between 0 and 1 in the contract".to_owned()))
}
