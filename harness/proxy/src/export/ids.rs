//! Identities of spans. They are derived, not drawn: a request's span can point at the window of its rule without either
//! knowing the other.

use evidence::{SpanId, TimeBase, TraceId};
use sha2::{Digest, Sha256};

/// Derives the identities of one proxy's spans.
#[derive(Debug, Clone)]
pub(super) struct Ids {
    base: Sha256,
}

/// What a span is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum About<'a> {
    /// A fault in force, from a moment on.
    Window { kind: &'static str, link: &'a str, rule: &'a str, since: u64 },
    /// An attempt, by its number in the log.
    Attempt(u64),
    /// A connection, by its number.
    Connection(u64),
}

impl Ids {
    /// Proxies differ in the moment they began: the origin of their clocks is read in nanoseconds, twice.
    pub(super) fn new(time: TimeBase, seed: u64) -> Self {
        let mut base = Sha256::new();
        for word in [time.monotonic_ns, time.wall_ns, seed, u64::from(std::process::id())] {
            base.update(word.to_le_bytes());
        }
        Self { base }
    }

    /// A trace of its own, and the span in it.
    pub(super) fn of(&self, about: About<'_>) -> (TraceId, SpanId) {
        let mut hash = self.base.clone();
        match about {
            About::Window { kind, link, rule, since } => {
                hash.update([0]);
                for text in [kind, link, rule] {
                    hash.update((text.len() as u64).to_le_bytes());
                    hash.update(text);
                }
                hash.update(since.to_le_bytes());
            }
            About::Attempt(seq) => {
                hash.update([1]);
                hash.update(seq.to_le_bytes());
            }
            About::Connection(conn) => {
                hash.update([2]);
                hash.update(conn.to_le_bytes());
            }
        }
        let digest = hash.finalize();
        let (mut trace, mut span) = ([0; 16], [0; 8]);
        trace.copy_from_slice(&digest[..16]);
        span.copy_from_slice(&digest[16..24]);
        // All zero is no identity; that it comes up is as likely as a collision, and avoided all the same.
        trace[0] |= u8::from(trace == [0; 16]);
        span[0] |= u8::from(span == [0; 8]);
        (TraceId(trace), SpanId(span))
    }
}
