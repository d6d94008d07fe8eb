//! The battery: from a contract's promises to scenarios and checks.
//!
//! What each scenario does, step by step, is written in the guide's page on scenarios; the step names there are part of
//! the evidence format.

mod breaker;
mod checks;
mod idempotency;
mod plan;
mod restart;
mod retry;
mod steady;

pub use plan::{Scenario, plan};

/// Clients of the law scenario: the recommended default of the battery of statistics.
pub const LAW_CLIENTS: usize = 100;
/// Clients in flight while the law is measured: few enough that the service's own pools stay out of the gaps.
pub const LAW_IN_FLIGHT: usize = 20;
/// Clients of the herd.
pub const HERD_CLIENTS: usize = 100;
/// Callers that share one key.
pub const TWINS: usize = 10;
/// Callers of a burst.
pub const BURST: usize = 32;
/// Bursts of a run.
pub const BURST_ROUNDS: usize = 10;
/// Callers beside the probe in half-open.
pub const PROBE_COMPANIONS: usize = 31;
/// Cycles of trip and recovery.
pub const CYCLES: usize = 3;
