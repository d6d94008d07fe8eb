//! What a service promises: one value for configuring a scenario and for judging it. One file a promise.

mod breaker;
mod budget;
mod cap;
mod degradation;
mod failure;
mod idempotency;
mod keys;
mod noise;
mod outcomes;
mod recovery;
mod retry;
mod retry_after;
mod timeout;
mod topology;

pub use breaker::{BreakerMode, BreakerPolicy, BreakerProfile};
pub use budget::{BudgetPolicy, Deposit};
pub use cap::CapCheck;
pub use degradation::{AgeUnit, DegradationPolicy, Place};
pub use failure::Failure;
pub use idempotency::IdempotencyPolicy;
pub use keys::{AfterTtl, Fingerprint, KeyScope, Memo, PendingReply};
pub use noise::Noise;
pub use outcomes::{CallEnd, OutcomeClass, Outcomes};
pub use recovery::{OverloadPolicy, RecoveryPolicy};
pub use retry::RetryPolicy;
pub use retry_after::{OnTop, RetryAfterPolicy};
pub use timeout::TimeoutPolicy;
pub use topology::{AmplificationPolicy, BulkheadPolicy, Hop, IsolationPolicy};
