//! A service that answers from memory while its dependency cannot be asked, with named defects.

use std::collections::HashMap;

use judge::evidence::Evidence;
use judge::promise::DegradationPolicy;

use super::stage::{Ask, Got, Stage};
use crate::support::MS;

/// What it promises.
pub fn policy() -> DegradationPolicy {
    serde_json::from_str(
        r#"{ "read": "/payments/{id}/confirmation", "marker": "X-Degraded", "age": "/age_ms", "age_unit": "ms",
             "max_age": "1500ms", "fresh_within": "1s", "confirmed": ["confirmed"] }"#,
    )
    .expect("a policy")
}

/// A way to be wrong; `Sound` is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    Sound,
    Unmarked,
    Ageless,
    MarksEverything,
    UnmarkedPayment,
    TooOld,
    TooOldAndSaysSo,
    AgeOfServing,
    AgeIsNoNumber,
    StaysDegraded,
    FailsAfterwards,
    StoredAsFresh,
    AgeStartsAgain,
    ConfirmedWithoutRow,
    ConfirmsWhatItIsAsked,
    NeverDegrades,
}

pub const MAX_AGE: u64 = 1_500 * MS;
pub const FRESH_WITHIN: u64 = 1_000 * MS;

struct Service {
    defect: Defect,
    /// When the dependency last answered for a payment, as far as the service knows.
    kept: HashMap<String, u64>,
    reads: usize,
}

impl Service {
    fn is(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    fn pay(&mut self, stage: &mut Stage, step: &str, ask: &Ask, down: bool) {
        let (trace, sent) = (stage.trace(), stage.now);
        let bank_key = format!("bank-{}", ask.key);
        let got = if stage.call(trace, &bank_key, ask.amount, down.then_some(503)) {
            stage.settle(&ask.key, &bank_key, ask.amount);
            self.kept.insert(ask.key.clone(), stage.now);
            word(Got::new(201, "paid"), "confirmed")
        } else {
            match self.defect {
                Defect::ConfirmedWithoutRow => Got { degraded: true, ..word(Got::new(201, "paid"), "confirmed") },
                Defect::UnmarkedPayment => word(Got::new(202, "later"), "pending"),
                Defect::ConfirmsWhatItIsAsked => Got { degraded: true, ..word(Got::new(202, "later"), "pending") },
                _ => Got::new(503, "breaker open"),
            }
        };
        stage.outcome(step, ask, trace, sent, Some(got));
    }

    fn read(&mut self, stage: &mut Stage, step: &str, ask: &Ask, down: bool) {
        let (trace, sent) = (stage.trace(), stage.now);
        self.reads += 1;
        let stuck = matches!(self.defect, Defect::StaysDegraded | Defect::FailsAfterwards | Defect::StoredAsFresh);
        let asks_bank = !(stuck && !step.starts_with("outage") && step != "live");
        let bank_key = format!("bank-{}", ask.key);
        let got = if asks_bank && stage.call(trace, &bank_key, ask.amount, down.then_some(503)) {
            self.kept.insert(ask.key.clone(), stage.now);
            let got = word(Got::new(200, "confirmation"), "confirmed");
            if self.is(Defect::MarksEverything) {
                Got { degraded: true, age: Some("0".to_owned()), ..got }
            } else {
                got
            }
        } else {
            self.fall_back(stage.now, ask, asks_bank)
        };
        stage.outcome(step, ask, trace, sent, Some(got));
    }

    fn fall_back(&mut self, now: u64, ask: &Ask, outage: bool) -> Got {
        let confirmed = word(Got::new(200, "confirmation"), "confirmed");
        let Some(learned) = self.kept.get(&ask.key).copied() else {
            let invents = self.is(Defect::ConfirmsWhatItIsAsked);
            let invented = Got { degraded: true, age: Some("5".to_owned()), ..confirmed };
            return if invents { invented } else { Got::new(409, "not confirmed") };
        };
        let age = now - learned;
        if self.is(Defect::AgeStartsAgain) {
            self.kept.insert(ask.key.clone(), now);
        }
        let bounded = !matches!(self.defect, Defect::TooOld | Defect::TooOldAndSaysSo | Defect::AgeOfServing);
        if self.is(Defect::NeverDegrades) || (bounded && outage && age > MAX_AGE) {
            return Got::new(503, "breaker open");
        }
        let told = match self.defect {
            Defect::TooOld => age.min(MAX_AGE),
            Defect::AgeOfServing => 0,
            _ => age,
        };
        let aged = Got { degraded: true, age: Some(format!("{}", told / MS)), ..confirmed.clone() };
        match self.defect {
            Defect::Unmarked => Got { degraded: false, ..aged },
            Defect::Ageless => Got { age: None, ..aged },
            Defect::AgeIsNoNumber => Got { age: Some("a while".to_owned()), ..aged },
            Defect::StoredAsFresh if !outage => confirmed,
            Defect::FailsAfterwards if !outage => Got::new(503, "breaker open"),
            _ => aged,
        }
    }
}

fn word(mut got: Got, word: &str) -> Got {
    got.word = Some(word.to_owned());
    got
}

/// The scenario `degradation`.
pub fn degradation(defect: Defect) -> Evidence {
    let mut stage = Stage::new("degradation");
    let mut service = Service { defect, kept: HashMap::new(), reads: 0 };
    let seeds: Vec<_> = (1..=3).map(|n| Ask::new(&format!("seed-{n}"), 100)).collect();
    let asks: Vec<_> = (1..=3).map(|n| Ask::new(&format!("ask-{n}"), 100)).collect();
    seeds.iter().for_each(|a| service.pay(&mut stage, "seed", a, false));
    seeds.iter().for_each(|a| service.read(&mut stage, "live", a, false));
    let from = stage.now;
    asks.iter().for_each(|a| service.pay(&mut stage, "outage/ask", a, true));
    for _ in 0..3 {
        seeds.iter().chain(&asks).for_each(|a| service.read(&mut stage, "outage/read", a, true));
        stage.now += 400 * MS;
    }
    stage.now = from + MAX_AGE + 200 * MS;
    seeds.iter().for_each(|a| service.read(&mut stage, "outage/old", a, true));
    stage.fault("request/reply 503", from, 3);
    let healed = stage.now;
    seeds.iter().for_each(|a| service.read(&mut stage, "recovering", a, false));
    stage.now = healed + FRESH_WITHIN + 100 * MS;
    seeds.iter().for_each(|a| service.read(&mut stage, "fresh", a, false));
    stage.finish()
}
