//! What an end of a call does to a half-open breaker.

use super::super::conclude::Tally;
use super::super::period::{Period, open_again};
use super::super::view::Call;
use super::Case;
use crate::checks::catalogue::class;
use crate::promise::OutcomeClass;

pub(super) fn judge(case: &Case<'_, '_>, tally: &mut Tally) {
    let fate = case.step("fate");
    let probes = case.calls("fate");
    let Some(begin) = probes.iter().map(|c| c.outcome.sent).min() else {
        tally.gap(format!("{fate}: no probe was sent"));
        return;
    };
    if !case.view.last_before(begin).is_some_and(Call::rejected) {
        tally.gap(format!("{fate}: the breaker was not open when the probe came"));
        return;
    }
    let met = case.met("fate");
    let wanted = if case.class == OutcomeClass::Success { case.policy.probes as usize } else { 1 };
    if met < wanted {
        tally.gap(format!("{fate}: {met} probe(s) were let through and ended as {}, planned {wanted}", case.x));
        return;
    }
    match case.class {
        OutcomeClass::Success => closes(case, tally),
        OutcomeClass::Failure => opens_again(case, tally),
        OutcomeClass::Ignored => stays_half_open(case, tally),
    }
}

fn closes(case: &Case<'_, '_>, tally: &mut Tally) {
    let after = case.step("after");
    let calls = case.calls("after");
    let rejected = calls.iter().filter(|c| c.rejected()).count();
    if calls.is_empty() {
        tally.gap(format!("{after}: no call followed the probe"));
    } else if rejected == 0 {
        tally.judged += 1;
    } else {
        let what = format!(
            "{after}: {rejected} of {} calls were rejected after a probe that ended as {}, declared a success",
            calls.len(),
            case.x
        );
        tally.breach(class::SUCCESS_NOT_COUNTED, what, case.lines(&["fate", "after"]));
    }
}

fn opens_again(case: &Case<'_, '_>, tally: &mut Tally) {
    let after = case.step("after");
    let calls = case.calls("fate");
    let Some(cause) = calls.iter().flat_map(|c| &c.hits).max_by_key(|h| h.ended) else { return };
    let Some(open) = open_again(case.policy) else {
        tally.gap(format!("{after}: the declared growth makes no length of time of the open time"));
        return;
    };
    let period = Period { cause: *cause, open };
    let end = period.not_before(case.noise.eps);
    let calls: Vec<_> = case.calls("after").into_iter().filter(|c| c.outcome.sent < end).collect();
    let passed = calls.iter().filter(|c| c.hits.iter().any(|h| h.arrived < end)).count();
    if calls.is_empty() {
        tally.gap(format!("{after}: no call was sent within the open time that follows the probe"));
    } else if passed == 0 {
        tally.judged += 1;
    } else if passed < calls.len() {
        tally.gap(format!("{after}: {passed} of {} calls leaked, which is for B3 to judge", calls.len()));
    } else {
        let what = format!(
            "{after}: all {passed} calls reached the dependency after a probe that ended as {}, declared a failure",
            case.x
        );
        tally.breach(class::FAILURE_CLOSES, what, case.lines(&["fate", "after"]));
    }
}

fn stays_half_open(case: &Case<'_, '_>, tally: &mut Tally) {
    let after = case.step("after");
    let (calls, probes) = (case.calls("after"), case.policy.probes as usize);
    let hits: Vec<_> = calls.iter().flat_map(|c| &c.hits).collect();
    let released = hits.iter().filter_map(|h| h.hold()).map(|(_, released)| released).min();
    if calls.len() <= probes {
        tally.gap(format!("{after}: {} callers came, which is no more than the permitted probes", calls.len()));
        return;
    }
    let passed = match released {
        None if hits.is_empty() => 0,
        Some(Some(released)) => hits.iter().filter(|h| h.arrived < released).count(),
        _ => {
            tally.gap(format!("{after}: calls arrived, but none was held and released"));
            return;
        }
    };
    tally.count(&format!("{after}: calls while the probes were held"), passed);
    if passed == probes {
        tally.judged += 1;
        return;
    }
    let what = format!(
        "{after}: {passed} of {} calls were let through behind a probe that ended as {}, declared ignored: \
         {probes} should be, as before it",
        calls.len(),
        case.x
    );
    let class = if passed > probes { class::IGNORED_CLOSES } else { class::IGNORED_KEEPS_PERMIT };
    tally.breach(class, what, case.lines(&["fate", "after"]));
}
