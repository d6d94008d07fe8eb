//! The catalogue's words about one check.

use crate::checks::CheckInfo;

use super::text::labelled;

const WIDTH: usize = 100;

/// Explains a check to someone who has just been failed by it.
///
/// ```
/// use judge::{checks::catalogue, render};
///
/// let text = render::explain(catalogue::B4);
/// assert!(text.starts_with("B4 HalfOpenSingleProbe  (tier 1)\n"));
/// assert!(text.contains("\npromise     a half-open breaker lets exactly"));
/// ```
#[must_use]
pub fn explain(info: &CheckInfo) -> String {
    let mut out = vec![format!("{} {}  (tier {})", info.id, info.name, info.tier.number())];
    let rows = [
        ("promise", info.promise),
        ("measure", info.measure),
        ("rule", info.rule),
        ("false alarm", info.false_alarm),
        ("unsure when", info.inconclusive),
        ("scenarios", info.scenario),
    ];
    for (label, text) in rows {
        out.push(String::new());
        out.extend(labelled(0, label, text, WIDTH));
    }
    if !info.bug_classes.is_empty() {
        out.push(String::new());
        out.push("A failure points to one of these:".to_owned());
        for class in info.bug_classes {
            out.extend(labelled(2, "", class, WIDTH).into_iter().enumerate().map(|(i, l)| {
                let text = l.trim_start();
                if i == 0 { format!("  - {text}") } else { format!("    {text}") }
            }));
        }
    }
    out.push(String::new());
    out.join("\n")
}
