//! Single facts: each test changes one thing in sound evidence, or plays one rare defect.

use judge::checks::{idempotency, retry, trust};
use judge::evidence::{Answer, At, End, Evidence};
use judge::promise::RetryPolicy;
use judge::sim::Policy;
use judge::{Finding, Ruling};

use crate::judged::{LINK, i2, i3, i6, r1, r6};
use crate::scenarios::{all_fail, duplicates, one_effect, restart, retry_policy, retry_table, steady};
use crate::service::Defect;
use crate::support::MS;

fn spans(evidence: &Evidence) -> Finding {
    trust::spans_match_wire(LINK).judge(evidence)
}

/// Proves that R1 sees an attempt after a success, with the class of its bug.
#[test]
fn a_retry_after_a_success_is_failed() {
    let finding = r1().judge(&one_effect(Defect::RetriesAfterSuccess));
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("after a success"), "{}", finding.headline);
    assert!(finding.bug_class.is_some_and(|c| c.contains("timer")));
}

/// Proves that on a machine that stood still an attempt behind an answer, a payment of several attempts and one that was
/// lost prove nothing: an attempt may have timed out while its answer lay unread.
#[test]
fn a_pause_excuses_what_follows_an_unseen_timeout() {
    let noisy = |mut evidence: Evidence| {
        evidence.canary[0].max_ns = evidence.header.eps_ns + 1;
        evidence
    };
    let h4 = || trust::steady_state(LINK);
    for (check, evidence) in [
        (r1(), one_effect(Defect::RetriesAfterSuccess)),
        (h4(), steady(Defect::RetriesWithoutFault)),
        (h4(), steady(Defect::FailsAtFirst)),
    ] {
        assert_eq!(check.judge(&evidence).ruling, Ruling::Fail);
        let finding = check.judge(&noisy(evidence));
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
        assert!(finding.headline.contains("paused"), "{}", finding.headline);
    }
}

/// Proves that attempts without a key and without a trace are still bounded in all: 400 are allowed for 100 requests.
#[test]
fn strangers_are_counted_in_all() {
    let anonymous = |defect| {
        let mut e = all_fail("waves", Policy::Full, 100, defect);
        for (i, a) in e.attempts.iter_mut().enumerate() {
            (a.key, a.context) = (Some(format!("random-{i}")), None);
        }
        e
    };
    let bounded = r1().judge(&anonymous(Defect::Sound));
    assert_eq!(bounded.ruling, Ruling::Inconclusive, "nobody knows whose they are: {bounded:#?}");
    let unbounded = r1().judge(&anonymous(Defect::OneAttemptMore));
    assert_eq!(unbounded.ruling, Ruling::Fail, "500 attempts cannot be 100 payments of 4: {unbounded:#?}");
}

/// Proves that one request more than promised is enough: 99 of 100 sound payments do not outvote it.
#[test]
fn one_offender_among_many_is_enough() {
    let mut evidence = all_fail("waves", Policy::Full, 100, Defect::Sound);
    let mut extra = evidence.attempts.last().expect("attempts").clone();
    extra.seq += 1;
    extra.ordinal += 1;
    extra.arrived = At(extra.reply.ended.0 + 100 * MS);
    extra.reply.ended = At(extra.arrived.0 + MS);
    evidence.attempts.push(extra);
    let finding = r1().judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(
        finding.headline.starts_with("1 of 100 payments made up to 5 attempts, promised 4"),
        "{}",
        finding.headline
    );
    assert_eq!(finding.lines.len(), 1);
    assert!(finding.lines[0].text.contains("attempt 5 arrived 100.0 ms after attempt 4 ended (503 last byte"));
}

/// Proves the matrix of R6: the refused connection counts as an attempt, and each row names failure, promise and count.
#[test]
fn the_matrix_has_a_row_for_each_failure() {
    let finding = r6().judge(&retry_table(Defect::RepeatsRefused));
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("refuse was tried 4 times"), "{}", finding.headline);
    assert_eq!(finding.exhibit.len(), 1 + 18);
    assert!(
        finding.exhibit.iter().any(|row| row.starts_with("503") && row.contains("retried")),
        "{:#?}",
        finding.exhibit
    );
}

/// Proves R7: a POST that is repeated without a key is failed even where its failure is promised as retried.
#[test]
fn an_unsafe_request_is_not_repeated_without_its_key() {
    let finding = r6().judge(&retry_table(Defect::NoKey));
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("POST was repeated without a key"), "{}", finding.headline);
    let key = retry::key_is_stable(LINK).judge(&retry_table(Defect::NoKey));
    assert_eq!(key.ruling, Ruling::Fail, "{key:#?}");
}

/// Proves that a policy of one attempt expects one attempt of everything.
#[test]
fn one_attempt_means_no_retry() {
    let policy = RetryPolicy { attempts: 1, ..retry_policy() };
    let finding = retry::retries_only_the_retryable(&policy, LINK).judge(&retry_table(Defect::Sound));
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("promised to be final"), "{}", finding.headline);
}

/// Proves that two payments which share a key are told from two attempts of one: the traces are two clients'.
#[test]
fn a_shared_key_is_failed() {
    let finding = retry::key_is_stable(LINK).judge(&all_fail("waves", Policy::Full, 100, Defect::OneKeyForAll));
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("for more than one payment"), "{}", finding.headline);
    assert!(finding.bug_class.is_some_and(|c| c.contains("two payments share")));
}

/// Proves that a 2xx without effect is failed in both books, and that one marked as degraded claims none.
#[test]
fn a_confirmation_without_effect_is_failed() {
    let check = idempotency::exactly_one_effect(LINK);
    let mut evidence = steady(Defect::ConfirmsWithoutCharge);
    let finding = check.judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("never charged"), "{}", finding.headline);
    // The same answers, marked as degraded and with nothing in the ledger, are honest.
    for outcome in &mut evidence.outcomes {
        if let Answer::Reply(reply) = &mut outcome.answer {
            reply.degraded = Some("cached".to_owned());
        }
    }
    evidence.ledger[0].rows.clear();
    assert_eq!(check.judge(&evidence).ruling, Ruling::Pass, "{:#?}", check.judge(&evidence));
}

/// Proves that an outcome nobody knows may be zero or one effect, and never two.
#[test]
fn an_unknown_outcome_may_be_none_or_one() {
    let check = idempotency::exactly_one_effect(LINK);
    for unknown in [true, false] {
        let mut evidence = steady(Defect::Sound);
        if unknown {
            evidence.outcomes[0].answer = Answer::TimedOut;
        }
        let key = evidence.outcomes[0].key.clone();
        evidence.ledger[0].rows.retain(|r| r.key != key);
        let expected = if unknown { Ruling::Pass } else { Ruling::Fail };
        assert_eq!(check.judge(&evidence).ruling, expected, "outcome unknown: {unknown}");
    }
    let mut twice = steady(Defect::Sound);
    twice.outcomes[0].answer = Answer::TimedOut;
    let again = twice.bank.iter().find(|b| b.charge.is_some()).expect("a charge").clone();
    let mut again = judge::evidence::BankEntry { seq: 9999, kind: judge::evidence::BankEntryKind::Charge, ..again };
    again.charge = Some("ch-second".to_owned());
    twice.bank.push(again);
    assert_eq!(check.judge(&twice).ruling, Ruling::Fail);
}

/// Proves that money nobody asked for is failed, whichever book shows it, and that rows from before the run are not that.
#[test]
fn effects_nobody_asked_for_are_failed() {
    let check = idempotency::exactly_one_effect(LINK);
    let mut row = steady(Defect::Sound);
    let mut stranger = row.ledger[0].rows[0].clone();
    (stranger.key, stranger.downstream_key) = (Some("nobody".to_owned()), None);
    row.ledger[0].rows.push(stranger.clone());
    let finding = check.judge(&row);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("1 rows that no request explains"), "{}", finding.headline);
    let mut earlier = row.ledger[0].clone();
    (earlier.at, earlier.rows) = (At(0), vec![stranger]);
    row.ledger.push(earlier);
    assert_eq!(check.judge(&row).ruling, Ruling::Pass, "it was there before the run");
    let mut charge = steady(Defect::Sound);
    let mut stranger = charge.bank[1].clone();
    (stranger.key, stranger.context) = (Some("nobody".to_owned()), None);
    charge.bank.push(stranger);
    assert_eq!(check.judge(&charge).ruling, Ruling::Fail);
    let mut attempt = steady(Defect::Sound);
    let mut stranger = attempt.attempts[0].clone();
    (stranger.key, stranger.context) = (Some("nobody".to_owned()), None);
    attempt.attempts.push(stranger.clone());
    // It may be anybody's retry: the books say whether it moved money, and they say that it did not.
    assert_eq!(check.judge(&attempt).ruling, Ruling::Inconclusive);
    stranger.method = "GET".to_owned();
    *attempt.attempts.last_mut().expect("attempts") = stranger;
    assert_eq!(check.judge(&attempt).ruling, Ruling::Pass, "a health check moves no money");
}

/// Proves that a retry of the held call which the service itself gave up on is no second run, and a second caller's is.
#[test]
fn a_retry_of_the_held_call_is_no_twin() {
    let with_second = |other_caller: bool| {
        let mut e = duplicates(Defect::Sound);
        let held = e.attempts.iter().position(|a| a.fault.is_some()).expect("a held call");
        let mut second = e.attempts[held].clone();
        let (from, whole) = (second.arrived.0, second.reply.ended.0);
        second.fault = None;
        second.seq = 10_000;
        second.arrived = At(if other_caller { from + 10 * MS } else { whole - MS });
        if other_caller {
            let twin = e.outcomes.iter().find(|o| o.step == "held/1" && o.status() == Some(409)).expect("a twin");
            second.context = Some(twin.context);
        } else {
            let given_up = &mut e.attempts[held].reply;
            (given_up.end, given_up.status, given_up.ended) = (End::ClientLeft, None, At(from + 100 * MS));
        }
        e.attempts.push(second);
        e
    };
    assert_eq!(i2().judge(&with_second(false)).ruling, Ruling::Pass, "{:#?}", i2().judge(&with_second(false)));
    assert_eq!(i2().judge(&with_second(true)).ruling, Ruling::Fail);
}

/// Proves that a changed content type alone is a replay that differs, and that a service which promises no marker needs
/// none.
#[test]
fn a_replay_is_compared_in_every_member() {
    let mut evidence = duplicates(Defect::Sound);
    for outcome in evidence.outcomes.iter_mut().filter(|o| o.step == "after") {
        if let Answer::Reply(reply) = &mut outcome.answer {
            reply.content_type = Some("text/plain".to_owned());
        }
    }
    let finding = i3().judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("content type"), "{}", finding.headline);
    let policy = serde_json::from_str(r#"{ "in_flight": 409 }"#).expect("a policy");
    let unmarked = idempotency::replay_is_faithful(&policy, LINK).judge(&duplicates(Defect::ReplayUnmarked));
    assert_eq!(unmarked.ruling, Ruling::Pass, "{unmarked:#?}");
}

/// Proves the classes of a crash: a key that stays in flight, a key that the bank cannot recognise.
#[test]
fn a_crash_is_told_by_what_it_left() {
    let stuck = i6().judge(&restart(Defect::InFlightForEver));
    assert!(stuck.bug_class.is_some_and(|c| c.contains("409 for ever")), "{}", stuck.headline);
    assert!(stuck.headline.contains("after 10 tries"), "{}", stuck.headline);
    let renamed = i6().judge(&restart(Defect::RecoversWithNewKey));
    assert!(renamed.bug_class.is_some_and(|c| c.contains("new downstream key")), "{}", renamed.headline);
    let forgotten = i6().judge(&restart(Defect::KeysInMemory));
    assert_eq!(forgotten.ruling, Ruling::Fail, "{forgotten:#?}");
}

/// Proves that spans which contradict the wire are failed: another status, an answer that was never given.
#[test]
fn a_span_that_contradicts_the_wire_is_failed() {
    let mut lying = steady(Defect::Sound);
    lying.spans[3].attributes.insert("http.response.status_code".to_owned(), 503.into());
    let finding = spans(&lying);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    let mut invented = steady(Defect::Sound);
    let mut span = invented.spans[3].clone();
    span.span = judge::evidence::SpanId([7; 8]);
    invented.spans.push(span.clone());
    assert_eq!(spans(&invented).ruling, Ruling::Fail);
    // Towards somebody else, such as a second dependency, it is none of this link's business.
    span.attributes.insert("server.port".to_owned(), 5432.into());
    *invented.spans.last_mut().expect("spans") = span;
    assert_eq!(spans(&invented).ruling, Ruling::Pass);
}

/// Proves that missing spans are never a failure of the service, nor a pass: none at all, too many lost, one for several
/// attempts.
#[test]
fn missing_spans_are_inconclusive() {
    let mut none = steady(Defect::Sound);
    none.spans.clear();
    assert_eq!(spans(&none).ruling, Ruling::Inconclusive);
    let mut lost = steady(Defect::Sound);
    lost.spans.truncate(18);
    assert_eq!(spans(&lost).ruling, Ruling::Inconclusive);
    let mut shared = all_fail("waves", Policy::Full, 100, Defect::Sound);
    let parents: std::collections::HashMap<_, _> =
        shared.attempts.iter().rev().filter_map(|a| a.context).map(|c| (c.trace, c.parent)).collect();
    for context in shared.attempts.iter_mut().filter_map(|a| a.context.as_mut()) {
        context.parent = parents[&context.trace];
    }
    shared.spans.retain(|s| parents.get(&s.trace) == Some(&s.span));
    let finding = spans(&shared);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.advice.is_some_and(|a| a.contains("one span covers all attempts")));
    // One in a hundred is tolerated: an export queue may drop.
    let mut one = all_fail("waves", Policy::Full, 100, Defect::Sound);
    one.spans.truncate(398);
    assert_eq!(spans(&one).ruling, Ruling::Pass, "{:#?}", spans(&one));
}

/// Proves that refused connections explain spans without an attempt.
#[test]
fn refused_connections_leave_spans_behind() {
    let mut evidence = retry_table(Defect::Sound);
    let refused: Vec<_> = evidence.connections.iter().map(|c| c.accepted).collect();
    assert_eq!(refused.len(), 1, "the sound service does not retry a refused connection");
    let mut span = evidence.spans[0].clone();
    span.attributes.remove("http.response.status_code");
    (span.span, span.start, span.end) = (judge::evidence::SpanId([9; 8]), refused[0], refused[0]);
    evidence.spans.push(span);
    assert_eq!(spans(&evidence).ruling, Ruling::Pass, "{:#?}", spans(&evidence));
}

/// Proves that a late twin of a burst is judged as the replay that it is marked to be: a rerun or an altered answer is I3's
/// and not I2's.
#[test]
fn a_late_twin_is_a_replay() {
    let mut rerun = duplicates(Defect::Sound);
    let late = |o: &&mut judge::evidence::Outcome| {
        let marked = |r: &judge::evidence::ClientReply| r.marker.is_some();
        o.step == "burst/1" && o.reply().is_some_and(marked)
    };
    let twin = rerun.outcomes.iter_mut().find(late).expect("a marked twin").clone();
    let first = rerun.attempts.iter().find(|a| a.arrived > twin.sent).expect("the original's call").clone();
    let mut call = first.clone();
    (call.seq, call.context, call.arrived) = (10_000, Some(twin.context), At(first.reply.ended.0 + MS));
    call.reply.ended = At(call.arrived.0 + MS);
    rerun.attempts.push(call);
    assert_eq!(i2().judge(&rerun).ruling, Ruling::Pass, "{:#?}", i2().judge(&rerun));
    assert_eq!(i3().judge(&rerun).ruling, Ruling::Fail);
    let mut altered = duplicates(Defect::Sound);
    if let Answer::Reply(reply) = &mut altered.outcomes.iter_mut().find(late).expect("a marked twin").answer {
        reply.body_sha256 = "another".to_owned();
    }
    assert_eq!(i2().judge(&altered).ruling, Ruling::Pass, "{:#?}", i2().judge(&altered));
    assert_eq!(i3().judge(&altered).ruling, Ruling::Fail);
}

/// Proves that nothing is failed on a machine that stood still for longer than four noise bounds, and that the finding says
/// what it looked like; up to there a count is a count.
#[test]
fn nothing_is_failed_on_a_standstill() {
    let check = idempotency::exactly_one_effect(LINK);
    let judged = |max_ns| {
        let mut evidence = one_effect(Defect::NewKeyPerAttempt);
        evidence.canary[0].max_ns = max_ns;
        check.judge(&evidence)
    };
    let eps = one_effect(Defect::Sound).header.eps_ns;
    let failed = judged(4 * eps);
    assert_eq!(failed.ruling, Ruling::Fail, "{failed:#?}");
    let finding = judged(4 * eps + 1);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.headline.starts_with(&failed.headline) && finding.headline.contains("stood still"), "{finding:#?}");
    assert!(finding.chance.is_none() && finding.advice.is_some());
}

/// Proves that a second call of one and the same caller, behind an answer that it may not have waited for, is no second run
/// on a machine that stood still; that of another caller is one on any machine, and either is on a quiet one.
#[test]
fn a_pause_makes_no_second_run() {
    let mut evidence = duplicates(Defect::Sound);
    let step = evidence.step("burst/2").expect("a burst").clone();
    let first =
        evidence.attempts.iter().find(|a| a.arrived > step.from && a.arrived < step.to).expect("a call").clone();
    let mut call = first.clone();
    (call.seq, call.arrived) = (10_000, At(first.reply.ended.0 + MS));
    call.reply.ended = At(call.arrived.0 + MS);
    evidence.attempts.push(call);
    assert_eq!(i2().judge(&evidence).ruling, Ruling::Fail);
    evidence.canary[0].max_ns = evidence.header.eps_ns + 1;
    let finding = i2().judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.headline.contains("paused"), "{}", finding.headline);
    let other = |o: &&judge::evidence::Outcome| {
        let replayed = o.reply().is_some_and(|r| r.marker.is_some());
        o.step == step.name && !replayed && first.context.is_none_or(|c| c.trace != o.context.trace)
    };
    let other = evidence.outcomes.iter().find(other);
    let context = other.expect("another caller").context;
    evidence.attempts.last_mut().expect("the second call").context = Some(context);
    assert_eq!(i2().judge(&evidence).ruling, Ruling::Fail);
}

/// Proves that a 5xx for a twin is the service's fault on a machine that served it in time, and that a pause, which may have
/// outlasted the service's own limits, leaves it open; a conflict that is told wrongly is wrong on any machine.
#[test]
fn a_pause_may_explain_a_twins_5xx() {
    let judged = |defect, over: u64| {
        let mut evidence = duplicates(defect);
        evidence.canary[0].max_ns = evidence.header.eps_ns + over;
        i2().judge(&evidence)
    };
    assert_eq!(judged(Defect::TwinsGet500, 0).ruling, Ruling::Fail);
    let finding = judged(Defect::TwinsGet500, 1);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.headline.contains("paused"), "{}", finding.headline);
    assert_eq!(judged(Defect::TwinsGetPlain409, 1).ruling, Ruling::Fail);
}
