//! Entries about repeated keys and single effects.

use super::{CheckInfo, Tier};

/// I1 ExactlyOneEffect.
pub const I1: &CheckInfo = &CheckInfo {
    id: "I1",
    name: "ExactlyOneEffect",
    tier: Tier::One,
    promise: "a payment moves money at most once whatever happens on the way, and exactly once when any client was \
        told that it did",
    measure: "ledger rows and the bank's own journal per key, against what the clients were told, after faults at \
        each point of the call",
    rule: "for each key: never two effects; one if any client got a success; the amount asked for and no other. An \
        outcome that nobody knows may be zero or one. No effect without a payment that asked for it",
    false_alarm: "none: effects are counted in two independent books",
    inconclusive: "the ledger was not read after the last request, or a fault of the plan never struck",
    bug_classes: &[
        "a retry after a lost answer charges again",
        "the charge is made before the row that remembers it, and a crash falls in between",
        "two requests with one key both pass the look-up before either writes",
        "success is answered before the effect is durable",
    ],
    scenario: "steady, retry-table, one-effect, duplicates, restart",
};

/// I2 ConcurrentDuplicates.
pub const I2: &CheckInfo = &CheckInfo {
    id: "I2",
    name: "ConcurrentDuplicates",
    tier: Tier::One,
    promise: "requests with one key that arrive together cause one call to the dependency and one effect; the \
        others get the declared `in flight` answer or the original's reply",
    measure: "ten callers at a barrier while the proxy holds the first call to the dependency, then bursts of 32 \
        without a hold: calls that reached the proxy, effects, and every caller's answer",
    rule: "one call and one effect for each key; exactly one original success; every other answer is the declared \
        conflict as problem details, or the original's body after its end; no 5xx",
    false_alarm: "none: the hold makes the overlap certain, and calls are counted",
    inconclusive: "the hold never took a call, callers were left without an outcome, or one caller caused several calls, or 5xx, \
        on a machine that paused for longer than eps",
    bug_classes: &[
        "look-up and insert are two steps: twins both find nothing and both run",
        "a lock per process where several processes serve",
        "a twin waits for the first one and then runs again instead of replaying",
    ],
    scenario: "duplicates",
};

/// I3 ReplayFidelity.
pub const I3: &CheckInfo = &CheckInfo {
    id: "I3",
    name: "ReplayFidelity",
    tier: Tier::Two,
    promise: "a key that has been answered is answered the same way again, marked as a replay, without a call to \
        the dependency",
    measure: "status, content type, body digest and marker of each repeated request against the original's, and \
        calls that reached the proxy for it",
    rule: "the same status, content type and bytes; the marker on replays and only there; no call to the dependency",
    false_alarm: "none: replies are compared byte by byte",
    inconclusive: "no key was repeated after a success, or a repetition has no answer; calls that join to no request, or no \
        call at all on the link",
    bug_classes: &[
        "the reply is rendered again from the row and differs in a field or in its order",
        "a replay is answered with 200 where the original was 201",
        "the marker is on every reply, so that it says nothing",
    ],
    scenario: "one-effect, duplicates",
};

/// I4 PayloadMismatch.
pub const I4: &CheckInfo = &CheckInfo {
    id: "I4",
    name: "PayloadMismatch",
    tier: Tier::Two,
    promise: "a known key with another payload is refused with the declared status, and nothing happens to the \
        original",
    measure: "the answer to the changed payload, calls to the dependency that it caused, and the original's row \
        before and after; where a fingerprint is declared also the answer to the same payload in another spelling",
    rule: "the declared status as problem details; no call to the dependency; the original's effect unchanged. The same \
        payload spelt otherwise is a success by a `canonical` fingerprint, and another payload by `bytes`",
    false_alarm: "none: answers and calls are counted",
    inconclusive: "the status is not promised; the known key's first payment did not succeed, so that there is nothing to \
        mismatch; a request has no answer; calls that join to no request, or no call at all on the link; the ledger was \
        not read after the last request, or the bank kept no journal; where a fingerprint is declared, a payload that was \
        not spelt otherwise or not sent so at all",
    bug_classes: &[
        "the key alone is looked up: a different payment gets the first one's confirmation",
        "the changed payload overwrites the stored one",
        "the fingerprint is taken over raw bytes: a client that spells its payload anew is refused its own payment",
    ],
    scenario: "duplicates",
};

/// I5 MissingKey.
pub const I5: &CheckInfo = &CheckInfo {
    id: "I5",
    name: "MissingKey",
    tier: Tier::Two,
    promise: "a payment without a key is refused with the declared status before anything happens",
    measure: "the answer to keyless requests, and calls and effects that they caused",
    rule: "the declared status as problem details; no call to the dependency; no effect",
    false_alarm: "none: answers and calls are counted",
    inconclusive: "the status is not promised; a keyless request has no answer; calls that join to no request, or no call \
        at all on the link; the ledger was not read after the last request, or the bank kept no journal",
    bug_classes: &[
        "a missing key is treated as the empty key, and all keyless payments are one",
        "the service makes up a key, so that the client's retry is a second payment",
    ],
    scenario: "duplicates",
};

/// I6 CrashRecovery.
pub const I6: &CheckInfo = &CheckInfo {
    id: "I6",
    name: "CrashRecovery",
    tier: Tier::One,
    promise: "a payment that was under way when the service was killed, or when its dependency died, can be finished \
        with its key afterwards",
    measure: "the service is killed while the bank's answer is held; after the restart the same keys are asked \
        until answered, ten times or until the declared lease is over; then payments during which the bank dies, before \
        and after it has accepted them, and their keys once it is back; effects per key in both books",
    rule: "every key reaches a success within its tries, with exactly one effect; none stays `in flight` for ever, or \
        for longer than the declared lease",
    false_alarm: "none: answers and effects are counted, and the lease begins before the kill at the latest",
    inconclusive: "the service was not killed while a payment was held, or did not come up again; nobody asked again after \
        the lease; no memo is promised and a key under which the dependency died gets its first failure for ever; a fault \
        that struck less often than planned; attempts, rows or charges that join to no request; the ledger was not read \
        after the last request, or the bank kept no journal",
    bug_classes: &[
        "an `in progress` mark without an owner or a lease: the key answers 409 for ever",
        "recovery charges again because the charge was made before the row",
        "recovery draws a new downstream key, so that the bank cannot recognise the payment",
        "the lease of a dead owner lasts longer than declared",
    ],
    scenario: "restart",
};
