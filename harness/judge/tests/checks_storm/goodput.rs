//! S3: successes under overload.

use judge::Ruling;
use judge::checks::storm;
use judge::evidence::{Disk, Evidence};
use judge::promise::OverloadPolicy;

use crate::overload_service::{CAPACITY, played};
use crate::support::{LINK, MS, evidence, waited};

fn judged(evidence: &Evidence) -> judge::Finding {
    storm::goodput(&OverloadPolicy { goodput: 0.7 }, LINK, CAPACITY).judge(evidence)
}

/// Proves that the share decides: 200 a second of which every second succeeds are the whole capacity; every third is 67 %.
#[test]
fn the_share_of_the_capacity_decides() {
    let all = judged(&played(200, 4, 2, 0));
    assert_eq!(all.ruling, Ruling::Pass, "{all:#?}");
    let share = all.facts.iter().find(|f| f.name == "share of the capacity").expect("the number");
    assert!(share.value.as_f64().is_some_and(|s| (0.97..=1.03).contains(&s)), "{share:?}");
    let third = judged(&played(200, 4, 3, 1));
    assert_eq!(third.ruling, Ruling::Fail, "{third:#?}");
    assert!(third.bug_class.as_deref().is_some_and(|c| c.starts_with("no limit")), "{third:#?}");
    let retried = judged(&played(200, 4, 3, 3));
    assert!(retried.bug_class.as_deref().is_some_and(|c| c.starts_with("retries under overload")), "{retried:#?}");
    assert_eq!(judged(&played(200, 4, 1_000_000, 1)).ruling, Ruling::Fail);
}

/// Proves that a load that was no overload, or too short, or a machine that paused, decides nothing.
#[test]
fn too_little_is_inconclusive() {
    assert_eq!(judged(&evidence("overload")).ruling, Ruling::Inconclusive);
    assert!(judged(&played(110, 4, 1, 1)).headline.contains("no overload"));
    assert!(judged(&played(300, 0, 1, 1)).headline.contains("did not run"));
    let mut blind = played(200, 4, 2, 0);
    blind.attempts.clear();
    assert!(judged(&blind).headline.contains("no payment reached"), "{}", judged(&blind).headline);
    let mut short = played(400, 4, 2, 1);
    short.outcomes.truncate(160);
    short.attempts.truncate(80);
    assert!(judged(&short).headline.contains("were possible"), "{}", judged(&short).headline);
    let mut paused = played(200, 4, 2, 0);
    paused.canary[0].max_ns = 900 * MS;
    assert_eq!(judged(&paused).ruling, Ruling::Inconclusive);
}

/// Proves that a shortfall on a machine that paused for more than two noise bounds, or its disk for four, or was short of processor time, is not the service's, that a
/// share reached there is, and that a machine within its bound excuses nothing.
#[test]
fn a_noisy_machine_excuses_a_shortfall() {
    type Machine = fn(&mut Evidence);
    let machines: [(Machine, Ruling); 8] = [
        (|e| e.canary[0].max_ns = 121 * MS, Ruling::Inconclusive),
        (|e| e.canary[0].max_ns = 119 * MS, Ruling::Fail),
        (|e| e.disk.push(Disk { writes: 9, max_ns: 250 * MS }), Ruling::Inconclusive),
        (|e| e.disk.push(Disk { writes: 9, max_ns: 230 * MS }), Ruling::Fail),
        (|e| (e.canary[0].max_ns, e.canary[0].p99_ns) = (100 * MS, 21 * MS), Ruling::Inconclusive),
        (|e| (e.canary[0].max_ns, e.canary[0].p99_ns) = (100 * MS, 20 * MS), Ruling::Fail),
        (|e| e.canary.push(waited(250)), Ruling::Inconclusive),
        // An overload makes the service's own threads wait, time and again.
        (|e| e.canary.push(waited(230)), Ruling::Fail),
    ];
    for (machine, missed) in machines {
        for (nth, ruling) in [(3, missed), (2, Ruling::Pass)] {
            let mut evidence = played(200, 4, nth, 0);
            machine(&mut evidence);
            let finding = judged(&evidence);
            assert_eq!(finding.ruling, ruling, "{finding:#?}");
        }
    }
}
