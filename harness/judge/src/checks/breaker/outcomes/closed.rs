//! What an end of a call does to a closed breaker.

use std::time::Duration;

use super::super::conclude::Tally;
use super::super::period::{Trip, surely_open_until};
use super::super::view::{Call, Hit};
use super::Case;
use crate::checks::catalogue::class;
use crate::evidence::At;
use crate::promise::{BreakerMode, CallEnd, Failure, OutcomeClass};

pub(super) fn judge(case: &Case<'_, '_>, tally: &mut Tally) {
    if case.class == OutcomeClass::Failure {
        opens(case, tally);
    } else {
        stays_closed(case, tally);
        between_failures(case, tally);
    }
}

/// A failure opens it.
fn opens(case: &Case<'_, '_>, tally: &mut Tally) {
    let (trip, met) = (case.step("trip"), case.met("trip"));
    let threshold = case.policy.threshold as usize;
    let opened = case.calls("trip").into_iter().chain(case.calls("open")).any(refused);
    tally.count(&format!("{trip}: calls that ended so"), met);
    if opened && met > 0 {
        tally.judged += 1;
    } else if opened {
        tally.gap(format!("{trip}: a call was rejected before any had ended as {}: it was not closed", case.x));
    } else if met < threshold {
        tally.gap(format!("{trip}: only {met} calls ended as {}, threshold {threshold}", case.x));
    } else if !leaks(case) {
        tally.gap(format!(
            "{trip}: {met} calls ended as {}, but no call followed them while a breaker must be open by that",
            case.x
        ));
    } else {
        let what = format!(
            "{trip}: {met} calls ended as {} and the breaker never opened, declared a failure, threshold {threshold}",
            case.x
        );
        tally.breach(not_counted(case.end), what, case.lines(&["trip", "open"]));
    }
}

fn refused(call: &Call<'_>) -> bool {
    call.rejected() && call.outcome.status().is_some()
}

/// Whether a call that was sent after the failures of `trip` had been answered reached the dependency while a breaker that
/// counts them must still have been open: later ones may be probes.
fn leaks(case: &Case<'_, '_>) -> bool {
    let (trips, eps) = (case.calls("trip"), case.noise.eps);
    let mut ends: Vec<_> = trips.iter().flat_map(|c| c.hits.iter().copied()).collect();
    // An end of another kind may have started the count over.
    if ends.iter().any(|h| !case.is(h)) {
        return false;
    }
    ends.sort_by_key(|h| h.ended);
    let window = case.policy.window.filter(|_| case.policy.mode == BreakerMode::Window);
    let together = |run: &&[Hit<'_>]| {
        let span = run.last().zip(run.first()).map_or(Duration::ZERO, |(last, first)| last.ended.since(first.ended));
        window.is_none_or(|w| span.saturating_add(eps) < w)
    };
    let Some(run) = ends.windows((case.policy.threshold as usize).max(1)).find(together) else { return false };
    let Some(end) = surely_open_until(run.iter().copied(), case.policy, eps) else { return false };
    let answered = trips.iter().map(|c| c.outcome.ended).max().unwrap_or_default();
    let behind = case.calls("open").into_iter().filter(|c| c.outcome.sent >= answered);
    behind.flat_map(|c| &c.hits).any(|h| h.arrived < end)
}

fn not_counted(end: CallEnd) -> &'static str {
    match end {
        CallEnd::Slow => class::SLOW_NOT_COUNTED,
        CallEnd::Fails(Failure::Hang) => class::TIMEOUT_NOT_COUNTED,
        CallEnd::Fails(_) => class::FAILURE_NOT_COUNTED,
    }
}

/// What is no failure does not open it, however often it comes.
fn stays_closed(case: &Case<'_, '_>, tally: &mut Tally) {
    let (count, met) = (case.step("count"), case.met("count"));
    let threshold = case.policy.threshold as usize;
    let calls = case.calls("count");
    tally.count(&format!("{count}: calls that ended so"), met);
    let first = calls.iter().find(|c| refused(c)).map(|c| c.outcome.ended);
    let ended = |at: At| calls.iter().flat_map(|c| &c.hits).any(|h| h.ended <= at && case.is(h));
    if first.is_some_and(|at| !ended(at)) {
        tally.gap(format!("{count}: a call was rejected before any had ended as {}: it was not closed", case.x));
    } else if first.is_some() {
        let what =
            format!("{count}: a call was rejected after {met} calls that ended as {}, declared {}", case.x, case.class);
        tally.breach(class::CLIENT_ERRORS, what, case.lines(&["count"]));
    } else if met <= threshold {
        tally.gap(format!("{count}: only {met} calls ended as {}, which is no more than the threshold", case.x));
    } else {
        tally.judged += 1;
    }
}

/// Between the failures below the threshold and the next one, a success starts a consecutive count over, and what is
/// ignored does not. A window counts failures whatever lies between them, so there it says nothing.
fn between_failures(case: &Case<'_, '_>, tally: &mut Tally) {
    let threshold = case.policy.threshold as usize;
    if case.policy.mode != BreakerMode::Consecutive || threshold < 2 {
        return;
    }
    let step = case.step("trip");
    let below = case.calls("below").iter().flat_map(|c| &c.hits).filter(|h| !h.ok).count();
    if below + 1 != threshold || case.met("between") != 1 {
        tally.gap(format!("{step}: {below} failures and {} calls came before it", case.met("between")));
        return;
    }
    let trip = Trip::of(case.view, &step);
    if trip.first_rejected.is_none() {
        tally.gap(format!("{step}: the breaker never opened, which is for B1 to judge"));
        return;
    }
    let needed = trip.hits_before().len();
    let started_over = needed >= threshold;
    if started_over == (case.class == OutcomeClass::Success) {
        tally.judged += 1;
        return;
    }
    let what = format!(
        "{step}: opened after {needed} more failures once {below} failures and one {} had come, declared {}, \
         threshold {threshold}",
        case.x, case.class
    );
    let class = if started_over { class::IGNORED_RESETS } else { class::SUCCESS_NOT_COUNTED };
    tally.breach(class, what, case.lines(&["below", "between", "trip"]));
}
