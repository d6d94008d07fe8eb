//! How waits at the cap can leave their law: too many short ones, too many long ones, some above the cap.

use super::waits::{Part, Wait, Waits};
use crate::stats::quantile::{binomial_at_least, binomial_upper};
use crate::stats::{Settings, Tail, one_sided};

/// What a hot loop shows of no wait at all, in seconds: a call on loopback, and the rounding of a clock.
const HOT: f64 = 0.004;

/// Waits that the law does not explain.
#[derive(Debug)]
pub(super) struct Rejected<'g, 'a> {
    /// Which retries, and all waits that were judged together.
    pub part: Part<'g, 'a>,
    /// What was measured: a distance to the law, or how many waits are above the cap.
    pub statistic: f64,
    /// Above this the law is ruled out.
    pub critical: f64,
    /// The point of the law's distribution, from 0 to 1, where the waits part most from it.
    pub at: f64,
    /// The chance of it on a correct service.
    pub tail: Tail,
}

/// One test over all its parts.
#[derive(Debug, Default)]
pub(super) struct Side<'g, 'a> {
    /// What it rejects, the clearest part first.
    pub rejected: Vec<Rejected<'g, 'a>>,
    /// Statistic and critical value over all waits.
    pub overall: Option<(f64, f64)>,
}

impl<'g, 'a> Side<'g, 'a> {
    fn look(&mut self, part: Part<'g, 'a>, (statistic, at): (f64, f64), critical: f64, tail: Tail) {
        self.overall.get_or_insert((statistic, critical));
        if statistic > critical {
            self.rejected.push(Rejected { part, statistic, critical, at, tail });
        }
    }

    fn sorted(mut self) -> Self {
        let size = |r: &Rejected<'_, '_>| r.tail.probability().unwrap_or(1.0);
        self.rejected.sort_by(|a, b| size(a).total_cmp(&size(b)));
        self
    }

    /// The chance on a correct service of the clearest rejection.
    pub fn chance(&self) -> Option<Tail> {
        self.rejected.first().map(|r| r.tail)
    }
}

/// Too many short waits. Noise only lengthens a gap, so this needs no noise bound.
pub(super) fn short<'g, 'a>(waits: &Waits<'g, 'a>, settings: &Settings) -> Side<'g, 'a> {
    by_distance(waits.parts_apart(), settings, |w| w.most, one_sided::too_low)
}

/// Too many long waits, within the noise bound: nothing is drawn below the cap.
pub(super) fn long<'g, 'a>(waits: &Waits<'g, 'a>, settings: &Settings) -> Side<'g, 'a> {
    by_distance(waits.parts(), settings, |w| w.least, one_sided::too_high)
}

fn by_distance<'g, 'a>(
    parts: Vec<Part<'g, 'a>>,
    settings: &Settings,
    end: fn(&Wait<'_, '_>) -> f64,
    distance: fn(&[f64]) -> (f64, f64),
) -> Side<'g, 'a> {
    let several = parts.len();
    let mut side = Side::default();
    for part in parts {
        let ends: Vec<f64> = part.waits.iter().map(end).collect();
        let (found, critical) = (distance(&ends), critical(ends.len(), several, settings));
        side.look(part, found, critical, one_sided::tail(ends.len(), found.0).of_several(several));
    }
    side.sorted()
}

/// More waits above the cap and the noise bound than the granted share of outliers explains: among all, or before one retry.
pub(super) fn above<'g, 'a>(waits: &Waits<'g, 'a>, settings: &Settings) -> Side<'g, 'a> {
    let mut parts: Vec<_> = waits.parts().into_iter().take(1).collect();
    let Some((first, last)) = waits.retries() else { return Side::default() };
    parts.extend((first..=last).map(|retry| {
        let alike = waits.all.iter().filter(|w| w.retry == retry).copied().collect();
        Part { retries: (retry, retry), waits: alike }
    }));
    let (several, share) = (parts.len(), settings.outlier_share);
    let mut side = Side::default();
    for part in parts {
        let (n, seen) = (part.waits.len(), part.waits.iter().filter(|w| w.is_above()).count());
        let granted = binomial_upper(n, share, settings.alpha.split(several));
        let tail = Tail::at_most(binomial_at_least(n, share, seen)).of_several(several);
        side.look(part, (seen as f64, 1.0), granted as f64, tail);
    }
    side.sorted()
}

/// Whether a loop without a wait would have been seen in every part.
pub(super) fn would_show_a_hot_loop(waits: &Waits<'_, '_>, settings: &Settings) -> bool {
    let parts = waits.parts_apart();
    let seen = 1.0 - waits.chance_of_at_most(HOT);
    !parts.is_empty() && parts.iter().all(|p| seen > critical(p.waits.len(), parts.len(), settings))
}

/// Whether waits that are all the cap itself would have been seen, noise and all. A law without jitter has none to lose.
pub(super) fn would_show_lost_jitter(waits: &Waits<'_, '_>, settings: &Settings) -> bool {
    let several = waits.parts().len();
    let below = waits.chance_below_the_cap(settings.eps_secs());
    below.is_none_or(|chance| chance > critical(waits.all.len(), several, settings))
}

fn critical(n: usize, parts: usize, settings: &Settings) -> f64 {
    one_sided::critical(n, settings.alpha.split(parts))
}
