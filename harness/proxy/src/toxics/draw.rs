//! Draws of toxics: the same for the same seed, name, connection and direction, whatever else happens.

use sha2::{Digest, Sha256};

use super::board::Entry;
use super::spec::Direction;

/// What one toxic draws on one connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    /// Decides whether the connection gets the toxic; at least 0, below 1.
    pub(crate) strike: f64,
    /// Starts the generator of what the toxic draws chunk by chunk.
    pub(crate) seed: u64,
}

/// Two words of SHA-256 over seed, name, connection, direction and the count of redraws.
pub(crate) fn draw(seed: u64, entry: &Entry, conn: u64) -> Draw {
    let name = entry.toxic.name.as_bytes();
    let mut hash = Sha256::new();
    hash.update(b"toxic");
    hash.update(seed.to_le_bytes());
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
    hash.update(conn.to_le_bytes());
    hash.update([u8::from(entry.toxic.direction() == Direction::Downstream)]);
    hash.update(entry.redraw.to_le_bytes());
    let digest = hash.finalize();
    let word = |at: usize| {
        let mut bytes = [0_u8; 8];
        bytes.copy_from_slice(&digest[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    Draw { strike: fraction(word(0)), seed: word(8) }
}

/// A small generator (SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
#[derive(Debug, Clone)]
pub(crate) struct Generator(u64);

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// At least 0, below 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        fraction(z ^ (z >> 31))
    }

    /// At least `low`, below `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.fraction() * (high - low)
    }
}

fn fraction(word: u64) -> f64 {
    (word >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toxics::{Toxic, ToxicKind};

    fn entry(name: &str, direction: Direction, redraw: u64) -> Entry {
        Entry::new(Toxic::new(ToxicKind::Noop, direction).named(name), 0, redraw)
    }

    // Freezes the function: values from Python's hashlib over the same bytes, so that a recorded seed keeps its meaning.
    #[test]
    fn the_function_is_frozen() {
        let drawn = draw(42, &entry("lat", Direction::Downstream, 0), 7);
        assert!((drawn.strike - FROZEN_STRIKE).abs() < 1e-15, "{:.17}", drawn.strike);
        assert_eq!(drawn.seed, FROZEN_SEED);
    }

    // Proves that each part of the input matters, and that 10,000 connections share a half as they should (six standard
    // deviations of fixed draws).
    #[test]
    fn draws_differ_and_are_fair() {
        let base = entry("a", Direction::Upstream, 0);
        let strike = draw(1, &base, 1).strike;
        let others = [
            draw(2, &base, 1),
            draw(1, &base, 2),
            draw(1, &entry("b", Direction::Upstream, 0), 1),
            draw(1, &entry("a", Direction::Downstream, 0), 1),
            draw(1, &entry("a", Direction::Upstream, 1), 1),
        ];
        assert!(others.iter().all(|o| (o.strike - strike).abs() > 1e-9));
        let struck = (0..10_000).filter(|conn| draw(1, &base, *conn).strike < 0.5).count();
        assert!(struck.abs_diff(5_000) < 300, "{struck}");
    }

    const FROZEN_STRIKE: f64 = 0.8615385986714174;
    const FROZEN_SEED: u64 = 3_834_645_624_001_105_192;
}
