//! B11: each dependency has a breaker of its own.

use super::{Beside, arrivals, is_whole};
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::B11;
use crate::checks::support::{Case, Tally, outcome_line, paused, unfired};
use crate::evidence::{Evidence, Outcome};
use crate::finding::Line;
use crate::promise::BreakerPolicy;

const SHARED: &str = B11.bug_classes[0];
const LEAKS: &str = B11.bug_classes[1];
const RERUN: &str = "run the scenario `breaker-isolation` again, to its end";

/// **B11** While the breaker of one dependency is open, routes to another one work, and the other way round.
///
/// - *Measure*: outcomes of the step `beside/ROUTE` between payments (`open/ROUTE`, `still-open/ROUTE`) that are rejected
///   without a call; outcomes of `payments/ROUTE` after the route's own dependency has failed as often as the threshold.
/// - *Test*: each of them succeeds, and is not degraded.
/// - *False alarms*: none, outcomes are counted.
/// - *Inconclusive*: calls reached their dependency and failed while the machine paused for longer than the noise bound,
///   the breaker was not seen open on both sides, the route did not work without any fault, its
///   dependency failed less often than the threshold, no payment after that, a fault that struck less often than planned.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-isolation".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::topology::{self, Beside}, promise::BreakerPolicy};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).unwrap();
/// let rates = Beside { route: "rates".to_owned(), link: "rates".to_owned() };
/// let finding = topology::breaker_isolation(&policy, "bank", &[rates]).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// ```
#[must_use]
pub fn breaker_isolation(policy: &BreakerPolicy, link: &str, routes: &[Beside]) -> Check {
    let (policy, link, routes) = (policy.clone(), link.to_owned(), routes.to_vec());
    Check::new(B11, move |evidence| judge(evidence, &policy, &link, &routes))
}

fn judge(evidence: &Evidence, policy: &BreakerPolicy, link: &str, routes: &[Beside]) -> Finding {
    let names: Vec<_> = routes.iter().map(|r| r.route.as_str()).collect();
    let promise = format!("a breaker for each dependency: that of {link} leaves alone {}", names.join(", "));
    let case = Case::new(B11, evidence, link, promise);
    if evidence.outcomes_of("beside").is_empty() && evidence.outcomes_of("payments").is_empty() {
        return case.did_not_run("`beside/...` and `payments/...`");
    }
    let mut tally = Tally::default();
    for beside in routes {
        while_open(evidence, link, beside, &mut tally);
        after_its_own(evidence, policy, link, beside, &mut tally);
    }
    for link in std::iter::once(link).chain(routes.iter().map(|r| r.link.as_str())) {
        unfired(evidence, link).into_iter().for_each(|what| tally.gap(what, RERUN));
    }
    let judged = tally.judged;
    tally.count("calls beside an open breaker", judged);
    let pass = format!("{judged} calls beside another dependency's failures: all of them worked");
    case.conclude(tally, pass)
}

/// The route, while the main breaker is known to be open.
fn while_open(evidence: &Evidence, link: &str, beside: &Beside, tally: &mut Tally) {
    let step = |word: &str| evidence.outcomes_of(&format!("{word}/{}", beside.route));
    let route = &beside.route;
    if step("alone").is_empty() || !step("alone").iter().all(|o| is_whole(o)) {
        let what =
            format!("{route} did not work without any fault, so that nothing follows from how it works beside one");
        return tally.gap(what, "see that the route's dependency answers it in a steady run");
    }
    let calls = step("beside");
    let rejected = |o: &&Outcome| !o.succeeded() && arrivals(evidence, link, o).is_empty();
    let bracketed = |word: &str| step(word).iter().copied().any(|o| rejected(&o));
    let first = calls.iter().map(|o| o.sent).min();
    let last = calls.iter().map(|o| o.ended).max();
    let around =
        step("open").iter().all(|o| Some(o.ended) <= first) && step("still-open").iter().all(|o| Some(o.sent) >= last);
    if calls.is_empty() || !bracketed("open") || !bracketed("still-open") || !around {
        let what = format!("the breaker of {link} was not seen open both before and after the calls of {route}");
        return tally.gap(what, "run it again on a quieter machine, or declare a longer open time");
    }
    if calls.iter().all(|o| is_whole(o) && arrivals(evidence, &beside.link, o).is_empty()) {
        let what = format!("no call of {route} reached {}, so that no breaker was asked", beside.link);
        return tally
            .gap(what, "name the link that the route uses in the contract, or keep its answers out of a cache");
    }
    tally.judged += calls.len();
    failures(evidence, &calls, &beside.link, (route, &format!("the breaker of {link} was open")), tally);
}

/// The payment, after the route's dependency has failed.
fn after_its_own(evidence: &Evidence, policy: &BreakerPolicy, link: &str, beside: &Beside, tally: &mut Tally) {
    let step = |word: &str| evidence.outcomes_of(&format!("{word}/{}", beside.route));
    let recovered = step("recover");
    if recovered.is_empty() || !recovered.iter().all(|o| is_whole(o)) {
        let what = format!("payments had not recovered before {} was made to fail", beside.link);
        return tally.gap(what, RERUN);
    }
    let (struck, calls) = (step("struck"), step("payments"));
    let failed = struck.iter().flat_map(|o| arrivals(evidence, &beside.link, o)).filter(|a| a.fault.is_some()).count();
    // An answer from a cache calls nobody either: only a failure without a call is a breaker that opened early.
    let rejected = struck.iter().any(|o| !o.succeeded() && arrivals(evidence, &beside.link, o).is_empty());
    if failed < policy.threshold as usize && !rejected {
        let what = format!("{} failed {failed} times, and a breaker opens after {}", beside.link, policy.threshold);
        return tally.gap(what, RERUN);
    }
    if calls.is_empty() {
        return tally.gap(format!("no payment was asked for after {} had failed", beside.link), RERUN);
    }
    tally.judged += calls.len();
    failures(evidence, &calls, link, ("the payment", &format!("{} had failed {failed} times", beside.link)), tally);
}

/// Calls that did not work although their own dependency was sound.
fn failures(evidence: &Evidence, calls: &[&Outcome], link: &str, (who, when): (&str, &str), tally: &mut Tally) {
    let bad: Vec<_> = calls.iter().copied().filter(|o| !is_whole(o)).collect();
    if bad.is_empty() {
        return;
    }
    let uncalled = |o: &&Outcome| arrivals(evidence, link, o).is_empty();
    let silent = bad.iter().filter(|o| uncalled(o)).count();
    let what = format!(
        "{} of {} calls of {who} failed while {when}; {silent} of them never reached {link}",
        bad.len(),
        calls.len()
    );
    let line = |o: &&Outcome| -> Line {
        let remark = if uncalled(o) { "rejected without a call" } else { "its own dependency was called" };
        outcome_line(o, remark)
    };
    // Whoever waits for a dependency gives up on it when the machine stands still for long enough.
    let excuse = paused(evidence).filter(|_| silent == 0);
    let class = if silent > 0 { SHARED } else { LEAKS };
    tally.breach_unless(excuse.as_deref(), class, what, bad.iter().map(line).collect());
}
