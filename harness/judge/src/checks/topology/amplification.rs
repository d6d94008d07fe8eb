//! R11: retries of several layers do not multiply.

use super::hops::{Row, table};
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R11;
use crate::checks::support::{Case, Request, Tally, attempt_line, note_unjoined, requests, strays_among, unfired};
use crate::evidence::{Evidence, Joined};
use crate::finding::Line;
use crate::promise::AmplificationPolicy;

const LAYERS: &str = R11.bug_classes[0];
const OVER: &str = R11.bug_classes[1];
/// The kinds of fault, by the names of their steps.
const KINDS: [&str; 2] = ["constant", "flapping"];

/// **R11** One client request causes no more calls to the last backend than the layers declare together.
///
/// - *Measure*: arrivals at each hop's proxy, refused connections included, in each step `constant/...` and
///   `flapping/...`; and for each client request its arrivals at the last hop, joined by trace or key.
/// - *Test*: at most [`bound`](AmplificationPolicy::bound) arrivals at the last hop for each request, in every step as a
///   whole and for every request that joins; at each hop at most the declared attempts for each arrival before it.
/// - *False alarms*: none, arrivals are counted.
/// - *Inconclusive*: a fault that struck less often than planned, requests without an outcome, attempts at the last hop
///   that join to no request, only one kind of fault, a hop at which nothing arrived.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "amplification".into(), service: "checkout".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::topology, promise::AmplificationPolicy};
///
/// let policy: AmplificationPolicy = serde_json::from_str(
///     r#"{ "hops": [{ "link": "payments", "attempts": 2 }, { "link": "bank", "attempts": 3 }], "at_most": 3 }"#)?;
/// assert_eq!((policy.product(), policy.bound()), (6, 3));
/// let finding = topology::bounded_amplification(&policy).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn bounded_amplification(policy: &AmplificationPolicy) -> Check {
    let policy = policy.clone();
    Check::new(R11, move |evidence| judge(evidence, &policy))
}

fn judge(evidence: &Evidence, policy: &AmplificationPolicy) -> Finding {
    let bound = policy.bound();
    let hops: Vec<_> = policy.hops.iter().map(|h| format!("{} {}", h.link, h.attempts)).collect();
    let promise = format!("at most {bound} calls to the last backend for a request ({})", hops.join(" x "));
    let last = policy.hops.last().map(|h| h.link.as_str()).unwrap_or_default();
    let case = Case::new(R11, evidence, last, promise);
    let steps = KINDS.map(|kind| evidence.steps_of(kind));
    let rows: Vec<_> = steps.iter().flatten().map(|step| Row::of(evidence, step, policy)).collect();
    if rows.iter().all(|r| r.requests == 0) {
        return case.did_not_run("`constant/...` and `flapping/...`");
    }
    if let Some((why, advice)) = unseen(&rows, policy) {
        let tally = Tally { exhibit: table(&rows, policy), ..Tally::default() };
        return case.inconclusive(tally, why, advice);
    }
    let joined = Joined::of(evidence, last);
    let asked = requests(&joined, |o| rows.iter().any(|r| r.step.name == o.step));
    let mut tally = Tally { judged: asked.len(), exhibit: table(&rows, policy), ..Tally::default() };
    let most = asked.iter().map(|r| r.attempts.len()).max().unwrap_or(0);
    tally.count("requests", asked.len());
    tally.count("calls to the last backend for a request, declared", bound as usize);
    tally.count("calls to the last backend for a request, max", most);
    let worst = rows.iter().max_by(|a, b| a.factor().total_cmp(&b.factor()));
    tally.fact("amplification of a step, max", worst.map(|r| (r.factor() * 100.0).round() / 100.0), "");
    breaches(&rows, &asked, policy, &mut tally);
    gaps(evidence, policy, &rows, &mut tally);
    note_unjoined(strays_among(&joined, asked.iter().map(|r| r.outcome)).len(), &mut tally);
    let pass = format!("{} requests caused at most {most} calls each to {last}, declared {bound}", asked.len());
    case.conclude(tally, pass)
}

/// Why the hops cannot be held against each other: one of them saw nothing, so that nobody knows what went past it.
fn unseen(rows: &[Row<'_>], policy: &AmplificationPolicy) -> Option<(String, String)> {
    if policy.hops.is_empty() {
        return Some(("no hop is declared".to_owned(), "name the links on the way in the contract".to_owned()));
    }
    let blind = |i: &usize| rows.iter().all(|row| row.arrivals.get(*i).is_none_or(|n| *n == 0));
    let hop = &policy.hops[(0..policy.hops.len()).find(blind)?];
    let advice = "see that every hop in the contract is on the way of the request";
    Some((format!("nothing arrived at {} in any step", hop.link), advice.to_owned()))
}

fn breaches(rows: &[Row<'_>], asked: &[Request<'_, '_>], policy: &AmplificationPolicy, tally: &mut Tally) {
    let bound = policy.bound() as usize;
    for row in rows {
        let mine: Vec<_> = asked.iter().filter(|r| r.outcome.step == row.step.name).collect();
        let worst = mine.iter().copied().max_by_key(|r| r.attempts.len());
        let lines = || worst.map(request_lines).unwrap_or_default();
        let step = &row.step.name;
        if let Some(hop) = row.over(policy) {
            let before = if hop == 0 { row.requests } else { row.arrivals[hop - 1] };
            let (here, declared) = (row.arrivals[hop], &policy.hops[hop]);
            let link = &declared.link;
            let what = format!("{step}: {here} arrivals at {link} for {before} calls, declared {}", declared.attempts);
            tally.breach(OVER, what, lines());
        }
        let over = mine.iter().filter(|r| r.attempts.len() > bound).count();
        if over > 0 || row.last() > bound * row.requests {
            let most = worst.map_or(0, |r| r.attempts.len());
            let what = format!(
                "{step}: {} requests caused {} calls to the last backend, x{:.2}, declared x{bound}; the worst one {most}",
                row.requests,
                row.last(),
                row.factor()
            );
            // A layer beyond its own number explains the product; without one it is the layers together.
            let class = if row.over(policy).is_some() { OVER } else { LAYERS };
            tally.breach(class, what, lines());
        }
    }
}

fn request_lines(r: &Request<'_, '_>) -> Vec<Line> {
    let before = |n: usize| n.checked_sub(1).map(|b| r.attempts[b]);
    r.attempts.iter().enumerate().map(|(n, a)| attempt_line(a, n + 1, before(n), "")).collect()
}

fn gaps(evidence: &Evidence, policy: &AmplificationPolicy, rows: &[Row<'_>], tally: &mut Tally) {
    for kind in KINDS {
        if !rows.iter().any(|r| r.step.name.starts_with(kind)) {
            let what = format!("no step `{kind}/...`: only one kind of fault was tried");
            tally.gap(what, "run the scenario `amplification` to its end");
        }
    }
    for hop in &policy.hops {
        for what in unfired(evidence, &hop.link) {
            tally.gap(what, "see that every hop in the contract is on the way of the request");
        }
    }
    let mine = |o: &&crate::evidence::Outcome| rows.iter().any(|r| r.step.name == o.step);
    let open = evidence.outcomes.iter().filter(mine).filter(|o| o.reply().is_none()).count();
    if open > 0 {
        let what =
            format!("{open} requests had no outcome before the driver's limit: what they still cause is not seen");
        tally.gap(what, "give the request a longer timeout in the contract");
    }
}
