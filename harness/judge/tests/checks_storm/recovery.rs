//! S2: a service that comes back, and those that do not.

use judge::checks::{Check, storm};
use judge::evidence::{Disk, Evidence};
use judge::{Finding, Ruling};

use crate::load_service::{Fate, TRIGGER, during, played, policy, rising, sound};
use crate::support::{LINK, MS, evidence};

fn check() -> Check {
    storm::recovers_after_trigger(&policy(), LINK)
}

fn judged(seconds: u64, fate: Fate) -> Finding {
    check().judge(&played(seconds, fate))
}

/// Proves that a service that is back within the time passes, also when it takes nearly all of that time.
#[test]
fn a_service_that_comes_back_passes() {
    let finding = judged(5, sound);
    assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
    let slow =
        judged(
            5,
            |at| if during(at) || (TRIGGER.1..TRIGGER.1 + 990 * MS).contains(&at) { vec![503] } else { vec![201] },
        );
    assert_eq!(slow.ruling, Ruling::Pass, "{slow:#?}");
    let last = slow.facts.iter().find(|f| f.name.starts_with("last failed payment")).expect("the number");
    assert!(last.value.as_f64().is_some_and(|ms| (970.0..=990.0).contains(&ms)), "{last:?}");
    // A retried success here and there is what the share leaves room for.
    let lively = judged(5, |at| if at % (400 * MS) == MS { vec![503, 201] } else { sound(at) });
    assert_eq!(lively.ruling, Ruling::Pass, "{lively:#?}");
}

/// Proves each way of not coming back, with the class of bugs that it points to.
#[test]
fn a_service_that_stays_down_fails() {
    let down = judged(5, |at| if at < TRIGGER.0 { vec![201] } else { vec![] });
    assert_eq!(down.ruling, Ruling::Fail, "{down:#?}");
    assert!(down.bug_class.as_deref().is_some_and(|c| c.contains("does not come back")), "{down:#?}");

    let metastable = judged(5, |at| if at < TRIGGER.0 { vec![201] } else { vec![503, 503, 503, 503] });
    assert_eq!(metastable.ruling, Ruling::Fail);
    assert!(metastable.bug_class.as_deref().is_some_and(|c| c.starts_with("a metastable failure")));
    assert!(metastable.headline.contains("(and 2 more)"), "goodput, retries and load: {}", metastable.headline);

    let retried = judged(5, |at| if at < TRIGGER.0 { vec![201] } else { vec![503, 201] });
    assert_eq!(retried.ruling, Ruling::Fail);
    assert!(retried.headline.contains("retries for each payment"), "{}", retried.headline);
}

/// Proves that requests which a pause kept back, and which came at its end, are no load that stayed; on a quiet machine so
/// many more are.
#[test]
fn what_a_pause_kept_back_is_no_load() {
    let mut evidence = played(4, sound);
    let due = TRIGGER.1 + 1_000 * MS;
    for attempt in evidence.attempts.iter_mut().filter(|a| (due - 230 * MS..due).contains(&a.arrived.0)) {
        attempt.arrived = judge::evidence::At(due);
        attempt.reply.ended = judge::evidence::At(due + 5 * MS);
    }
    let finding = check().judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    evidence.canary[0].max_ns = 230 * MS;
    let finding = check().judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
}

/// Proves that work which belongs to no fresh payment is seen, and told to be rising when it is.
#[test]
fn load_that_rises_fails() {
    let finding = check().judge(&rising());
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("they still rise"), "{}", finding.headline);
    assert!(finding.bug_class.as_deref().is_some_and(|c| c.starts_with("work that nobody waits for")));
}

/// Proves that what is not back on a machine that paused for more than two noise bounds, or its disk for four, or was short of processor time, is not the
/// service's fault, and that what is back there is back.
#[test]
fn a_noisy_machine_excuses_what_is_not_back() {
    let down: Fate = |at| if at < TRIGGER.0 { vec![201] } else { vec![] };
    let machines: [fn(&mut Evidence); 3] = [
        |e| e.canary[0].max_ns = 121 * MS,
        |e| e.disk.push(Disk { writes: 9, max_ns: 1_000 * MS }),
        |e| (e.canary[0].max_ns, e.canary[0].p99_ns) = (100 * MS, 21 * MS),
    ];
    for machine in machines {
        for (fate, ruling) in [(down, Ruling::Inconclusive), (sound as Fate, Ruling::Pass)] {
            let mut evidence = played(5, fate);
            machine(&mut evidence);
            let finding = check().judge(&evidence);
            assert_eq!(finding.ruling, ruling, "{finding:#?}");
        }
    }
}

/// Proves that too little is no pass: a load that ends too early, a trigger that comes too early, none at all, one that did
/// not strike, a machine that paused, a driver that slowed down.
#[test]
fn too_little_is_inconclusive() {
    let doubted = |evidence: Evidence, why: &str| {
        let finding = check().judge(&evidence);
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{why}: {finding:#?}");
        assert!(finding.headline.contains(why), "{why}: {}", finding.headline);
    };
    doubted(evidence("recovery"), "did not run");
    doubted(played(3, sound), "after the promised time");
    let mut blind = played(5, |at| if at < TRIGGER.0 { vec![201] } else { vec![503, 201] });
    blind.attempts.clear();
    doubted(blind, "no call of the whole scenario was seen");
    let mut early = played(5, sound);
    early.faults[0].applied = judge::evidence::At(100 * MS);
    doubted(early, "before the disturbance");
    let mut calm = played(5, sound);
    calm.faults.clear();
    doubted(calm, "nothing disturbed");
    let mut spared = played(5, sound);
    spared.faults[0].fired = 2;
    doubted(spared, "struck 2 times");
    let mut paused = played(5, sound);
    paused.canary[0].max_ns = 300 * MS;
    doubted(paused, "paused");
    let mut slower = played(5, sound);
    let late = |o: &judge::evidence::Outcome| o.sent.0 > 3_000 * MS && !o.seq.is_multiple_of(4);
    let gone: std::collections::BTreeSet<_> =
        slower.outcomes.iter().filter(|o| late(o)).map(|o| o.key.clone()).collect();
    slower.outcomes.retain(|o| !gone.contains(&o.key));
    slower.attempts.retain(|a| !gone.contains(&a.key));
    doubted(slower, "of the earlier rate");
}
