//! The waits at the cap: which they are, and what the law and the noise leave open about each.

use crate::checks::retry::gaps::{Gap, Gaps};
use crate::law::Law;
use crate::stats::chain::Floor;
use crate::stats::{Interval, Sample, Settings};

/// Successive retries that are looked at together, so that an overflow after so many of them is not drowned in the rest.
const BLOCK: usize = 8;

/// One wait at the cap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait<'g, 'a> {
    /// The gap that shows it.
    pub gap: &'g Gap<'a>,
    /// Number of the retry, from 0.
    pub retry: usize,
    /// The uniform variable behind it is at least this, within the noise bound.
    pub least: f64,
    /// And at most this, whatever the noise: it only ever lengthens a gap.
    pub most: f64,
    /// The longest gap that law and noise allow, in seconds.
    pub allowed: f64,
}

impl Wait<'_, '_> {
    /// Whether it is longer than the cap and the noise bound.
    pub fn is_above(&self) -> bool {
        self.gap.seconds() > self.allowed
    }
}

/// Waits that are judged together.
#[derive(Debug, Clone)]
pub(super) struct Part<'g, 'a> {
    /// First and last retry, from 0.
    pub retries: (usize, usize),
    /// The waits.
    pub waits: Vec<Wait<'g, 'a>>,
}

/// All waits at the cap.
#[derive(Debug)]
pub(super) struct Waits<'g, 'a> {
    law: &'g Law,
    /// All of them, in the order of the requests.
    pub all: Vec<Wait<'g, 'a>>,
    /// Of the decorrelated law: what a wait has grown to at least, some steps after any other.
    floor: Option<Floor>,
}

impl<'g, 'a> Waits<'g, 'a> {
    /// The waits at the cap among those gaps.
    pub fn of(gaps: &'g Gaps<'a>, law: &'g Law, settings: &Settings) -> Self {
        let table = gaps.table();
        // A table without a gap has no waits at the cap.
        let intervals = Sample::new(&table, law, settings).map_or_else(|_| Vec::new(), |sample| sample.intervals);
        let floor = Floor::after(law, BLOCK);
        let wait = |i: &Interval| {
            let gap = gaps.rows.get(i.client)?.get(i.retry)?;
            let most = floor.as_ref().map_or(i.b, |floor| floor.cdf(i.gap + settings.early_secs()));
            Some(Wait { gap, retry: i.retry, least: i.a, most, allowed: i.allowed.1 })
        };
        let all = intervals.iter().filter(|i| law.is_capped(i.retry)).filter_map(wait).collect();
        Self { law, all, floor }
    }

    /// First and last retry at the cap, from 0; none without one.
    pub fn retries(&self) -> Option<(usize, usize)> {
        let retries = || self.all.iter().map(|w| w.retry);
        Some((retries().min()?, retries().max()?))
    }

    /// All of them, and each block of successive retries by itself.
    pub fn parts(&self) -> Vec<Part<'g, 'a>> {
        let Some((first, last)) = self.retries() else { return Vec::new() };
        let mut parts = vec![Part { retries: (first, last), waits: self.all.clone() }];
        let mut from = first;
        while from <= last {
            // A rest too short to say anything belongs to the block before it.
            let to = if last < from + BLOCK + BLOCK / 2 { last } else { from + BLOCK - 1 };
            let waits = self.all.iter().filter(|w| (from..=to).contains(&w.retry)).copied().collect();
            parts.push(Part { retries: (from, to), waits });
            from = to + 1;
        }
        parts
    }

    /// The same where only [`Wait::most`] is judged. Of the decorrelated law that is every wait that lies a whole block after
    /// the one before: too few for blocks, and there is no exponent that could overflow in one.
    pub fn parts_apart(&self) -> Vec<Part<'g, 'a>> {
        if self.floor.is_none() {
            return self.parts();
        }
        let mut parts = self.parts();
        parts.truncate(1);
        parts.iter_mut().for_each(|part| part.waits.retain(|w| w.retry % BLOCK == BLOCK - 1));
        parts
    }

    /// The law's chance of a wait of at most `seconds` at the cap.
    pub fn chance_of_at_most(&self, seconds: f64) -> f64 {
        let capped = || self.at_the_cap().cdf(seconds);
        self.floor.as_ref().map_or_else(capped, |floor| floor.cdf(seconds))
    }

    /// The law's chance of a wait at the cap that is shorter than the longest one by at least `seconds`; none when all are
    /// alike by promise.
    pub fn chance_below_the_cap(&self, seconds: f64) -> Option<f64> {
        let delay = self.at_the_cap();
        (!delay.is_atom()).then(|| delay.cdf_before(delay.support().1 - seconds))
    }

    fn at_the_cap(&self) -> crate::law::Delay {
        let retry = self.retries().map_or(0, |(_, last)| last);
        self.law.delay(retry, self.law.cap().map(|cap| cap.as_secs_f64()))
    }
}
