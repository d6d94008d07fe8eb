//! Entries about time limits towards the client.

use super::{CheckInfo, Tier};

/// T1 TimeoutHolds.
pub const T1: &CheckInfo = &CheckInfo {
    id: "T1",
    name: "TimeoutHolds",
    tier: Tier::Three,
    promise: "a client is answered within the promised time, also while the dependency never answers",
    measure: "the load driver's time from send to answer, for payments whose every call to the dependency hung",
    rule: "a whole answer, no later than the promised time and the noise bound",
    false_alarm: "none: lateness counts only while the canary was within the noise bound",
    inconclusive: "no call hung; the driver gave up before the promised time; a pause above the noise bound",
    bug_classes: &[
        "no time limit: a dependency that hangs holds its callers for as long as it likes",
        "each attempt has its limit and nothing limits their sum",
        "the connection to the client is dropped instead of answered",
    ],
    scenario: "hung",
};
