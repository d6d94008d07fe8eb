//! The failures that a breaker of the declared policy has counted at a moment, replayed from the wire.

use std::time::Duration;

use crate::evidence::At;
use crate::promise::{BreakerMode, BreakerPolicy};

use super::view::{Hit, View, base};

/// Bounds of the count: they differ only where a failure lies within the noise bound of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    /// Failures that were surely counted.
    pub least: usize,
    /// Failures that may have been counted.
    pub most: usize,
}

/// Counts the failures that arrived before `until`, as the policy promises to count them.
///
/// A success starts a consecutive count over; a successful probe starts any count over.
pub(super) fn failures(view: &View<'_>, policy: &BreakerPolicy, until: At, eps: Duration) -> Count {
    let mut run: Vec<Hit<'_>> = Vec::new();
    for (call, hit) in view.hits() {
        if hit.arrived >= until {
            break;
        }
        if !hit.ok {
            run.push(hit);
        } else if policy.mode == BreakerMode::Consecutive || base(&call.outcome.step) == "probe" {
            run.clear();
        }
    }
    let window = match policy.mode {
        BreakerMode::Consecutive => None,
        BreakerMode::Window => policy.window,
    };
    let since = |hit: &&Hit<'_>, slack: bool| {
        window.is_none_or(|w| hit.ended + if slack { w.saturating_add(eps) } else { w.saturating_sub(eps) } >= until)
    };
    let least = run.iter().filter(|h| since(h, false)).count();
    let most = run.iter().filter(|h| since(h, true) && h.ended <= until + eps).count();
    Count { least, most }
}
