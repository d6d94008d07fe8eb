//! A histogram that fits into a terminal.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Sample;

/// Bins of the histogram.
pub const BINS: usize = 20;

/// Share of the declared ceiling that the bins cover; longer gaps are counted in `above`.
const COVERED: f64 = 1.25;

/// How many gaps fall where, as a share of the longest declared delay of their attempt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Width of a bin, as a share of the ceiling.
    pub bin_width: f64,
    /// Gaps in each bin.
    pub counts: Vec<usize>,
    /// Gaps beyond the last bin.
    pub above: usize,
}

impl Histogram {
    /// Counts the gaps of a sample. Where the declared delay is zero, gaps are shares of one second.
    #[must_use]
    pub fn of(sample: &Sample<'_>) -> Histogram {
        let bin_width = COVERED / BINS as f64;
        let mut histogram = Histogram { bin_width, counts: vec![0; BINS], above: 0 };
        for interval in &sample.intervals {
            let ceiling = sample.law.support(interval.retry).1;
            let share = interval.gap / if ceiling > 0.0 { ceiling } else { 1.0 };
            // A negative gap can only be clock rounding around zero: the first bin is its place.
            match histogram.counts.get_mut((share / bin_width).max(0.0) as usize) {
                Some(count) => *count += 1,
                None => histogram.above += 1,
            }
        }
        histogram
    }
}

impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BAR: usize = 40;
        let most = self.counts.iter().copied().chain([self.above, 1]).max().unwrap_or(1);
        let bar = |count: usize| "#".repeat((count * BAR).div_ceil(most));
        for (i, &count) in self.counts.iter().enumerate() {
            let (from, to) = (i as f64 * self.bin_width, (i + 1) as f64 * self.bin_width);
            writeln!(f, "{from:4.2} to {to:4.2} {count:5} {}", bar(count))?;
        }
        if self.above > 0 {
            let from = self.counts.len() as f64 * self.bin_width;
            writeln!(f, "above   {from:4.2} {:5} {}", self.above, bar(self.above))?;
        }
        Ok(())
    }
}
