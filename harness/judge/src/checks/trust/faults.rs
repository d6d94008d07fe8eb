//! H2: the faults of the plan struck.

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::H2;
use crate::checks::support::{Case, Tally};
use crate::evidence::Evidence;

/// **H2** Each fault of the plan struck as often as planned, so that a pass means something.
///
/// - *Measure*: the proxy's count of strikes for each rule.
/// - *Test*: at least as many as planned, and the rule was taken out of force again.
/// - *False alarms*: it never fails.
/// - *Inconclusive*: a rule that struck less often, or that was never healed; evidence without any step.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "steady".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::trust};
///
/// let finding = trust::faults_fired().judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// ```
#[must_use]
pub fn faults_fired() -> Check {
    Check::new(H2, judge)
}

fn judge(evidence: &Evidence) -> Finding {
    let case = Case::of_run(H2, evidence, "each fault strikes at least as often as planned, and is healed".to_owned());
    if evidence.steps.is_empty() && evidence.outcomes.is_empty() {
        return case.did_not_run("of any scenario");
    }
    let mut tally = Tally { judged: evidence.faults.len(), ..Tally::default() };
    tally.count("fault rules", evidence.faults.len());
    let strikes: u64 = evidence.faults.iter().fold(0, |sum, f| sum.saturating_add(f.fired));
    tally.fact("strikes", strikes, "");
    for fault in &evidence.faults {
        let row =
            format!("{}: {} on {}, {} of {} planned", fault.rule, fault.what, fault.link, fault.fired, fault.planned);
        if fault.fired < fault.planned {
            let what =
                format!("{} struck {} times, planned {}: {}", fault.rule, fault.fired, fault.planned, fault.what);
            let advice = "see that the service calls the dependency through the link that the contract names, and that \
                          it makes the promised attempts (R1)";
            tally.gap(what, advice);
        } else if fault.healed < fault.applied {
            let what = format!("{} was never taken out of force: {}", fault.rule, fault.what);
            tally.gap(what, "the run was killed; run it again");
        }
        tally.exhibit.push(row);
    }
    if evidence.faults.is_empty() {
        return case.pass(tally, "this scenario plans no fault".to_owned());
    }
    let pass = format!("{} faults struck as planned", tally.judged);
    case.conclude(tally, pass)
}
