//! Entries about answers that do not come from the dependency.

use super::{CheckInfo, Tier};

/// G1 DegradedIsMarked.
pub const G1: &CheckInfo = &CheckInfo {
    id: "G1",
    name: "DegradedIsMarked",
    tier: Tier::One,
    promise: "an answer that does not come from the dependency says so, and says how old it is",
    measure: "confirmations read, and payments asked for, while every call to the dependency fails; confirmations read \
        while none does",
    rule: "a success during the outage carries the marker and an age; one that came from the dependency carries no marker",
    false_alarm: "none: answers and calls are counted",
    inconclusive: "no success was answered during the outage, so that nothing was degraded; a fault struck less often than planned; \
        no call at all was seen on the link",
    bug_classes: &[
        "a kept answer is served as if it came from the dependency",
        "a degraded answer is marked and tells no age that a client could judge by",
        "the marker is on every answer, so that it says nothing",
    ],
    scenario: "degradation",
};

/// G2 AgeIsBounded.
pub const G2: &CheckInfo = &CheckInfo {
    id: "G2",
    name: "AgeIsBounded",
    tier: Tier::Two,
    promise: "no degraded answer is older than declared, and none makes itself younger than it is",
    measure: "the age that each degraded answer tells, against the time since the dependency last answered for that \
        payment; the outage lasts longer than the declared bound",
    rule: "the age told is within the bound; so is the least age that the wire allows; and the age told is not below it \
        by more than one unit",
    false_alarm: "none: the least age runs from the moment at which the client had the fresh answer",
    inconclusive: "nothing was degraded, or nothing was read after the bound had passed",
    bug_classes: &[
        "kept answers are served without a look at their age",
        "the age counts from the moment of serving, not from the dependency's answer",
    ],
    scenario: "degradation",
};

/// G3 FreshAgain.
pub const G3: &CheckInfo = &CheckInfo {
    id: "G3",
    name: "FreshAgain",
    tier: Tier::Two,
    promise: "within the declared time of the dependency's recovery answers are fresh again, and no fallback was kept as a \
        fresh one",
    measure: "confirmations read after the dependency was healed, the calls behind them, and the ages told during the outage",
    rule: "a confirmation read later than the declared time after the healing succeeds without the marker; an answer \
        without the marker has a call behind it since the healing; without a new answer of the dependency no age shrinks",
    false_alarm: "none: a pause of the machine only gives the service more time",
    inconclusive: "nothing was degraded, nothing was read after the declared time, or no call at all was seen on the link",
    bug_classes: &[
        "the service stays degraded after its dependency has recovered",
        "a fallback is stored as if the dependency had given it, and its age starts again",
    ],
    scenario: "degradation",
};

/// G4 ConfirmedHasARow.
pub const G4: &CheckInfo = &CheckInfo {
    id: "G4",
    name: "ConfirmedHasARow",
    tier: Tier::One,
    promise: "no answer, degraded or not, calls a payment confirmed that has not moved money",
    measure: "the word in each answer of the scenario against the settled rows of the ledger and the charges at the bank",
    rule: "every payment that an answer calls confirmed has a settled row and a charge",
    false_alarm: "none: words and effects are counted",
    inconclusive: "the ledger was not read afterwards, no answer held a word at the declared place, or no payment was \
        asked for during the outage",
    bug_classes: &[
        "a payment is confirmed in the hope that the dependency will take it later",
        "the fallback confirms whatever it is asked about",
    ],
    scenario: "degradation",
};
