//! Scenarios of the promises of recovery and of goodput under overload.

mod overload;
mod recovery;

pub use overload::OVERLOAD;
pub use recovery::RECOVERY;

use mock_bank::Capacity;

/// What the bank can do in these scenarios: 200 calls a second, eight at once.
const CAPACITY: Capacity = Capacity { at_once: 8, work_ms: 40 };
