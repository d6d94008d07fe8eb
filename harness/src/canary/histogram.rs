//! A histogram of fixed size: a soak of days takes the memory of a second.

/// Buckets for each doubling: values are told apart to 1/32, about 3 %.
const STEPS: u64 = 32;
const STEP_BITS: u32 = STEPS.trailing_zeros();
const BUCKETS: usize = (64 - STEP_BITS as usize + 1) * STEPS as usize;

/// Counts of nanosecond values in logarithmic buckets; exact below 32 ns.
#[derive(Debug, Clone)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], count: 0 }
    }
}

impl Histogram {
    pub(super) fn put(&mut self, value: u64) {
        self.counts[bucket(value)] += 1;
        self.count += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// An upper bound of the `q`-quantile (nearest rank), at most 1/32 too large; 0 when there is no value.
    pub(super) fn quantile(&self, q: f64) -> u64 {
        let rank = (q.clamp(0.0, 1.0) * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let found = self.counts.iter().position(|n| {
            seen += n;
            seen >= rank
        });
        found.map_or(0, last_of)
    }
}

/// Buckets 0 to 31 hold one value each; from there, each doubling is cut into 32 equal parts.
fn bucket(value: u64) -> usize {
    let doubling = value.checked_ilog2().unwrap_or(0).saturating_sub(STEP_BITS);
    (u64::from(doubling) * STEPS + (value >> doubling)) as usize
}

/// The largest value of a bucket.
fn last_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let doubling = (bucket / STEPS).saturating_sub(1);
    let first = u128::from(bucket - doubling * STEPS) << doubling;
    u64::try_from(first + (1 << doubling) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, Histogram, bucket, last_of};

    // Proves that buckets cover all values without gap or overlap: each bucket's last value lies in it, the next value in
    // the next one.
    #[test]
    fn buckets_have_no_gap_and_no_overlap() {
        for b in 0..BUCKETS - 1 {
            let last = last_of(b);
            assert_eq!(bucket(last), b, "{last} is the last of bucket {b}");
            assert_eq!(bucket(last + 1), b + 1, "{last} + 1 begins bucket {b} + 1");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(last_of(BUCKETS - 1), u64::MAX);
    }

    // Proves that a quantile is never below the exact one and at most 1/32 above it, on values over nine decades.
    #[test]
    fn quantiles_are_upper_bounds_within_a_thirty_second() {
        let values: Vec<u64> = (0..900).map(|i| 10_f64.powf(f64::from(i) / 100.0) as u64).collect();
        let mut histogram = Histogram::default();
        values.iter().for_each(|v| histogram.put(*v));
        for (q, rank) in [(0.0, 1), (0.5, 450), (0.99, 891), (1.0, 900)] {
            let (exact, found) = (values[rank - 1], histogram.quantile(q));
            assert!(found >= exact && found <= exact + exact / 32, "q {q}: exact {exact}, found {found}");
        }
        assert_eq!(Histogram::default().quantile(0.99), 0);
    }
}
