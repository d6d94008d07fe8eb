//! The statistics of retry timing: is this service's backoff the law it declares?
//!
//! What the harness sees of a delay is a *gap*: the delay plus a noise between 0 and `eps`. The noise is bounded, not
//! modelled, and every test here holds its level for any noise inside the bound. Seven tests form the [`battery()`]; each
//! has a page of its own:
//!
//! | page | finds |
//! |---|---|
//! | [`support`] | gaps outside the declared interval |
//! | [`interval_dkw`] | a different distribution |
//! | [`reach`] | a floor or ceiling that is never approached |
//! | [`sd_band`] | too little or too much spread within an attempt |
//! | [`rank_corr`] | draws that are reused |
//! | [`gap_scan`] | a crowd at one delay |
//! | [`phase`] | delays rounded to ticks |
//!
//! [`peak`] judges a synchronised herd by its fullest window, [`restart`] and [`partners`] two runs that should not repeat
//! each other, [`one_sided`] and [`chain`] waits at their cap.
//! Times are `f64` seconds in the data, retries are counted from 0, and nothing here reads a clock or an ambient generator.

mod alpha;
mod battery;
pub mod chain;
pub mod gap_scan;
mod gaps;
mod histogram;
pub mod interval_dkw;
mod looks_like;
pub mod one_sided;
pub mod partners;
pub mod peak;
pub mod phase;
pub mod power;
pub mod quantile;
pub mod rank_corr;
pub mod reach;
mod report;
pub mod restart;
mod result;
mod sample;
pub mod sd_band;
pub mod sd_tail;
mod settings;
pub mod support;
mod tail;
mod undecided;

pub use alpha::{Alpha, AlphaError};
pub use battery::{Tests, WORST, battery, decide, tests};
pub use gaps::GapTable;
pub use histogram::{BINS, Histogram};
pub use report::{AttemptSummary, BatteryReport, Decision, Fit, WorstGap};
pub use result::{Skipped, TestName, TestResult};
pub use sample::{Interval, Sample};
pub use settings::Settings;
pub use tail::Tail;
pub use undecided::Undecided;
