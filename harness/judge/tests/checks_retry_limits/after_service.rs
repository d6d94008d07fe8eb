//! A service that is told when to come again.

use judge::evidence::{Answer, Evidence};

use super::world::{Met, World, reply};
use crate::support::MS;

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

/// How it reads the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
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
pub fn play(reads: Reads) -> Evidence {
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
