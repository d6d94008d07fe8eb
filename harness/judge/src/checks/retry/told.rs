//! What a `Retry-After` says, and when the next attempt is due by it.

use std::time::{Duration, UNIX_EPOCH};

use crate::evidence::{At, Attempt, TimeBase};
use crate::promise::{OnTop, RetryAfterPolicy, RetryPolicy};

/// What a value means (RFC 9110, 10.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Wait so long.
    Seconds(Duration),
    /// Wait until then, by the wall clock: nanoseconds since the Unix epoch.
    Date(u64),
    /// Neither a whole number of seconds nor a date.
    Unusable,
}

impl Told {
    pub fn read(text: &str) -> Told {
        let text = text.trim();
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            // More digits than fit still say "very long".
            return Told::Seconds(Duration::from_secs(text.parse().unwrap_or(u64::from(u32::MAX))));
        }
        let since_epoch = httpdate::parse_http_date(text).ok().and_then(|d| d.duration_since(UNIX_EPOCH).ok());
        since_epoch.map_or(Told::Unusable, |d| Told::Date(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// The kinds of value that a scenario must have shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Seconds to be waited out.
    Seconds,
    /// A date to be waited for.
    Date,
    /// Zero, or a date that has passed.
    Now,
    /// A value that cannot be used.
    Unusable,
    /// A wait that is longer than the limit or the time that is left.
    TooLong,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Seconds => "seconds to wait",
            Kind::Date => "a date to wait for",
            Kind::Now => "zero or a date that has passed",
            Kind::Unusable => "a value that cannot be used",
            Kind::TooLong => "a wait longer than its limit or its deadline",
        }
    }
}

/// The grain of a date: a service that counts in whole seconds comes up to one of them later.
const GRAIN: Duration = Duration::from_secs(1);

/// When the next attempt is due after one that was told to wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Due {
    pub kind: Kind,
    /// Not before.
    pub earliest: At,
    /// Not after, noise left aside.
    pub latest: At,
    /// Whether it is due at all; `None`: the limit lies within the noise of the value, so that both are right.
    pub retried: Option<bool>,
}

impl Due {
    /// After `attempt`, the `k`-th failure from 0, of a request that was sent at `sent`.
    pub fn after(
        (attempt, k, sent): (&Attempt, usize, At),
        text: &str,
        (policy, after): (&RetryPolicy, &RetryAfterPolicy),
        (base, eps): (TimeBase, Duration),
    ) -> Due {
        let ended = attempt.reply.ended;
        let law = policy.backoff.waits(k);
        let on_top = match after.jitter {
            OnTop::None => (Duration::ZERO, Duration::ZERO),
            OnTop::Law => law,
            OnTop::UpTo(most) => (Duration::ZERO, most),
        };
        let told = Told::read(text);
        let (asked, grain, (least, most)) = match told {
            Told::Seconds(wait) => (wait, Duration::ZERO, on_top),
            Told::Date(wall) => {
                let wait = base.from_wall(wall).since(ended);
                (wait, if wait.is_zero() { Duration::ZERO } else { GRAIN }, on_top)
            }
            Told::Unusable => (Duration::ZERO, Duration::ZERO, law),
        };
        let left = |deadline: Duration| (sent + deadline).since(ended);
        let limit = after.limit.filter(|_| told != Told::Unusable);
        let too_long = policy.deadline.is_some_and(|d| asked > left(d).saturating_add(eps))
            || limit.is_some_and(|l| asked > l.saturating_add(eps));
        let usable = policy.usable_deadline().is_none_or(|d| asked.saturating_add(most).saturating_add(eps) < left(d));
        let allowed = usable && limit.is_none_or(|l| asked.saturating_add(eps) < l);
        let retried = match (too_long, allowed) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        };
        let kind = match told {
            Told::Unusable => Kind::Unusable,
            _ if retried == Some(false) => Kind::TooLong,
            _ if asked.is_zero() => Kind::Now,
            Told::Date(_) => Kind::Date,
            Told::Seconds(_) => Kind::Seconds,
        };
        Due { kind, earliest: ended + asked + least, latest: ended + asked + grain + most, retried }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves what each form means, RFC 9110's own example included; a number that is not whole, is negative or is none
    /// means nothing.
    #[test]
    fn values_are_read_as_the_standard_says() {
        let second = |n| Told::Seconds(Duration::from_secs(n));
        assert_eq!(Told::read("0"), second(0));
        assert_eq!(Told::read(" 120 "), second(120));
        assert_eq!(Told::read("86400"), second(86_400));
        assert_eq!(Told::read("99999999999999999999999"), second(u64::from(u32::MAX)));
        let date = Told::Date(784_111_777_000_000_000);
        assert_eq!(Told::read("Sun, 06 Nov 1994 08:49:37 GMT"), date);
        assert_eq!(Told::read("Sunday, 06-Nov-94 08:49:37 GMT"), date);
        assert_eq!(Told::read("Sun Nov  6 08:49:37 1994"), date);
        for bad in ["", "-1", "2.5", "+3", "soon", "2s", "1e3"] {
            assert_eq!(Told::read(bad), Told::Unusable, "{bad:?}");
        }
    }
}
