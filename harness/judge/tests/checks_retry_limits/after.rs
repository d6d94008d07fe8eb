//! R8 against services that read `Retry-After` rightly and wrongly.

use std::time::Duration;

use judge::checks::{Check, retry};
use judge::evidence::Evidence;
use judge::promise::{Noise, OnTop, RetryAfterPolicy};

use crate::after_service::{Reads, play};
use crate::{fails, is_unclear, noisy, passes, policy, unjoined};

fn check() -> Check {
    retry::retry_after_is_honoured(&policy(), &RetryAfterPolicy::default(), "bank", Noise::default())
}

/// Proves that each value of the matrix is judged, and that waiting it out passes with and without the law's draw.
#[test]
fn waiting_as_told_passes() {
    passes(&check(), &play(Reads::Rightly));
    passes(&check(), &play(Reads::WithoutJitter));
    let finding = check().judge(&play(Reads::Rightly));
    assert!(finding.headline.starts_with("16 values"), "{}", finding.headline);
    assert_eq!(finding.exhibit.len(), 17, "{finding:#?}");
}

/// Proves that each way of misreading is failed with its class.
#[test]
fn misreadings_are_told_apart() {
    let wrong = [
        (Reads::NotAtAll, 0),
        (Reads::MinutesForSeconds, 1),
        (Reads::SleepsItOut, 2),
        (Reads::SleepsAndTriesAgain, 2),
        (Reads::UnusableAsForever, 3),
        (Reads::UnusableAsGivingUp, 3),
        (Reads::NoDates, 4),
        (Reads::PastAsLong, 4),
    ];
    for (reads, class) in wrong {
        let finding = fails(&check(), &play(reads), class);
        assert!(finding.lines.iter().any(|l| l.text.contains("Retry-After: ")), "{reads:?}: {finding:#?}");
    }
}

/// Proves that the declared addition is the ruler: what is right with the law on top is too late with nothing on top.
#[test]
fn what_comes_on_top_is_declared() {
    let none = RetryAfterPolicy { jitter: OnTop::None, ..RetryAfterPolicy::default() };
    let none = retry::retry_after_is_honoured(&policy(), &none, "bank", Noise::default());
    passes(&none, &play(Reads::WithoutJitter));
    fails(&none, &play(Reads::Rightly), 1);
    let some = RetryAfterPolicy { jitter: OnTop::UpTo(Duration::from_millis(200)), ..RetryAfterPolicy::default() };
    passes(&retry::retry_after_is_honoured(&policy(), &some, "bank", Noise::default()), &play(Reads::Rightly));
}

/// Proves that a promised limit ends the attempts where the deadline would still allow the wait.
#[test]
fn a_limit_shortens_what_is_honoured() {
    let short = RetryAfterPolicy { limit: Some(Duration::from_millis(800)), ..RetryAfterPolicy::default() };
    let short = retry::retry_after_is_honoured(&policy(), &short, "bank", Noise::default());
    fails(&short, &play(Reads::Rightly), 2);
}

/// Proves that a value beyond all measure is one that is too long, whatever is to be added to it.
#[test]
fn a_wait_beyond_all_measure_is_too_long() {
    let mut evidence = play(Reads::Rightly);
    for attempt in &mut evidence.attempts {
        let told = attempt.reply.retry_after.as_mut().filter(|t| *t == "86400");
        told.into_iter().for_each(|t| *t = u64::MAX.to_string());
    }
    for jitter in [OnTop::Law, OnTop::UpTo(Duration::from_secs(2))] {
        for limit in [None, Some(Duration::from_secs(2))] {
            let promised = RetryAfterPolicy { jitter, limit };
            let noise = Noise { eps: Duration::from_millis(1_500) };
            let finding = retry::retry_after_is_honoured(&policy(), &promised, "bank", noise).judge(&evidence);
            let told = |l: &&String| l.contains(&u64::MAX.to_string()) && l.contains("none, at once");
            assert_eq!(finding.exhibit.iter().filter(told).count(), 2, "{finding:#?}");
        }
    }
}

/// Proves that too little or too noisy evidence never passes, and that a pause does not acquit what came too early.
#[test]
fn doubts() {
    let sound = play(Reads::Rightly);
    is_unclear(&check(), &noisy(&sound), "paused");
    fails(&check(), &noisy(&play(Reads::NotAtAll)), 0);
    is_unclear(&check(), &unjoined(&sound), "no attempt with another one to go");
    let mut none = sound.clone();
    none.attempts.iter_mut().for_each(|a| a.reply.retry_after = None);
    is_unclear(&check(), &none, "was told");
    let mut no_dates = sound.clone();
    let dated = |a: &judge::evidence::Attempt| a.reply.retry_after.as_ref().is_some_and(|t| t.contains("08:49"));
    no_dates.attempts.iter_mut().filter(|a| dated(a)).for_each(|a| a.reply.retry_after = None);
    is_unclear(&check(), &no_dates, "a date to wait for");
    let mut no_canary = sound;
    no_canary.canary.clear();
    is_unclear(&check(), &no_canary, "no canary");
    is_unclear(&check(), &Evidence::new(no_canary.header), "did not run");
}
