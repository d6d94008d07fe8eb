//! Entries about load that feeds on failure: storms, recovery, goodput.

use super::{CheckInfo, Tier};

/// S1 StormReplay.
pub const S1: &CheckInfo = &CheckInfo {
    id: "S1",
    name: "StormReplay",
    tier: Tier::Three,
    promise: "when many payments fail together the retries come spread out as the declared law spreads them, and they are \
        no more than promised; a control without the law shows that the same failure would have been a storm",
    measure: "two evidences of one load and one fault, the service's and the control's: requests at the dependency for each \
        payment (the amplification), and the retries in the fullest sliding window, each payment's placed by their gaps \
        from its own first failure, as if all had failed in one instant",
    rule: "the service's fullest window stays below m*, the smallest number that rules the declared law out, and its \
        amplification does not exceed the promised attempts; the mean that the law makes expect is computed beside it",
    false_alarm: "at most 1e-7: m* is a Chernoff bound over all windows of the declared arrival profile; the amplification is \
        counted",
    inconclusive: "a control that stays below m*, so that the load was no storm; retries or payments that are missing; a \
        canary pause above the noise bound, or none measured; another load in the two evidences",
    bug_classes: &[
        "a retry storm: the failure of one instant returns as a wave of the same height",
        "nested retries: each layer repeats what the layer below has repeated, and the numbers multiply",
    ],
    scenario: "scenario files",
};

/// S2 RecoversAfterTrigger.
pub const S2: &CheckInfo = &CheckInfo {
    id: "S2",
    name: "RecoversAfterTrigger",
    tier: Tier::Two,
    promise: "when a disturbance is over the service comes back by itself: goodput, retries and load are as before within \
        the promised time, and nothing that the disturbance left behind keeps it down",
    measure: "an even load over a dependency of limited capacity, before, during and after a disturbance: payments that \
        succeed, attempts for each payment, and requests at the dependency, before the first fault and from the promised \
        time after the last one on",
    rule: "of the payments sent after the promised time at least the promised share of the earlier success rate succeeds; \
        their attempts and the requests at the dependency exceed those of before by no more than the share that may be \
        missing; the requests do not rise from the first to the second half of that time",
    false_alarm: "none on a service that recovers, on a machine that keeps its noise bound: before and after are the same even \
        load, and the comparison leaves two requests for where the time was cut",
    inconclusive: "fewer than 50 payments before or after, a load that ended too early, a service that was not well before \
        the disturbance, a fault that did not strike, no call at all seen on the link, a pause of the machine that is long against the promised time, or, when \
        something is not back, one above two noise bounds, a disk that kept a small write waiting for longer than four, or one echo of the canary in a \
        hundred later than a third of the bound",
    bug_classes: &[
        "a metastable failure: retries or queued work of the disturbance are themselves enough load to keep it up",
        "work that nobody waits for any more is still sent: abandoned calls use up what fresh ones need",
        "a breaker, a pool or a cache that does not come back when the dependency is well again",
    ],
    scenario: "recovery",
};

/// S3 Goodput.
pub const S3: &CheckInfo = &CheckInfo {
    id: "S3",
    name: "Goodput",
    tier: Tier::Three,
    promise: "asked for more than its dependency can do, the service still turns the promised share of that capacity into \
        successes",
    measure: "payments that succeeded in each second against the calls that the dependency can work on in a second, under an \
        even load above that capacity, the first part left out",
    rule: "successes for each second of the load are at least the promised share of the capacity",
    false_alarm: "none on a machine that keeps its noise bound: successes are counted, and the capacity is that of a queue kept \
        by the clock",
    inconclusive: "an offered load that was not above the capacity, fewer than 50 successes that could have been, no payment \
        that reached the dependency, a pause \
        of the machine that is long against the time of the load, or, when the share is missed, one above two \
        noise bounds, a disk that kept a small write waiting for longer than four, or one echo of the canary in a \
        hundred later than a third of the bound",
    bug_classes: &[
        "no limit on calls in flight: each waits so long that its caller has given up when it is answered",
        "retries under overload: they take the place of payments that would have succeeded",
    ],
    scenario: "overload",
};
