//! A service with a retry budget of each model, right and wrong, on a clock of its own.

use std::collections::VecDeque;

use judge::evidence::Evidence;
use judge::promise::{BudgetPolicy, Deposit};

use super::world::{Met, Payment, World, reply};
use crate::support::MS;

/// How the service keeps its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    Rightly,
    None,
    OneForEachRequest,
    TwiceAsMuch,
    NeverRefilled,
    EmptyFromTheStart,
}

/// A budget as the models' own implementations keep it.
struct Budget {
    policy: BudgetPolicy,
    keeps: Keeps,
    tokens: f64,
    /// Ratio: deposits and withdrawals that still count.
    window: VecDeque<(u64, f64)>,
    /// Share: retries from their decision to their end, attempts from arrival to end.
    retries: Vec<(u64, u64)>,
    active: Vec<(u64, u64)>,
}

impl Budget {
    fn new(policy: BudgetPolicy, keeps: Keeps) -> Self {
        let full = match policy {
            BudgetPolicy::GrpcTokens { max_tokens, .. } => max_tokens,
            BudgetPolicy::AwsQuota { capacity, .. } => f64::from(capacity),
            _ => 0.0,
        };
        let tokens = match keeps {
            Keeps::EmptyFromTheStart => 0.0,
            Keeps::TwiceAsMuch => 2.0 * full,
            _ => full,
        };
        Self { policy, keeps, tokens, window: VecDeque::new(), retries: Vec::new(), active: Vec::new() }
    }

    fn top(&self) -> f64 {
        let full = match self.policy {
            BudgetPolicy::GrpcTokens { max_tokens, .. } => max_tokens,
            BudgetPolicy::AwsQuota { capacity, .. } => f64::from(capacity),
            _ => 0.0,
        };
        if self.keeps == Keeps::TwiceAsMuch { 2.0 * full } else { full }
    }

    fn give(&mut self, by: f64) {
        if !matches!(self.keeps, Keeps::NeverRefilled | Keeps::EmptyFromTheStart) {
            self.tokens = (self.tokens + by).min(self.top());
        }
    }

    fn begin(&mut self, now: u64) {
        if matches!(self.policy, BudgetPolicy::Ratio { deposit: Deposit::Request, .. }) {
            self.window.push_back((now, 1.0));
        }
    }

    fn success(&mut self, now: u64, retried: bool) {
        match self.policy {
            BudgetPolicy::GrpcTokens { token_ratio, .. } => self.give(token_ratio),
            BudgetPolicy::AwsQuota { retry_cost, success, .. } => {
                self.give(f64::from(if retried { retry_cost } else { success }));
            }
            BudgetPolicy::Ratio { deposit: Deposit::Success, .. } => self.window.push_back((now, 1.0)),
            _ => {}
        }
    }

    /// An attempt failed at `now`, with or without another one to go; whether it may be retried.
    fn failure(&mut self, now: u64, to_go: bool) -> bool {
        if self.keeps == Keeps::None {
            return to_go;
        }
        if let BudgetPolicy::GrpcTokens { .. } = self.policy {
            self.tokens = (self.tokens - 1.0).max(0.0);
        }
        if !to_go {
            return false;
        }
        let twice = if self.keeps == Keeps::TwiceAsMuch { 2.0 } else { 1.0 };
        let starved = matches!(self.keeps, Keeps::EmptyFromTheStart);
        match self.policy {
            // Half of what it should be at most, whatever the top it was given.
            BudgetPolicy::GrpcTokens { max_tokens, .. } => self.tokens > max_tokens / 2.0,
            BudgetPolicy::AwsQuota { retry_cost, .. } => {
                let cost = f64::from(retry_cost);
                let has = self.tokens >= cost;
                self.tokens -= if has { cost } else { 0.0 };
                has
            }
            BudgetPolicy::Ratio { ratio, min_per_second, ttl, .. } => {
                let ttl_ns = ttl.as_nanos() as u64;
                while self.window.front().is_some_and(|(at, _)| at + ttl_ns <= now) {
                    self.window.pop_front();
                }
                let kept = self.keeps != Keeps::NeverRefilled;
                let deposits: f64 = self.window.iter().map(|w| w.1).filter(|w| *w > 0.0 && kept).sum();
                let spent: f64 = -self.window.iter().map(|w| w.1).filter(|w| *w < 0.0).sum::<f64>();
                let floor = min_per_second * ttl.as_secs_f64() * twice;
                let has = !starved && spent + 1.0 <= floor + twice * ratio * deposits;
                if has {
                    self.window.push_back((now, -1.0));
                }
                has
            }
            BudgetPolicy::ActiveShare { percent, min_concurrency } => {
                let at = |spans: &[(u64, u64)]| spans.iter().filter(|(a, e)| *a <= now && now < *e).count() as f64;
                let most = (percent / 100.0 * at(&self.active)).trunc().max(f64::from(min_concurrency));
                !starved && at(&self.retries) < twice * most
            }
        }
    }
}

/// A payment in the middle of its attempts.
struct Running {
    p: Payment,
    step: &'static str,
    rank: usize,
    /// When its attempt ends, and whether it then fails.
    ends: u64,
    fails: bool,
}

pub struct Service {
    pub world: World,
    budget: Budget,
    keeps: Keeps,
    policy: BudgetPolicy,
    /// How long an attempt takes, and a wait.
    took: u64,
    wait: u64,
    now: u64,
    attempts: usize,
}

impl Service {
    fn attempt(&mut self, p: Payment, step: &'static str, at: u64, rank: usize, fails: bool) -> Running {
        // The stage's statuses take a millisecond: a slow attempt is one that hangs.
        let met = match (fails, self.took > MS) {
            (true, true) => Met::Hang(self.took),
            (true, false) => Met::Status(503),
            (false, _) => Met::Success,
        };
        let ends = self.world.attempt(p, at, rank, &met);
        self.budget.active.push((at, ends));
        Running { p, step, rank, ends, fails }
    }

    /// `n` payments, `in_flight` at a time; every attempt for which `fails` (by a count of all attempts) fails.
    pub fn run(&mut self, step: &'static str, n: usize, in_flight: usize, fails: impl Fn(usize) -> bool) {
        let (mut to_begin, mut counted) = (n, 0);
        let mut running: Vec<Running> = Vec::new();
        loop {
            while to_begin > 0 && running.len() < in_flight {
                to_begin -= 1;
                let p = self.world.pay(self.now);
                self.budget.begin(self.now);
                counted += 1;
                let next = self.attempt(p, step, p.sent + MS / 2, 0, fails(counted));
                running.push(next);
            }
            let Some(i) = (0..running.len()).min_by_key(|i| running[*i].ends) else { break };
            let done = running.swap_remove(i);
            self.now = self.now.max(done.ends);
            if !done.fails {
                self.budget.success(done.ends, done.rank > 0);
                self.world.answer(done.p, step, done.ends + MS / 2, reply(201));
                continue;
            }
            let mut own = Budget::new(self.policy, Keeps::Rightly);
            let of_its_own = self.keeps == Keeps::OneForEachRequest;
            let to_go = done.rank + 1 < self.attempts;
            let may = if of_its_own { own.failure(done.ends, to_go) } else { self.budget.failure(done.ends, to_go) };
            if may {
                counted += 1;
                let next = self.attempt(done.p, done.step, done.ends + self.wait, done.rank + 1, fails(counted));
                self.budget.retries.push((done.ends, next.ends));
                running.push(next);
            } else {
                self.world.answer(done.p, step, done.ends + MS / 2, reply(502));
            }
        }
        self.now += 200 * MS;
    }
}

/// The scenario: one failure by itself, failures until the budget is empty, a mix, successes, and one failure more.
pub fn play(policy: BudgetPolicy, keeps: Keeps) -> Evidence {
    let slow = matches!(policy, BudgetPolicy::ActiveShare { .. });
    let (took, wait) = if slow { (300 * MS, 10 * MS) } else { (MS, 10 * MS) };
    let world = World::new("retry-budget");
    let budget = Budget::new(policy, keeps);
    let mut s = Service { world, budget, keeps, policy, took, wait, now: MS, attempts: 4 };
    s.run("alone", 1, 1, |_| true);
    s.run("drain", 40, 8, |_| true);
    s.run("mixed", 40, 8, |n| n % 4 != 0);
    s.run("refill", 150, 1, |_| false);
    s.run("after", 1, 1, |_| true);
    s.world.evidence
}
