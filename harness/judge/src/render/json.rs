//! The verdict for programs.

use crate::finding::Verdict;

use super::text::harmful;

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
/// Reading it back as a [`Verdict`] gives the same verdict. Foreign text is kept as it was, with
/// everything that a terminal would act on escaped; whoever shows it elsewhere must escape it for there.
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
    // What serde_json leaves raw but a terminal would act on (C1 controls, direction marks) only occurs within strings.
    let mut out = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if c != '\n' && harmful(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out += &format!("\\u{unit:04x}"));
        } else {
            out.push(c);
        }
    }
    out + "\n"
}
