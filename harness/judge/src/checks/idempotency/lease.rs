//! The parts of I6 about time and about the dependency's death: how long a dead owner's key may be in flight, and what
//! becomes of payments whose dependency died under them.

use std::time::Duration;

use super::books::{Books, told_success};
use super::crash::{NEW_KEY, is_new_key, one_effect};
use super::replay::difference;
use crate::checks::catalogue::I6;
use crate::checks::support::{Request, Tally, attempt_line, ms, outcome_line, requests, unfired};
use crate::evidence::{At, Evidence, Outcome};
use crate::promise::{IdempotencyPolicy, Memo};

const TOO_LONG: &str = I6.bug_classes[3];

/// When the service was dead for sure: everybody who waited for it had lost it. `None` when nobody waited.
pub(super) fn killed(accepted: &[Request<'_, '_>]) -> Option<At> {
    accepted.iter().filter(|r| r.outcome.reply().is_none()).map(|r| r.outcome.ended).max()
}

/// Whether the last of those tries came too early to tell that a lease never ends.
pub(super) fn still_leased(last: &Outcome, policy: &IdempotencyPolicy, killed: Option<At>) -> bool {
    let over = policy.lease.and_then(|lease| Some(killed? + lease));
    last.status() == Some(policy.in_flight) && over.is_some_and(|over| last.sent < over)
}

/// Answers `in flight` to tries that were sent after the lease of the killed owner had run out.
pub(super) fn overdue(
    tries: &[&Outcome],
    evidence: &Evidence,
    policy: &IdempotencyPolicy,
    killed: Option<At>,
    tally: &mut Tally,
) {
    let (Some(lease), Some(killed)) = (policy.lease, killed) else { return };
    let over = killed + lease + Duration::from_nanos(evidence.header.eps_ns);
    let late: Vec<_> =
        tries.iter().filter(|o| o.status() == Some(policy.in_flight) && o.sent >= over).copied().collect();
    if let Some(last) = late.last() {
        let name = last.key.as_deref().unwrap_or("a keyless payment");
        let what = format!(
            "{name} was still in flight {} after its owner was killed, with a lease of {}",
            ms(last.sent.since(killed)),
            ms(lease)
        );
        tally.breach(TOO_LONG, what, late.iter().map(|o| outcome_line(o, "asked after the lease")).collect());
    }
}

/// A payment that no try finished once its dependency was back.
fn unfinished(request: &Request<'_, '_>, tries: &[&Outcome], policy: &IdempotencyPolicy, tally: &mut Tally) {
    let (name, n) = (request.name(), tries.len());
    if answers_from_memory(request, tries, policy.in_flight) {
        let status = request.outcome.status().unwrap_or_default();
        match policy.memo {
            // It gives this answer for ever, by promise.
            Some(memo) if memo.remembers(status) => return,
            Some(_) => {}
            None => {
                let what = format!(
                    "the dependency died under {name}, and {n} tries got the first answer again, {status}: whether a key \
                     remembers a failure is not promised"
                );
                tally.gap(what, "promise which answers a key remembers: promises.idempotency.memo in the contract");
                return;
            }
        }
    }
    let what = format!("the dependency died under {name}, which is not finished after {n} tries");
    tally.breach("", what, tries.iter().map(|o| outcome_line(o, "")).collect());
}

/// Whether the failure that a payment met first is given again to its key and nothing else: the same answer to each try, none
/// of which called the dependency. `In flight` is no answer to remember.
fn answers_from_memory(request: &Request<'_, '_>, tries: &[&Outcome], in_flight: u16) -> bool {
    let Some(first) = request.outcome.reply().filter(|r| r.status != in_flight) else { return false };
    let again = |o: &&Outcome| o.reply().is_none_or(|r| difference(first, r).is_none());
    let asked = |o: &&Outcome| request.payment.attempts.iter().any(|a| (o.sent..=o.ended).contains(&a.arrived));
    tries.iter().all(again) && !tries.iter().any(asked)
}

/// Payments during which the dependency died, in the steps `dying/<fate>`, and their keys in `revived/<n>`.
pub(super) fn dependency_died(
    evidence: &Evidence,
    (policy, link): (&IdempotencyPolicy, &str),
    books: &Books<'_>,
    tally: &mut Tally,
) {
    let asked = requests(&books.joined, |o| o.step.starts_with("dying/"));
    // A policy that remembers every failure answers with it for ever, by promise.
    if asked.is_empty() || policy.memo == Some(Memo::All) {
        return;
    }
    tally.count("payments whose dependency died", asked.len());
    for what in unfired(evidence, link) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    for request in &asked {
        let (payment, name) = (request.payment, request.name());
        let tries: Vec<&Outcome> =
            payment.outcomes.iter().filter(|o| o.step.starts_with("revived/")).copied().collect();
        if told_success(request.outcome) || tries.iter().all(|o| o.reply().is_none()) {
            let what = format!("the payment {name} did not lose its dependency, or was never answered afterwards");
            tally.gap(what, "see that the service calls the dependency through the link that the contract names");
            continue;
        }
        if !tries.iter().any(|o| told_success(o)) {
            unfinished(request, &tries, policy, tally);
        }
        if let Some(renamed) = payment.attempts.iter().find(|a| is_new_key(payment, a.key.as_deref())) {
            let what = format!("the dependency died under {name}, which was called under another key afterwards");
            tally.breach(NEW_KEY, what, vec![attempt_line(renamed, renamed.ordinal as usize, None, "another key")]);
        }
        one_effect(payment, books, tally);
        tally.judged += 1;
    }
}
