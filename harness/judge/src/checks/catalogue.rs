//! What each check promises, measures and proves, in words for the person who reads its verdict.
//!
//! The entries are constants, so that a check names its own entry and cannot name one that does not exist. [`info`]
//! is for ids that come from outside, such as a command line.
//!
//! ```
//! use judge::checks::catalogue;
//!
//! assert_eq!(catalogue::B4.name, "HalfOpenSingleProbe");
//! assert_eq!(catalogue::info("b4"), Some(catalogue::B4));
//! assert_eq!(catalogue::info("B99"), None);
//! ```

mod breaker;
mod degradation;
mod idempotency;
mod keys;
mod retry;
mod retry_limits;
mod storm;
mod timeout;
mod topology;
mod trust;

use serde::Serialize;

pub(crate) use breaker::class;
pub use breaker::{B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B12, B13};
pub use degradation::{G1, G2, G3, G4};
pub use idempotency::{I1, I2, I3, I4, I5, I6};
pub use keys::{I7, I8, I9, I10};
pub use retry::{R1, R2, R3, R4, R5, R6, R12, R13};
pub use retry_limits::{R8, R9, R10, R14, R15};
pub use storm::{S1, S2, S3};
pub use timeout::T1;
pub use topology::{B11, R11, T2};
pub use trust::{H1, H2, H3, H4, H5, H6};

/// How much a check is worth to a payments team: what to fix, and to build, first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Money or availability is lost when it fails.
    One,
    /// The service recovers worse than it promises.
    Two,
    /// Useful to know.
    Three,
}

impl Tier {
    /// 1, 2 or 3.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Tier::One => 1,
            Tier::Two => 2,
            Tier::Three => 3,
        }
    }
}

/// One entry of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CheckInfo {
    /// Its id, e.g. `B4`.
    pub id: &'static str,
    /// Its name, e.g. `HalfOpenSingleProbe`.
    pub name: &'static str,
    /// Its weight.
    pub tier: Tier,
    /// What the service promises when the check passes.
    pub promise: &'static str,
    /// What is measured, and by which witness.
    pub measure: &'static str,
    /// The rule that decides.
    pub rule: &'static str,
    /// How likely a correct service is failed by chance.
    pub false_alarm: &'static str,
    /// When it says inconclusive instead.
    pub inconclusive: &'static str,
    /// Known classes of bugs that a failure points to.
    pub bug_classes: &'static [&'static str],
    /// The scenarios whose evidence it reads, separated by commas.
    pub scenario: &'static str,
}

/// Every check, in the order of reports.
pub static CATALOGUE: &[CheckInfo] = &[
    *R1, *R2, *R3, *R4, *R5, *R6, *R8, *R9, *R10, *R11, *R12, *R13, *R14, *R15, *I1, *I2, *I3, *I4, *I5, *I6, *I7, *I8,
    *I9, *I10, *B1, *B2, *B3, *B4, *B5, *B6, *B7, *B8, *B9, *B10, *B11, *B12, *B13, *T1, *T2, *G1, *G2, *G3, *G4, *S1,
    *S2, *S3, *H1, *H2, *H3, *H4, *H5, *H6,
];

/// The entry of that id or name, whatever its case; `None` when there is none. `R7` gives [`R6`], which covers it.
#[must_use]
pub fn info(id_or_name: &str) -> Option<&'static CheckInfo> {
    let asked = if id_or_name.eq_ignore_ascii_case("R7") { R6.id } else { id_or_name };
    CATALOGUE.iter().find(|c| c.id.eq_ignore_ascii_case(asked) || c.name.eq_ignore_ascii_case(asked))
}
