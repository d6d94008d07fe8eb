//! The battery: from a contract's promises to scenarios and checks.
//!
//! One file a scenario: what it needs, what it does, and which checks judge it. What each does, step by step, is written
//! in the guide's page on scenarios; the step names there are part of the evidence format.

mod breaker;
mod degradation;
mod hung;
mod idempotency;
mod retry;
mod scenario;
mod steady;
mod storm;
mod topology;

pub(crate) use breaker::waits_long_enough;
pub use breaker::{
    BREAKER_CROWD, BREAKER_EJECTION, BREAKER_LATE, BREAKER_OUTCOMES, BREAKER_RECOVERY, BREAKER_RELAPSE, BREAKER_TRIP,
    BREAKER_WINDOW,
};
pub use degradation::DEGRADATION;
pub use hung::HUNG;
pub use idempotency::{BANK_CONFLICT, DUPLICATES, KEY_EXPIRY, KEY_MEMO, KEY_SCOPE, ONE_EFFECT, RESTART};
pub use retry::{
    PUSHBACK, RETRY_AFTER, RETRY_BUDGET, RETRY_CAP, RETRY_DEADLINE, RETRY_HERD, RETRY_LAW, RETRY_REPLICAS,
    RETRY_RESTART, RETRY_TABLE,
};
pub(crate) use retry::{longest_waits, told_at_once};
pub(crate) use scenario::plan_in;
pub use scenario::{Scenario, plan};
pub use steady::STEADY;
pub use storm::{OVERLOAD, RECOVERY};
pub use topology::{AMPLIFICATION, BREAKER_ISOLATION, BULKHEAD};

/// Every scenario, longest first: started in this order they overlap best.
pub static SCENARIOS: &[&Scenario] = &[
    &RECOVERY,
    &RETRY_CAP,
    &RETRY_LAW,
    &RETRY_RESTART,
    &RETRY_REPLICAS,
    &OVERLOAD,
    &BREAKER_OUTCOMES,
    &ONE_EFFECT,
    &RETRY_DEADLINE,
    &RETRY_BUDGET,
    &BREAKER_RELAPSE,
    &RETRY_TABLE,
    &BREAKER_RECOVERY,
    &DEGRADATION,
    &BREAKER_EJECTION,
    &BREAKER_LATE,
    &BREAKER_WINDOW,
    &RESTART,
    &DUPLICATES,
    &KEY_MEMO,
    &KEY_EXPIRY,
    &BANK_CONFLICT,
    &BREAKER_TRIP,
    &HUNG,
    &RETRY_AFTER,
    &RETRY_HERD,
    &PUSHBACK,
    &KEY_SCOPE,
    &BREAKER_CROWD,
    &AMPLIFICATION,
    &BULKHEAD,
    &BREAKER_ISOLATION,
    &STEADY,
];
