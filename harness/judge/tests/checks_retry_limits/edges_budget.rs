//! R10 at its edges: the least and the most that each model can have held, to the token and to the nanosecond.

use std::time::Duration;

use judge::checks::retry;
use judge::evidence::{At, Evidence};
use judge::promise::{BudgetPolicy, Deposit, Noise, RetryPolicy};
use judge::{Finding, Ruling};

use crate::support::MS;
use crate::world::{Met, World, reply};
use crate::{fails, policy};

const EPS: u64 = 10 * MS;
const SECOND: u64 = 1000 * MS;

fn promised() -> RetryPolicy {
    RetryPolicy { deadline: None, ..policy() }
}

fn check(budget: BudgetPolicy) -> judge::checks::Check {
    retry::budget_holds(&promised(), &budget, "bank", Noise { eps: Duration::from_nanos(EPS) })
}

fn judged(budget: BudgetPolicy, evidence: &Evidence) -> Finding {
    check(budget).judge(evidence)
}

/// Whether the only retry that was not made starved its payment.
fn starves(budget: BudgetPolicy, evidence: &Evidence, expected: bool, what: &str) {
    let finding = judged(budget, evidence);
    let ruling = if expected { Ruling::Fail } else { Ruling::Pass };
    assert_eq!(finding.ruling, ruling, "{what}: {finding:#?}");
    if expected {
        fails(&check(budget), evidence, 2);
    }
}

/// Whether more retries were made than the budget allows.
fn exceeds(budget: BudgetPolicy, evidence: &Evidence, expected: bool, what: &str) {
    let finding = judged(budget, evidence);
    let (ruling, says) = if expected { (Ruling::Fail, "allows") } else { (Ruling::Inconclusive, "never exhausted") };
    assert_eq!(finding.ruling, ruling, "{what}: {finding:#?}");
    assert!(finding.headline.contains(says), "{what}: {}", finding.headline);
}

#[derive(Clone)]
struct Stage(World);

impl Stage {
    fn new() -> Self {
        Self(World::new("retry-budget"))
    }

    /// A payment whose attempts end at those instants: with 503, the last one perhaps with a wait that it must not make up for.
    fn payment(&mut self, ends: &[u64], told: bool, to: u16) -> &mut Self {
        let w = &mut self.0;
        let p = w.pay(ends[0] - 2 * MS);
        for (rank, end) in ends.iter().enumerate() {
            let last = rank + 1 == ends.len();
            let met = if last && told { Met::Told(503, "1".into()) } else { Met::Status(503) };
            w.attempt(p, end - MS, rank, &met);
        }
        w.answer(p, "drain", ends[ends.len() - 1] + MS, reply(to));
        self
    }

    /// Fails and is told to wait, so that no retry of it is missing.
    fn fails(&mut self, at: u64) -> &mut Self {
        self.payment(&[at], true, 502)
    }

    /// Fails, is tried again, and is then told to wait.
    fn retried(&mut self, failed: u64, at: u64) -> &mut Self {
        self.payment(&[failed, at], true, 502)
    }

    /// Fails, and is not tried again.
    fn denied(&mut self, at: u64) -> &mut Self {
        self.payment(&[at], false, 502)
    }

    /// Succeeds from one instant to another.
    fn succeeds(&mut self, from: u64, to: u64) -> &mut Self {
        let p = self.0.pay(from - MS);
        self.0.attempt(p, from, 0, &Met::Success);
        self.0.evidence.attempts.last_mut().expect("an attempt").reply.ended = At(to);
        self.0.answer(p, "drain", to + MS, reply(201));
        self
    }

    fn evidence(&self) -> &Evidence {
        &self.0.evidence
    }
}

/// Proves that ten tokens leave room above six, the failure in question counted, and that a success beside a failure is only
/// counted when every order gives as much.
#[test]
fn tokens_leave_room_above_half_and_one() {
    let grpc = BudgetPolicy::GrpcTokens { max_tokens: 10.0, token_ratio: 1.0 };
    let at = |n: u64| (1 + n) * SECOND;
    let failing = |n: u64| {
        let mut s = Stage::new();
        // Its two failures are made up for by two successes.
        s.retried(200 * MS, 300 * MS).succeeds(500 * MS, 501 * MS).succeeds(600 * MS, 601 * MS);
        (0..n).for_each(|i| _ = s.fails(at(i)));
        s
    };
    for (n, room) in [(2, true), (3, false), (4, false)] {
        starves(grpc, failing(n).denied(at(n)).evidence(), room, &format!("{n} failures before"));
    }
    // The bucket is full when one failure and one success come so close that either may have been first.
    let (mut close, mut apart) = (failing(0), failing(0));
    close.fails(at(0)).succeeds(at(0) + MS, at(0) + EPS).fails(at(1)).fails(at(2)).denied(at(3));
    starves(grpc, close.evidence(), false, "a success together with a failure of a full bucket");
    apart.fails(at(0)).succeeds(at(0) + MS, at(0) + EPS + 1).fails(at(1)).fails(at(2)).denied(at(3));
    starves(grpc, apart.evidence(), true, "a success after it");
    for (before, room) in [(EPS, true), (EPS - 1, false)] {
        let mut s = failing(3);
        s.succeeds(at(2) + 100 * MS, at(3) - before).denied(at(3));
        starves(grpc, s.evidence(), room, &format!("a success {before} ns before"));
    }
}

/// Proves that a quota leaves room for two retries from twice the cost of one.
#[test]
fn a_quota_leaves_room_for_two() {
    let mut s = Stage::new();
    s.retried(SECOND, 2 * SECOND).denied(3 * SECOND);
    for (capacity, room) in [(14, false), (15, true)] {
        let quota = BudgetPolicy::AwsQuota { capacity, retry_cost: 5, timeout_cost: 10, success: 1 };
        starves(quota, s.evidence(), room, &format!("{capacity} tokens"));
    }
}

fn ratio(ratio: f64, min_per_second: f64, deposit: Deposit) -> BudgetPolicy {
    BudgetPolicy::Ratio { ratio, min_per_second, ttl: Duration::from_secs(10), deposit }
}

/// Proves that a floor of five leaves room for two beside three retries, and that a retry is spent for its time to live and
/// the noise bound.
#[test]
fn a_floor_leaves_room_for_two() {
    let floor = ratio(0.0, 0.5, Deposit::Request);
    let denied = 13 * SECOND;
    // The oldest retry arrives so long before the failure that was not retried.
    for (spent, oldest, room) in
        [(3, 9 * SECOND, true), (4, 9 * SECOND, false), (4, 10 * SECOND + EPS, false), (4, 10 * SECOND + EPS + 1, true)]
    {
        let mut s = Stage::new();
        let arrived = denied - oldest;
        s.retried(arrived - 100 * MS, arrived + MS);
        (1..spent).for_each(|n| _ = s.retried((5 + n) * SECOND, (5 + n) * SECOND + 100 * MS));
        starves(floor, s.denied(denied).evidence(), room, &format!("{spent} retries, the oldest {oldest} ns before"));
    }
}

/// Proves that a deposit counts for nine tenths of its time to live, from the noise bound after a success.
#[test]
fn a_deposit_counts_while_it_is_certain() {
    let denied = 20 * SECOND;
    for (early, room) in [(0, true), (1, false)] {
        let mut s = Stage::new();
        let begun = denied + EPS - 9 * SECOND - early;
        s.succeeds(begun, begun + 3 * MS).retried(14 * SECOND, 15 * SECOND).denied(denied);
        starves(ratio(1.0, 0.0, Deposit::Request), s.evidence(), room, &format!("begun {early} ns too early"));
    }
    for (late, room) in [(0, true), (1, false)] {
        let mut s = Stage::new();
        s.retried(14 * SECOND, 15 * SECOND);
        [16, 17].iter().for_each(|n| _ = s.succeeds(n * SECOND, n * SECOND + MS));
        s.succeeds(18 * SECOND, denied - EPS + late).denied(denied);
        starves(ratio(1.0, 0.0, Deposit::Success), s.evidence(), room, &format!("a success {late} ns too late"));
    }
}

/// Proves that a share leaves room for two beside those that may still run, and that only what surely runs is active.
#[test]
fn a_share_leaves_room_for_two() {
    let least = BudgetPolicy::ActiveShare { percent: 0.0, min_concurrency: 2 };
    let denied = 5 * SECOND;
    // A retry that another payment made.
    for (failed, ended, room) in [
        (4 * SECOND, denied + 100 * MS, false),
        (4 * SECOND, denied - EPS, false),
        (4 * SECOND, denied - EPS - 1, true),
        (denied + EPS, denied + 200 * MS, false),
        (denied + EPS + 1, denied + 200 * MS, true),
        (SECOND, 2 * SECOND, true),
    ] {
        let mut s = Stage::new();
        s.retried(failed, ended);
        starves(least, s.denied(denied).evidence(), room, &format!("a retry from {failed} to {ended}"));
    }
    let half = BudgetPolicy::ActiveShare { percent: 50.0, min_concurrency: 0 };
    for (over, room) in [(0, false), (1, true)] {
        let mut s = Stage::new();
        s.retried(SECOND, 2 * SECOND);
        (0..3).for_each(|_| _ = s.succeeds(4 * SECOND, 9 * SECOND));
        s.succeeds(4 * SECOND, denied + EPS + over).denied(denied);
        starves(half, s.evidence(), room, &format!("the fourth one ends {over} ns later"));
    }
}

/// Proves that a success counts for a window of retries from the noise bound before it.
#[test]
fn a_success_fills_the_window_that_it_may_be_in() {
    let grpc = BudgetPolicy::GrpcTokens { max_tokens: 4.0, token_ratio: 1.0 };
    for (early, expected) in [(0, false), (1, true)] {
        let mut s = Stage::new();
        s.succeeds(SECOND, 2 * SECOND - EPS - early);
        (0..4).for_each(|n| _ = s.retried(2 * SECOND + n * MS, 3 * SECOND + n * MS));
        exceeds(grpc, s.evidence(), expected, &format!("{early} ns too early"));
    }
}

/// Proves that retries count together within nine tenths of the time to live, and that a deposit lives for all of it and the
/// noise bound.
#[test]
fn a_ratio_is_judged_over_what_surely_counts() {
    for (longer, expected) in [(0, true), (1, false)] {
        let mut s = Stage::new();
        s.retried(2 * SECOND - longer, 3 * SECOND).retried(4 * SECOND, 5 * SECOND);
        s.retried(10 * SECOND, 11 * SECOND + MS);
        exceeds(ratio(0.0, 0.1, Deposit::Request), s.evidence(), expected, &format!("{longer} ns longer"));
    }
    for (early, expected) in [(0, false), (1, true)] {
        let mut s = Stage::new();
        s.succeeds(SECOND, 15 * SECOND - EPS - 10 * SECOND - early);
        (13..16).for_each(|n| _ = s.retried(n * SECOND, n * SECOND + 100 * MS));
        exceeds(ratio(1.0, 0.1, Deposit::Success), s.evidence(), expected, &format!("a success {early} ns too early"));
    }
}

/// Proves that retries run together from the noise bound after their failures to their ends, that one more than the share is
/// within the noise, and that what was active at any moment between counts.
#[test]
fn a_share_is_judged_by_what_surely_runs() {
    let one = BudgetPolicy::ActiveShare { percent: 0.0, min_concurrency: 1 };
    let third = SECOND + 5 * MS;
    for (n, short, expected) in [(3, 0, true), (3, 1, false), (2, 0, false)] {
        let mut s = Stage::new();
        s.retried(SECOND, third + EPS - short).retried(third, 2 * SECOND);
        (2..n).for_each(|_| _ = s.retried(SECOND, 2 * SECOND));
        exceeds(one, s.evidence(), expected, &format!("{n} retries, one of them {short} ns short"));
    }
    // Four retries, one attempt that ends and one that begins while the last of them may have begun.
    let half = BudgetPolicy::ActiveShare { percent: 50.0, min_concurrency: 0 };
    for (begins, expected) in [(8 * MS, true), (2 * MS, false)] {
        let mut s = Stage::new();
        (0..4).for_each(|_| _ = s.retried(SECOND, 2 * SECOND));
        // Alive for the judge up to 5 ms after the failures, and from so long after them.
        s.succeeds(500 * MS, SECOND + 5 * MS - EPS);
        s.succeeds(SECOND + begins + EPS, 2 * SECOND);
        exceeds(half, s.evidence(), expected, &format!("begins after {begins} ns"));
    }
}

/// Proves that a number which is none is no budget, in each of its places.
#[test]
fn a_number_that_is_none_is_no_budget() {
    let mut s = Stage::new();
    s.retried(SECOND, 2 * SECOND);
    let grpc = |max_tokens, token_ratio| BudgetPolicy::GrpcTokens { max_tokens, token_ratio };
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let share = BudgetPolicy::ActiveShare { percent: bad, min_concurrency: 1 };
        let (rate, floor) = (ratio(bad, 1.0, Deposit::Request), ratio(1.0, bad, Deposit::Request));
        for budget in [grpc(bad, 1.0), grpc(1.0, bad), rate, floor, share] {
            crate::is_unclear(&check(budget), s.evidence(), "a number that is none");
        }
    }
    for good in [grpc(0.0, 0.0), ratio(0.0, 0.0, Deposit::Request)] {
        assert!(!judged(good, s.evidence()).headline.contains("a number"), "{good:?}");
    }
}

/// Proves that a refused connection, which may be any payment's retry, starves nobody and is the one thing that is said; and
/// that a failure which is final, or whose payment had no time left, is no retry that was not made.
#[test]
fn what_was_not_to_be_retried_starves_nobody() {
    let grpc = BudgetPolicy::GrpcTokens { max_tokens: 10.0, token_ratio: 1.0 };
    let mut s = Stage::new();
    s.retried(SECOND, 2 * SECOND);
    let mut refused = s.clone();
    refused.0.refuse(SECOND + 500 * MS);
    let blurred = "for 1 requests nobody can say which attempts were theirs";
    assert_eq!(judged(grpc, refused.evidence()).headline, blurred);
    refused.denied(3 * SECOND);
    assert_eq!(judged(grpc, refused.evidence()).headline, blurred);
    let mut last = s.clone();
    last.denied(3 * SECOND);
    starves(grpc, last.evidence(), true, "a retry that was not made");
    let mut failed = last.clone();
    failed.0.evidence.attempts.last_mut().expect("an attempt").reply.status = Some(400);
    assert!(judged(grpc, failed.evidence()).headline.contains("never exhausted"));
    // Nine tenths of its deadline are over before its next wait is.
    let eps = Duration::from_nanos(EPS);
    let hurried = RetryPolicy { deadline: Some(Duration::from_millis(235)), ..policy() };
    let hurried = retry::budget_holds(&hurried, &grpc, "bank", Noise { eps });
    crate::is_unclear(&hurried, last.evidence(), "never exhausted");
}
