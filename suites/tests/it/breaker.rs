//! The circuit breaker: opens at its threshold, fails fast, lets exactly one probe through, resets.

use harness::battery::{BREAKER_RECOVERY, BREAKER_RELAPSE, BREAKER_TRIP, Scenario};
use harness::faults::Fault;
use harness::judge::checks::breaker;
use harness::load::Load;
use harness::rig::Isolation;
use harness::suite::{Judged, session};
use rstest::rstest;

use crate::service::payments;

/// Proves that half-open admits one probe, held at the proxy while the others come, after a probe that failed, was
/// refused, or hung; alone and among 31.
#[rstest]
#[case::probe_fails("fails", Fault::Status(500))]
#[case::probe_refused("refused", Fault::Refuse)]
#[case::probe_hangs("hangs", Fault::Hang)]
#[tokio::test(flavor = "multi_thread")]
async fn half_open_admits_a_single_probe(
    #[case] fate: &str,
    #[case] fault: Fault,
    #[values(1, 31)] callers: usize,
) -> Judged {
    let contract = payments();
    let (policy, noise) = (contract.promises.breaker.clone().expect("a breaker is promised"), contract.noise);
    let session = session(contract)?;
    let rig = session.start_rig("single-probe", Isolation::Breaker).await?;
    rig.trip(format!("trip/{fate}")).await?;
    rig.wait_half_open().await?;
    let call = Load::sequence(format!("fate/{fate}"), 1);
    rig.during(fault, async |rig| rig.drive(call).await).await?;
    rig.pace(&format!("reopened/{fate}"), rig.last_failure() + policy.open / 2, policy.open / 40).await?;
    rig.wait_half_open().await?;
    rig.hold_while(Load::burst(format!("probe/{fate}"), callers)).await?;
    rig.drive(Load::sequence(format!("closed/{fate}"), 3)).await?;
    let evidence = rig.finish().await?;
    session.judge_by(
        &evidence,
        [
            breaker::stays_open(&policy, "bank", noise),
            breaker::half_open_single_probe(&policy, "bank"),
            breaker::probe_failure_reopens(&policy, "bank", noise),
        ],
    )
}

/// Proves threshold, fast failure, recovery and relapse over the battery's own cycles.
#[rstest]
#[case::trip(&BREAKER_TRIP)]
#[case::recovery(&BREAKER_RECOVERY)]
#[case::relapse(&BREAKER_RELAPSE)]
#[tokio::test(flavor = "multi_thread")]
async fn the_breaker_keeps_its_promises(#[case] scenario: &'static Scenario) -> Judged {
    session(payments())?.judge(&[scenario]).await
}
