//! A simulated rig: calls a machine, and writes down what proxy and clients would have seen. Every leg takes a random
//! time, well within the noise bound.

use std::time::Duration;

use judge::evidence::*;
use judge::promise::{BreakerPolicy, CallEnd, Failure, OutcomeClass};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::machine::{Defect, Machine, Result, State, Ticket};
use crate::support::{MS, attempt, evidence, outcome, refused, reply, struck};

pub const EPS_MS: u64 = 60;

/// What the bank does to the calls of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bank {
    Good,
    Status(u16),
    Refuses,
    Hangs,
    Slow,
}

/// A call that was let through and has not ended.
pub struct Flying {
    pub sent: u64,
    pub arrived: u64,
    ticket: Ticket,
}

pub struct Stage {
    pub policy: BreakerPolicy,
    pub machine: Machine,
    pub evidence: Evidence,
    pub now: u64,
    rng: ChaCha8Rng,
    /// Failure instant of the last call that arrived, as the proxy saw it.
    pub opened: u64,
    /// Whether the service hands on the client's key, and its trace.
    pub hands_on: (bool, bool),
    /// Where the endpoint's readings come from.
    pub source: &'static str,
}

impl Stage {
    pub fn new(policy: &BreakerPolicy, defect: Defect, scenario: &str, seed: u64) -> Self {
        let mut evidence = evidence(scenario);
        evidence.header.seed = seed;
        evidence.header.eps_ns = EPS_MS * MS;
        Self {
            policy: policy.clone(),
            machine: Machine::new(policy.clone(), defect),
            evidence,
            now: 10 * MS,
            rng: ChaCha8Rng::seed_from_u64(seed),
            opened: 0,
            hands_on: (true, true),
            source: "actuator",
        }
    }

    /// One leg of the way: mostly short, sometimes up to 10 ms.
    pub fn leg(&mut self) -> u64 {
        let most = if self.rng.random_bool(0.05) { 10 * MS } else { MS };
        self.rng.random_range(20_000..most)
    }

    pub fn wait_until(&mut self, at: u64) {
        self.now = self.now.max(at);
    }

    /// One call; returns whether it was let through.
    pub fn call(&mut self, step: &str, bank: Bank) -> bool {
        let sent = self.now;
        let asked = sent + self.leg();
        if !self.machine.admit(asked) {
            let ended = self.reject(step, sent, asked);
            self.now = ended + MS;
            return false;
        }
        let arrived = asked + self.leg();
        let (ended, known, result) = match bank {
            Bank::Hangs => {
                // The service gives up; the proxy sees it leave a leg later.
                let known = arrived + 100 * MS;
                (known + self.leg(), known, Result::Hung)
            }
            Bank::Slow => {
                let ended = arrived + part(self.policy.slow_call.unwrap_or_default(), 1.0) + 10 * MS;
                (ended, ended + self.leg(), Result::Bad)
            }
            Bank::Good | Bank::Status(_) | Bank::Refuses => {
                let ended = arrived + self.leg();
                (ended, ended + self.leg(), if bank == Bank::Good { Result::Good } else { Result::Bad })
            }
        };
        self.machine.record(known, self.taken_for(bank, result));
        self.arrive(arrived, ended, bank, None);
        let answered = known + self.leg();
        let status = if matches!(bank, Bank::Good | Bank::Slow) { 201 } else { 502 };
        self.outcome(step, sent, answered, reply(status));
        if result != Result::Good {
            self.opened = ended;
        }
        self.now = answered.max(ended) + MS;
        true
    }

    /// What the breaker takes an end for, by its promise and its defect.
    fn taken_for(&self, bank: Bank, result: Result) -> Result {
        let declared = self.policy.classified().into_iter().find(|(end, _)| match (end, bank) {
            (CallEnd::Slow, Bank::Slow) => true,
            (CallEnd::Fails(Failure::Status(s)), Bank::Status(seen)) => *s == seen,
            (CallEnd::Fails(Failure::Hang), Bank::Hangs) => true,
            _ => false,
        });
        let Some((end, class)) = declared else { return result };
        match (class, self.machine.defect) {
            (OutcomeClass::Success | OutcomeClass::Ignored, Defect::ClientErrorsTrip) => Result::Bad,
            (OutcomeClass::Success, Defect::SuccessIgnored) => Result::Ignored,
            (OutcomeClass::Success, _) => Result::Good,
            (OutcomeClass::Ignored, _) => Result::Ignored,
            (OutcomeClass::Failure, Defect::SlowNotCounted) if end == CallEnd::Slow => Result::Good,
            (OutcomeClass::Failure, Defect::TimeoutNotCounted) if bank == Bank::Hangs => Result::Good,
            (OutcomeClass::Failure, Defect::FailureNotCounted) if matches!(bank, Bank::Status(_)) => Result::Good,
            (OutcomeClass::Failure, _) => result,
        }
    }

    /// Lets a call in at that moment, if the breaker does; a rejected one is answered.
    pub fn let_in(&mut self, step: &str, sent: u64) -> Option<Flying> {
        let asked = sent + self.leg();
        if self.machine.admit(asked) {
            return Some(Flying { sent, arrived: asked + 100_000, ticket: self.machine.ticket() });
        }
        let ended = self.reject(step, sent, asked);
        self.now = self.now.max(ended + MS);
        None
    }

    /// Ends a call whose answer was held until `released`; returns when its caller had the answer.
    pub fn land(&mut self, step: &str, call: Flying, bank: Bank, released: u64) -> u64 {
        let ended = released + self.leg();
        let known = ended + self.leg();
        let good = bank == Bank::Good;
        self.machine.record_of(call.ticket, known, if good { Result::Good } else { Result::Bad });
        self.arrive(call.arrived, ended, bank, Some((call.arrived + 10_000, released)));
        let answered = known + self.leg();
        self.outcome(step, call.sent, answered, reply(if good { 201 } else { 502 }));
        if !good {
            self.opened = self.opened.max(ended);
        }
        answered
    }

    /// Callers at once while the first of them to arrive is held; all calls that arrive succeed.
    pub fn burst_held(&mut self, step: &str, callers: usize) {
        let begin = self.now;
        let (mut passed, mut waiting, mut others_done) = (Vec::new(), Vec::new(), begin);
        for i in 0..callers as u64 {
            let sent = begin + i * 10_000;
            let asked = sent + 300_000;
            if self.machine.admit(asked) {
                passed.push((sent, asked));
            } else if self.machine.defect == Defect::QueuesBehindProbe {
                waiting.push(sent);
            } else {
                others_done = others_done.max(self.reject(step, sent, asked));
            }
        }
        let mut releases = others_done.max(begin + 20 * MS) + MS;
        if !waiting.is_empty() {
            releases = begin + 2_000 * MS;
        }
        for (i, (sent, asked)) in passed.iter().enumerate() {
            let arrived = asked + 200_000;
            let hold = (i == 0).then_some((arrived + 10_000, releases));
            let ended = hold.map_or(arrived + MS, |(_, released)| released + MS);
            self.machine.record(ended + MS, Result::Good);
            self.arrive(arrived, ended, Bank::Good, hold);
            self.outcome(step, *sent, ended + 2 * MS, reply(201));
            self.now = self.now.max(ended + 3 * MS);
        }
        for sent in waiting {
            let arrived = releases + 3 * MS;
            self.arrive(arrived, arrived + MS, Bank::Good, None);
            self.outcome(step, sent, arrived + 2 * MS, reply(201));
            self.now = self.now.max(arrived + 3 * MS);
        }
        self.now = self.now.max(others_done) + MS;
    }

    /// What the endpoint says now.
    pub fn read_endpoint(&mut self) {
        let state = match self.machine.state {
            State::Closed => BreakerState::Closed,
            State::Open { .. } => BreakerState::Open,
            State::HalfOpen { .. } => BreakerState::HalfOpen,
        };
        let state = match (state, self.machine.defect) {
            (BreakerState::Open, Defect::SaysClosed) => BreakerState::Closed,
            (BreakerState::Closed, Defect::SaysHalfOpen) => BreakerState::HalfOpen,
            (state, _) => state,
        };
        let counted = match (self.source, self.machine.defect) {
            (_, Defect::CountsNothing) => 0,
            (_, Defect::CountsTwice) => 2 * self.machine.all_rejected,
            ("prometheus", _) => self.machine.all_rejected,
            _ => self.machine.rejected,
        };
        let reading = BreakerReading {
            at: At(self.now),
            source: self.source.into(),
            name: "bank".into(),
            from: None,
            state,
            not_permitted: Some(counted),
        };
        self.evidence.breakers.push(reading);
    }

    /// What its event log holds now.
    pub fn read_events(&mut self) {
        let name = |state| match state {
            State::Closed => BreakerState::Closed,
            State::Open { .. } => BreakerState::Open,
            State::HalfOpen { .. } => BreakerState::HalfOpen,
        };
        for (from, to) in std::mem::take(&mut self.machine.told) {
            self.evidence.breakers.push(BreakerReading {
                at: At(self.now),
                source: "events".into(),
                name: "bank".into(),
                from: Some(name(from)),
                state: name(to),
                not_permitted: None,
            });
        }
    }

    fn reject(&mut self, step: &str, sent: u64, asked: u64) -> u64 {
        let defect = self.machine.defect;
        let slow = if defect == Defect::SlowReject { 300 * MS } else { 0 };
        let ended = asked + slow + self.leg();
        let left = match self.machine.state {
            State::Open { until } => until.saturating_sub(asked),
            _ => 0,
        };
        let mut answer = reply(if defect == Defect::WrongStatus { 500 } else { self.policy.reject });
        answer.problem_status = Some(if defect == Defect::WrongProblem { 500 } else { answer.status });
        answer.retry_after = Some(match defect {
            Defect::RetryAfterTooLong => "3".into(),
            Defect::RetryAfterGarbage => "-1".into(),
            _ => left.div_ceil(1_000 * MS).to_string(),
        });
        self.outcome(step, sent, ended, answer);
        ended
    }

    fn outcome(&mut self, step: &str, sent: u64, ended: u64, answer: ClientReply) {
        let seq = self.evidence.outcomes.len() as u64;
        let outcome = outcome(seq, step, context(seq + 1), (sent, ended), Answer::Reply(answer));
        self.evidence.outcomes.push(Outcome { key: Some(format!("key-{seq}")), ..outcome });
        let known = self.evidence.steps.iter_mut().find(|s| s.name == step);
        match known {
            Some(known) => known.to = At(ended),
            None => self.evidence.steps.push(Step { name: step.into(), from: At(sent), to: At(ended), planned: 1 }),
        }
    }

    /// The arrival of the call whose outcome is written next.
    fn arrive(&mut self, arrived: u64, ended: u64, bank: Bank, hold: Option<(u64, u64)>) {
        let owner = self.evidence.outcomes.len() as u64;
        let gated = |what: &str| Struck {
            held: hold.map(|(held, _)| At(held)),
            released: hold.map(|(_, released)| At(released)),
            ..struck(what)
        };
        if bank == Bank::Refuses {
            self.evidence.connections.push(refused(owner, (arrived, ended), "connect/refuse"));
            return;
        }
        let (end, status, fault) = match bank {
            Bank::Good => (End::Replied, Some(201), hold.map(|_| gated("request/hold"))),
            Bank::Slow => (End::Replied, Some(201), Some(gated("response/delay"))),
            Bank::Status(s) => (End::Replied, Some(s), Some(gated("request/reply 500"))),
            Bank::Refuses | Bank::Hangs => (End::ClientLeft, None, Some(gated("request/hang"))),
        };
        let (key, trace) = self.hands_on;
        let attempt = attempt(self.evidence.attempts.len() as u64, (arrived, ended), status);
        self.evidence.attempts.push(Attempt {
            key: key.then(|| format!("key-{owner}")),
            context: trace.then(|| context(owner + 1)),
            reply: Reply { end, ..attempt.reply.clone() },
            fault,
            ..attempt
        });
    }
}

fn context(n: u64) -> TraceContext {
    TraceContext { trace: TraceId((u128::from(n) << 8).to_be_bytes()), parent: SpanId(n.to_be_bytes()) }
}

/// A share of an interval, in nanoseconds.
pub fn part(d: Duration, share: f64) -> u64 {
    (d.as_nanos() as f64 * share) as u64
}
