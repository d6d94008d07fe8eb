//! Whether what was counted here and what the reference printed can come from one probability.
//!
//! Every comparison is two-sided at one in a million for each cell: a disagreement that chance makes so rarely is no chance.
//! The reference prints few digits, so what it counted is known up to half a unit of the last one; a cell agrees when it
//! agrees with anything in between.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

/// The level of one cell.
pub const ALPHA: f64 = 1e-6;

/// A share that the reference printed: between `low` and `high` rejections of `runs`.
#[derive(Debug, Clone, Copy)]
pub struct Reference {
    pub share: f64,
    low: u64,
    high: u64,
    runs: u64,
}

impl Reference {
    /// Printed with three decimals, with four outside .01 to .99, and bare when it is exactly 0 or 1.
    pub fn table(share: f64, runs: u64) -> Reference {
        let half = if share == 0.0 || share == 1.0 {
            0.0
        } else if share > 0.01 && share < 0.99 {
            5e-4
        } else {
            5e-5
        };
        Reference::between(share, half, runs)
    }

    /// Printed with two significant digits.
    pub fn digits(share: f64, runs: u64) -> Reference {
        let half = if share == 0.0 { 0.0 } else { 0.5 * 10f64.powf(share.log10().floor() - 1.0) };
        Reference::between(share, half, runs)
    }

    /// As the page writes it: `.061` with as many digits as are known, bare `0` when nothing was counted, `1` for all but
    /// a few in ten thousand, `1.00` when only two digits are known, `<1e-4` for less than that but something.
    ///
    /// # Panics
    /// When the text is none of these.
    pub fn text(text: &str, runs: u64) -> Reference {
        let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len());
        match text {
            "<1e-4" => Reference::between(5e-5, 5e-5, runs),
            "0" => Reference::between(0.0, 0.0, runs),
            "1" => Reference::between(1.0, 5e-4, runs),
            _ => Reference::between(text.parse().expect(text), 0.5 * 0.1f64.powi(decimals as i32), runs),
        }
    }

    fn between(share: f64, half: f64, runs: u64) -> Reference {
        let count = |share: f64| (share.clamp(0.0, 1.0) * runs as f64).round() as u64;
        Reference { share, low: count(share - half), high: count(share + half), runs }
    }
}

/// Whether `count` of `runs` and the reference's share may have one probability. Given their sum, the split of the
/// rejections between the two is binomial: the conditional test of two Poisson counts, on whichever of rejections and
/// acceptances is rarer.
pub fn shares(count: u64, runs: u64, reference: Reference) -> bool {
    let flip = reference.share > 0.5;
    let ours = if flip { runs - count } else { count };
    (reference.low..=reference.high).any(|theirs| {
        let theirs = if flip { reference.runs - theirs } else { theirs };
        split_is_chance(ours, runs, theirs, reference.runs)
    })
}

fn split_is_chance(ours: u64, our_runs: u64, theirs: u64, their_runs: u64) -> bool {
    let sum = ours + theirs;
    let share = our_runs as f64 / (our_runs + their_runs) as f64;
    sum == 0 || binomial_is_chance(ours, sum, share)
}

/// Whether `count` of `runs` is within chance of a probability that is known exactly.
pub fn probability(count: u64, runs: u64, p: f64) -> bool {
    if p <= 0.0 || p >= 1.0 { count as f64 == p * runs as f64 } else { binomial_is_chance(count, runs, p) }
}

fn binomial_is_chance(count: u64, of: u64, p: f64) -> bool {
    let Ok(law) = Binomial::new(p, of) else { return false };
    let below = law.cdf(count);
    let above = if count == 0 { 1.0 } else { law.sf(count - 1) };
    2.0 * below.min(above) > ALPHA
}

/// Whether the mean of `values` and a printed mean of `runs` more may have one expectation: Student's test with the
/// spread of ours, with `half` granted for the rounding.
pub fn means(values: &[f64], printed: f64, half: f64, runs: u64) -> bool {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let away = (mean - printed).abs() - half;
    if away <= 0.0 {
        return true;
    }
    let Ok(law) = StudentsT::new(0.0, 1.0, n - 1.0) else { return false };
    away <= law.inverse_cdf(1.0 - ALPHA / 2.0) * (variance * (1.0 / n + 1.0 / runs as f64)).sqrt()
}

#[test]
fn two_counts_of_one_probability() {
    let zero = Reference::table(0.0, 20_000);
    assert!(shares(0, 300, zero) && shares(2, 300, zero) && !shares(4, 300, zero));
    let one = Reference::table(1.0, 20_000);
    assert!(shares(300, 300, one) && !shares(296, 300, one));
    let some = Reference::table(0.172, 20_000);
    assert!(shares(3_440, 20_000, some) && !shares(3_000, 20_000, some) && !shares(3_900, 20_000, some));
    assert!(probability(0, 100, 0.0) && !probability(1, 100, 0.0) && !probability(60, 100, 0.1));
    assert!(means(&[339.0, 341.0, 340.0], 340.0, 0.5, 40) && !means(&[339.0, 341.0, 340.0, 340.5], 400.0, 0.5, 40));
}
