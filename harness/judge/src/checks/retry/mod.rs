//! Checks of retries: how many, how far apart, of what, with which key and which bytes; what limits them, and what the
//! service tells of them.
//!
//! The witness is the proxy in front of the dependency. Counting checks ([`bounded_attempts`],
//! [`retries_only_the_retryable`], [`key_is_stable`], [`payload_is_stable`]) hold on any machine and cannot fail a correct
//! service by chance. Timing checks ([`backoff_law`], [`no_herd`], [`draws_anew`]) are judged within the declared
//! noise bound, and say inconclusive when the canary measured a longer pause, or none ran.

mod after;
mod bounded;
mod budget;
mod cap;
mod deadline;
mod fresh;
mod gaps;
mod herd;
mod key;
mod law;
mod payload;
pub(in crate::checks) mod peaks;
mod pushback;
mod queueing;
mod table;
mod telemetry;
mod told;

pub use after::retry_after_is_honoured;
pub use bounded::bounded_attempts;
pub use budget::budget_holds;
pub use cap::cap_holds;
pub use deadline::deadline_and_cancel;
pub use fresh::draws_anew;
pub use herd::{excludes_a_herd, no_herd};
pub use key::key_is_stable;
pub use law::backoff_law;
pub use payload::payload_is_stable;
pub use pushback::pushback_is_obeyed;
pub use table::retries_only_the_retryable;
pub use telemetry::spans_tell_of_resends;
