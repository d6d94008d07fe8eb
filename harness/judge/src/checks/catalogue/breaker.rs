//! Entries about circuit breakers.

use super::{CheckInfo, Tier};

/// Classes of bugs, by the name under which a check points to them.
pub(crate) mod class {
    pub const OFF_BY_ONE: &str = "`>` where `>=` was meant: one failure too many or too few";
    pub const PER_REQUEST: &str = "a breaker made anew for each request, which never counts to two";
    pub const NEVER_FORGETS: &str =
        "successes do not reset a consecutive count, so that old failures add up until a healthy service is cut off";
    pub const WINDOW: &str = "a sliding window that forgets nothing, or too much";
    pub const RETRY_COUNT: &str =
        "each retry counts as a call, or only the whole retried call does, against the promise";
    pub const LOOKS_TOO_LATE: &str = "the state is looked at after the call instead of before it";
    pub const LEAKS: &str = "an open breaker that lets single calls through and stays open";
    pub const WAITS: &str =
        "an open breaker that still waits for a pool slot, or sleeps through the retry delays, before it rejects";
    pub const RETRY_AFTER: &str = "Retry-After holds the configured open time, not what is left of it";
    pub const OTHER_ANSWER: &str = "the rejection surfaces as a 500 of the framework";
    pub const UNIT: &str = "open time in the wrong unit";
    pub const WRONG_START: &str =
        "the open time runs from the first failure, or starts anew with each rejected call and so never ends";
    pub const NO_TIMER: &str = "the turn to half-open waits for a timer that nobody started, and never comes";
    pub const NOT_ATOMIC: &str =
        "transition and permit are not atomic (the class of resilience4j #1432): all who see half-open go through";
    pub const TWO_STEPS: &str =
        "the permit is taken by a check and given by a later step, so that callers in between all pass";
    pub const QUEUE: &str = "callers queue behind the probe and pour out when it succeeds";
    pub const FAILURE_CLOSES: &str = "a failed probe closes the breaker: any answer counts as recovery";
    pub const STAYS_HALF_OPEN: &str = "a failed probe leaves it half-open, and each caller becomes a probe";
    pub const COUNTS_AGAIN: &str =
        "the threshold is counted again in half-open, so that one failed probe is not enough";
    pub const NOT_RESET: &str =
        "the failure count is not reset by a good probe: the next single failure opens it again";
    pub const STAYS_LIMITED: &str =
        "a good probe leaves the breaker half-open, and callers are rejected by a healthy dependency's breaker";
    pub const LOST_PERMIT: &str =
        "a lost permit: cancelled, timed-out or ignored probes never give it back, and half-open lasts for ever";
    pub const NO_TIMEOUT: &str = "the attempt has no timeout of its own, so that the probe is never over";
    pub const OTHER_BREAKER: &str = "the endpoint shows another breaker of the same name, or another instance";
    pub const STALE_STATE: &str = "the state is only updated by the next call, so that dashboards show `open` for ever";
    pub const SAYS_CLOSED: &str =
        "the endpoint shows a state of its own that the deciding code does not keep up to date";
    pub const MISCOUNTED: &str =
        "a rejection is counted at each layer that sees it, or in another meter than the one shown";
    pub const STALE_CLOSES: &str =
        "outcomes are not tied to the state that admitted the call: a late success closes the breaker without a probe";
    pub const STALE_REOPENS: &str =
        "outcomes are not tied to the state that admitted the call: a late failure counts as a failed probe";
    pub const STALE_FREES: &str =
        "the count of probes in flight goes down with every outcome, also with one that never took a permit";
    pub const STALE_RESTARTS: &str = "each failure that comes while open starts the open time anew";
    pub const CLIENT_ERRORS: &str =
        "every answer that is no success counts as a failure, so that a caller's mistakes cut a healthy dependency off";
    pub const SUCCESS_NOT_COUNTED: &str = "an answer that shows the dependency at work does not count as a success";
    pub const FAILURE_NOT_COUNTED: &str =
        "only failed connections count: an answer counts as a success whatever it says";
    pub const TIMEOUT_NOT_COUNTED: &str = "a call that its own time limit cancels is no failure to the breaker, which so never sees a dependency that hangs";
    pub const SLOW_NOT_COUNTED: &str = "slow successes are measured and shown, and left out of what opens the breaker";
    pub const IGNORED_RESETS: &str = "an ignored outcome is recorded as a success: `not a failure` was taken for one";
    pub const IGNORED_CLOSES: &str = "an ignored outcome of a probe counts as recovery";
    pub const IGNORED_KEEPS_PERMIT: &str =
        "an ignored outcome of a probe does not give its permit back, or counts as its failure";
    pub const LOST_UPDATE: &str =
        "failures that overlap are counted as one: the count is read, raised and written back without a lock";
    pub const ILLEGAL_CHANGE: &str = "the breaker closes without a probe, or its states are set from several places";
    pub const LOST_CHANGE: &str = "changes of state are told of by some code paths and not by others";
}

/// B1 TripsAtThreshold.
pub const B1: &CheckInfo = &CheckInfo {
    id: "B1",
    name: "TripsAtThreshold",
    tier: Tier::One,
    promise: "the breaker opens at the declared number of failures: not before, and not after",
    measure: "failing calls that reached the proxy before the first call that was rejected without reaching it; and \
        calls rejected in the steps that stay below the threshold",
    rule: "one call at a time: exactly `threshold` calls arrive before the first rejection. When calls overlapped: \
        at least `threshold`, at most `threshold` plus the calls in flight. Below the threshold, and after the \
        count was reset, nothing is rejected",
    false_alarm: "none: arrivals are counted",
    inconclusive: "no `trip` step; a step that began with an open breaker; calls meant to fail that succeeded, or were too \
        few, or lay so far apart that the open time may have passed between them; a call without any answer; service \
        retries that alone reach the threshold in a step meant to stay below it; a count that an earlier probe did not \
        reset, which is for B6",
    bug_classes: &[class::OFF_BY_ONE, class::PER_REQUEST, class::NEVER_FORGETS, class::WINDOW, class::RETRY_COUNT],
    scenario: "breaker-trip, breaker-recovery, breaker-window, breaker-ejection",
};

/// B2 OpenFailsFast.
pub const B2: &CheckInfo = &CheckInfo {
    id: "B2",
    name: "OpenFailsFast",
    tier: Tier::One,
    promise: "while the breaker is open, callers are refused at once and with the declared answer, and the \
        dependency gets no call",
    measure: "calls sent while open: arrivals at the proxy, the callers' latencies, statuses, Retry-After and the \
        problem details they got",
    rule: "no arrival; every answer has the declared status within the fast-fail limit plus the noise bound; \
        Retry-After, when sent, promises no more than the open time that is left, rounded up to a second; the \
        `status` member of problem details equals the wire status",
    false_alarm: "none for the counts; the latency rule only judges when no canary pause exceeded the noise bound",
    inconclusive: "the breaker never opened, no call was sent while it was open, or a canary pause exceeded the \
        noise bound",
    bug_classes: &[class::LOOKS_TOO_LATE, class::LEAKS, class::WAITS, class::RETRY_AFTER, class::OTHER_ANSWER],
    scenario: "breaker-trip",
};

/// B3 OpenDuration.
pub const B3: &CheckInfo = &CheckInfo {
    id: "B3",
    name: "OpenDuration",
    tier: Tier::Two,
    promise: "the breaker stays open for the declared time, and no longer",
    measure: "the open instant (the failure of the last call that arrived before the first rejection), the first \
        arrival after it, and the first call that was sent after the open time",
    rule: "no arrival before the open time less 2 ms; the first call later than the open time plus the noise bound \
        reaches the proxy as the probe; each failed probe multiplies the open time by the declared growth",
    false_alarm: "none within the noise bound: an arrival that is too early cannot be caused by delay, and a late \
        probe is only judged when no canary pause exceeded the bound",
    inconclusive: "the breaker never opened, no call was sent in the stretch that decides, or a canary pause \
        exceeded the noise bound",
    bug_classes: &[class::UNIT, class::LEAKS, class::WRONG_START, class::NO_TIMER],
    scenario: "breaker-recovery, breaker-relapse, breaker-ejection",
};

/// B4 HalfOpenSingleProbe.
pub const B4: &CheckInfo = &CheckInfo {
    id: "B4",
    name: "HalfOpenSingleProbe",
    tier: Tier::One,
    promise: "a half-open breaker lets exactly the declared number of probes through and refuses every other caller \
        until they are answered",
    measure: "32 callers after the open time while the proxy holds the probe: calls that reached the proxy before \
        the release, and the other callers' answers and when they got them",
    rule: "while the probe was held the proxy saw exactly the permitted number of calls (none at all: the breaker \
        is stuck); every other caller was rejected before the release, none waited behind the probe. In every cycle",
    false_alarm: "none: the hold makes the overlap certain, and calls are counted",
    inconclusive: "no call was held or released in a probe step although calls arrived, or a probe step left no \
        outcomes",
    bug_classes: &[class::NOT_ATOMIC, class::TWO_STEPS, class::QUEUE, class::NO_TIMER],
    scenario: "breaker-recovery, breaker-relapse",
};

/// B5 ProbeFailureReopens.
pub const B5: &CheckInfo = &CheckInfo {
    id: "B5",
    name: "ProbeFailureReopens",
    tier: Tier::Two,
    promise: "a failed probe opens the breaker again for a full open time",
    measure: "the probe's failure at the proxy, and the calls sent in the first three quarters of the open time \
        that follows",
    rule: "these calls are rejected: none reaches the proxy before the breaker has rejected one. An arrival after \
        rejections is an open time that is too short or leaks, which OpenDuration (B3) fails",
    false_alarm: "none for the count; calls so close to the end of the new open time that the noise bound matters \
        are left out",
    inconclusive: "the probe met no failure, no call followed it within the new open time, the new open time is too \
        short, or a canary pause exceeded the noise bound",
    bug_classes: &[class::FAILURE_CLOSES, class::STAYS_HALF_OPEN, class::COUNTS_AGAIN],
    scenario: "breaker-relapse",
};

/// B6 ProbeSuccessResets.
pub const B6: &CheckInfo = &CheckInfo {
    id: "B6",
    name: "ProbeSuccessResets",
    tier: Tier::Two,
    promise: "a successful probe closes the breaker and starts the count anew",
    measure: "after a successful probe: good calls, then threshold-1 failing calls, then one good call, and which \
        of them reached the proxy",
    rule: "all of them reach the proxy: the good calls pass, and threshold-1 new failures do not open the breaker. \
        In every cycle",
    false_alarm: "none: arrivals are counted",
    inconclusive: "no probe succeeded, or the steps after it left no outcomes",
    bug_classes: &[class::NOT_RESET, class::STAYS_LIMITED],
    scenario: "breaker-recovery",
};

/// B7 ProbeNeverAnswers.
pub const B7: &CheckInfo = &CheckInfo {
    id: "B7",
    name: "ProbeNeverAnswers",
    tier: Tier::One,
    promise: "a probe that gets no answer does not lock the breaker: a new probe is let through after a further \
        open time",
    measure: "a probe whose call hangs at the proxy until the service gives it up; the calls sent after the open \
        time that follows",
    rule: "at least one of these calls reaches the proxy, and no more than the permitted number while it is held",
    false_alarm: "none within the noise bound: the first call is sent after the open time has surely ended",
    inconclusive: "the probe did not hang, the service had not given it up when the later calls were sent, or a \
        canary pause exceeded the noise bound",
    bug_classes: &[class::LOST_PERMIT, class::NO_TIMEOUT],
    scenario: "breaker-relapse",
};

/// B8 StaleOutcome.
pub const B8: &CheckInfo = &CheckInfo {
    id: "B8",
    name: "StaleOutcome",
    tier: Tier::Two,
    promise: "a call that was sent while the breaker was closed and ends later changes nothing: it does not close or \
        reopen the breaker, frees no permit, and does not start the open time anew",
    measure: "calls whose answers the proxy holds from the closed state on; one answer is released while the breaker \
        is open, one while the probes are held; then which of the calls sent behind them reach the proxy",
    rule: "none does while open or while the probes are held; the probes come when the open time is over; after good \
        probes all calls pass. Once with answers that succeed, once with answers that fail",
    false_alarm: "none: the holds fix the order, and calls are counted. That no probe was let through only counts on a \
        machine without long pauses",
    inconclusive: "the breaker never opened; a late answer did not come when it was planned to, or fewer calls followed it \
        than are needed; probes were not as many as declared, failed, or were not held and released; or the breaker breaks \
        the same rule without a late answer",
    bug_classes: &[class::STALE_CLOSES, class::STALE_REOPENS, class::STALE_FREES, class::STALE_RESTARTS],
    scenario: "breaker-late",
};

/// B9 OutcomeClassification.
pub const B9: &CheckInfo = &CheckInfo {
    id: "B9",
    name: "OutcomeClassification",
    tier: Tier::Two,
    promise: "each end of a call counts as declared: as a success, as a failure, or as nothing; slow calls and calls \
        that time out included",
    measure: "for each declared end: whether enough calls of it open the closed breaker, whether one of them starts a \
        consecutive count over, and what probes do that end so",
    rule: "failures open it, closed and half-open; successes and ignored ends never do. A success starts the count \
        over and closes as probe; an ignored end does neither and gives its permit back",
    false_alarm: "none: calls are counted",
    inconclusive: "the ends on the wire are not the planned ones, or too few; the breaker was not in the state that a step \
        needs; no call followed while the breaker had surely to be open, or none was held where one had to be",
    bug_classes: &[
        class::CLIENT_ERRORS,
        class::SUCCESS_NOT_COUNTED,
        class::FAILURE_NOT_COUNTED,
        class::TIMEOUT_NOT_COUNTED,
        class::SLOW_NOT_COUNTED,
        class::IGNORED_RESETS,
        class::IGNORED_CLOSES,
        class::IGNORED_KEEPS_PERMIT,
        class::FAILURE_CLOSES,
    ],
    scenario: "breaker-outcomes",
};

/// B10 TripOvershoot.
pub const B10: &CheckInfo = &CheckInfo {
    id: "B10",
    name: "TripOvershoot",
    tier: Tier::Three,
    promise: "when calls fail at the same time, the breaker opens as soon as enough of them are counted: only those in \
        flight by then still reach the dependency",
    measure: "calls that overlap and fail together, and the calls behind them: arrivals after the threshold-th failure \
        (the overshoot, which is reported), and the calls in flight then",
    rule: "no call arrives within the open time that was sent after `threshold` failures had been answered to their callers",
    false_alarm: "none: the order is by cause, calls are counted, and what arrives when the open time may be over is left out",
    inconclusive: "too few failures overlapped, or a call meant to fail succeeded; the breaker was open before or never \
        opened; no call followed the crowd while the breaker was surely open",
    bug_classes: &[class::LOST_UPDATE],
    scenario: "breaker-crowd",
};

/// B12 StateTruth.
pub const B12: &CheckInfo = &CheckInfo {
    id: "B12",
    name: "StateTruth",
    tier: Tier::Three,
    promise: "the breaker's endpoint does not contradict what the wire shows",
    measure: "readings of the breaker's endpoint against the stretches in which the wire proves it closed or open, and \
        its counter of calls not permitted against the rejections",
    rule: "no reading says `open` while calls pass, `closed` while they are rejected, or `half-open` where no probe came \
        before, or has a state that the profile does not know; the counter of calls that were not permitted is not behind the \
        rejections that callers have seen, and not ahead of them. The wire is the witness: a reading can be refuted \
        and never acquits",
    false_alarm: "none: readings within the noise bound of a change are left out",
    inconclusive: "no reading was taken while the wire proves a state",
    bug_classes: &[
        class::OTHER_BREAKER,
        class::STALE_STATE,
        class::SAYS_CLOSED,
        class::MISCOUNTED,
        class::ILLEGAL_CHANGE,
    ],
    scenario: "breaker-trip, breaker-recovery, breaker-relapse, breaker-late, breaker-ejection",
};

/// B13 LegalSequence.
pub const B13: &CheckInfo = &CheckInfo {
    id: "B13",
    name: "LegalSequence",
    tier: Tier::Three,
    promise: "the breaker goes only through the changes of state of its profile, and tells of each of them",
    measure: "the changes in the service's event log, in their order, and the openings that the wire shows",
    rule: "each change is an edge of the profile's automaton (classic, resilience4j with its special states, ejection \
        without half-open) and begins where the one before it ended; there are as many openings as on the wire, where a \
        call was rejected after others had passed",
    false_alarm: "none: the order is the service's own",
    inconclusive: "no change was told of, or only changes of several breakers none of which has the link's name; part of \
        the log was overwritten or could not be read; a state has an unknown name; no call was seen on the link",
    bug_classes: &[class::ILLEGAL_CHANGE, class::LOST_CHANGE],
    scenario: "breaker-trip, breaker-recovery, breaker-relapse, breaker-late, breaker-ejection",
};
