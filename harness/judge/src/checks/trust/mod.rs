//! Checks of the run itself and of the witnesses: whether its other verdicts can be trusted.

mod canary;
mod faults;
mod spans;
mod steady;

pub use canary::canary_is_quiet;
pub use faults::faults_fired;
pub use spans::spans_match_wire;
pub use steady::steady_state;
