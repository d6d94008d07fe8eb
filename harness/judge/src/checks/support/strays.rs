//! Attempts that join to no request: nobody knows whose they are, so that nothing may be concluded from their absence.

use super::Tally;
use crate::evidence::{At, Attempt, Joined, Outcome};

/// What makes attempts join.
const ADVICE: &str = "pass the client's trace context, or its key, on to the dependency";

/// Attempts that may move money, joined to no request, and arrived within that time. A health check is no attempt of a
/// payment.
pub(in crate::checks) fn strays<'a>(joined: &Joined<'a>, (from, to): (At, At)) -> Vec<&'a Attempt> {
    let moves = |a: &&&Attempt| !matches!(a.method.as_str(), "GET" | "HEAD" | "OPTIONS");
    let all = &joined.orphan_attempts;
    let (first, end) = (all.partition_point(|a| a.arrived < from), all.partition_point(|a| a.arrived <= to));
    all[first..end.max(first)].iter().filter(moves).copied().collect()
}

/// Those between the first send and the last answer of some requests.
pub(in crate::checks) fn strays_among<'a, 'o>(
    joined: &Joined<'a>,
    outcomes: impl Iterator<Item = &'o Outcome>,
) -> Vec<&'a Attempt> {
    let span = outcomes.map(|o| (o.sent, o.ended)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    span.map_or_else(Vec::new, |span| strays(joined, span))
}

/// Why attempts that nobody can name allow no verdict, and what to do about it; `None` when there are none.
pub(in crate::checks) fn unjoined(strays: usize) -> Option<(String, String)> {
    let what =
        || format!("{strays} attempts carry neither a known key nor a known trace, so nobody knows whose they are");
    (strays > 0).then(|| (what(), ADVICE.to_owned()))
}

/// Notes them; whether there were any.
pub(in crate::checks) fn note_unjoined(strays: usize, tally: &mut Tally) -> bool {
    let gap = unjoined(strays);
    let any = gap.is_some();
    // One reason for many requests is one gap.
    tally.gaps.extend(gap.filter(|(_, advice)| tally.gaps.iter().all(|(_, known)| known != advice)));
    any
}

/// Notes a link on which nothing was seen: whoever sees no call at all cannot say that one was not made. Returns whether
/// anything was seen.
pub(in crate::checks) fn note_blind(joined: &Joined<'_>, tally: &mut Tally) -> bool {
    let seen = joined.payments.iter().any(|p| !p.attempts.is_empty()) || !joined.orphan_attempts.is_empty();
    if !seen {
        let advice = "name the link through which the service calls its dependency in the contract";
        tally.gap("no call of the whole scenario was seen on the link, not even those that succeeded", advice);
    }
    seen
}
