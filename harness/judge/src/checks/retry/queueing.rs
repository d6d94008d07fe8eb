//! Whether attempts waited inside the service, behind its own connection pool, before they reached the wire.
//!
//! The canary sees pauses of the machine, not a queue in the service. The service's CLIENT spans begin before such a
//! queue, so the gap between two spans is shorter than the gap on the wire by the time spent in it.

use std::collections::HashMap;

use super::gaps::Gap;
use crate::evidence::{Attempt, Evidence, Span, SpanId, SpanKind, TraceId};
use crate::promise::Noise;

/// Share of gaps that may differ: what the battery tolerates as outliers.
const TOLERATED: f64 = 0.02;
/// Fewer late gaps than this are chance: a span cut off by its exporter, a scheduler's hiccup.
const FEWEST: usize = 3;

/// How many gaps could be compared, and how many of them were longer on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Queueing {
    /// Gaps whose two attempts have a CLIENT span each.
    pub compared: usize,
    /// Those longer on the wire by more than the noise bound.
    pub late: usize,
}

impl Queueing {
    /// Compares the gaps of wire and spans.
    pub fn of<'g, 'a: 'g>(evidence: &Evidence, gaps: impl Iterator<Item = &'g Gap<'a>>, noise: Noise) -> Self {
        let client = evidence.spans.iter().filter(|s| s.kind == SpanKind::Client);
        let spans: HashMap<(TraceId, SpanId), &Span> = client.map(|s| ((s.trace, s.span), s)).collect();
        let span_of = |a: &Attempt| a.context.and_then(|c| spans.get(&(c.trace, c.parent)).copied());
        let mut found = Queueing { compared: 0, late: 0 };
        for gap in gaps {
            let (Some(before), Some(after)) = (span_of(gap.before), span_of(gap.after)) else { continue };
            if before.span == after.span {
                continue;
            }
            found.compared += 1;
            let claimed = after.start.seconds_from(before.end);
            found.late += usize::from(gap.seconds() - claimed > noise.eps.as_secs_f64());
        }
        found
    }

    /// What to say when more gaps differ than tolerated.
    pub fn doubt(self) -> Option<(String, String)> {
        let Queueing { compared, late } = self;
        (late >= FEWEST && late as f64 > TOLERATED * compared as f64).then(|| {
            (
                format!("{late} of {compared} gaps are longer on the wire than between the service's own CLIENT spans"),
                "attempts wait inside the service: give its HTTP client a connection pool as large as the payments in \
                 flight, or run fewer of them at a time"
                    .to_owned(),
            )
        })
    }
}
