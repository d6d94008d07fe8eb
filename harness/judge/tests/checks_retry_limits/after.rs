//! R8 against services that read `Retry-After` rightly and wrongly.

use std::time::Duration;

use judge::checks::{Check, retry};
use judge::evidence::{Answer, Evidence};
use judge::promise::{Noise, OnTop, RetryAfterPolicy};

use crate::support::MS;
use crate::world::{Met, World, reply};
use crate::{fails, is_unclear, noisy, passes, policy, unjoined};

/// The values of the catalogue: text, and the wait in milliseconds that it asks for (`None`: unusable).
fn values() -> Vec<(String, Option<u64>)> {
    // The run starts at 08:49:37; the payments are told half a second later.
    let rows = [
        ("0", Some(0)),
        ("1", Some(1000)),
        ("2.5", None),
        ("-1", None),
        ("Sun, 06 Nov 1994 08:49:39 GMT", Some(1500)),
        ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
        ("soon", None),
        ("86400", Some(86_400_000)),
    ];
    rows.map(|(text, wait)| (text.to_owned(), wait)).into()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Rightly,
    NotAtAll,
    MinutesForSeconds,
    SleepsItOut,
    SleepsAndTriesAgain,
    UnusableAsForever,
    UnusableAsGivingUp,
    NoDates,
    PastAsLong,
    WithoutJitter,
}

/// All payments in parallel, one for each value and status.
fn play(reads: Reads) -> Evidence {
    let mut w = World::new("retry-after");
    for status in [429, 503] {
        for (i, (text, wait)) in values().into_iter().enumerate() {
            let p = w.pay(500 * MS - 2 * MS);
            let told = w.attempt(p, 500 * MS - MS, 0, &Met::Told(status, text.clone()));
            let law = if reads == Reads::WithoutJitter { 0 } else { (17 + 23 * i as u64) * MS };
            let asked = match (reads, wait) {
                (Reads::NotAtAll, _) | (Reads::Rightly | Reads::WithoutJitter, None) => Some(0),
                (Reads::MinutesForSeconds, Some(ms)) if !text.contains("GMT") => Some(60 * ms),
                (Reads::UnusableAsForever, None) => Some(3_600_000),
                (Reads::UnusableAsGivingUp, None) => None,
                (Reads::NoDates, Some(_)) if text.contains("08:49") => Some(0),
                (Reads::PastAsLong, Some(0)) if text.contains("GMT") => Some(3_600_000),
                (_, wait) => Some(wait.unwrap_or(0)),
            };
            let sleeps = matches!(reads, Reads::SleepsItOut | Reads::SleepsAndTriesAgain);
            match asked {
                // Too long for the deadline: answered at once, or slept up to the driver's limit.
                Some(ms) if ms >= 3000 && !sleeps => w.answer(p, "told", told + 2 * MS, reply(504)),
                Some(ms) if ms >= 3000 && reads == Reads::SleepsAndTriesAgain => {
                    let ended = w.attempt(p, told + ms * MS + law, 1, &Met::Success);
                    w.answer(p, "told", ended + MS, reply(201));
                }
                Some(ms) if ms >= 3000 => w.answer(p, "told", told + 3500 * MS, Answer::TimedOut),
                Some(ms) => {
                    let ended = w.attempt(p, told + ms * MS + law + MS / 3, 1, &Met::Success);
                    w.answer(p, "told", ended + MS, reply(201));
                }
                None => w.answer(p, "told", told + MS, reply(502)),
            }
        }
    }
    w.evidence
}

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
