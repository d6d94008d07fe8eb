//! The service under test: a payment service with named defects, moved by hand through the stage.

use std::collections::HashMap;

use judge::evidence::{LedgerRow, TraceId};

use super::world::{Call, Ended, Fault, Got, World};
use crate::support::MS;

/// A way to be wrong; `Sound` is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    Sound,
    OneAttemptMore,
    OneAttemptLess,
    NestedRetries,
    RetriesAfterSuccess,
    RetriesClientErrors,
    RepeatsRefused,
    NeverRetries503,
    HidesTheRetry,
    NewKeyPerAttempt,
    NoKey,
    OneKeyForAll,
    BodyChanges,
    BodyConsumed,
    LengthWrong,
    ChargesAgainAfterLost,
    SecondRow,
    NeverSettles,
    ConfirmsWithoutCharge,
    WrongAmount,
    TwinsBothRun,
    TwinsGet500,
    TwinsGetPlain409,
    TwinRerunsAfterwards,
    ReplayReruns,
    ReplayAltered,
    ReplayOtherStatus,
    ReplayUnmarked,
    EverythingMarked,
    PayloadNotChecked,
    PayloadOverwrites,
    MissingKeyAccepted,
    MissingKeyCallsBank,
    KeysInMemory,
    InFlightForEver,
    RecoversWithNewKey,
    FailsAtFirst,
    RetriesWithoutFault,
}

/// A payment that a client asks for.
#[derive(Debug, Clone)]
pub struct Order {
    pub key: Option<String>,
    pub amount: i64,
}

/// How the service retries.
pub const ATTEMPTS: usize = 4;
const RETRYABLE: [u16; 7] = [408, 425, 429, 500, 502, 503, 504];

pub struct Service {
    pub defect: Defect,
    known: HashMap<String, (i64, String)>,
    /// Delay plus noise before each retry, milliseconds.
    pub waits: Vec<f64>,
    asked: usize,
}

impl Service {
    pub fn new(defect: Defect) -> Self {
        Self { defect, known: HashMap::new(), waits: vec![40.0, 90.0, 170.0, 300.0], asked: 0 }
    }

    fn is(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    /// The process dies and comes back.
    pub fn restart(&mut self) {
        if self.is(Defect::KeysInMemory) {
            self.known.clear();
        }
    }

    /// One client request, from send to answer. `faults` strike its attempts in order, `after` every later one.
    pub fn ask(&mut self, w: &mut World, step: &str, order: &Order, faults: &[Fault], after: Option<Fault>) {
        let (trace, sent) = (w.trace(), w.now);
        let got = self.answer(w, trace, order, sent, faults, after);
        w.now = got.at + MS;
        w.outcome(step, order.key.as_deref(), order.amount, trace, sent, got);
    }

    fn answer(
        &mut self,
        w: &mut World,
        trace: TraceId,
        order: &Order,
        sent: u64,
        faults: &[Fault],
        after: Option<Fault>,
    ) -> Got {
        self.asked += 1;
        let Some(key) = order.key.as_deref() else { return self.keyless(w, trace, order, sent) };
        if let Some((amount, body)) = self.known.get(key).cloned() {
            return self.again(w, trace, order, sent, (key, amount, &body));
        }
        if self.is(Defect::FailsAtFirst) && self.asked == 1 {
            return Got::reply(sent + MS, 503, "not ready", false);
        }
        let ended = self.charge(w, trace, key, order.amount, sent + 2 * MS, faults, after);
        self.conclude(w, key, order.amount, ended)
    }

    fn keyless(&mut self, w: &mut World, trace: TraceId, order: &Order, sent: u64) -> Got {
        match self.defect {
            Defect::MissingKeyAccepted => {
                let key = format!("made-up-{}", w.id());
                let ended = self.charge(w, trace, &key, order.amount, sent + MS, &[], None);
                self.conclude(w, &key, order.amount, ended)
            }
            Defect::MissingKeyCallsBank => {
                let key = format!("made-up-{}", w.id());
                self.charge(w, trace, &key, order.amount, sent + MS, &[Fault::Status(400)], None);
                Got::reply(sent + 5 * MS, 400, "key is missing", false)
            }
            _ => Got::reply(sent + MS, 400, "key is missing", false),
        }
    }

    fn again(
        &mut self,
        w: &mut World,
        trace: TraceId,
        order: &Order,
        sent: u64,
        (key, amount, body): (&str, i64, &str),
    ) -> Got {
        let at = sent + MS;
        if amount != order.amount && !self.is(Defect::PayloadNotChecked) {
            if self.is(Defect::PayloadOverwrites) {
                w.rows.iter_mut().filter(|r| r.key.as_deref() == Some(key)).for_each(|r| r.amount = Some(order.amount));
            }
            return Got::reply(at, 422, "another payload", false);
        }
        match self.defect {
            Defect::ReplayReruns => {
                let ended = self.charge(w, trace, key, amount, at, &[], None);
                Got::reply(ended.at + MS, 201, body, true)
            }
            Defect::ReplayAltered => Got::reply(at, 201, &format!("{body} rendered again"), true),
            Defect::ReplayOtherStatus => Got::reply(at, 200, body, true),
            Defect::ReplayUnmarked => Got::reply(at, 201, body, false),
            _ => Got::reply(at, 201, body, true),
        }
    }

    /// All attempts of one request; how the last one ended.
    #[expect(clippy::too_many_arguments, reason = "a request, its start and its faults")]
    fn charge(
        &mut self,
        w: &mut World,
        trace: TraceId,
        key: &str,
        amount: i64,
        mut at: u64,
        faults: &[Fault],
        after: Option<Fault>,
    ) -> Ended {
        let most = match self.defect {
            Defect::OneAttemptMore => ATTEMPTS + 1,
            Defect::OneAttemptLess => ATTEMPTS - 1,
            Defect::NestedRetries => 3 * ATTEMPTS,
            _ => ATTEMPTS,
        };
        let mut lost = false;
        let mut ended = Ended { status: None, at };
        for n in 0..most {
            let fault = faults.get(n).copied().or(after);
            let again = self.is(Defect::ChargesAgainAfterLost) && lost;
            ended = self.attempt(w, trace, key, amount, at, (n, again, fault));
            lost |= fault == Some(Fault::Lost);
            let more = match self.defect {
                Defect::RetriesAfterSuccess if ended.ok() && n == 1 => true,
                Defect::RetriesWithoutFault if self.asked == 3 && n == 0 => true,
                _ => !ended.ok() && self.retries(ended.status, fault),
            };
            if !more || n + 1 == most {
                break;
            }
            at = ended.at + (self.waits[n.min(self.waits.len() - 1)] * MS as f64) as u64;
        }
        ended
    }

    fn attempt(
        &self,
        w: &mut World,
        trace: TraceId,
        key: &str,
        amount: i64,
        at: u64,
        (n, again, fault): (usize, bool, Option<Fault>),
    ) -> Ended {
        let mut bank_key = format!("bank-{key}");
        if again || (self.is(Defect::NewKeyPerAttempt) && n > 0) {
            bank_key += &format!("-{n}");
        }
        if self.is(Defect::OneKeyForAll) {
            "bank-key".clone_into(&mut bank_key);
        }
        let mut body = format!("amount={amount}");
        if n > 0 && self.is(Defect::BodyChanges) {
            body += &format!("&attempt={n}");
        }
        if n > 0 && self.is(Defect::BodyConsumed) {
            body.clear();
        }
        let declared = body.len() as u64 + u64::from(self.is(Defect::LengthWrong));
        let amount = if self.is(Defect::WrongAmount) { amount + 1 } else { amount };
        let key = (!self.is(Defect::NoKey)).then_some(bank_key.as_str());
        let confirms_unasked = self.is(Defect::ConfirmsWithoutCharge) && fault.is_none();
        if confirms_unasked {
            return Ended { status: Some(201), at: at + MS };
        }
        w.attempt(&Call { at, trace, key, amount, body, declared }, fault)
    }

    fn retries(&self, status: Option<u16>, fault: Option<Fault>) -> bool {
        match (self.defect, status) {
            (Defect::RetriesClientErrors, Some(400..=499)) => true,
            (Defect::NeverRetries503, Some(503)) => false,
            (Defect::RepeatsRefused, None) => true,
            // Refused connections are the one failure without a reply that this service does not retry.
            (_, None) => fault != Some(Fault::Refuse),
            (_, Some(status)) => RETRYABLE.contains(&status),
        }
    }

    /// The row and the answer that follow from the last attempt.
    fn conclude(&mut self, w: &mut World, key: &str, amount: i64, ended: Ended) -> Got {
        let ok = ended.ok();
        let id = w.id();
        let settled = ok && !self.is(Defect::NeverSettles);
        let row = LedgerRow {
            key: Some(key.to_owned()),
            id: Some(format!("p-{id}")),
            downstream_key: Some(format!("bank-{key}")),
            amount: Some(amount),
            status: Some(if settled { "confirmed" } else { "failed" }.to_owned()),
            settled,
        };
        if self.is(Defect::SecondRow) {
            w.rows.push(LedgerRow { id: Some(format!("p-{id}-b")), ..row.clone() });
        }
        // A payment that had failed before is finished in its own row.
        match w.rows.iter_mut().find(|r| r.key.as_deref() == Some(key) && !r.settled) {
            Some(failed) if !self.is(Defect::NeverSettles) => *failed = LedgerRow { id: failed.id.clone(), ..row },
            _ => w.rows.push(row),
        }
        if !ok {
            return Got::reply(ended.at + MS, 502, "bank unreachable", false);
        }
        let body = format!("payment {id}");
        self.known.insert(key.to_owned(), (amount, body.clone()));
        if self.is(Defect::HidesTheRetry) && w.evidence.attempts.last().is_some_and(|a| a.ordinal > 1) {
            return Got::reply(ended.at + MS, 502, "bank unreachable", false);
        }
        Got::reply(ended.at + MS, 201, &body, self.is(Defect::EverythingMarked))
    }

    /// `callers` with one key at once; the first one's attempts meet `faults`.
    pub fn twins(&mut self, w: &mut World, step: &str, callers: usize, order: &Order, faults: &[Fault]) {
        let key = order.key.clone().unwrap_or_default();
        let sent = w.now;
        self.ask(w, step, order, faults, None);
        let done = w.now;
        for i in 1..callers as u64 {
            let (trace, sent) = (w.trace(), sent + i * 1000);
            let got = match self.defect {
                Defect::TwinsBothRun if i == 1 => {
                    let ended = self.charge(w, trace, &format!("{key}-twin"), order.amount, sent + MS, &[], None);
                    self.conclude_twin(w, &key, order.amount, ended)
                }
                Defect::TwinRerunsAfterwards if i == 1 => {
                    let ended = self.charge(w, trace, &key, order.amount, done + MS, &[], None);
                    let (_, body) = self.known[&key].clone();
                    Got::reply(ended.at + MS, 201, &body, true)
                }
                Defect::TwinsGet500 if i == 1 => Got::reply(sent + MS, 500, "database is locked", false),
                Defect::TwinsGetPlain409 if i == 1 => plain(sent + MS),
                // One of the twins waits for the original and gets its reply.
                _ if i == 2 => match self.known.get(&key) {
                    Some((_, body)) => Got::reply(done, 201, body, true),
                    None => Got::reply(sent + MS, 409, "in flight", false),
                },
                _ => Got::reply(sent + MS, 409, "in flight", false),
            };
            w.now = w.now.max(got.at + MS);
            w.outcome(step, Some(&key), order.amount, trace, sent, got);
        }
    }

    fn conclude_twin(&mut self, w: &mut World, key: &str, amount: i64, ended: Ended) -> Got {
        let original = self.known.get(key).cloned();
        let got = self.conclude(w, key, amount, ended);
        if let Some(original) = original {
            self.known.insert(key.to_owned(), original);
        }
        got
    }

    /// A payment that the bank accepts and whose answer never comes, because the service dies.
    pub fn die_in_flight(&mut self, w: &mut World, step: &str, order: &Order) {
        let (trace, sent) = (w.trace(), w.now);
        let key = order.key.as_deref().unwrap_or_default();
        self.attempt(w, trace, key, order.amount, sent + MS, (0, false, Some(Fault::Hold)));
        let died = sent + 100 * MS;
        if let Some(attempt) = w.evidence.attempts.last_mut() {
            attempt.reply.end = judge::evidence::End::ClientLeft;
            attempt.reply.status = None;
            attempt.reply.ended = judge::evidence::At(died);
        }
        w.evidence.spans.pop();
        w.now = died + MS;
        w.outcome(step, order.key.as_deref(), order.amount, trace, sent, Got::broken(died));
    }

    /// Asks for it again after the restart.
    pub fn recover(&mut self, w: &mut World, step: &str, order: &Order) {
        let key = order.key.as_deref().unwrap_or_default();
        let (trace, sent) = (w.trace(), w.now);
        let got = match self.defect {
            Defect::InFlightForEver => Got::reply(sent + MS, 409, "in flight", false),
            Defect::RecoversWithNewKey => {
                let ended = self.charge(w, trace, &format!("{key}-again"), order.amount, sent + MS, &[], None);
                self.conclude(w, key, order.amount, ended)
            }
            _ => return self.ask(w, step, order, &[], None),
        };
        w.now = got.at + MS;
        w.outcome(step, order.key.as_deref(), order.amount, trace, sent, got);
    }
}

/// The right status without problem details.
fn plain(at: u64) -> Got {
    let mut got = Got::reply(at, 409, "busy", false);
    if let judge::evidence::Answer::Reply(reply) = &mut got.answer {
        reply.content_type = Some("text/plain".to_owned());
        reply.problem_status = None;
    }
    got
}
