//! What a service promises: one value for configuring a scenario and for judging it. One file a promise.

mod breaker;
mod budget;
mod failure;
mod idempotency;
mod noise;
mod outcomes;
mod recovery;
mod retry;
mod retry_after;
mod timeout;

pub use breaker::{BreakerMode, BreakerPolicy, BreakerProfile};
pub use budget::{BudgetPolicy, Deposit};
pub use failure::Failure;
pub use idempotency::IdempotencyPolicy;
pub use noise::Noise;
pub use outcomes::{CallEnd, OutcomeClass, Outcomes};
pub use recovery::{OverloadPolicy, RecoveryPolicy};
pub use retry::RetryPolicy;
pub use retry_after::{OnTop, RetryAfterPolicy};
pub use timeout::TimeoutPolicy;
