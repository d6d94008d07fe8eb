//! I6 over time: how long the key of a killed owner is in flight, and payments whose dependency died.

use judge::checks::{Check, catalogue, idempotency};
use judge::evidence::{At, Evidence};

use crate::keys::{LINK, fails, passes, unclear};
use crate::scenarios::policy;
use crate::stage::{Ask, Got, Stage};
use crate::support::{MS, struck};

/// When the tries of a payment under way at the kill are answered with success, in milliseconds after it.
const SOUND: u64 = 1_000;

fn i6() -> Check {
    idempotency::survives_crash(&policy(r#""lease": "1s""#), LINK)
}

struct Death {
    /// Until when the key is in flight after the kill.
    leased: u64,
    /// How often it is asked for, 300 ms apart.
    tries: u64,
    /// Whether a payment whose dependency died is ever finished, and under which key.
    revives: Option<&'static str>,
    /// What its tries are answered when it is not, and how it was answered first.
    stays: (Got, Got),
    /// Whether those tries call the dependency.
    calls: bool,
}

impl Default for Death {
    fn default() -> Self {
        let stays = (Got::new(502, "unknown"), Got::new(409, "in flight"));
        Self { leased: SOUND, tries: 12, revives: Some("bank-dying"), stays, calls: false }
    }
}

fn pay(stage: &mut Stage, step: &str, key: &str, downstream: &str) {
    let (trace, sent, ask) = (stage.trace(), stage.now, Ask::new(key, 100));
    stage.call(trace, downstream, 100, None);
    stage.settle(key, downstream, 100);
    stage.outcome(step, &ask, trace, sent, Some(Got::new(201, &format!("paid {key}"))));
}

fn restart(death: &Death) -> Evidence {
    let mut stage = Stage::new("restart");
    pay(&mut stage, "first", "done", "bank-done");
    let (trace, sent) = (stage.trace(), stage.now);
    stage.outcome("replay", &Ask::new("done", 100), trace, sent, Some(Got::new(201, "paid done").replayed()));
    // The bank has accepted it; the answer is held while the service is killed.
    let (trace, sent) = (stage.trace(), stage.now);
    stage.call(trace, "bank-open", 100, None);
    let fault = judge::evidence::Struck { held: Some(At(stage.now)), ..struck("response/hold") };
    let attempt = stage.evidence.attempts.last_mut().expect("just made");
    (attempt.fault, attempt.reply.status) = (Some(fault), None);
    attempt.reply.end = judge::evidence::End::ClientLeft;
    stage.outcome("accepted", &Ask::new("open", 100), trace, sent, None);
    let killed = stage.now;
    for n in 1..=death.tries {
        stage.now = killed + n * 300 * MS;
        let step = format!("recover/{n}");
        if stage.now >= killed + death.leased * MS {
            pay(&mut stage, &step, "open", "bank-open");
            break;
        }
        let (trace, sent) = (stage.trace(), stage.now);
        stage.outcome(&step, &Ask::new("open", 100), trace, sent, Some(Got::new(409, "in flight")));
    }
    let (from, trace, sent) = (stage.now, stage.trace(), stage.now);
    stage.call(trace, "bank-dying", 100, Some(503));
    stage.outcome("dying/lost", &Ask::new("dying", 100), trace, sent, Some(death.stays.0.clone()));
    stage.fault("response/reset", from, 1);
    match death.revives {
        Some(downstream) => pay(&mut stage, "revived/1", "dying", downstream),
        None => {
            for n in 1..=2 {
                let (trace, sent) = (stage.trace(), stage.now);
                if death.calls {
                    stage.call(trace, "bank-dying", 100, None);
                }
                let step = format!("revived/{n}");
                stage.outcome(&step, &Ask::new("dying", 100), trace, sent, Some(death.stays.1.clone()));
            }
        }
    }
    stage.finish()
}

/// Proves that a lease may last as long as declared, and that one which lasts longer, or for ever, is a failure.
#[test]
fn a_lease_ends_when_it_should() {
    passes(&i6(), &restart(&Death::default()));
    let [for_ever, _, _, too_long] = catalogue::I6.bug_classes else { panic!("four classes") };
    fails(&i6(), &restart(&Death { leased: 2_000, ..Death::default() }), Some(too_long));
    fails(&i6(), &restart(&Death { leased: u64::MAX / MS / 2, ..Death::default() }), Some(for_ever));
}

/// Proves that a lease nobody outlived is no failure, and no pass.
#[test]
fn a_lease_that_nobody_outlived_is_inconclusive() {
    unclear(&i6(), &restart(&Death { leased: 5_000, tries: 3, ..Death::default() }), "after its lease");
}

/// Proves that a payment whose dependency died must be finished afterwards, under its own key; and that nothing is said
/// when nothing was lost.
#[test]
fn a_payment_outlives_its_dependency() {
    let [_, _, new_key, _] = catalogue::I6.bug_classes else { panic!("four classes") };
    fails(&i6(), &restart(&Death { revives: None, ..Death::default() }), None);
    fails(&i6(), &restart(&Death { revives: Some("bank-anew"), ..Death::default() }), Some(new_key));
    let mut unfired = restart(&Death::default());
    unfired.faults[0].fired = 0;
    unclear(&i6(), &unfired, "struck 0 times");
    let all = idempotency::survives_crash(&policy(r#""memo": "all""#), LINK);
    passes(&all, &restart(&Death { revives: None, ..Death::default() }));
}

/// Proves that a first failure which its key gets for ever is what a promised memo says, and where none is promised neither
/// a failure nor a pass; that `in flight` for ever, and a failure after a call of its own, are no memory.
#[test]
fn a_failure_that_is_remembered_needs_a_promise() {
    let unknown = || Got::new(502, "unknown");
    let death =
        |first: Got, again: Got, calls| Death { revives: None, stays: (first, again), calls, ..Death::default() };
    let kept = restart(&death(unknown(), unknown(), false));
    unclear(&i6(), &kept, "is not promised");
    for (memo, remembers) in [("all", true), ("2xx+4xx", false), ("2xx", false)] {
        let check = idempotency::survives_crash(&policy(&format!(r#""memo": "{memo}""#)), LINK);
        if remembers {
            passes(&check, &kept);
        } else {
            fails(&check, &kept, None);
        }
    }
    let refusal = || Got::new(402, "declined");
    let refusals = idempotency::survives_crash(&policy(r#""memo": "2xx+4xx""#), LINK);
    passes(&refusals, &restart(&death(refusal(), refusal(), false)));
    let in_flight = || Got::new(409, "in flight");
    fails(&i6(), &restart(&death(in_flight(), in_flight(), false)), None);
    fails(&i6(), &restart(&death(unknown(), unknown(), true)), None);
}
