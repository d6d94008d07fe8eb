//! A small circuit breaker with named mistakes, on virtual time in nanoseconds.

use judge::promise::{BreakerMode, BreakerPolicy};

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    None,
    OpensLate,
    OpensEarly,
    SuccessForgetsNothing,
    PerRequest,
    Leaks,
    OpenTooShort,
    OpenTooLong,
    NeverHalfOpens,
    ManyProbes,
    FailureCloses,
    FailureStaysHalfOpen,
    NoGrowth,
    CounterNotReset,
    SuccessStaysHalfOpen,
    StuckProbe,
    QueuesBehindProbe,
    SlowReject,
    WrongStatus,
    WrongProblem,
    RetryAfterTooLong,
    RetryAfterGarbage,
}

/// What came of a call that was let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Result {
    Good,
    Bad,
    Hung,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Closed,
    Open { until: u64 },
    HalfOpen { admitted: u32, good: u32 },
}

pub struct Machine {
    policy: BreakerPolicy,
    pub defect: Defect,
    pub state: State,
    failures: Vec<u64>,
    relapses: i32,
    pub rejected: u64,
}

impl Machine {
    pub fn new(policy: BreakerPolicy, defect: Defect) -> Self {
        Self { policy, defect, state: State::Closed, failures: Vec::new(), relapses: 0, rejected: 0 }
    }

    pub fn admit(&mut self, now: u64) -> bool {
        let admitted = self.decide(now);
        self.rejected += u64::from(!admitted);
        admitted
    }

    fn decide(&mut self, now: u64) -> bool {
        if let State::Open { until } = self.state
            && now >= until
            && self.defect != Defect::NeverHalfOpens
        {
            self.state = State::HalfOpen { admitted: 0, good: 0 };
        }
        match &mut self.state {
            State::Closed => true,
            State::Open { .. } => self.defect == Defect::Leaks && self.rejected % 5 == 4,
            State::HalfOpen { admitted, .. } => {
                *admitted += 1;
                *admitted <= self.policy.probes || self.defect == Defect::ManyProbes
            }
        }
    }

    pub fn record(&mut self, now: u64, result: Result) {
        match self.state {
            State::Closed => self.count(now, result == Result::Good),
            State::Open { .. } => {}
            State::HalfOpen { admitted, good } => self.probed(now, result, admitted, good),
        }
    }

    fn count(&mut self, now: u64, good: bool) {
        if good {
            if self.policy.mode == BreakerMode::Consecutive && self.defect != Defect::SuccessForgetsNothing {
                self.failures.clear();
            }
            return;
        }
        self.failures.push(now);
        if let (BreakerMode::Window, Some(window)) = (self.policy.mode, self.policy.window) {
            let window = window.as_nanos() as u64;
            let forget = self.defect != Defect::SuccessForgetsNothing;
            self.failures.retain(|at| !forget || at + window > now);
        }
        let limit = match self.defect {
            Defect::OpensLate => self.policy.threshold + 1,
            Defect::OpensEarly => self.policy.threshold - 1,
            Defect::PerRequest => u32::MAX,
            _ => self.policy.threshold,
        };
        if self.failures.len() >= limit as usize {
            self.open(now);
        }
    }

    fn open(&mut self, now: u64) {
        let growth = if self.defect == Defect::NoGrowth { 1.0 } else { self.policy.growth };
        let mut open = self.policy.open.as_secs_f64() * growth.powi(self.relapses) * 1e9;
        match self.defect {
            Defect::OpenTooShort => open /= 2.0,
            Defect::OpenTooLong => open *= 3.0,
            _ => {}
        }
        self.state = State::Open { until: now + open as u64 };
        self.rejected = 0;
    }

    fn probed(&mut self, now: u64, result: Result, admitted: u32, good: u32) {
        let fine = result == Result::Good || self.defect == Defect::FailureCloses;
        match (fine, self.defect) {
            (false, Defect::StuckProbe) if result == Result::Hung => {}
            (false, Defect::FailureStaysHalfOpen) => {
                self.state = State::HalfOpen { admitted: admitted - 1, good };
            }
            (false, _) => {
                self.relapses += 1;
                self.open(now);
            }
            (true, Defect::SuccessStaysHalfOpen) => {}
            (true, _) if good + 1 < self.policy.probes => {
                self.state = State::HalfOpen { admitted, good: good + 1 };
            }
            (true, _) => {
                self.relapses = 0;
                self.state = State::Closed;
                if self.defect == Defect::CounterNotReset {
                    self.failures.truncate(self.policy.threshold as usize - 1);
                    self.failures.iter_mut().for_each(|at| *at = now);
                } else if self.defect != Defect::SuccessForgetsNothing {
                    self.failures.clear();
                }
            }
        }
    }
}
