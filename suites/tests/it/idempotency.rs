//! Idempotency keys: one effect, the original answer, whatever the network does.

use harness::battery::{BANK_CONFLICT, DUPLICATES, KEY_EXPIRY, KEY_MEMO, KEY_SCOPE, ONE_EFFECT, RESTART, Scenario};
use harness::faults::Fault;
use harness::judge::checks::{Check, idempotency, retry};
use harness::load::Load;
use harness::rig::{Isolation, Rig};
use harness::suite::{Judged, session};
use rstest::rstest;

use crate::service::payments;

/// Proves that a reply that was lost, torn, or late costs one effect, for one caller and for ten with the same key: one
/// row, one charge, and the original answer to everybody who asks again.
#[rstest]
#[case::lost_by_reset(Fault::LostReset)]
#[case::lost_by_close(Fault::LostClose)]
#[case::torn(Fault::Torn)]
#[case::late(Fault::Hang)]
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_costs_one_effect(#[case] fault: Fault, #[values(1, 10)] callers: usize) -> Judged {
    let steps = async |rig: &Rig| {
        let load = Load::twins("point/lost", callers);
        let asked = rig.during(fault.first(1), async |rig| rig.drive(load).await).await?;
        rig.drive(Load::again("again/lost", vec![asked[0].order.clone()])).await?;
        Ok(())
    };
    session(payments())?.judge_steps("lost-reply", Isolation::Retry, steps, &same_payment()).await
}

/// One effect, one answer, one key, one payload.
fn same_payment() -> [Check; 4] {
    let policy = payments().promises.idempotency.expect("the reference contract promises keys");
    [
        idempotency::exactly_one_effect("bank"),
        idempotency::replay_is_faithful(&policy, "bank"),
        retry::key_is_stable("bank"),
        retry::payload_is_stable("bank"),
    ]
}

/// Proves that after two failed attempts the third one is the same payment: same key, same payload, one effect; and that
/// asking again replays its answer.
#[tokio::test(flavor = "multi_thread")]
async fn the_third_attempt_is_the_same_payment() -> Judged {
    let session = session(payments())?;
    let rig = session.start_rig("third-attempt", Isolation::Retry).await?;
    let fault = Fault::Status(503).first(2);
    let asked = rig.during(fault, async |rig| rig.drive(Load::sequence("point/twice", 1)).await).await?;
    rig.drive(Load::again("again/twice", vec![asked[0].order.clone()])).await?;
    let evidence = rig.finish().await?;
    assert_eq!(evidence.attempts.len(), 3, "two failed attempts, one that succeeded, none for the replay");
    session.judge_by(&evidence, same_payment())
}

/// Proves the same over every fault point of the battery, over concurrent duplicates, and over a kill and a restart.
#[rstest]
#[case::every_fault_point(&ONE_EFFECT)]
#[case::concurrent_duplicates(&DUPLICATES)]
#[case::memory_of_failures(&KEY_MEMO)]
#[case::two_callers_and_two_routes(&KEY_SCOPE)]
#[case::expiry(&KEY_EXPIRY)]
#[case::conflict_at_the_bank(&BANK_CONFLICT)]
#[case::kill_and_restart(&RESTART)]
#[tokio::test(flavor = "multi_thread")]
async fn a_key_pays_once(#[case] scenario: &'static Scenario) -> Judged {
    session(payments())?.judge(&[scenario]).await
}
