//! H4: without a fault, payments succeed at once.

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::H4;
use crate::checks::support::{Case, Tally, attempt_line, note_unjoined, outcome_line, paused, requests, strays_among};
use crate::evidence::{Evidence, Joined};

const TOO_EARLY: &str = H4.bug_classes[0];
const NOT_BACK: &str = H4.bug_classes[1];
/// The steps that it reads; a scenario file has the second one when the faults are over.
const STEPS: [&str; 3] = ["baseline", "baseline/before", AFTER];
const AFTER: &str = "baseline/after";

/// **H4** Without any fault, payments succeed at the first attempt.
///
/// - *Measure*: outcomes and attempts of the step `baseline`; in a scenario file of `baseline/before` and, when all faults
///   are healed, `baseline/after`.
/// - *Test*: every payment succeeds, with one attempt.
/// - *False alarms*: none, outcomes are counted. A payment that was refused or retried without a fault of ours is a
///   finding, whoever caused it: what is seen under fault then says nothing.
/// - *Inconclusive*: no outcome of the step; payments that succeeded without a call on this link.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "steady".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::trust};
///
/// let finding = trust::steady_state("bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// ```
#[must_use]
pub fn steady_state(link: &str) -> Check {
    let link = link.to_owned();
    Check::new(H4, move |evidence| judge(evidence, &link))
}

fn judge(evidence: &Evidence, link: &str) -> Finding {
    let case = Case::new(H4, evidence, link, "every payment succeeds, with one attempt".to_owned());
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |o| STEPS.contains(&o.step.as_str()));
    if asked.is_empty() {
        return case.did_not_run("`baseline`");
    }
    let mut tally = Tally { judged: asked.len(), ..Tally::default() };
    tally.count("payments", asked.len());
    let paused = paused(evidence);
    let lost: Vec<_> = asked.iter().filter(|r| !r.outcome.succeeded()).collect();
    if !lost.is_empty() {
        let late = lost.iter().all(|r| r.outcome.step == AFTER);
        let when = if late { "after the faults were healed" } else { "without any fault" };
        let what = format!("{} of {} payments did not succeed {when}", lost.len(), asked.len());
        tally.breach_unless(
            paused.as_deref(),
            if late { NOT_BACK } else { TOO_EARLY },
            what,
            lost.iter().map(|r| outcome_line(r.outcome, "")).collect(),
        );
    }
    let again: Vec<_> = asked.iter().filter(|r| r.attempts.len() > 1).collect();
    if !again.is_empty() {
        let what = format!("{} of {} payments took more than one attempt without any fault", again.len(), asked.len());
        let pair = |w: &[&crate::evidence::Attempt]| attempt_line(w[1], 2, Some(w[0]), "");
        tally.breach_unless(
            paused.as_deref(),
            "",
            what,
            again.iter().flat_map(|r| r.attempts.windows(2).take(1).map(pair)).collect(),
        );
    }
    let unseen = asked.iter().filter(|r| r.outcome.succeeded() && r.attempts.is_empty()).count();
    if unseen > joined.orphan_attempts.len() {
        let what = format!("{unseen} payments succeeded without a call on the link");
        tally.gap(what, "name the link through which the service calls its dependency in the contract");
    } else {
        // A retry that nobody can name would hide among them.
        note_unjoined(strays_among(&joined, asked.iter().map(|r| r.outcome)).len(), &mut tally);
    }
    let pass = format!("{} payments succeeded at the first attempt", asked.len());
    case.conclude(tally, pass)
}
