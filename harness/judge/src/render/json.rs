//! The verdict for programs.

use crate::finding::Verdict;

/// Renders a verdict as JSON, version 1 of the schema `harness-verdict`.
///
/// ```text
/// {
///   "schema": "harness-verdict",    always this word
///   "version": 1,                   fields may be added within a version; none is removed or changes its meaning
///   "run": "...", "service": "...", "seed": 7, "placement": "process",
///   "ruling": "pass",               "pass", "inconclusive" or "fail": the worst of the findings
///   "findings": [{
///     "check": "B4", "name": "HalfOpenSingleProbe", "scenario": "...", "subject": "payments -> bank",
///     "ruling": "fail", "headline": "...", "promise": "...", "measured": "...",
///     "chance": {"at_most": 1e-7},  or {"exact": 0.0}, or "undefined"; absent when nothing was failed
///     "facts": [{"name": "n", "value": 300, "unit": ""}],
///     "lines": [{"at": 1000, "key": "...", "attempt": 1, "trace": "...", "text": "..."}],   "at" in ns of the run
///     "exhibit": ["..."], "bug_class": "...", "advice": "...", "reproduce": "..."           absent when empty
///   }],
///   "not_promised": [{"checks": ["R3"], "what": "..."}]
/// }
/// ```
///
/// Reading it back as a [`Verdict`] gives the same verdict. Foreign text is kept as it was: JSON escapes it, and
/// whoever shows it must do the same.
///
/// ```
/// use judge::{Ruling, Verdict, render};
///
/// let verdict = Verdict::of("r1", "payments", 7, "process", Vec::new());
/// let text = render::json(&verdict);
/// assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), verdict);
/// ```
#[must_use]
pub fn json(verdict: &Verdict) -> String {
    // A verdict has only string keys and plain values, so this cannot fail; should that change, the reader still gets
    // JSON that is not a verdict, and no pass.
    let text = serde_json::to_string_pretty(verdict).unwrap_or_else(|error| {
        serde_json::json!({ "schema": "harness-error", "error": error.to_string() }).to_string()
    });
    text + "\n"
}
