//! A small circuit breaker with named mistakes, on virtual time in nanoseconds.

use judge::promise::{BreakerMode, BreakerPolicy, BreakerProfile};

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
    StaleSuccessCloses,
    StaleFailureReopens,
    StaleFreesPermit,
    StaleRestartsOpen,
    LostUpdate,
    ClientErrorsTrip,
    FailureNotCounted,
    TimeoutNotCounted,
    SlowNotCounted,
    IgnoredResets,
    IgnoredCloses,
    IgnoredKeepsPermit,
    IgnoredReopens,
    SuccessIgnored,
    NeverSlides,
    TumblingWindow,
    SkipsHalfOpen,
    HidesHalfOpen,
    SaysClosed,
    SaysHalfOpen,
    CountsTwice,
    CountsNothing,
}

/// What came of a call that was let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Result {
    Good,
    Bad,
    Hung,
    Ignored,
}

/// What a call was let through with: the state it began in, and how many failures there were.
#[derive(Debug, Clone, Copy)]
pub struct Ticket {
    epoch: u64,
    seen: usize,
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
    /// Rejections since the start.
    pub all_rejected: u64,
    epoch: u64,
    began: u64,
    /// The changes of state that it tells of.
    pub told: Vec<(State, State)>,
}

impl Machine {
    pub fn new(policy: BreakerPolicy, defect: Defect) -> Self {
        Self {
            policy,
            defect,
            state: State::Closed,
            failures: Vec::new(),
            relapses: 0,
            rejected: 0,
            all_rejected: 0,
            epoch: 0,
            began: 0,
            told: Vec::new(),
        }
    }

    pub fn admit(&mut self, now: u64) -> bool {
        let admitted = self.decide(now);
        self.rejected += u64::from(!admitted);
        self.all_rejected += u64::from(!admitted);
        admitted
    }

    pub fn ticket(&self) -> Ticket {
        Ticket { epoch: self.epoch, seen: self.failures.len() }
    }

    fn enter(&mut self, state: State) {
        let from = std::mem::replace(&mut self.state, state);
        self.epoch += 1;
        let hides = self.defect == Defect::HidesHalfOpen;
        match (from, state) {
            (_, State::HalfOpen { .. }) if hides => {}
            (State::HalfOpen { .. }, _) if hides => self.told.push((State::Open { until: 0 }, state)),
            _ => self.told.push((from, state)),
        }
    }

    fn decide(&mut self, now: u64) -> bool {
        if let State::Open { until } = self.state
            && now >= until
            && self.defect != Defect::NeverHalfOpens
        {
            let half_opens = self.policy.profile != BreakerProfile::Ejection && self.defect != Defect::SkipsHalfOpen;
            if half_opens {
                self.enter(State::HalfOpen { admitted: 0, good: 0 });
            } else {
                self.failures.clear();
                self.enter(State::Closed);
            }
        }
        match &mut self.state {
            State::Closed => true,
            State::Open { .. } => self.defect == Defect::Leaks && self.rejected % 5 == 4,
            State::HalfOpen { admitted, .. } => {
                let free = *admitted < self.policy.probes || self.defect == Defect::ManyProbes;
                *admitted += u32::from(free);
                free
            }
        }
    }

    /// The end of a call, whenever it began.
    pub fn record_of(&mut self, ticket: Ticket, now: u64, result: Result) {
        if ticket.epoch == self.epoch {
            if self.defect == Defect::LostUpdate && ticket.seen != self.failures.len() {
                return;
            }
            return self.record(now, result);
        }
        match (self.defect, self.state, result) {
            (Defect::StaleSuccessCloses, State::Open { .. } | State::HalfOpen { .. }, Result::Good) => {
                self.enter(State::Closed);
            }
            (Defect::StaleFailureReopens, State::HalfOpen { .. }, Result::Bad) => self.open(now),
            (Defect::StaleRestartsOpen, State::Open { .. }, Result::Bad) => {
                self.state = State::Open { until: now + self.policy.open.as_nanos() as u64 };
            }
            (Defect::StaleFreesPermit, State::HalfOpen { admitted, good }, _) => {
                self.state = State::HalfOpen { admitted: admitted - 1, good };
            }
            _ => {}
        }
    }

    /// The end of a call that began in the present state.
    pub fn record(&mut self, now: u64, result: Result) {
        if result == Result::Ignored {
            return self.ignore(now);
        }
        match self.state {
            State::Closed => self.count(now, result == Result::Good),
            State::Open { .. } => {}
            State::HalfOpen { admitted, good } => self.probed(now, result, admitted, good),
        }
    }

    fn ignore(&mut self, now: u64) {
        match (self.state, self.defect) {
            (State::Closed, Defect::IgnoredResets) => self.failures.clear(),
            (State::HalfOpen { .. }, Defect::IgnoredCloses) => self.enter(State::Closed),
            (State::HalfOpen { .. }, Defect::IgnoredReopens) => self.open(now),
            (State::HalfOpen { .. }, Defect::IgnoredKeepsPermit) => {}
            (State::HalfOpen { admitted, good }, _) => {
                self.state = State::HalfOpen { admitted: admitted - 1, good };
            }
            _ => {}
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
            let forget = !matches!(self.defect, Defect::SuccessForgetsNothing | Defect::NeverSlides);
            if self.defect == Defect::TumblingWindow {
                if now >= self.began + window {
                    self.failures = vec![now];
                    self.began = now;
                }
            } else {
                self.failures.retain(|at| !forget || at + window > now);
            }
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
        self.enter(State::Open { until: now + open as u64 });
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
                self.enter(State::Closed);
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
