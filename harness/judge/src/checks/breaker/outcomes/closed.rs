//! What an end of a call does to a closed breaker.

use super::super::conclude::Tally;
use super::super::period::Trip;
use super::super::view::Call;
use super::Case;
use crate::checks::catalogue::class;
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
    let opened = case.calls("trip").into_iter().chain(case.calls("open")).any(Call::rejected);
    tally.count(&format!("{trip}: calls that ended so"), met);
    if opened {
        tally.judged += 1;
    } else if met < threshold {
        tally.gap(format!("{trip}: only {met} calls ended as {}, threshold {threshold}", case.x));
    } else {
        let what = format!(
            "{trip}: {met} calls ended as {} and the breaker never opened, declared a failure, threshold {threshold}",
            case.x
        );
        tally.breach(not_counted(case.end), what, case.lines(&["trip", "open"]));
    }
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
    if calls.iter().any(|c| c.rejected() && c.outcome.status().is_some()) {
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
