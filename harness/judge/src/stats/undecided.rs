//! Why a battery gives no verdict.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A reason to be inconclusive, with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Undecided {
    /// There is no gap.
    #[error("no gap was observed: check that the fault fired and that the service retries at all")]
    Empty,
    /// A gap is NaN or infinite.
    #[error("the gap before retry {} of client {client} is not a finite number: the recording is damaged, run again", .retry + 1)]
    NotFinite {
        /// Client, from 0.
        client: usize,
        /// Retry, from 0.
        retry: usize,
    },
    /// The declared share of outliers is no share.
    #[error("outlier_share is {share}: it must be at least 0 and below 0.5, for example 0.02")]
    OutlierShare {
        /// The value.
        share: String,
    },
    /// Nothing was rejected, but too few clients took part for that to mean anything.
    #[error("only {clients} clients retried and {floor} are needed before silence is an acquittal: {power}")]
    TooFewClients {
        /// Clients with at least one gap.
        clients: usize,
        /// Clients that are needed.
        floor: usize,
        /// Which wrong policies this many clients would have shown, in words.
        power: String,
    },
    /// Nothing was rejected, but the noise bound is so wide that a wrong law would not have been either.
    #[error(
        "noise of up to {eps} hides a law whose widest attempt spans {widest}: declare a longer base, allow more retries, or lower eps on a quieter machine"
    )]
    NoiseHidesLaw {
        /// The noise bound.
        eps: String,
        /// The widest declared interval among the attempts seen.
        widest: String,
    },
    /// A statistic could not be computed.
    #[error(
        "the {test} test gave a number that is not finite: this is a defect of the harness, please report it with the run folder"
    )]
    UndefinedStatistic {
        /// The test.
        test: String,
    },
}
