//! Order statistics, and the seeded order of turns.

/// The value below which a share `q` of the values lies (the nearest one at or above). `NaN` of nothing.
pub(crate) fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() {
        return f64::NAN;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index below the length")]
    let index = (q * sorted.len() as f64).ceil() as usize;
    sorted[index.clamp(1, sorted.len()) - 1]
}

/// The middle value; the mean of the two in the middle of an even count.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// A small generator (SplitMix64) that only decides who is measured first.
#[derive(Debug)]
pub(crate) struct Turns(u64);

impl Turns {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Puts items into a drawn order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for upto in (1..items.len()).rev() {
            let at = usize::try_from(self.next() % (upto as u64 + 1)).unwrap_or(0);
            items.swap(upto, at);
        }
    }
}
