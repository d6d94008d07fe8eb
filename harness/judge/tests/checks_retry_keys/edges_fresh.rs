//! R3 and R4 at their edges: how many payments, how many gaps, and how late an echo.

use std::time::Duration;

use judge::checks::retry;
use judge::evidence::{Canary, Evidence};
use judge::promise::{Noise, RetryPolicy};
use judge::sim::Policy;
use judge::{Finding, Ruling};

use crate::judged::{LINK, r3};
use crate::restarts::{anew, played};
use crate::scenarios::{all_fail, retry_policy};
use crate::service::Defect;
use crate::support::MS;

fn judged(attempts: u32, evidence: &Evidence) -> Finding {
    retry::draws_anew(&RetryPolicy { attempts, ..retry_policy() }, LINK, Noise::default()).judge(evidence)
}

fn restarted(clients: usize) -> Evidence {
    played(&anew(Policy::Full, clients, 5))
}

/// Removes the last attempts of so many payments.
fn without_last(mut evidence: Evidence, mut n: usize) -> Evidence {
    evidence.attempts.retain(|a| {
        let goes = a.ordinal == 4 && n > 0;
        n -= usize::from(goes);
        !goes
    });
    evidence
}

/// Proves that sixty payments of each start are enough, and that six of three hundred gaps may be missing.
#[test]
fn enough_is_enough() {
    for (clients, ruling) in [(60, Ruling::Pass), (59, Ruling::Inconclusive)] {
        let finding = judged(4, &restarted(clients));
        assert_eq!(finding.ruling, ruling, "{clients}: {finding:#?}");
    }
    for (gone, ruling) in [(6, Ruling::Pass), (7, Ruling::Inconclusive)] {
        let finding = judged(4, &without_last(restarted(100), gone));
        assert_eq!(finding.ruling, ruling, "{gone}: {finding:#?}");
    }
}

/// Proves what an echo may be late: by the radius of the partners where each payment has a profile, by a hundredth of the
/// delays where it has one gap; and that a canary which took no samples has nothing to say.
#[test]
fn echoes_may_be_late_by_what_the_tests_bear() {
    for (attempts, bears) in [(4, 10 * MS), (2, 2 * MS)] {
        for (late, ruling) in [(0, Ruling::Pass), (1, Ruling::Inconclusive)] {
            let mut evidence = restarted(100);
            let canary = evidence.canary[0].clone();
            evidence.canary[0] = Canary { max_ns: 20 * MS, p99_ns: bears + late, ..canary.clone() };
            evidence.canary.push(Canary { samples: 0, p99_ns: 50 * MS, ..canary });
            let finding = judged(attempts, &evidence);
            assert_eq!(finding.ruling, ruling, "{attempts} attempts, {late} ns: {finding:#?}");
            let words = format!("and {:.1} ms is what the tests bear", bears as f64 / 1e6);
            assert_eq!(finding.headline.ends_with(&words), ruling == Ruling::Inconclusive, "{}", finding.headline);
        }
    }
}

/// Proves that most of a herd's retries must have come: six of three hundred may be missing, and not seven.
#[test]
fn a_herd_must_have_come() {
    for (gone, ruling) in [(6, Ruling::Pass), (7, Ruling::Inconclusive)] {
        let herd = all_fail("herd", Policy::Full, 100, Defect::Sound);
        let finding = r3().judge(&without_last(herd, gone));
        assert_eq!(finding.ruling, ruling, "{finding:#?}");
        let says = "7 of 300 expected retries are missing";
        assert_eq!(finding.headline == says, ruling == Ruling::Inconclusive, "{}", finding.headline);
    }
}

/// Proves that the declared noise bound is the one that a pause is held to.
#[test]
fn the_noise_bound_is_the_declared_one() {
    let mut evidence = restarted(100);
    evidence.canary[0].max_ns = 20 * MS;
    for (eps, ruling) in [(20, Ruling::Pass), (19, Ruling::Inconclusive)] {
        let noise = Noise { eps: Duration::from_millis(eps) };
        let finding = retry::draws_anew(&retry_policy(), LINK, noise).judge(&evidence);
        assert_eq!(finding.ruling, ruling, "{eps} ms: {finding:#?}");
    }
}

/// Proves that a window tells a herd only if it is as long as the pauses and a whole herd is too many for it: after pauses of
/// 50 ms the shortest one is too short for them, and the longest one would hold a herd by chance.
#[test]
fn a_window_must_hold_a_pause() {
    for (pause, ruling) in [(30 * MS, Ruling::Pass), (50 * MS, Ruling::Inconclusive)] {
        let mut evidence = all_fail("herd", Policy::Full, 100, Defect::Sound);
        evidence.canary[0].max_ns = pause;
        let finding = r3().judge(&evidence);
        assert_eq!(finding.ruling, ruling, "{pause}: {finding:#?}");
    }
}
