//! Request ids of 20 characters, as Toxiproxy's answers carry them: time, machine, process and a counter, 12 bytes in
//! lowercase base32 with the extended hexadecimal alphabet.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

/// Makes ids that differ within a process, and between processes with overwhelming probability.
#[derive(Debug)]
pub(crate) struct Ids {
    /// Stands for the machine and the process.
    origin: [u8; 5],
    next: AtomicU32,
}

impl Ids {
    pub(crate) fn new() -> Self {
        // The standard library seeds its hash maps from the system's generator.
        let random = RandomState::new().hash_one("request ids").to_be_bytes();
        let [a, b, c, d, e, x, y, z] = random;
        Self { origin: [a, b, c, d, e], next: AtomicU32::new(u32::from_be_bytes([0, x, y, z])) }
    }

    /// The next id.
    pub(crate) fn next(&self) -> String {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        let mut raw = [0; 12];
        raw[..4].copy_from_slice(&seconds.to_be_bytes()[4..]);
        raw[4..9].copy_from_slice(&self.origin);
        raw[9..].copy_from_slice(&count.to_be_bytes()[1..]);
        base32(&raw)
    }
}

/// Five bits a character, the last one filled up with zeros.
fn base32(raw: &[u8; 12]) -> String {
    let mut text = String::with_capacity(20);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for &byte in raw {
        held = (held << 8) | u32::from(byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(ALPHABET[(held >> bits) as usize & 31]));
        }
    }
    text.push(char::from(ALPHABET[(held << (5 - bits)) as usize & 31]));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves the encoding by vectors worked out by hand, and that a thousand ids are 20 characters and differ.
    #[test]
    fn ids_are_short_and_differ() {
        assert_eq!(base32(&[0; 12]), "0".repeat(20));
        assert_eq!(base32(&[255; 12]), "v".repeat(19) + "g");
        let ids = Ids::new();
        let made: std::collections::HashSet<_> = (0..1000).map(|_| ids.next()).collect();
        assert!(
            made.len() == 1000 && made.iter().all(|id| id.len() == 20 && id.bytes().all(|c| ALPHABET.contains(&c)))
        );
    }
}
