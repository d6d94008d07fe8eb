//! Entries about the run itself: whether its verdicts can be trusted.

use super::{CheckInfo, Tier};

/// H1 QuietMachine.
pub const H1: &CheckInfo = &CheckInfo {
    id: "H1",
    name: "QuietMachine",
    tier: Tier::One,
    promise: "the harness itself was served in time while it measured: no pause was longer than the declared noise \
        bound",
    measure: "a canary: tasks in the harness sleep known times and echo through a proxy during the scenario; the \
        largest overshoot",
    rule: "the largest overshoot does not exceed the noise bound; above half of it the finding says so",
    false_alarm: "it never fails the service: a noisy machine is nobody's broken promise",
    inconclusive: "an overshoot above the noise bound, or no canary ran: use a quieter machine or declare a larger \
        bound",
    bug_classes: &[],
    scenario: "all timed",
};

/// H2 FaultsFired.
pub const H2: &CheckInfo = &CheckInfo {
    id: "H2",
    name: "FaultsFired",
    tier: Tier::One,
    promise: "each fault of the plan struck as often as planned, so that a pass means something",
    measure: "the proxy's count of strikes for each rule, against the plan; and that each rule was taken out again",
    rule: "every rule struck at least as often as planned",
    false_alarm: "it never fails the service",
    inconclusive: "a rule struck less often than planned: the service may not have called the dependency at all, or \
        the link is not the one that the contract names",
    bug_classes: &[],
    scenario: "all",
};

/// H3 WitnessesAgree.
pub const H3: &CheckInfo = &CheckInfo {
    id: "H3",
    name: "WitnessesAgree",
    tier: Tier::Two,
    promise: "the service's own spans tell of the same attempts as the wire",
    measure: "CLIENT spans towards the dependency against attempts at the proxy, joined by trace and parent",
    rule: "each attempt has its span and each span its attempt, but for the tolerated share",
    false_alarm: "none: records are matched by identity",
    inconclusive: "the service exports no spans, or more attempts than tolerated stay unmatched",
    bug_classes: &[
        "spans are dropped by a full export queue, or lost because nobody flushes at the end",
        "trace context is not propagated, so that each attempt is a trace of its own",
        "one span covers all attempts, and the retries are invisible",
    ],
    scenario: "all",
};

/// H4 SteadyState.
pub const H4: &CheckInfo = &CheckInfo {
    id: "H4",
    name: "SteadyState",
    tier: Tier::One,
    promise: "without any fault, payments succeed at the first attempt",
    measure: "client outcomes and attempts of the baseline step, before any fault",
    rule: "every payment succeeds with one attempt; otherwise what is seen under fault says nothing",
    false_alarm: "none: outcomes are counted",
    inconclusive: "the baseline step left no outcomes",
    bug_classes: &["the service was ready too early: its health answer does not mean that it can serve"],
    scenario: "steady",
};
