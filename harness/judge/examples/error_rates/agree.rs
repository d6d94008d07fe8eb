//! Whether two counted shares can come from one probability.

use statrs::distribution::{Binomial, DiscreteCDF};

/// A disagreement that chance makes once in a million cells is no chance.
const ALPHA: f64 = 1e-6;

/// A share that the reference counted, and over how many runs.
#[derive(Debug, Clone, Copy)]
pub struct Reference {
    pub share: f64,
    pub runs: u64,
}

/// Whether `count` of `runs` and the reference's share may have one probability: given their sum, the split of the
/// rejections between the two is binomial (the conditional test of two Poisson counts, on whichever of rejections and
/// acceptances is rarer). The reference prints three digits between .01 and .99 and four outside, so its count is known
/// up to half a unit of the last one.
pub fn agrees(count: u64, runs: u64, reference: Reference) -> bool {
    let rare = |share: f64| if reference.share > 0.5 { 1.0 - share } else { share };
    let ours = if reference.share > 0.5 { runs - count } else { count };
    let rounding = if reference.share > 0.01 && reference.share < 0.99 { 5e-4 } else { 5e-5 };
    let theirs = |share: f64| (share.max(0.0) * reference.runs as f64).round() as u64;
    let (low, high) = (theirs(rare(reference.share) - rounding), theirs(rare(reference.share) + rounding));
    (low..=high).any(|theirs| split_is_chance(ours, runs, theirs, reference.runs))
}

fn split_is_chance(ours: u64, our_runs: u64, theirs: u64, their_runs: u64) -> bool {
    let sum = ours + theirs;
    if sum == 0 {
        return true;
    }
    let share = our_runs as f64 / (our_runs + their_runs) as f64;
    let Ok(split) = Binomial::new(share, sum) else { return false };
    let below = split.cdf(ours);
    let above = if ours == 0 { 1.0 } else { split.sf(ours - 1) };
    2.0 * below.min(above) > ALPHA
}

/// A share as the reference prints it.
pub fn percent(count: u64, runs: u64) -> String {
    let share = count as f64 / runs as f64;
    match count {
        0 => "0".to_owned(),
        n if n == runs => "1".to_owned(),
        _ if !(0.01..=0.99).contains(&share) => format!("{share:.4}"),
        _ => format!("{share:.3}"),
    }
}
