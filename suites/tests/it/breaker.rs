//! The circuit breaker: opens at its threshold, fails fast, lets exactly one probe through, resets.

use harness::battery::{
    BREAKER_CROWD, BREAKER_EJECTION, BREAKER_LATE, BREAKER_OUTCOMES, BREAKER_RECOVERY, BREAKER_RELAPSE, BREAKER_TRIP,
    BREAKER_WINDOW, Scenario,
};
use harness::contract::BreakerEndpoint;
use harness::faults::Fault;
use harness::judge::checks::breaker;
use harness::judge::promise::{BreakerPolicy, BreakerProfile};
use harness::load::Load;
use harness::rig::{Isolation, Rig};
use harness::suite::{Judged, session};
use rstest::rstest;

use crate::service::{breaker as promised, payments, payments_breaking, slow_calls, windowed};

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
    let steps = async |rig: &Rig| {
        rig.trip(format!("trip/{fate}")).await?;
        rig.wait_half_open().await?;
        let call = Load::sequence(format!("fate/{fate}"), 1);
        rig.during(fault, async |rig| rig.drive(call).await).await?;
        rig.pace(&format!("reopened/{fate}"), rig.last_failure().await + policy.open / 2, policy.open / 40).await?;
        rig.wait_half_open().await?;
        rig.hold_while(Load::burst(format!("probe/{fate}"), callers)).await?;
        rig.drive(Load::sequence(format!("closed/{fate}"), 3)).await?;
        Ok(())
    };
    let checks = [
        breaker::stays_open(&policy, "bank", noise),
        breaker::half_open_single_probe(&policy, "bank"),
        breaker::probe_failure_reopens(&policy, "bank", noise),
    ];
    session(contract)?.judge_steps("single-probe", Isolation::Breaker, steps, &checks).await
}

/// Proves threshold, fast failure, recovery and relapse over the battery's own cycles; that late ends of calls change
/// nothing; that ends count as declared; that a crowd trips it as one caller does.
#[rstest]
#[case::trip(&BREAKER_TRIP)]
#[case::recovery(&BREAKER_RECOVERY)]
#[case::relapse(&BREAKER_RELAPSE)]
#[case::late(&BREAKER_LATE)]
#[case::outcomes(&BREAKER_OUTCOMES)]
#[case::crowd(&BREAKER_CROWD)]
#[tokio::test(flavor = "multi_thread")]
async fn the_breaker_keeps_its_promises(#[case] scenario: &'static Scenario) -> Judged {
    session(payments())?.judge(&[scenario]).await
}

/// Proves that what looks wrong and is promised passes: three probes at once, an open time that grows, a window, slow
/// successes that open it, and a breaker that comes back without a probe.
#[rstest]
#[case::three_probes(BreakerPolicy { probes: 3, ..promised() }, &[&BREAKER_RECOVERY, &BREAKER_LATE])]
#[case::growing(BreakerPolicy { growth: 2.0, ..promised() }, &[&BREAKER_RELAPSE])]
#[case::window(windowed(), &[&BREAKER_WINDOW])]
#[case::slow_calls(slow_calls(), &[&BREAKER_OUTCOMES])]
#[case::ejection(BreakerPolicy { profile: BreakerProfile::Ejection, ..promised() }, &[&BREAKER_EJECTION])]
#[tokio::test(flavor = "multi_thread")]
async fn unusual_promises_are_kept(#[case] policy: BreakerPolicy, #[case] scenarios: &[&Scenario]) -> Judged {
    session(payments_breaking(policy))?.judge(scenarios).await
}

/// Proves that the counter that Prometheus scrapes is held against all rejections since the start, and that of the
/// reference service bears it.
#[tokio::test(flavor = "multi_thread")]
async fn the_prometheus_counter_is_true() -> Judged {
    let mut contract = payments();
    let path = "/actuator/prometheus".to_owned();
    contract.breaker_endpoint = Some(BreakerEndpoint::Prometheus { path, name: "bank".to_owned() });
    session(contract)?.judge(&[&BREAKER_TRIP, &BREAKER_RECOVERY]).await
}
