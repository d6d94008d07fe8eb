//! Entries about retries.

use super::{CheckInfo, Tier};

/// R1 BoundedAttempts.
pub const R1: &CheckInfo = &CheckInfo {
    id: "R1",
    name: "BoundedAttempts",
    tier: Tier::One,
    promise: "a payment whose every attempt fails is tried exactly as often as promised, and a payment that has \
        succeeded is not tried again",
    measure: "attempts per payment as the proxy in front of the dependency saw them, joined by idempotency key; \
        attempts after the first one that was answered with success",
    rule: "every payment that met a permanent failure has exactly the promised number of attempts; no payment has \
        an attempt that began after the end of a successful one",
    false_alarm: "none: attempts are counted, nothing is estimated",
    inconclusive: "no payment met a permanent failure, the failure did not strike every attempt, client requests \
        were left without an outcome, an attempt followed a success while the machine paused for longer than the noise bound, \
        or attempts are missing while the machine paused for longer than the noise bound and \
        each may have lasted its promised timeout",
    bug_classes: &[
        "`retries` taken for `attempts`: one too many or one too few",
        "nested retries: client library and service each retry, and the numbers multiply",
        "a retry timer that is not cancelled by the success it waited for",
    ],
    scenario: "retry-law, retry-herd",
};

/// R2 BackoffLaw.
pub const R2: &CheckInfo = &CheckInfo {
    id: "R2",
    name: "BackoffLaw",
    tier: Tier::One,
    promise: "the gaps between attempts follow the declared law: its floor and ceiling for each attempt, its \
        growth, and its randomness",
    measure: "gap k of a payment: arrival of attempt k+1 at the proxy minus the instant attempt k failed there, \
        both on the proxy's monotonic clock. A gap is the service's own delay plus something between 0 and the \
        noise bound",
    rule: "seven tests, each against the declared law: support (gaps inside floor and ceiling), interval-DKW (the \
        whole distribution), reach (some gap comes near each end), standard deviation within an attempt, rank \
        correlation between a payment's successive gaps, gap scan (no pile-up at one value), phase (no rounding to \
        whole ticks). One rejection fails the check",
    false_alarm: "at most 1e-7 for each test, 7e-7 for the check, for every kind of noise within the bound; the \
        bounds are exact for finite samples",
    inconclusive: "fewer than 60 payments or no retry, a canary pause above the noise bound, or a law too narrow \
        for the bound: use a larger base or a quieter machine",
    bug_classes: &[
        "no jitter: every client comes back in the same instant",
        "jitter from a generator that every client seeds alike",
        "one random draw reused for all retries of a payment",
        "the exponent forgotten, or taken from the wrong attempt",
        "milliseconds read as seconds, or delays rounded to whole ticks",
        "a cap applied after the jitter, so that late delays pile up on it",
        "a configured delay that is not the declared one",
    ],
    scenario: "retry-law",
};

/// R3 RetryPeak.
pub const R3: &CheckInfo = &CheckInfo {
    id: "R3",
    name: "RetryPeak",
    tier: Tier::Two,
    promise: "clients that failed together do not come back together",
    measure: "the largest number of retries in any sliding window of a tenth, a fifth and a quarter of the base, \
        first attempts left out, each client's retries placed by their gaps from its own first failure, as if all had failed in one instant",
    rule: "the fullest window holds no more than m*, the largest number that the declared law can be expected to \
        put there",
    false_alarm: "at most 1e-7: m* is a Chernoff bound over all windows of the declared arrival profile",
    inconclusive: "too few clients retried, the canary paused for longer than the noise bound, or no window could \
        tell a herd of this size from the declared law after the pauses that were measured",
    bug_classes: &[
        "a retry storm: fixed or missing jitter turns one outage into a series of them",
        "retries queued behind a pool or a lock and let go at once",
    ],
    scenario: "retry-herd",
};

/// R4 RestartIndependence.
pub const R4: &CheckInfo = &CheckInfo {
    id: "R4",
    name: "RestartIndependence",
    tier: Tier::Two,
    promise: "a service that was restarted draws its waits anew, so that replicas and restarts do not repeat each other",
    measure: "the gaps of two herds of payments, before and after the service was killed and started again, or of two replicas, as shares of \
        their declared intervals: the Kolmogorov distance of the two pools, in which order plays no part; and the payments \
        whose gaps all return, each within 10 ms, in one payment of the other herd",
    rule: "the distance is above the exact critical value (5/300 for 300 against 300 gaps), and no more payments have a \
        partner in the other herd than chance explains",
    false_alarm: "at most 1e-7: half of it for the distance, by counting lattice paths exactly (the limit law of the \
        textbook is thousands of times too small here), half for the partners, by a binomial bound that holds for any noise",
    inconclusive: "fewer than 60 payments on either side, a pause above the noise bound, a law without jitter, payments \
        that draw alike within one herd already (see R2), or noise that would have torn repeated draws apart",
    bug_classes: &[
        "a generator seeded with a constant, or not at all: independent within the process, the same after every start",
        "replicas that share a seed: it is derived from what they have in common, such as the service's name",
    ],
    scenario: "retry-restart, retry-replicas",
};

/// R5 CapHolds.
pub const R5: &CheckInfo = &CheckInfo {
    id: "R5",
    name: "CapHolds",
    tier: Tier::Two,
    promise: "however many retries there are, no wait is above the cap, none falls below what the law draws at it, and the \
        jitter lives on",
    measure: "the gaps before retries whose ceiling is the cap, of payments whose every attempt fails, while the service makes \
        75 attempts or as many as the contract says, with a base and a cap that are reached at once",
    rule: "no more gaps above the cap and the noise bound than outliers explain, among all or before one retry; a one-sided \
        DKW test against too many short gaps and one against too many long ones, over all and over each eight successive \
        retries; no payment given up with attempts to go and time for them",
    false_alarm: "at most 1e-7 for each of the three tests, for every noise within the bound, and for the short gaps whatever \
        the noise; none for the attempts, which are counted",
    inconclusive: "too few gaps at the cap, or a noise bound that would hide lost jitter; payments that the deadline or the \
        driver cut short; attempts that are missing, join to no request, or queue in the service; a pause above the noise \
        bound, or no canary; a fault that struck less often than planned",
    bug_classes: &[
        "the exponent overflows: after so many doublings the wait is zero or starts over, and the client hammers its dependency",
        "a cap applied after the jitter swallows it: all late waits are the cap, and clients return together",
        "there is no cap, or it is not looked at: waits go on growing",
        "the exponent overflows into an error: the attempts end early",
        "another cap than the declared one",
    ],
    scenario: "retry-cap",
};

/// R6 RetryableOnly; it covers R7 UnsafeMethodNotRetried.
pub const R6: &CheckInfo = &CheckInfo {
    id: "R6",
    name: "RetryableOnly",
    tier: Tier::One,
    promise: "exactly the failures of the declared table are retried: the others are reported at once, and a \
        request that is not safe to repeat is never repeated without its key (R7)",
    measure: "attempts at the proxy for one payment per kind of failure: statuses, refused, reset and cut \
        connections, hangs, lost answers",
    rule: "more than one attempt where the table says `retried`, exactly one where it does not",
    false_alarm: "none: attempts are counted",
    inconclusive: "a kind of failure of the table never struck, or its payment has no outcome",
    bug_classes: &[
        "everything that is not 2xx is retried, so that a declined card is asked again",
        "only exceptions are retried, so that a 503 is final",
        "an HTTP library that repeats requests by itself below the retry loop",
    ],
    scenario: "retry-table",
};

/// R12 SamePayload.
pub const R12: &CheckInfo = &CheckInfo {
    id: "R12",
    name: "SamePayload",
    tier: Tier::One,
    promise: "each attempt of a payment carries the same bytes",
    measure: "SHA-256 and length of every request body that reached the proxy whole, against the declared \
        content-length and against the payment's other attempts",
    rule: "one digest for each payment; the length equals the content-length",
    false_alarm: "none: digests are compared",
    inconclusive: "no payment has two attempts whose bodies were read whole",
    bug_classes: &[
        "the body is rebuilt for each attempt with a fresh timestamp or id",
        "a body stream is consumed by the first attempt, and the retry sends an empty one",
    ],
    scenario: "retry-law, retry-table, retry-after, one-effect",
};

/// R13 KeyStability.
pub const R13: &CheckInfo = &CheckInfo {
    id: "R13",
    name: "KeyStability",
    tier: Tier::One,
    promise: "a payment keeps one idempotency key towards the dependency over all its attempts, and no two payments \
        share one",
    measure: "the key header of every attempt at the proxy, joined to the client's payment by trace when the keys \
        differ",
    rule: "exactly one key for each payment, present on every attempt; no key belongs to two payments",
    false_alarm: "none: keys are compared",
    inconclusive: "no payment has two attempts, or attempts could not be joined to payments by key or by trace",
    bug_classes: &[
        "a new key per attempt: the dependency cannot tell a retry from a second payment",
        "the key is derived from something that two payments share, such as a second of the clock",
        "the key lives in memory and is drawn again after a restart",
    ],
    scenario: "retry-law, retry-table, retry-after, one-effect",
};
