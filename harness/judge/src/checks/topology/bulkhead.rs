//! T2: a dependency that hangs leaves other routes alone.

use std::time::Duration;

use super::latency::Calls;
use super::{Beside, is_whole};
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::T2;
use crate::checks::support::{Case, Tally, ms, outcome_line, pause, unfired};
use crate::evidence::{At, Attempt, Evidence, Outcome};
use crate::promise::{BulkheadPolicy, Noise};
use crate::stats::quantile::binomial_at_least;
use crate::stats::{Alpha, Tail};

const SHARED: &str = T2.bug_classes[0];
const WAITS: &str = T2.bug_classes[1];
/// The share of calls that may be slower than the 99th percentile.
const SLOW: f64 = 0.01;
/// Fewer calls than that say little of a percentile.
const FEWEST: usize = 50;

/// **T2** While callers hang at one dependency, routes to another one keep their success rate and their latency.
///
/// - *Measure*: success rate and latencies of the step `beside/ROUTE`, while payments hang (`hung/ROUTE`), against
///   `alone/ROUTE` before it. Calls during which nothing hung at the proxy are left out.
/// - *Test*: the number of failures against the share of the success rate that may be lost, and the number of calls slower
///   than `slowdown` times the 99th percentile before plus the noise bound against one in a hundred, each by the exact
///   binomial tail at 1e-7.
/// - *False alarms*: at most 1e-7 for each test.
/// - *Inconclusive*: nothing hung, fewer than 50 calls, a route that did not work before, figures that chance might
///   explain; for latencies, a pause beyond the noise bound.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "bulkhead".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::topology::{self, Beside}, promise::{BulkheadPolicy, Noise}};
///
/// let policy: BulkheadPolicy = serde_json::from_str(r#"{ "routes": ["rates"], "callers": 24 }"#).unwrap();
/// let rates = Beside { route: "rates".to_owned(), link: "rates".to_owned() };
/// let finding = topology::bulkhead_holds(&policy, "bank", &[rates], Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// ```
#[must_use]
pub fn bulkhead_holds(policy: &BulkheadPolicy, link: &str, routes: &[Beside], noise: Noise) -> Check {
    let (policy, link, routes) = (policy.clone(), link.to_owned(), routes.to_vec());
    Check::new(T2, move |evidence| judge(evidence, &policy, &link, &routes, noise))
}

fn judge(evidence: &Evidence, policy: &BulkheadPolicy, link: &str, routes: &[Beside], noise: Noise) -> Finding {
    let names: Vec<_> = routes.iter().map(|r| r.route.as_str()).collect();
    let promise = format!(
        "while {} callers hang at {link}: {} at most {} times slower at the 99th percentile, {} of the successes",
        policy.callers,
        names.join(", "),
        policy.slowdown,
        policy.success
    );
    let case = Case::new(T2, evidence, link, promise);
    if evidence.outcomes_of("beside").is_empty() {
        return case.did_not_run("`beside/...`");
    }
    let (mut tally, mut chance) = (Tally::default(), Tail::at_most(0.0));
    for beside in routes {
        let found = route(evidence, policy, link, beside, noise, &mut tally);
        chance = larger(chance, found);
    }
    unfired(evidence, link).into_iter().for_each(|what| tally.gap(what, "run the scenario `bulkhead` again"));
    let judged = tally.judged;
    let pass = format!("{judged} calls while {} callers hung at {link}: success and latency held", policy.callers);
    if tally.breaches.is_empty() { case.conclude(tally, pass) } else { case.fail(tally, chance) }
}

/// The less telling of two chances: what a finding with several breaches may claim.
fn larger(a: Tail, b: Tail) -> Tail {
    match (a.probability(), b.probability()) {
        (Some(x), Some(y)) => Tail::at_most(x.max(y)),
        _ => Tail::UNDEFINED,
    }
}

/// Judges one route; the chance of its breaches on a service that keeps the promise.
fn route(
    evidence: &Evidence,
    policy: &BulkheadPolicy,
    link: &str,
    beside: &Beside,
    noise: Noise,
    tally: &mut Tally,
) -> Tail {
    let step = |word: &str| evidence.outcomes_of(&format!("{word}/{}", beside.route));
    let name = &beside.route;
    let none = Tail::at_most(0.0);
    let hung = hanging(evidence, link, &step("hung"));
    let (all, before) = (step("beside"), Calls::of(step("alone")));
    let during = Calls::of(all.iter().copied().filter(|o| covered(o, &hung)).collect());
    let callers = step("hung").iter().filter(|o| all.iter().all(|c| o.sent <= c.sent)).count();
    tally.count(&format!("{name}: callers at {link}"), callers);
    tally.count(&format!("{name}: calls hanging at the same time, max"), most_at_once(&hung));
    tally.exhibit.extend([Calls::head(name), before.row("alone"), during.row("beside")]);
    if callers < policy.callers as usize {
        let what = format!("{callers} callers hung before {name} was used, promised are {}", policy.callers);
        tally.gap(what, "run the scenario `bulkhead` again, to its end");
        return none;
    }
    if during.len() < FEWEST || before.len() < FEWEST {
        let what = format!(
            "{} of {} calls of {name} ran while a call was hanging at {link}, and {} before; {FEWEST} are needed",
            during.len(),
            all.len(),
            before.len()
        );
        tally.gap(what, "give the service a longer time limit for a call in [isolate.bulkhead]");
        return none;
    }
    if before.success_rate() < policy.success {
        let what = format!("{name} worked in {:.1} % of its calls before anything hung", 100.0 * before.success_rate());
        tally.gap(what, "see that the route's dependency answers it in a steady run");
        return none;
    }
    tally.judged += during.len();
    let lost = successes(policy, &before, &during, name, tally);
    let slow = latencies(evidence, policy, &before, &during, (name, noise), tally);
    larger(lost, slow)
}

/// Payments' attempts that a fault kept waiting, by the outcomes that caused them; all of the link when traces are not
/// handed on.
fn hanging<'e>(evidence: &'e Evidence, link: &str, hung: &[&Outcome]) -> Vec<&'e Attempt> {
    let from = hung.iter().map(|o| o.sent).min().unwrap_or_default();
    let to = hung.iter().map(|o| o.ended).max().unwrap_or_default();
    super::within(evidence, link, (from, to)).into_iter().filter(|a| a.fault.is_some()).collect()
}

/// Whether something hung all the while.
fn covered(call: &Outcome, hung: &[&Attempt]) -> bool {
    // A call that starves may outlast the hang itself: what counts is that it began in it.
    hung.iter().any(|a| a.arrived <= call.sent && a.reply.ended > call.sent)
}

fn most_at_once(hung: &[&Attempt]) -> usize {
    let during = |at: At| hung.iter().filter(|a| a.arrived <= at && a.reply.ended > at).count();
    hung.iter().map(|a| during(a.arrived)).max().unwrap_or(0)
}

fn successes(policy: &BulkheadPolicy, before: &Calls<'_>, during: &Calls<'_>, name: &str, tally: &mut Tally) -> Tail {
    let allowed = 1.0 - policy.success * before.success_rate();
    let failed = during.failed().count();
    let chance = Tail::exact(binomial_at_least(during.len(), allowed, failed));
    tally.count(&format!("{name}: failed calls beside the hang"), failed);
    let what = format!(
        "{failed} of {} calls of {name} failed while callers hung, {:.1} % did before",
        during.len(),
        100.0 * (1.0 - before.success_rate())
    );
    match chance.below(Alpha::DEFAULT) {
        Some(true) => {
            let lines = during.failed().map(|o| outcome_line(o, "beside the hang")).collect();
            tally.breach(SHARED, what, lines);
            chance
        }
        Some(false) if failed as f64 <= allowed * during.len() as f64 => Tail::at_most(0.0),
        _ => {
            tally.gap(format!("{what}: too few to be sure"), "run it again, or declare a smaller share of success");
            Tail::at_most(0.0)
        }
    }
}

fn latencies(
    evidence: &Evidence,
    policy: &BulkheadPolicy,
    before: &Calls<'_>,
    during: &Calls<'_>,
    (name, noise): (&str, Noise),
    tally: &mut Tally,
) -> Tail {
    let slowed = before.percentile(0.99).as_secs_f64() * policy.slowdown;
    let Some(limit) = Duration::try_from_secs_f64(slowed).ok().and_then(|l| l.checked_add(noise.eps)) else {
        let what = format!("a slowdown of {} is no limit", policy.slowdown);
        tally.gap(what, "declare a factor from 1 to 100");
        return Tail::at_most(0.0);
    };
    let slow = during.slower_than(limit).count();
    let chance = Tail::exact(binomial_at_least(during.len(), SLOW, slow));
    tally.millis(&format!("{name}: p99 alone"), before.percentile(0.99).as_secs_f64());
    tally.millis(&format!("{name}: p99 beside the hang"), during.percentile(0.99).as_secs_f64());
    tally.millis(&format!("{name}: limit"), limit.as_secs_f64());
    let what = format!(
        "{slow} of {} calls of {name} took longer than {} while callers hung: p99 {}, alone {}",
        during.len(),
        ms(limit),
        ms(during.percentile(0.99)),
        ms(before.percentile(0.99))
    );
    if let Some((what, advice)) = pause(evidence, noise) {
        tally.gap(what, advice);
        return Tail::at_most(0.0);
    }
    match chance.below(Alpha::DEFAULT) {
        Some(true) => {
            let lines = during.slower_than(limit).map(|o| outcome_line(o, "beside the hang")).collect();
            let starved = during.slower_than(limit).any(is_whole);
            tally.breach(if starved { WAITS } else { SHARED }, what, lines);
            chance
        }
        Some(false) if during.percentile(0.99) <= limit => Tail::at_most(0.0),
        _ => {
            tally.gap(format!("{what}: too few to be sure"), "run it again on a quieter machine");
            Tail::at_most(0.0)
        }
    }
}
