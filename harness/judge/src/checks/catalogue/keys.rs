//! Entries about how long, for whom and of what a key is a key.

use super::{CheckInfo, Tier};

/// I7 FailureMemo.
pub const I7: &CheckInfo = &CheckInfo {
    id: "I7",
    name: "FailureMemo",
    tier: Tier::Two,
    promise: "an answer that the declared policy remembers is given again to its key; after any other the key runs again",
    measure: "payments that succeed, that the dependency refuses and that it fails; each key once more when the \
        dependency is well again: its answer, and the calls that it caused",
    rule: "by the class of the first answer: a remembered one comes back with the same status, content type and bytes \
        and without a call; after one that is not remembered the repetition calls the dependency. Successes are for I3",
    false_alarm: "none: answers and calls are counted",
    inconclusive: "no failure reached the client, or none of a class that the policy treats apart; a repetition without \
        an answer; a fault that struck less often than planned; calls that join to no request, or no call at all on the \
        link",
    bug_classes: &[
        "a failure that should be remembered is not: the client is told no, asks again, and the payment goes through",
        "a failure is remembered against the policy: the key answers with a passing error for ever",
        "a repetition is rendered anew and differs from the answer that was remembered",
    ],
    scenario: "key-memo",
};

/// I8 KeyScope.
pub const I8: &CheckInfo = &CheckInfo {
    id: "I8",
    name: "KeyScope",
    tier: Tier::One,
    promise: "a key belongs to its caller, and to its route: the same key from another caller, or on another route, is \
        another payment",
    measure: "the same keys sent by two callers, and on two routes, with the same and with another payload: answers, \
        calls and effects of each",
    rule: "the second one is answered for its own payment: a success with a call of its own, no replay of the other's \
        answer, no conflict, no mismatch; one effect for each; no repetition gets the other's answer",
    false_alarm: "none: answers, calls and effects are counted",
    inconclusive: "the first payment did not succeed, or a request has no answer; calls that join to no request, or no \
        call at all on the link; the ledger was not read after the last request, or the bank kept no journal",
    bug_classes: &[
        "keys of all callers share one table: a caller is handed the confirmation of another one's payment",
        "keys of all callers share one table: a caller's key is refused because another one used it",
        "the service tells callers apart and passes the bare key on: the dependency takes the second payment for the first",
        "keys of all routes share one table: one operation is confirmed by the answer of another, and never done",
        "keys of all routes share one table: an operation's key is refused because another one used it",
        "the service tells routes apart and passes the bare key on: the dependency takes the second operation for the first",
    ],
    scenario: "key-scope",
};

/// I9 KeyExpiry.
pub const I9: &CheckInfo = &CheckInfo {
    id: "I9",
    name: "KeyExpiry",
    tier: Tier::Two,
    promise: "a key is known for as long as declared; after that a repetition has a new effect only if the contract says so",
    measure: "keys repeated at once, late within their declared life, and after it: answers, calls and effects",
    rule: "a repetition that ended within the declared life of its key has no new effect; one that \
        was sent after it is a new payment where the contract says `new`, and has no effect where it does not",
    false_alarm: "none: what lies between both bounds is not judged, so that no pause of the machine matters",
    inconclusive: "the originals did not succeed; no repetition was surely within the life of its key, or none surely after \
        it; calls that join to no request, or no call at all on the link",
    bug_classes: &[
        "keys are forgotten before their time, and a late retry is a second payment",
        "keys are never forgotten, although the contract lets clients use them again",
        "an expired key is forgotten although no new effect is declared",
    ],
    scenario: "key-expiry",
};

/// I10 ConflictIsPending.
pub const I10: &CheckInfo = &CheckInfo {
    id: "I10",
    name: "ConflictIsPending",
    tier: Tier::Two,
    promise: "when the dependency says that a call with this key still runs, the service waits it out and reports no failure",
    measure: "payments whose first calls are answered with the declared `in flight` reply of the dependency: what the \
        clients are told, the keys of the calls, effects in both books",
    rule: "the client is told success, or that the payment is pending and then success when it asks again; every call \
        carries the same key; one effect",
    false_alarm: "none: answers, calls and effects are counted",
    inconclusive: "the reply never reached the service, or a request has no answer",
    bug_classes: &[
        "a conflict is taken for a refusal: the client is told that a payment failed which is under way",
        "after a conflict the call is repeated under a new key, which charges a second time",
    ],
    scenario: "bank-conflict",
};
