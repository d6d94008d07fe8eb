//! I1: one effect for one key.

use std::collections::HashSet;

use super::books::{Books, asked_amount, charged, sum, told_success};
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::I1;
use crate::checks::support::{Case, Tally, charge_line, row_line, unfired};
use crate::evidence::{Attempt, BankEntry, End, Evidence, Payment};
use crate::finding::Line;

const CHARGED_AGAIN: &str = I1.bug_classes[0];
const ROW_AFTER: &str = I1.bug_classes[1];
const BOTH_LOOKED: &str = I1.bug_classes[2];
const NOT_DURABLE: &str = I1.bug_classes[3];

const JOIN: &str = "pass the client's key or trace context on, or map the key columns in the contract's [ledger]";

/// **I1** A payment moves money at most once whatever happens, and exactly once when any client was told that it did.
///
/// - *Measure*: ledger rows and the bank's charges of each key, against what its clients were told.
/// - *Test*: never two rows or two charges; one settled row and one charge when a client got a success; no settled row
///   without a charge; row and charge over the amount asked for first; no row, charge or attempt that no request
///   explains. A payment whose clients never got a success may have zero or one effect.
/// - *False alarms*: none, effects are counted. Rows from before the run and answers marked as degraded do not count.
/// - *Inconclusive*: the ledger was not read after the last request; the bank kept no journal; a fault struck less often
///   than planned; nothing joins, because the service hands on neither key nor trace.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "one-effect".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::idempotency};
///
/// let finding = idempotency::exactly_one_effect("bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// ```
#[must_use]
pub fn exactly_one_effect(link: &str) -> Check {
    let link = link.to_owned();
    Check::new(I1, move |evidence| judge(evidence, &link))
}

fn judge(evidence: &Evidence, link: &str) -> Finding {
    let promise =
        "never two effects for one key; exactly one, over the amount asked for, once a client was told success";
    let case = Case::new(I1, evidence, link, promise.to_owned());
    if evidence.outcomes.is_empty() {
        return case.did_not_run("of any scenario");
    }
    let books = Books::of(evidence, link);
    let mut tally = Tally { judged: books.joined.payments.len(), ..Tally::default() };
    let measured = totals(&books, &mut tally);
    let case = case.measured(measured);
    doubles(&books, &mut tally);
    broken_promises(&books, &mut tally);
    unpaid(&books, &mut tally);
    amounts(&books, &mut tally);
    strangers(&books, &mut tally);
    books.gaps(&mut tally);
    for what in unfired(evidence, link) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    let confirmed = books.joined.payments.iter().filter(|p| is_confirmed(p)).count();
    let pass = format!(
        "{} payments, {confirmed} confirmed: each of these moved money once, none twice",
        books.joined.payments.len()
    );
    case.conclude(tally, pass)
}

fn is_confirmed(p: &Payment<'_>) -> bool {
    p.outcomes.iter().any(|o| told_success(o))
}

/// Money by each witness, in numbers and in words.
fn totals(books: &Books<'_>, tally: &mut Tally) -> String {
    let payments = &books.joined.payments;
    let confirmed: Vec<_> = payments.iter().filter(|p| is_confirmed(p)).collect();
    let amounts: Vec<_> = confirmed.iter().map(|p| asked_amount(p)).collect();
    let settled = payments.iter().flat_map(|p| &p.rows).filter(|r| r.settled);
    let rows: Vec<_> = settled.map(|r| r.amount).collect();
    let charges: Vec<_> = payments.iter().flat_map(|p| &p.charges).map(|c| c.amount).collect();
    tally.count("payments", payments.len());
    tally.count("payments confirmed to a client", confirmed.len());
    if books.read.is_some() {
        tally.count("settled rows", rows.len());
    }
    if books.journal {
        tally.count("charges", charges.len());
    }
    let mut words = Vec::new();
    let witnesses = [
        ("confirmed", &amounts, true),
        ("settled in the ledger", &rows, books.read.is_some()),
        ("charged at the bank", &charges, books.journal),
    ];
    // A book that nobody read holds no number, not even 0.
    for (name, amounts, _) in witnesses.into_iter().filter(|(_, _, known)| *known) {
        let total = sum(amounts.iter());
        if let Some(total) = total {
            tally.fact(&format!("sum {name}"), total, "minor units");
        }
        words.push(format!(
            "{name}: {} worth {}",
            amounts.len(),
            total.map_or("unknown".to_owned(), |t| t.to_string())
        ));
    }
    words.join("; ")
}

fn doubles(books: &Books<'_>, tally: &mut Tally) {
    let found: Vec<_> = books.joined.payments.iter().filter(|p| books.effects(p) > 1).collect();
    let Some(first) = found.first() else { return };
    let what = format!(
        "{} payments took effect more than once; {} left {} rows and {} charges",
        found.len(),
        first.name,
        first.rows.len(),
        first.charges.len()
    );
    tally.breach(class_of_double(first), what, found.iter().flat_map(|p| books.lines(p)).collect());
}

/// Which of the known ways to charge twice this looks like.
fn class_of_double(p: &Payment<'_>) -> &'static str {
    let first_charge = p.charges.first().and_then(|c| c.context).map(|c| c.trace);
    let other_request = p.charges.iter().any(|c| c.context.map(|c| c.trace) != first_charge);
    let together = p.outcomes.iter().enumerate().any(|(i, a)| p.outcomes[..i].iter().any(|b| b.ended > a.sent));
    let lost = p.attempts.iter().any(|a| a.reply.end != End::Replied && a.upstream.sent.is_some());
    match (other_request, together) {
        (true, true) => BOTH_LOOKED,
        (true, false) => ROW_AFTER,
        (false, _) if lost => CHARGED_AGAIN,
        (false, _) => "",
    }
}

fn broken_promises(books: &Books<'_>, tally: &mut Tally) {
    let confirmed = || books.joined.payments.iter().filter(|p| is_confirmed(p));
    if books.read.is_some() {
        let found: Vec<_> = confirmed().filter(|p| !p.rows.iter().any(|r| r.settled)).collect();
        let loose = books.foreign_rows.iter().filter(|r| r.settled).count();
        lacking(&found, loose, (NOT_DURABLE, "were confirmed to a client and have no settled row"), books, tally);
    }
    if books.journal {
        let found: Vec<_> = confirmed().filter(|p| p.charges.is_empty()).collect();
        let loose = books.joined.orphan_charges.len();
        lacking(&found, loose, ("", "were confirmed to a client and never charged"), books, tally);
    }
}

/// Payments that have no effect of their own: broken only as far as effects that join to no request cannot be theirs.
fn lacking(
    found: &[&Payment<'_>],
    loose: usize,
    (class, words): (&'static str, &str),
    books: &Books<'_>,
    tally: &mut Tally,
) {
    let Some(first) = found.first() else { return };
    let sure = found.len().saturating_sub(loose);
    if sure == 0 {
        let what =
            format!("{} payments {words}, unless the {loose} effects that join to no request are theirs", found.len());
        tally.gap(what, JOIN);
        return;
    }
    let least = if loose > 0 { "at least " } else { "" };
    let what = format!("{least}{sure} payments {words}, such as {}", first.name);
    tally.breach(class, what, found.iter().flat_map(|p| books.lines(p)).collect());
}

/// Rows that say settled where the bank never charged, and no client was told anything yet.
fn unpaid(books: &Books<'_>, tally: &mut Tally) {
    if !books.journal {
        return;
    }
    let unpaid = |p: &&Payment<'_>| !is_confirmed(p) && p.charges.is_empty() && p.rows.iter().any(|r| r.settled);
    let found: Vec<_> = books.joined.payments.iter().filter(unpaid).collect();
    lacking(&found, books.joined.orphan_charges.len(), ("", "have a settled row and were never charged"), books, tally);
}

fn amounts(books: &Books<'_>, tally: &mut Tally) {
    let differs = |p: &&Payment<'_>| {
        let asked = asked_amount(p);
        let rows =
            p.rows.iter().filter(|r| r.settled).any(|r| r.amount.is_some() && asked.is_some() && r.amount != asked);
        // Two charges are a double effect already; one must be over what was asked.
        let charge = charged(&p.charges).filter(|_| p.charges.len() == 1);
        rows || (charge.is_some() && asked.is_some() && charge != asked)
    };
    let found: Vec<_> = books.joined.payments.iter().filter(differs).collect();
    if let Some(first) = found.first() {
        let what = format!(
            "{} payments moved another amount than they were asked for; {} was asked for {}",
            found.len(),
            first.name,
            asked_amount(first).unwrap_or_default()
        );
        tally.breach("", what, found.iter().flat_map(|p| books.lines(p)).collect());
    }
}

/// Effects and attempts that no request explains.
fn strangers(books: &Books<'_>, tally: &mut Tally) {
    let joined = &books.joined;
    // A service may name its calls by a key that only its ledger ties to the client's.
    let known: HashSet<&str> =
        joined.payments.iter().flat_map(|p| &p.rows).filter_map(|r| r.downstream_key.as_deref()).collect();
    let foreign = |key: &Option<String>| key.as_deref().is_none_or(|k| !known.contains(k));
    let charges: Vec<&BankEntry> = joined.orphan_charges.iter().filter(|c| foreign(&c.key)).copied().collect();
    let moves = |a: &&&Attempt| !matches!(a.method.as_str(), "GET" | "HEAD" | "OPTIONS") && foreign(&a.key);
    let attempts: Vec<&Attempt> = joined.orphan_attempts.iter().filter(moves).copied().collect();
    // A keyless request leaves a row that no key can tie to it.
    let keyless = joined.payments.iter().filter(|p| p.rows.is_empty() && p.outcomes.iter().all(|o| o.key.is_none()));
    let rows: Vec<_> = books.foreign_rows.iter().skip(keyless.count()).copied().collect();
    // An effect that joins to nothing may be that of a payment which has none; more of them than those are nobody's.
    let joins = |effects: fn(&Payment<'_>) -> usize, what: &str, n: usize, lines: Vec<Line>, tally: &mut Tally| {
        let without = joined.payments.iter().filter(|p| effects(p) == 0).count();
        if n == 0 {
        } else if without < joined.payments.len() && n > without {
            tally.breach("", format!("{n} {what} that no request explains"), lines);
        } else {
            tally.gap(format!("{n} {what} join to no request"), JOIN);
        }
    };
    let read = books.read.unwrap_or_default();
    let lines = rows.iter().map(|r| row_line(r, read, "joins to no request")).collect();
    joins(|p| p.rows.len(), "rows", rows.len(), lines, tally);
    let lines = charges.iter().map(|c| charge_line(c, "joins to no request")).collect();
    joins(|p| p.charges.len(), "charges", charges.len(), lines, tally);
    // An attempt that joins to nothing may be anybody's retry. Whether it moved money the books say.
    if !attempts.is_empty() {
        tally.gap(format!("{} attempts join to no request", attempts.len()), JOIN);
    }
}
