//! What a person reads of retries and keys: whole findings, held against the pages that are kept.

use judge::checks::{Check, retry};
use judge::law::Law;
use judge::promise::{Noise, RetryPolicy};
use judge::sim::Policy;

use crate::judged::{LINK, r1, r2, r3, r6};
use crate::page::reads;
use crate::restarts::{again, anew, played, quiet, typical};
use crate::scenarios::{all_fail, one_effect, retry_policy, retry_table};
use crate::service::Defect;

/// Proves what R1 tells: how many attempts each payment made, and the last one of those that made too many or too few.
#[test]
fn pages_of_the_bound() {
    let all = [
        (Defect::Sound, "bound-kept"),
        (Defect::OneAttemptMore, "bound-more"),
        (Defect::OneAttemptLess, "bound-less"),
        (Defect::NestedRetries, "bound-nested"),
    ];
    for (defect, name) in all {
        reads(&r1().judge(&all_fail("waves", Policy::Full, 6, defect)), name);
    }
    reads(&r1().judge(&one_effect(Defect::RetriesAfterSuccess)), "bound-after-success");
}

/// Proves what R2 tells: tests, attempts, the nearest law, its histogram, and the worst gaps with both their instants.
#[test]
fn pages_of_the_law() {
    let all = [
        (Policy::Full, "law-kept"),
        (Policy::FixedExponential, "law-exponential"),
        (Policy::FixedConstant, "law-constant"),
        (Policy::SharedSeed, "law-shared-seed"),
        (Policy::OneDrawPerClient, "law-one-draw"),
        (Policy::NoGrowth, "law-no-growth"),
    ];
    for (policy, name) in all {
        reads(&r2().judge(&all_fail("waves", policy, 100, Defect::Sound)), name);
    }
}

/// Proves what R2 says of a law without jitter: nobody can have lost what was not promised.
#[test]
fn pages_of_a_law_without_jitter() {
    let promised = RetryPolicy { backoff: Law::immediate(), ..retry_policy() };
    let check: Check = retry::backoff_law(&promised, LINK, Noise::default());
    reads(&check.judge(&all_fail("waves", Policy::FixedExponential, 100, Defect::Sound)), "law-immediate");
}

/// Proves what R3 tells: the fullest window against what the law allows, in each of its widths.
#[test]
fn pages_of_the_herd() {
    for (policy, name) in [(Policy::Full, "herd-spread"), (Policy::FixedExponential, "herd-together")] {
        reads(&r3().judge(&all_fail("herd", policy, 100, Defect::Sound)), name);
    }
}

/// Proves what R4 tells: both distances, and the payments of either start that waited alike.
#[test]
fn pages_of_the_restart() {
    let check = retry::draws_anew(&retry_policy(), LINK, Noise::default());
    reads(&check.judge(&played(&anew(Policy::Full, 100, 1))), "restart-anew");
    reads(&check.judge(&played(&again(100, 1, typical, |_| ()))), "restart-again");
    reads(&check.judge(&played(&again(20, 1, quiet, |_| ()))), "restart-again-few");
    let rotate = |rows: &mut Vec<Vec<f64>>| {
        let (old, n) = (rows.clone(), rows.len());
        for (i, row) in rows.iter_mut().enumerate() {
            *row = (0..row.len()).map(|k| old[(i + 7 * k) % n][k]).collect();
        }
    };
    reads(&check.judge(&played(&again(100, 3, quiet, rotate))), "restart-changed-hands");
}

/// Proves what R6 tells: the table, failure by failure, and the attempts of what it promises otherwise.
#[test]
fn pages_of_the_table() {
    let all = [
        (Defect::Sound, "table-kept"),
        (Defect::RetriesClientErrors, "table-client-errors"),
        (Defect::RepeatsRefused, "table-refused"),
        (Defect::NeverRetries503, "table-503"),
        (Defect::HidesTheRetry, "table-hidden"),
        (Defect::NoKey, "table-no-key"),
    ];
    for (defect, name) in all {
        reads(&r6().judge(&retry_table(defect)), name);
    }
}

/// Proves what the checks of key and payload tell: which attempts carried what.
#[test]
fn pages_of_key_and_payload() {
    let keys = [
        (Defect::Sound, "key-kept"),
        (Defect::NewKeyPerAttempt, "key-new"),
        (Defect::NoKey, "key-none"),
        (Defect::OneKeyForAll, "key-shared"),
    ];
    for (defect, name) in keys {
        reads(&retry::key_is_stable(LINK).judge(&one_effect(defect)), name);
    }
    let payloads = [
        (Defect::Sound, "payload-kept"),
        (Defect::BodyChanges, "payload-changed"),
        (Defect::BodyConsumed, "payload-consumed"),
        (Defect::LengthWrong, "payload-length"),
    ];
    for (defect, name) in payloads {
        reads(&retry::payload_is_stable(LINK).judge(&one_effect(defect)), name);
    }
}
