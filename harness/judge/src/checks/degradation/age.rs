//! G2: how old a degraded answer may be.

use super::view::{View, common_gaps, reads};
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::G2;
use crate::checks::support::{Case, Tally, ms};
use crate::evidence::Evidence;
use crate::promise::DegradationPolicy;

const UNBOUNDED: &str = G2.bug_classes[0];
const FROM_SERVING: &str = G2.bug_classes[1];

/// **G2** No degraded answer is older than declared, and none makes itself younger than it is.
///
/// - *Measure*: the age that each degraded confirmation of `outage/read` and `outage/old` tells, and the least age that it
///   can have: from the end of the last request for that payment behind which a call succeeded, to its own sending.
/// - *Test*: told age and least age are at most the declared bound; the told age is not below the least one by more than one
///   unit of the telling.
/// - *False alarms*: none. The client had the fresh answer before the least age begins, so the service had it, too.
/// - *Inconclusive*: nothing was degraded; nothing was read for which the bound had surely passed.
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
/// let finding = degradation::age_is_bounded(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn age_is_bounded(policy: &DegradationPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(G2, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &DegradationPolicy, link: &str) -> Finding {
    let bound = policy.max_age;
    let promise = format!("no degraded answer is older than {}, and none is older than it says", ms(bound));
    let case = Case::new(G2, evidence, link, promise);
    let view = View::of(evidence, link);
    if evidence.outcomes_of("outage").is_empty() {
        return case.did_not_run("`outage`");
    }
    let mut tally = Tally::default();
    let mut degraded = view.degraded();
    degraded.retain(|s| reads(s.outcome()));
    let (mut oldest_told, mut oldest) = (None, None);
    for seen in &degraded {
        let name = seen.request.name();
        // What carries no marker tells no age of a kept answer: G1's affair, but for its being too old.
        let told = seen.reply().filter(|r| r.degraded.is_some()).and_then(|r| r.age.as_deref());
        let age = told.map(|text| policy.age_unit.read(text));
        let least = view.least_age(seen);
        oldest = oldest.max(least);
        let least = least.unwrap_or_default();
        if let Some(Some(age)) = age {
            oldest_told = oldest_told.max(Some(age));
        }
        let remark = format!("told an age of {}, is {} old at least", told.unwrap_or("nothing"), ms(least));
        match age {
            Some(None) => {
                let what = format!("the answer for {name} tells the age `{}`, which is none", told.unwrap_or_default());
                tally.breach("", what, vec![seen.line(&remark)]);
            }
            Some(Some(age)) if age > bound => {
                let what =
                    format!("the answer for {name} says that it is {} old, at most {} promised", ms(age), ms(bound));
                tally.breach(UNBOUNDED, what, vec![seen.line(&remark)]);
            }
            _ if least > bound => {
                let what =
                    format!("the answer for {name} is {} old at least, at most {} promised", ms(least), ms(bound));
                tally.breach(UNBOUNDED, what, vec![seen.line(&remark)]);
            }
            Some(Some(age)) if age.saturating_add(policy.age_unit.granule()) < least => {
                let what =
                    format!("the answer for {name} says that it is {} old, and is {} at least", ms(age), ms(least));
                tally.breach(FROM_SERVING, what, vec![seen.line(&remark)]);
            }
            _ => {}
        }
        tally.judged += 1;
    }
    for (name, age) in [("oldest age told", oldest_told), ("oldest degraded answer, at least", oldest)] {
        if let Some(age) = age {
            tally.millis(name, age.as_secs_f64());
        }
    }
    let outlived = view.seen(|o| o.step == "outage/old" && o.reply().is_some());
    let outlived = outlived.iter().filter(|s| view.least_age(s).is_some_and(|age| age > bound)).count();
    tally.count("confirmations asked for after the bound", outlived);
    if outlived == 0 {
        let advice = "run the whole scenario `degradation`, and see that its payments succeed before the outage";
        tally.gap("no confirmation was asked for after the declared age had passed", advice);
    }
    common_gaps(evidence, link, degraded.len(), &mut tally);
    let pass = format!("{} degraded answers were within {} and told no less than their age", degraded.len(), ms(bound));
    case.conclude(tally, pass)
}
