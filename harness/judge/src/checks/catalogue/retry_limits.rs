//! Entries about what limits retries: the dependency's word, the deadline, the budget; and what is told of them.

use super::{CheckInfo, Tier};

/// R8 RetryAfterHonoured.
pub const R8: &CheckInfo = &CheckInfo {
    id: "R8",
    name: "RetryAfterHonoured",
    tier: Tier::Two,
    promise: "a usable Retry-After is waited out, with what is declared on top; one that cannot be used leaves the \
        backoff law alone; one that is longer than its limit or the time left ends the attempts at once",
    measure: "for each failed attempt that carried the field: from its end to the arrival of the next one, both at the \
        proxy; dates placed on the proxy's clock by the run's time base",
    rule: "no earlier than the value less 2 ms; no later than the value, what is declared on top, and the noise bound \
        (one second more for a date); after a value that is too long no attempt at all, and an answer to the client \
        within half a second and the noise bound",
    false_alarm: "none: what came too early or not at all is counted, and lateness counts only while the canary was \
        within the noise bound",
    inconclusive: "a kind of value (seconds, date, zero or passed, unusable, too long) that no attempt was told; a pause \
        above the noise bound; attempts that join to no request",
    bug_classes: &[
        "Retry-After is ignored: the client comes back by its own law, before it was told to",
        "the value is read in another unit, such as minutes for seconds",
        "a long Retry-After is slept out although the deadline comes first: the caller waits for nothing",
        "a value that cannot be read is taken for zero or for for ever, or ends the attempts",
        "dates are not understood, or one that has passed is taken for a long wait",
    ],
    scenario: "retry-after",
};

/// R9 DeadlineAndCancel.
pub const R9: &CheckInfo = &CheckInfo {
    id: "R9",
    name: "DeadlineAndCancel",
    tier: Tier::Two,
    promise: "nothing of a request goes on after its deadline, no wait is begun that cannot end in an attempt, and no \
        attempt is begun for a client that has left",
    measure: "arrivals and ends of attempts at the proxy against the instants at which the client sent, was answered or \
        closed its connection",
    rule: "no attempt arrives or ends later than the deadline and the noise bound, and the client is answered by then; \
        after a last failed attempt it is answered within half a second and the noise bound; nothing arrives later \
        than the noise bound after the client closed",
    false_alarm: "none: lateness counts only while the canary was within the noise bound",
    inconclusive: "no payment reached its deadline; no client left while attempts were to come, or it was not watched \
        for as long as the next wait could take; a pause above the noise bound",
    bug_classes: &[
        "the deadline is not looked at: every attempt and every wait gets its full time",
        "the deadline is looked at between attempts only, so that the last one runs on past it",
        "a wait is begun that the deadline ends: the caller is kept for nothing",
        "the retry loop outlives its caller: work for an answer that nobody reads",
    ],
    scenario: "retry-deadline",
};

/// R10 RetryBudget.
pub const R10: &CheckInfo = &CheckInfo {
    id: "R10",
    name: "RetryBudget",
    tier: Tier::Two,
    promise: "all retries together stay within the declared budget, and a payment may use it while it has room",
    measure: "retries, failures and successes of all payments at the proxy, each with the stretch of time in which it \
        moved the budget",
    rule: "over every window of time no more retries than the model allows, and one; no payment given up while the \
        least that the budget can have held was enough for one retry more than its own",
    false_alarm: "none: both bounds hold for every order of events within the noise bound, and no payment counts as given up \
        beside attempts that join to no request",
    inconclusive: "the budget was never exhausted, or no retry was made; a payment without an outcome; attempts that join \
        to no request",
    bug_classes: &[
        "no budget: every failure is retried, and an outage multiplies its own load",
        "a budget for each request, thread or host, where one for all was promised",
        "the budget is never refilled, or starts empty: retries stop for good after an outage",
    ],
    scenario: "retry-budget",
};

/// R14 Pushback.
pub const R14: &CheckInfo = &CheckInfo {
    id: "R14",
    name: "Pushback",
    tier: Tier::Three,
    promise: "a pushback of the dependency is obeyed: from 0 ms on it is waited out in place of the law, a negative or \
        unreadable one ends the attempts",
    measure: "attempts of the payment of each step `pushback/<value>`, whose first attempt failed with that value in \
        grpc-retry-pushback-ms",
    rule: "one more attempt between the value less 2 ms and the value plus the noise bound; none after a stop, and an \
        answer within half a second and the noise bound",
    false_alarm: "none: what came too early or too often is counted, and lateness counts only while the canary was \
        within the noise bound",
    inconclusive: "a value whose fault never struck; no value to wait for, or none to stop at; a pause above the noise \
        bound",
    bug_classes: &[
        "the pushback is ignored: the client comes back by its own law",
        "a stop is ignored: the dependency asked for no further attempt and got one",
        "a pushback that asks for a wait, or for none, ends the attempts",
    ],
    scenario: "pushback",
};

/// R15 RetryTelemetry.
pub const R15: &CheckInfo = &CheckInfo {
    id: "R15",
    name: "RetryTelemetry",
    tier: Tier::Three,
    promise: "the service's spans tell of each attempt: one CLIENT span, its resend count, its status, its error",
    measure: "CLIENT spans against the attempts at the proxy, joined by the `traceparent` that each attempt carried",
    rule: "a span for each attempt and for it alone; no http.request.resend_count on the first one and 1, 2, 3 on the \
        next ones; the status of the wire; error.type and an error status where the attempt failed, and only there",
    false_alarm: "none: records are matched by identity",
    inconclusive: "no payment was retried; no spans; attempts without a trace context; a service that was killed took its \
        last spans with it; counts, statuses or errors that differ on a machine that paused for longer than eps",
    bug_classes: &[
        "one span for all attempts of a payment: retries are invisible",
        "spans are dropped: sampled away, not flushed at the end, or lost in a full queue",
        "resends look like first attempts: http.request.resend_count is missing",
        "resends are counted from the wrong number, or for all payments together",
        "the span's status is not the one that was on the wire",
        "a failed attempt is told as a success, or one that the next attempt made good as a failure",
    ],
    scenario: "retry-law, retry-table",
};
