//! R5 against services whose waits keep to their cap, and services whose exponent runs away.

use std::time::Duration;

use judge::checks::{Check, retry};
use judge::evidence::Evidence;
use judge::law::LawSpec;
use judge::promise::{CapCheck, Noise, RetryPolicy};
use judge::{Finding, MAX_LINES, Ruling};

use crate::cap_service::{Ends, Service, Waits};
use crate::promise::policy;
use crate::support::{LINK, waited, window};
use crate::{is_unclear, noisy, passes, unjoined};

const BASE: Duration = Duration::from_millis(200);
const CAP: Duration = Duration::from_secs(5);

/// The reference promise, without the deadline that 75 attempts cannot keep.
fn promised() -> RetryPolicy {
    RetryPolicy { deadline: None, ..policy() }
}

fn backing_off(law: LawSpec) -> RetryPolicy {
    RetryPolicy { backoff: law.build().expect("valid"), ..promised() }
}

fn check_of(service: &Service) -> Check {
    retry::cap_holds(&service.promised, &service.check, LINK, Noise::default())
}

fn full() -> Service {
    Service::new(&promised(), CapCheck::default())
}

/// The laws whose jitter at a cap of 100 ms, or none, can be seen beside noise of 60 ms.
fn laws() -> [RetryPolicy; 5] {
    [
        LawSpec::full(BASE),
        LawSpec::exponential(BASE),
        LawSpec::decorrelated(BASE),
        LawSpec::envoy(BASE),
        LawSpec::plus_minus(BASE, 0.5),
    ]
    .map(|law| backing_off(law.cap(CAP)))
}

/// A failure with the `class`-th class of bugs, at most so likely on a correct service, with evidence.
fn fails(service: &Service, class: usize, chance: f64) -> Finding {
    let check = check_of(service);
    let finding = check.judge(&service.play());
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert_eq!(finding.bug_class.as_deref(), Some(check.info().bug_classes[class]), "{finding:#?}");
    let bound = finding.chance.and_then(|c| c.probability());
    assert!(bound.is_some_and(|p| p <= chance), "{finding:#?}");
    assert!(!finding.lines.is_empty() && finding.lines.len() <= MAX_LINES, "{finding:#?}");
    finding
}

/// Proves that services which keep to their cap pass under each law, and that the finding counts what it looked at.
#[test]
fn keeping_to_the_cap_passes() {
    for promised in laws() {
        let service = Service::new(&promised, CapCheck::default());
        passes(&check_of(&service), &service.play());
    }
    let finding = check_of(&full()).judge(&full().play());
    assert!(finding.headline.starts_with("804 waits at the cap of 12 payments"), "{}", finding.headline);
}

/// Proves that a cap under which the jitter is swallowed fails as that. With full jitter nothing is left below it.
#[test]
fn a_swallowed_jitter_fails() {
    let finding = fails(&full().waiting(Waits::SwallowingTheJitter), 1, 1e-7);
    assert!(finding.headline.contains("100.0 ms or longer"), "{}", finding.headline);
}

/// Proves that an exponent that runs over fails under each law without memory: to zero after the 64th doubling, and back to the
/// base after the 31st; and that the retries are named.
#[test]
fn an_overflow_fails() {
    for promised in laws().into_iter().filter(|p| !p.backoff.is_conditional()) {
        let service = Service::new(&promised, CapCheck::default());
        let finding = fails(&service.clone().waiting(Waits::InAHotLoop), 0, 1e-7);
        assert!(finding.headline.contains("before retries 64 to 74"), "{}", finding.headline);
        let finding = fails(&service.waiting(Waits::StartingOver), 0, 1e-7);
        assert!(finding.headline.contains("before retries 32 to 39"), "{}", finding.headline);
    }
}

/// Proves that no wait at all fails under each law, the decorrelated one included, whose short waits allow short ones.
#[test]
fn a_hot_loop_fails() {
    for promised in laws() {
        let service = Service { noise: 0.001, ..Service::new(&promised, CapCheck::default()) };
        fails(&service.waiting(Waits::Never), 0, 1e-7);
    }
}

/// Proves that waits without a cap, under half of it, or above it before a single retry, fail as that, also where a deadline,
/// declared or not, ends the payments early.
#[test]
fn another_cap_or_none_fails() {
    fails(&Service { deadline: 15.0, ..full().waiting(Waits::WithoutACap) }, 2, 1e-7);
    let declared = CapCheck { deadline: Some(Duration::from_secs(15)), ..CapCheck::default() };
    fails(&Service { deadline: 13.5, check: declared, ..full().waiting(Waits::WithoutACap) }, 2, 1e-7);
    fails(&full().waiting(Waits::WithoutACap), 2, 1e-7);
    fails(&full().waiting(Waits::WithHalfTheCap), 4, 1e-7);
    let finding = fails(&full().waiting(Waits::TwiceBeforeRetry(40)), 4, 1e-7);
    assert!(finding.headline.starts_with("12 of 12 waits before retry 40 "), "{}", finding.headline);
}

/// Proves that attempts which end in an error fail by count, whether the client is told or left waiting.
#[test]
fn attempts_that_end_early_fail() {
    let finding = fails(&full().ending(Ends::InAPanicAfter(33)), 3, 0.0);
    assert!(finding.headline.starts_with("12 of 12 payments were given up after as few as 33"), "{}", finding.headline);
    let finding = fails(&full().ending(Ends::InSilenceAfter(33)), 3, 0.0);
    assert!(finding.headline.contains("left without an answer"), "{}", finding.headline);
}

/// Proves the false-alarm bound by count: of 200 sound services under no noise, of 10 ms and of 50 ms none is failed, and all
/// pass. At 3e-7 each the chance of one failure among the 600 is 2e-4.
#[test]
fn sound_services_are_never_failed() {
    for noise in [0.0, 0.010, 0.050] {
        for seed in 0..200 {
            let service = Service { noise, seed, payments: 8, ..full() };
            passes(&check_of(&service), &service.play());
        }
    }
}

/// Proves the power by count: of 40 services with each mistake, under each noise, every one is failed. Noise of half the cap
/// hides waits of half the cap, and those that start over, whose shortness it makes up for: there nothing is claimed.
#[test]
fn mistakes_are_always_failed() {
    let blatant = [Waits::SwallowingTheJitter, Waits::InAHotLoop, Waits::WithoutACap];
    let subtle = [Waits::StartingOver, Waits::WithHalfTheCap];
    let all = blatant.map(|w| (w, vec![0.0, 0.010, 0.050])).into_iter().chain(subtle.map(|w| (w, vec![0.0, 0.010])));
    for (waits, noises) in all {
        for (noise, seed) in noises.into_iter().flat_map(|noise| (0..40).map(move |seed| (noise, seed))) {
            let service = Service { noise, seed, ..full().waiting(waits) };
            let finding = check_of(&service).judge(&service.play());
            assert_eq!(finding.ruling, Ruling::Fail, "{waits:?}, noise {noise}, seed {seed}: {finding:#?}");
        }
    }
}

/// Proves for the other laws that no sound service is failed.
#[test]
fn no_law_is_failed() {
    for promised in laws() {
        for seed in 0..40 {
            let service = Service { noise: 0.030, seed, ..Service::new(&promised, CapCheck::default()) };
            passes(&check_of(&service), &service.play());
        }
    }
}

/// Proves that a pause forbids the long side and the pass, and neither the short side nor the count: noise only lengthens.
#[test]
fn a_pause_excuses_only_what_is_long() {
    let judged = |service: Service| check_of(&service).judge(&noisy(&service.play()));
    for waits in [Waits::Rightly, Waits::SwallowingTheJitter, Waits::TwiceBeforeRetry(40)] {
        let finding = judged(full().waiting(waits));
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{waits:?}: {finding:#?}");
        assert!(finding.headline.contains("paused"), "{}", finding.headline);
    }
    for waits in [Waits::InAHotLoop, Waits::StartingOver, Waits::Never] {
        assert_eq!(judged(full().waiting(waits)).ruling, Ruling::Fail, "{waits:?}");
    }
    assert_eq!(judged(full().ending(Ends::InAPanicAfter(33))).ruling, Ruling::Fail);
    // One attempt may have timed out before it arrived; 42 of them would have taken longer than the payments did.
    let short = judged(full().ending(Ends::InAPanicAfter(74)));
    assert_eq!(short.ruling, Ruling::Inconclusive, "{short:#?}");
    // Silence is a long time, and a pause would explain it.
    assert_eq!(judged(full().ending(Ends::InSilenceAfter(33))).ruling, Ruling::Inconclusive);
}

/// Proves that a wait of the service for a processor is such a pause, under its own name, also where the harness was served in
/// time; and that one within the bound excuses nothing.
#[test]
fn a_service_that_was_kept_waiting_is_excused_the_same() {
    let judged = |service: Service, ms: u64| {
        let mut evidence = service.play();
        evidence.canary.push(waited(ms));
        check_of(&service).judge(&evidence)
    };
    let finding = judged(full().waiting(Waits::WithoutACap), 386);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    let says = "`payments` waited 386.0 ms for a processor";
    assert!(finding.headline.contains(says), "{}", finding.headline);
    assert_eq!(judged(full().waiting(Waits::WithoutACap), 60).ruling, Ruling::Fail);
    assert_eq!(judged(full().waiting(Waits::InAHotLoop), 386).ruling, Ruling::Fail, "what is too short");
    assert_eq!(judged(full(), 60).ruling, Ruling::Pass);
}

/// Proves that too few waits, payments that were cut short, jitter behind the noise, missing attempts, faults that did not
/// strike, attempts without a name and a scenario that did not run prove nothing.
#[test]
fn doubts() {
    let check = check_of(&full());
    let one = Service { payments: 1, ..full() };
    is_unclear(&check, &one.play(), "too few");
    for (attempts, says) in [(7, "too few"), (9, "hides the jitter of 12 waits")] {
        let few = Service { check: CapCheck { attempts, ..CapCheck::default() }, ..full() };
        is_unclear(&check_of(&few), &few.play(), says);
    }
    let late = CapCheck { attempts: 75, deadline: Some(Duration::from_secs(2)), ..CapCheck::default() };
    let cut = Service { check: late, deadline: 1.8, ..full() };
    is_unclear(&check_of(&cut), &cut.play(), "12 by the deadline");
    let left = Service { patience: 2.0, ..full() };
    is_unclear(&check_of(&left), &left.play(), "by the driver");
    let equal = Service::new(&backing_off(LawSpec::equal(BASE).cap(CAP)), CapCheck::default());
    is_unclear(&check_of(&equal), &equal.play(), "hides the jitter");
    let higher = CapCheck { cap: Duration::from_millis(300), ..CapCheck::default() };
    let equal = Service { check: higher, ..equal };
    passes(&check_of(&equal), &equal.play());
    let mut lost = full().play();
    lost.attempts.retain(|a| a.ordinal != 75 && a.ordinal != 74);
    lost.outcomes.retain(|o| o.seq > 0);
    is_unclear(&check, &lost, "");
    let mut unfired = full().play();
    unfired.faults.push(window("request/reply 503", (0, 1), 900, 899));
    is_unclear(&check, &unfired, "struck 899 times of 900");
    is_unclear(&check, &unjoined(&full().play()), "");
    is_unclear(&check, &Evidence::new(full().play().header), "did not run");
}

/// Proves that a law without a cap has no promise to check, and that a contract's words become the law that is checked.
#[test]
fn contracts_say_it_in_words() {
    let read = |text: &str| serde_json::from_str::<CapCheck>(text);
    assert_eq!(read("{}").ok(), Some(CapCheck::default()));
    let said = read(r#"{ "attempts": 80, "base": "2ms", "cap": "50ms", "deadline": "9s" }"#).expect("reads");
    let meanwhile = said.policy(&promised()).expect("a law with a cap");
    assert_eq!((meanwhile.attempts, meanwhile.deadline), (80, Some(Duration::from_secs(9))));
    assert_eq!(meanwhile.backoff.describe(), "full jitter: U(0, 2ms * 2^k), cap 50ms");
    assert_eq!(CapCheck::default().policy(&policy()).expect("valid").deadline, policy().deadline);
    assert!(read(r#"{ "cap": "50ms", "atempts": 5 }"#).is_err());
    let fixed = backing_off(LawSpec::fixed(BASE));
    assert!(CapCheck::default().policy(&fixed).is_err());
    let check = retry::cap_holds(&fixed, &CapCheck::default(), LINK, Noise::default());
    is_unclear(&check, &full().play(), "no such cap");
}
