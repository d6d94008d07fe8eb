//! Entries about the run itself: whether its verdicts can be trusted.

use super::{CheckInfo, Tier};

/// H1 QuietMachine.
pub const H1: &CheckInfo = &CheckInfo {
    id: "H1",
    name: "QuietMachine",
    tier: Tier::One,
    promise: "the harness itself was served in time while it measured, and so was the service: no pause was longer than \
        the declared noise bound",
    measure: "a canary: tasks in the harness sleep known times and echo through a proxy during the scenario; the \
        largest overshoot; and, on Linux, the longest time that a thread of a service was ready and had no processor",
    rule: "the longest of them does not exceed the noise bound; above half of it the finding says so",
    false_alarm: "it never fails the service: a noisy machine is nobody's broken promise",
    inconclusive: "an overshoot or wait above the noise bound, or no canary ran: use a quieter machine, give the service a \
        processor, or declare a larger bound",
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
    measure: "client outcomes and attempts of the baseline steps: before any fault, and in a scenario file also after the \
        last one was taken away",
    rule: "every payment succeeds with one attempt; otherwise what is seen under fault says nothing",
    false_alarm: "none: outcomes are counted",
    inconclusive: "the baseline step left no outcomes, or the machine paused for longer than eps when a payment failed or was \
        retried",
    bug_classes: &[
        "the service was ready too early: its health answer does not mean that it can serve",
        "the service does not come back by itself after a fault that is over",
    ],
    scenario: "steady",
};

/// H5 KnownBad.
pub const H5: &CheckInfo = &CheckInfo {
    id: "H5",
    name: "KnownBad",
    tier: Tier::One,
    promise: "the control of a scenario file, a variant that is known to be wrong, is failed by the checks that the file \
        names, so that their pass on the other variants means something",
    measure: "the rulings of the named checks over the control's own evidence",
    rule: "each named check rules as the file expects",
    false_alarm: "none: rulings are compared; each of them has the false alarms of its own check",
    inconclusive: "a named check is inconclusive where the file expects a ruling",
    bug_classes: &[
        "the control does not do what it is said to do: its environment has no effect",
        "the load or the fault is too weak to tell right from wrong",
    ],
    scenario: "scenario files",
};

/// H6 ExpectedNumbers.
pub const H6: &CheckInfo = &CheckInfo {
    id: "H6",
    name: "ExpectedNumbers",
    tier: Tier::Two,
    promise: "the numbers that a scenario file expects of a variant come out within their bounds",
    measure: "numbers of the findings over the variant's evidence, by check and name",
    rule: "each lies within its bounds, the bounds included",
    false_alarm: "that of the bounds: whoever declares them decides how much chance they leave",
    inconclusive: "the finding holds no such number, its check was inconclusive, or the file says that noise alone can spoil \
        the number",
    bug_classes: &[],
    scenario: "scenario files",
};
