//! What a service promises: one value for configuring a scenario and for judging it. One file a promise.

mod breaker;
mod failure;
mod idempotency;
mod noise;
mod outcomes;
mod recovery;
mod retry;

pub use breaker::{BreakerMode, BreakerPolicy, BreakerProfile};
pub use failure::Failure;
pub use idempotency::IdempotencyPolicy;
pub use noise::Noise;
pub use outcomes::{CallEnd, OutcomeClass, Outcomes};
pub use recovery::{OverloadPolicy, RecoveryPolicy};
pub use retry::RetryPolicy;
