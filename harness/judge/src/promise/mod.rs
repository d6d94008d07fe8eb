//! What a service promises: one value for configuring a scenario and for judging it. One file a promise.

mod breaker;
mod failure;
mod idempotency;
mod noise;
mod retry;

pub use breaker::{BreakerMode, BreakerPolicy, BreakerProfile};
pub use failure::Failure;
pub use idempotency::IdempotencyPolicy;
pub use noise::Noise;
pub use retry::RetryPolicy;
