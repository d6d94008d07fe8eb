//! Checks of circuit breakers: when they trip, how they reject, when and how they recover.
//!
//! The witness is the wire. A call is *rejected* when nothing of it reached the proxy; the *open instant* is the
//! failure instant of the last attempt that arrived before the first rejected call. What the service's own endpoint
//! says is only ever compared ([`state_is_truthful`]), never believed.
//!
//! Counting rules hold on any machine. Rules about time are judged within the declared noise bound: when the canary
//! measured a longer pause, or none ran, they are inconclusive. A step is judged only when the wire shows the state
//! that it needs (a probe step needs an open breaker), so that one defect does not drag every later check down with
//! it.
//!
//! A breaker of the profile [`Ejection`](crate::promise::BreakerProfile::Ejection) has no half-open state: B4 to B9 do
//! not apply to it, and a battery leaves them out.
//!
//! Where the contract declares slow calls to count as failures, a good call that took as long although no step meant it
//! to excuses everything: the breaker may rightly have counted it.

mod conclude;
mod count;
mod fast;
mod hung;
mod legal;
mod open;
mod outcomes;
mod overshoot;
mod period;
mod probe;
mod reopen;
mod reset;
mod stale;
mod timeline;
mod trips;
mod truth;
mod view;

pub use fast::open_fails_fast;
pub use hung::probe_never_answers;
pub use legal::sequence_is_legal;
pub use open::stays_open;
pub use outcomes::outcomes_count_as_declared;
pub use overshoot::overshoot_is_bounded;
pub use probe::half_open_single_probe;
pub use reopen::probe_failure_reopens;
pub use reset::probe_success_resets;
pub use stale::stale_outcomes_change_nothing;
pub use trips::trips_at_threshold;
pub use truth::state_is_truthful;
