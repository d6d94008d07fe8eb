//! Entries about several layers, several dependencies and several routes.

use super::{CheckInfo, Tier};

/// R11 Amplification.
pub const R11: &CheckInfo = &CheckInfo {
    id: "R11",
    name: "Amplification",
    tier: Tier::Two,
    promise: "retries of several layers do not multiply: one client request causes no more calls to the last backend \
        than declared, under a fault that stays and under one that comes and goes",
    measure: "arrivals at the proxy of each hop, refused connections included, against client requests, step by step; \
        and arrivals at the last hop for each client request, joined by trace or key",
    rule: "in every step, and for every request, arrivals at the last hop are at most the declared bound; arrivals at \
        each hop are at most the declared attempts for each arrival at the hop before",
    false_alarm: "none: arrivals are counted, nothing is estimated",
    inconclusive: "a fault that struck less often than planned, requests without an outcome, attempts at the last hop \
        that join to no request, a hop at which nothing arrived, or only one of the two kinds of fault was tried",
    bug_classes: &[
        "layers multiply: each one retries what the layer below has already retried",
        "a layer makes more attempts than it declares",
    ],
    scenario: "amplification",
};

/// B11 BreakerIsolation.
pub const B11: &CheckInfo = &CheckInfo {
    id: "B11",
    name: "BreakerIsolation",
    tier: Tier::Three,
    promise: "each dependency has a breaker of its own: while the breaker of one is open, routes to another one work, \
        and the other way round",
    measure: "outcomes of another route between two payments that are rejected without a call, so that the breaker is \
        known to be open all the while; outcomes of payments after the route's own dependency has failed as often",
    rule: "every one of them succeeds, without the marker of a degraded answer",
    false_alarm: "none: outcomes are counted",
    inconclusive: "a canary pause longer than eps while calls that reached their dependency failed; the breaker was not \
        seen open on both sides of the route's calls; the route did not work without any \
        fault either, or called nobody beside one; payments had not recovered, the route's dependency failed less often \
        than the threshold, or no payment followed; a fault that struck less often than planned",
    bug_classes: &[
        "one breaker for all dependencies",
        "a route needs a dependency that it should not: a failure leaks across",
    ],
    scenario: "breaker-isolation",
};

/// T2 BulkheadHolds.
pub const T2: &CheckInfo = &CheckInfo {
    id: "T2",
    name: "BulkheadHolds",
    tier: Tier::Three,
    promise: "a dependency that hangs takes up its own share of the service only: routes to another one keep their \
        success rate and their latency",
    measure: "success rate and 99th percentile of another route while the declared number of callers hang at the main \
        dependency, against the same route in the same run before it. Only calls during which a call was hanging at \
        the proxy count",
    rule: "failures are compatible with the declared share of the success rate before, and calls slower than slowdown \
        times the percentile before plus the noise bound are compatible with one in a hundred, each by the exact \
        binomial tail",
    false_alarm: "at most 1e-7 for each of the two tests, for a service whose calls fail and lag independently at the \
        rates that it may have",
    inconclusive: "nothing hung while the route was used, fewer than 50 calls, a route that did not work before, a \
        canary pause above the noise bound (for latencies), or figures beyond the limit that chance might explain",
    bug_classes: &[
        "one pool for all dependencies: calls that hang in one take the places of the others",
        "a route waits for a dependency that it does not use",
    ],
    scenario: "bulkhead",
};
