//! G4: a confirmed payment has moved money.

use super::view::in_outage;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::G4;
use crate::checks::idempotency::Books;
use crate::checks::support::{Case, Tally, outcome_line, unfired};
use crate::evidence::{Evidence, Outcome};
use crate::promise::DegradationPolicy;

const IN_HOPE: &str = G4.bug_classes[0];
const WHATEVER: &str = G4.bug_classes[1];

/// **G4** No answer, degraded or not, calls a payment confirmed that has not moved money.
///
/// - *Measure*: the word at the declared place in every answer of the scenario; settled rows and charges by key.
/// - *Test*: a payment that any answer calls confirmed has a settled row and a charge.
/// - *False alarms*: none, words and effects are counted; effects that join to no request are given the benefit of the doubt.
/// - *Inconclusive*: the ledger was not read afterwards; no answer held a word; nothing was asked for during the outage.
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
/// let finding = degradation::confirmed_has_a_row(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn confirmed_has_a_row(policy: &DegradationPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(G4, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &DegradationPolicy, link: &str) -> Finding {
    let words = policy.confirmed.join("` or `");
    let promise = format!("whatever an answer calls `{words}` has a settled row and a charge");
    let case = Case::new(G4, evidence, link, promise);
    let asked: Vec<_> = evidence.outcomes.iter().filter(|o| o.step == "outage/ask" && o.reply().is_some()).collect();
    if evidence.outcomes_of("outage").is_empty() {
        return case.did_not_run("`seed` and `outage`");
    }
    let books = Books::of(evidence, link);
    let mut tally = Tally::default();
    let confirms = |o: &Outcome| {
        let word = o.reply().and_then(|r| r.word.as_deref());
        o.succeeded() && word.is_some_and(|w| policy.confirmed.iter().any(|c| c == w))
    };
    let confirmed: Vec<_> = books.joined.payments.iter().filter(|p| p.outcomes.iter().any(|o| confirms(o))).collect();
    let loose_rows = books.foreign_rows.iter().filter(|r| r.settled).count();
    let hollow: Vec<_> = confirmed
        .iter()
        .filter(|p| {
            let row = books.read.is_none() || p.rows.iter().any(|r| r.settled);
            let charge = !books.journal || !p.charges.is_empty();
            !row || !charge
        })
        .collect();
    let loose = loose_rows.max(books.joined.orphan_charges.len());
    if let Some(first) = hollow.first().filter(|_| hollow.len() > loose) {
        let what = format!("{} payments are called confirmed and moved no money, such as {}", hollow.len(), first.name);
        let degraded = |o: &&&Outcome| in_outage(o) && confirms(o);
        let asked_only = first.outcomes.iter().filter(degraded).all(|o| o.step == "outage/ask");
        let lines = hollow.iter().flat_map(|p| {
            let told = p.outcomes.iter().filter(|o| confirms(o)).map(|o| outcome_line(o, "called confirmed"));
            told.chain(books.lines(p).into_iter().filter(|l| !l.text.contains("client got"))).collect::<Vec<_>>()
        });
        tally.breach(if asked_only { IN_HOPE } else { WHATEVER }, what, lines.collect());
    } else if !hollow.is_empty() {
        let what = format!(
            "{} confirmed payments have no effect, unless one that joins to no request is theirs",
            hollow.len()
        );
        tally.gap(what, "pass the client's key or trace context on, or map the key columns in the contract's [ledger]");
    }
    tally.judged = confirmed.len();
    tally.count("payments called confirmed", confirmed.len());
    tally.count("payments asked for during the outage", asked.len());
    if confirmed.is_empty() {
        let advice = format!("see that promises.degradation.status names the place of `{words}` in an answer");
        tally.gap("no answer called a payment confirmed", advice);
    }
    if asked.is_empty() {
        tally.gap("no payment was asked for during the outage", "run the whole scenario `degradation`");
    }
    books.gaps(&mut tally);
    for what in unfired(evidence, link) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    let pass = format!("{} payments were called confirmed, and each of them moved money", confirmed.len());
    case.conclude(tally, pass)
}
