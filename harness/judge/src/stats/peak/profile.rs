//! When the retries of a synchronised herd arrive, by convolution of the declared delays.

use std::time::Duration;

use super::PeakError;
use crate::duration;
use crate::law::{Delay, Law};

/// Cells of a window where memory allows, and at least.
const FINE: usize = 100;
const COARSE: usize = 10;
/// Most cells of one retry's profile, of all retries together, and of the plane that a conditional law needs. Each window
/// is bounded over all its retries, so that many retries cost time and not only memory.
const MOST_CELLS: f64 = 4e6;
const MOST_OF_ALL: f64 = 1e6;
const MOST_PLANE: f64 = 1e7;
const MOST_OF_ALL_PLANES: f64 = 3e7;

/// For each retry the probability that it arrives in each cell of time after the common failure.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    cell: f64,
    cells_per_window: usize,
    retries: Vec<Vec<f64>>,
}

impl Profile {
    /// The profile of `retries` retries on a grid that resolves `window`.
    ///
    /// # Errors
    /// [`PeakError`] without retries or window, or when the grid would be too large.
    pub fn new(law: &Law, retries: usize, window: Duration) -> Result<Profile, PeakError> {
        if retries == 0 || window.is_zero() {
            return Err(PeakError::Nothing);
        }
        // So many retries do not fit whatever they wait; to ask the law about each would take its time to say so.
        let counted = if (retries as f64).powi(2) > MOST_OF_ALL { 0 } else { retries };
        let reach: f64 = (0..counted).map(|k| law.support(k).1).sum();
        let longest = law.support(counted.saturating_sub(1)).1;
        let fits = |cell: f64| {
            let cells = reach / cell;
            let plane = if law.is_conditional() { cells * (longest / cell) } else { 0.0 };
            counted > 0 && cells <= MOST_CELLS && plane <= MOST_PLANE && shared(cells, plane, retries)
        };
        let grid =
            [FINE, COARSE].into_iter().map(|n| (n, window.as_secs_f64() / n as f64)).find(|&(_, cell)| fits(cell));
        let Some((cells_per_window, cell)) = grid else {
            let span = duration::format(Duration::from_secs(reach.min(1e12) as u64));
            return Err(PeakError::TooFine { window: duration::format(window), span });
        };
        let cells = (reach / cell + 1e-6) as usize + retries + 1;
        let retries = if law.is_conditional() {
            conditional(law, retries, cell, cells)
        } else {
            independent(law, retries, cell, cells)
        };
        Ok(Profile { cell, cells_per_window, retries })
    }

    /// Length of a cell in seconds.
    #[must_use]
    pub fn cell(&self) -> f64 {
        self.cell
    }

    /// Cells of one window.
    #[must_use]
    pub fn cells_per_window(&self) -> usize {
        self.cells_per_window
    }

    /// `retries()[k][t]`: probability that retry `k` arrives in cell `t`.
    #[must_use]
    pub fn retries(&self) -> &[Vec<f64>] {
        &self.retries
    }

    /// The probability of each retry in windows of `width` cells that start at multiples of `step`: one list per window.
    #[must_use]
    pub fn windows(&self, step: usize, width: usize) -> Vec<Vec<f64>> {
        let sums: Vec<Vec<f64>> = self.retries.iter().map(|cells| prefix_sums(cells)).collect();
        let cells = self.retries.first().map_or(0, Vec::len);
        (0..cells)
            .step_by(step.max(1))
            .map(|start| sums.iter().map(|s| s[(start + width).min(cells)] - s[start]).collect())
            .collect()
    }
}

/// A few retries may each have a long profile; many must share.
fn shared(cells: f64, plane: f64, retries: usize) -> bool {
    let n = retries as f64;
    n < 10.0 || ((cells + n) * n <= MOST_OF_ALL && plane * n <= MOST_OF_ALL_PLANES)
}

/// `out[i]` = sum of the first i values.
fn prefix_sums(values: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    std::iter::once(0.0)
        .chain(values.iter().map(|v| {
            sum += v;
            sum
        }))
        .collect()
}

/// A delay on the grid: a uniform stretch in units of cells, and an atom.
struct Kernel {
    from: f64,
    to: f64,
    density: f64,
    atom: (usize, f64),
}

impl Kernel {
    fn new(delay: Delay, cell: f64) -> Kernel {
        let (lo, hi) = delay.support();
        let mass = delay.atom_mass();
        // Ends that are cells up to rounding must be cells: 0.911 / 0.001 is 911.
        let snap = |x: f64| if (x / cell - (x / cell).round()).abs() < 1e-6 { (x / cell).round() } else { x / cell };
        let (from, to) = (snap(lo), snap(hi));
        let density = if mass < 1.0 { (1.0 - mass) / (to - from) } else { 0.0 };
        Kernel { from, to, density, atom: (to as usize, mass) }
    }

    /// Mass of the uniform stretch in cell `i`.
    fn mass(&self, i: usize) -> f64 {
        self.density * ((i + 1) as f64).min(self.to).max(self.from)
            - self.density * (i as f64).max(self.from).min(self.to)
    }
}

/// Retries with delays that do not know of each other: one convolution for each, by prefix sums.
fn independent(law: &Law, retries: usize, cell: f64, cells: usize) -> Vec<Vec<f64>> {
    let mut current = vec![0.0; cells];
    current[0] = 1.0;
    let mut out = Vec::with_capacity(retries);
    for k in 0..retries {
        current = convolve(&current, &Kernel::new(law.delay(k, None), cell));
        out.push(current.clone());
    }
    out
}

fn convolve(current: &[f64], kernel: &Kernel) -> Vec<f64> {
    let sums = prefix_sums(current);
    let before = |j: usize, shift: usize| if j >= shift { current[j - shift] } else { 0.0 };
    let (first, last) = (kernel.from as usize, kernel.to as usize);
    let (edge, end) = (kernel.mass(first), kernel.mass(last));
    let mut out = vec![0.0; current.len()];
    for (j, cell) in out.iter_mut().enumerate() {
        let mut sum = kernel.atom.1 * before(j, kernel.atom.0) + edge * before(j, first);
        if last > first {
            sum += end * before(j, last);
            // Whole cells first + 1 .. last - 1 of the kernel meet cells j - last + 1 .. j - first - 1.
            let (from, to) = ((j + 1).saturating_sub(last), j.saturating_sub(first));
            sum += kernel.density * (sums[to] - sums[from.min(to)]);
        }
        *cell = sum;
    }
    out
}

/// Retries whose delay depends on the delay before: the joint law of arrival time and last delay is carried forward.
fn conditional(law: &Law, retries: usize, cell: f64, cells: usize) -> Vec<Vec<f64>> {
    let longest = |k: usize| (law.support(k).1 / cell + 1e-6) as usize + 2;
    let first = Kernel::new(law.delay(0, None), cell);
    // plane[t * width + x]: the last retry arrived in cell t after a delay of x cells.
    let mut width = longest(0);
    let mut plane = vec![0.0; cells * width];
    for x in 0..width {
        plane[x * width + x] = first.mass(x) + if x == first.atom.0 { first.atom.1 } else { 0.0 };
    }
    let mut out = vec![marginal(&plane, width)];
    for k in 1..retries {
        let wider = longest(k);
        let mut next = vec![0.0; cells * wider];
        let kernels: Vec<Kernel> =
            (0..width).map(|x| Kernel::new(law.delay(k, Some((x as f64 + 0.5) * cell)), cell)).collect();
        for t in 0..cells {
            let row = &plane[t * width..(t + 1) * width];
            if row.iter().all(|&p| p == 0.0) {
                continue;
            }
            for (x, p) in spread(row, &kernels, wider).into_iter().enumerate() {
                if p > 0.0 && t + x < cells {
                    next[(t + x) * wider + x] += p;
                }
            }
        }
        (plane, width) = (next, wider);
        out.push(marginal(&plane, width));
    }
    out
}

/// The law of the next delay, mixed over the last: each uniform stretch is two entries of a difference array.
fn spread(row: &[f64], kernels: &[Kernel], width: usize) -> Vec<f64> {
    let mut slope = vec![0.0; width + 1];
    let mut extra = vec![0.0; width];
    for (&p, kernel) in row.iter().zip(kernels).filter(|(p, _)| **p > 0.0) {
        let (first, last) = (kernel.from as usize, kernel.to as usize);
        for i in [first, last] {
            if i < width && (i == first || last > first) {
                extra[i] += p * kernel.mass(i);
            }
        }
        if last > first + 1 {
            slope[(first + 1).min(width)] += p * kernel.density;
            slope[last.min(width)] -= p * kernel.density;
        }
        extra[kernel.atom.0.min(width - 1)] += p * kernel.atom.1;
    }
    let mut level = 0.0;
    extra
        .iter()
        .zip(&slope)
        .map(|(e, s)| {
            level += s;
            (e + level).max(0.0)
        })
        .collect()
}

fn marginal(plane: &[f64], width: usize) -> Vec<f64> {
    plane.chunks(width).map(|row| row.iter().sum()).collect()
}
