//! What a crowd of connections took is given back after it has left.

use std::convert::Infallible;
use std::time::Duration;

use chaos_proxy::Proxy;

/// How often the open connections are counted.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Gives memory back whenever more connections have gone than are left and nothing has happened for a moment. Of the
/// program only: a library does not walk its host's heap.
pub(crate) async fn watch(proxy: &Proxy) -> Infallible {
    let mut crowd = Crowd::default();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let open = proxy.links().iter().map(|link| link.connections).sum();
        if crowd.has_left(Look { accepted: proxy.accepted(), open }) {
            // On the main thread, which carries no traffic.
            heap::give_back();
        }
    }
}

/// Connections at a moment.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Look {
    /// All so far.
    accepted: u64,
    open: u64,
}

/// Connections over time.
#[derive(Debug, Default)]
struct Crowd {
    before: Look,
    /// How many had gone when memory was last given back.
    gone: u64,
}

impl Crowd {
    /// Takes the next look. Only a quiet moment counts, as what is given back under load is asked for again.
    fn has_left(&mut self, look: Look) -> bool {
        let is_quiet = look == std::mem::replace(&mut self.before, look);
        // Counted one after the other: one that came in between is open and not yet accepted.
        let gone = look.accepted.saturating_sub(look.open);
        let has_left = is_quiet && gone.saturating_sub(self.gone) > look.open;
        if has_left {
            self.gone = gone;
        }
        has_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves when memory is given back: once for each crowd, in the first quiet moment after more have gone than are
    // left, also when nobody looked while it was there; never while connections come, stay, or leave.
    #[test]
    fn a_crowd_leaves_once() {
        let looks = |counts: &[(u64, u64)]| {
            let mut crowd = Crowd::default();
            let look = |(accepted, open)| crowd.has_left(Look { accepted, open });
            counts.iter().copied().map(look).map(u8::from).collect::<Vec<_>>()
        };
        assert_eq!(looks(&[(0, 0), (0, 0), (5, 5), (5, 5)]), [0; 4]);
        assert_eq!(looks(&[(1_000, 0), (1_000, 0), (1_000, 0)]), [0, 1, 0]);
        assert_eq!(looks(&[(1_000, 1_000), (1_000, 500), (1_000, 500), (1_000, 499), (1_000, 499)]), [0, 0, 0, 0, 1]);
        assert_eq!(looks(&[(10, 0), (20, 0), (30, 0), (40, 0)]), [0; 4], "others come all the time");
        assert_eq!(looks(&[(9, 0), (9, 0), (10, 1), (10, 1), (10, 0), (10, 0)]), [0, 1, 0, 0, 0, 1]);
    }
}
