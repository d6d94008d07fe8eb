//! Test 5, rank correlation: a client's successive gaps must not know of each other.
//!
//! For each pair of successive retries it takes Spearman's rank correlation over the clients that have both gaps and
//! rejects when the largest absolute value exceeds z / sqrt(n - 1), z the upper alpha / (2 pairs) quantile of the normal
//! law. It finds one draw reused for every attempt, and fleets of two builds.
//!
//! The normal quantile bounds the permutation law from above in the tail (2.5e-6 observed at a nominal 1e-5). It assumes
//! that the *noise* of successive gaps is not correlated within a client beyond what the delays drown; keep the base well
//! above `eps` for it. Not for the decorrelated law, which is dependent by design, and not for atoms.

use super::quantile::{normal_at_least, normal_upper};
use super::{Alpha, Sample, Skipped, Tail, TestName, TestResult};

/// The absolute correlation above which independence is ruled out, for `n` clients and `pairs` pairs of attempts.
/// 1 or more when so few clients cannot rule it out at all.
#[must_use]
pub fn critical(n: usize, pairs: usize, alpha: Alpha) -> f64 {
    normal_upper(alpha.split(2 * pairs)) / ((n as f64) - 1.0).sqrt()
}

/// Spearman's rank correlation of equally long lists, ties sharing their middle rank; 0 when either is constant, NaN when
/// there is no pair.
#[must_use]
pub fn spearman(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    if n == 0 {
        return f64::NAN;
    }
    let (x, y) = (ranks(&x[..n]), ranks(&y[..n]));
    let mean = (n as f64 - 1.0) / 2.0;
    let sum = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(&y).map(|(&a, &b)| f(a - mean, b - mean)).sum::<f64>();
    let (xy, xx, yy) = (sum(&|a, b| a * b), sum(&|a, _| a * a), sum(&|_, b| b * b));
    if xx == 0.0 || yy == 0.0 { 0.0 } else { xy / (xx * yy).sqrt() }
}

/// Ranks from 0; equal values share the mean of their ranks, so the order of the clients does not matter.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut out = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let mut end = start + 1;
        while end < order.len() && values[order[end]] == values[order[start]] {
            end += 1;
        }
        let shared = (start + end - 1) as f64 / 2.0;
        for &i in &order[start..end] {
            out[i] = shared;
        }
        start = end;
    }
    out
}

/// Correlates successive gaps.
///
/// # Errors
/// [`Skipped`] for the decorrelated law, atoms, fewer than two retries, or too few clients to reject anything.
pub fn test(sample: &Sample<'_>) -> Result<TestResult, Skipped> {
    let skipped = |reason: &str| Err(Skipped { name: TestName::RankCorr, reason: reason.to_owned() });
    if sample.law.is_conditional() {
        return skipped("the decorrelated law makes successive delays depend on each other");
    }
    let retries = sample.columns.len();
    let pairs: Vec<usize> = (1..retries).filter(|&k| !sample.law.is_atom(k - 1) && !sample.law.is_atom(k)).collect();
    if pairs.is_empty() {
        return skipped("it needs two successive retries with declared jitter");
    }
    let mut worst: Option<(f64, f64, usize, usize)> = None;
    for &k in &pairs {
        let (x, y): (Vec<f64>, Vec<f64>) =
            sample.table.rows().iter().filter(|row| row.len() > k).map(|row| (row[k - 1], row[k])).unzip();
        let critical = critical(x.len(), pairs.len(), sample.settings.alpha);
        if x.len() < 3 || critical >= 1.0 {
            continue;
        }
        let r = spearman(&x, &y);
        if worst.is_none_or(|(seen, limit, ..)| seen.abs() - limit < r.abs() - critical) {
            worst = Some((r, critical, k, x.len()));
        }
    }
    let Some((r, critical, k, n)) = worst else {
        return skipped("so few clients cannot show dependence at this level");
    };
    let z = r.abs() * (n as f64 - 1.0).sqrt();
    Ok(TestResult {
        name: TestName::RankCorr,
        statistic: r.abs(),
        critical,
        rejected: r.abs() > critical,
        tail: Tail::at_most(2.0 * pairs.len() as f64 * normal_at_least(z)),
        detail: format!(
            "rank correlation {r:.3} between the gaps before retries {k} and {} of {n} clients; beyond {critical:.3} the \
             draws are not independent",
            k + 1
        ),
    })
}
