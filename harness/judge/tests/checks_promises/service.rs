//! A payment service that remembers keys, with named defects.

use std::collections::HashMap;

use super::stage::{Ask, Got, Stage};
use crate::support::MS;

/// A way to be wrong; `Sound` is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    Sound,
    ForgetsRefusals,
    KeepsFailures,
    AltersRefusals,
    HandsOver,
    RefusesOthers,
    PassesBareKey,
    SwapsRepeats,
    ExpiresEarly,
    NeverExpires,
    ExpiresUndeclared,
    ConflictIsFailure,
    ConflictForEver,
    NewKeyAfterConflict,
    RawBytes,
    IgnoresBytes,
}

/// What a service with these promises remembers, and for how long.
pub struct Service {
    pub defect: Defect,
    /// Statuses from which on nothing is remembered.
    pub forgets_from: u16,
    pub ttl: Option<u64>,
    pub raw_bytes: bool,
    stored: HashMap<String, Stored>,
}

#[derive(Clone)]
struct Stored {
    got: Got,
    amount: i64,
    payload: String,
    at: u64,
}

/// The second caller, and the further route.
const SECOND: [&str; 2] = ["b", "refund"];

/// Whose a key is.
fn owner(ask: &Ask) -> &'static str {
    ask.route.or(ask.caller).unwrap_or_default()
}

impl Service {
    pub fn new(defect: Defect) -> Self {
        Self { defect, forgets_from: 500, ttl: None, raw_bytes: false, stored: HashMap::new() }
    }

    fn is(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    /// One request, its calls answered by `faults` in order and by the bank afterwards.
    pub fn ask(&mut self, stage: &mut Stage, step: &str, ask: &Ask, faults: &[u16]) {
        let (trace, sent) = (stage.trace(), stage.now);
        stage.now += MS;
        let name = self.name(ask);
        let got = match self.known(stage.now, &name, ask) {
            Some(got) => got,
            None => self.run(stage, trace, &name, ask, faults),
        };
        stage.outcome(step, ask, trace, sent, Some(got));
    }

    /// What a key is looked up by.
    fn name(&self, ask: &Ask) -> String {
        let shared = self.is(Defect::HandsOver) || self.is(Defect::RefusesOthers);
        let owner = if shared { "" } else { owner(ask) };
        format!("{owner}/{}", ask.key)
    }

    fn known(&mut self, now: u64, name: &str, ask: &Ask) -> Option<Got> {
        let stored = self.stored.get(name).cloned()?;
        let ttl = match self.defect {
            Defect::ExpiresEarly => self.ttl.map(|t| t / 2),
            Defect::NeverExpires => None,
            _ => self.ttl,
        };
        if ttl.is_some_and(|ttl| now > stored.at + ttl) {
            return None;
        }
        let raw = (self.raw_bytes || self.is(Defect::RawBytes)) && !self.is(Defect::IgnoresBytes);
        let same = if raw { stored.payload == ask.payload } else { stored.amount == ask.amount };
        if self.is(Defect::RefusesOthers) && SECOND.contains(&owner(ask)) {
            return Some(Got::new(409, "in use"));
        }
        if !same && !self.is(Defect::HandsOver) {
            return Some(Got::new(422, "key reused"));
        }
        if self.is(Defect::SwapsRepeats) && !SECOND.contains(&owner(ask)) {
            let other = SECOND.iter().find_map(|second| self.stored.get(&format!("{second}/{}", ask.key)));
            return Some(other.map_or(stored.got, |s| s.got.clone()).replayed());
        }
        let mut got = stored.got.replayed();
        if self.is(Defect::AltersRefusals) && got.status >= 400 {
            got.body += " again";
        }
        Some(got)
    }

    fn run(
        &mut self,
        stage: &mut Stage,
        trace: judge::evidence::TraceId,
        name: &str,
        ask: &Ask,
        faults: &[u16],
    ) -> Got {
        let at = stage.now;
        let runs = stage.id();
        let mut bank_key = match self.defect {
            Defect::PassesBareKey => ask.key.clone(),
            _ if self.ttl.is_some() => format!("bank-{name}-{runs}"),
            _ => format!("bank-{name}"),
        };
        let mut last = 0;
        for n in 0..4 {
            let fault = faults.get(n).copied();
            if stage.call(trace, &bank_key, ask.amount, fault) {
                stage.settle(&ask.key, &bank_key, ask.amount);
                let got = Got::new(201, &format!("paid {name} {runs}"));
                self.store(name, &got, ask, at);
                return got;
            }
            last = fault.unwrap_or_default();
            if last == 409 && self.is(Defect::NewKeyAfterConflict) {
                bank_key += "-again";
            }
            let pending = last == 409 && !self.is(Defect::ConflictIsFailure) && !self.is(Defect::ConflictForEver);
            if last < 500 && !pending {
                break;
            }
        }
        let got = match last {
            409 if self.is(Defect::ConflictForEver) => Got::new(409, "pending"),
            409 => Got::new(502, "the bank gave a reply that decides nothing"),
            400..=499 => Got::new(402, "declined"),
            _ => Got::new(502, &format!("unknown {runs}")),
        };
        let kept = got.status < self.forgets_from && !self.is(Defect::ForgetsRefusals) && last != 409;
        if kept || self.is(Defect::KeepsFailures) || self.is(Defect::ConflictForEver) {
            self.store(name, &got, ask, at);
        }
        got
    }

    fn store(&mut self, name: &str, got: &Got, ask: &Ask, at: u64) {
        let stored = Stored { got: got.clone(), amount: ask.amount, payload: ask.payload.clone(), at };
        self.stored.insert(name.to_owned(), stored);
    }
}
