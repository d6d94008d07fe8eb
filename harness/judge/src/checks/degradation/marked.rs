//! G1: what does not come from the dependency says so.

use super::view::{View, common_gaps, reads};
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::G1;
use crate::checks::support::{Case, Tally, note_blind};
use crate::evidence::Evidence;
use crate::promise::DegradationPolicy;

const AS_LIVE: &str = G1.bug_classes[0];
const NO_AGE: &str = G1.bug_classes[1];
const EVERYTHING: &str = G1.bug_classes[2];

/// **G1** An answer that does not come from the dependency says so, and says how old it is.
///
/// - *Measure*: every success of the steps `outage/ask`, `outage/read` and `outage/old`, in which each call to the dependency
///   fails; the answers of `live`, in which none does.
/// - *Test*: a success of the outage without a successful call of its own carries the marker; a confirmation among them also
///   an age. A success of `live` with such a call carries no marker.
/// - *False alarms*: none, answers and calls are counted.
/// - *Inconclusive*: no success in the outage; a fault struck less often than planned; no call at all was seen on the link.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "degradation".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::degradation, promise::DegradationPolicy};
///
/// let policy: DegradationPolicy = serde_json::from_str(
///     r#"{ "read": "/payments/{id}", "marker": "X-Degraded", "age": "Age", "max_age": "1m", "fresh_within": "1s",
///          "confirmed": ["confirmed"] }"#,
/// )?;
/// let finding = degradation::degraded_is_marked(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn degraded_is_marked(policy: &DegradationPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(G1, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &DegradationPolicy, link: &str) -> Finding {
    let promise = format!("an answer without the dependency carries {} and its age in {}", policy.marker, policy.age);
    let case = Case::new(G1, evidence, link, promise);
    let view = View::of(evidence, link);
    if evidence.outcomes_of("outage").is_empty() {
        return case.did_not_run("`live` and `outage`");
    }
    let mut tally = Tally::default();
    let degraded = view.degraded();
    let unmarked: Vec<_> = degraded.iter().filter(|s| !s.is_marked()).collect();
    if let Some(first) = unmarked.first() {
        let what = format!(
            "{} of {} successes of the outage carry no marker, such as that for {}",
            unmarked.len(),
            degraded.len(),
            first.request.name()
        );
        tally.breach(AS_LIVE, what, unmarked.iter().map(|s| s.line("no call of its own, no marker")).collect());
    }
    let confirmations: Vec<_> = degraded.iter().filter(|s| reads(s.outcome()) && s.is_marked()).collect();
    let ageless: Vec<_> = confirmations.iter().filter(|s| s.reply().is_some_and(|r| r.age.is_none())).collect();
    if !ageless.is_empty() {
        let what = format!("{} of {} degraded confirmations tell no age", ageless.len(), confirmations.len());
        tally.breach(NO_AGE, what, ageless.iter().map(|s| s.line("no age")).collect());
    }
    let live = view.seen(|o| o.step == "live" && o.succeeded());
    let branded: Vec<_> = live.iter().filter(|s| s.is_marked() && !s.answered.is_empty()).collect();
    if !branded.is_empty() {
        let what = format!("{} answers that came from the dependency are marked as degraded", branded.len());
        tally.breach(EVERYTHING, what, branded.iter().map(|s| s.line("marked")).collect());
    }
    tally.judged = degraded.len();
    tally.count("successes during the outage", degraded.len());
    tally.count("degraded confirmations", confirmations.len());
    tally.count("live answers", live.len());
    common_gaps(evidence, link, degraded.len(), &mut tally);
    // What comes from the dependency is known by its call: where none is seen, nothing of `live` is known to be marked.
    note_blind(&view.joined, &mut tally);
    let pass = format!("{} answers of the outage said that they were degraded, and how old", degraded.len());
    case.conclude(tally, pass)
}
