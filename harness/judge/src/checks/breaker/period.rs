//! Open periods: when the breaker opened, and until when it promised to stay so.

use std::time::Duration;

use crate::checks::support::EARLY;
use crate::evidence::At;
use crate::promise::BreakerPolicy;

use super::view::{Call, Hit, View, named, variant};

/// One open period that the wire shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Period<'a> {
    /// The failure that opened it.
    pub cause: Hit<'a>,
    /// How long it was promised to last.
    pub open: Duration,
}

impl Period<'_> {
    /// The open instant: the failure instant of `cause`.
    pub fn from(&self) -> At {
        self.cause.ended
    }

    /// No call may arrive before this. A failure that the service itself declared (it gave up on a hanging call) is
    /// seen by the proxy up to eps after the breaker counted it, and who knows when on a machine that paused for longer.
    pub fn not_before(&self, eps: Duration) -> At {
        let seen_late = match self.cause {
            Hit { blurred: true, .. } => self.open,
            Hit { gave_up: true, .. } => eps,
            _ => Duration::ZERO,
        };
        self.from() + self.open.saturating_sub(EARLY.saturating_add(seen_late))
    }

    /// A call sent after this must find the open time over: the breaker saw the failure at most eps after the proxy.
    pub fn surely_over(&self, eps: Duration) -> At {
        self.from() + self.open + eps
    }
}

/// Until when a breaker that counts those failures together is surely open, from the `threshold`-th of them on: whatever
/// arrives later may be a probe. `None` when there are fewer.
pub(super) fn surely_open_until<'a>(
    failures: impl IntoIterator<Item = Hit<'a>>,
    policy: &BreakerPolicy,
    eps: Duration,
) -> Option<At> {
    let mut periods: Vec<_> = failures.into_iter().map(|cause| Period { cause, open: policy.open }).collect();
    periods.sort_by_key(|p| p.not_before(eps));
    let last = (policy.threshold as usize).checked_sub(1)?;
    periods.get(last).map(|p| p.not_before(eps))
}

/// The open time after a failed probe; `None` when the declared growth makes no length of time of it.
pub(super) fn open_again(policy: &BreakerPolicy) -> Option<Duration> {
    Duration::try_from_secs_f64(policy.open.as_secs_f64() * policy.growth).ok()
}

/// A trip step up to its first rejected call.
#[derive(Debug)]
pub(super) struct Trip<'v, 'a> {
    /// All calls of the step.
    pub calls: Vec<&'v Call<'a>>,
    /// The first call that was rejected.
    pub first_rejected: Option<&'v Call<'a>>,
}

impl<'v, 'a> Trip<'v, 'a> {
    /// Reads a trip step.
    pub fn of(view: &'v View<'a>, step: &'v str) -> Self {
        let calls: Vec<_> = view.step(step).collect();
        let first_rejected =
            calls.iter().filter(|c| c.rejected()).min_by_key(|c| (c.outcome.ended, c.outcome.seq)).copied();
        Self { calls, first_rejected }
    }

    /// What arrived before the first rejection was answered, in the order of arrival; everything when nothing was
    /// rejected.
    pub fn hits_before(&self) -> Vec<(&'v Call<'a>, Hit<'a>)> {
        let end = self.first_rejected.map_or(At(u64::MAX), |c| c.outcome.ended);
        let all = self.calls.iter().flat_map(|c| c.hits.iter().map(move |h| (*c, *h)));
        let mut hits: Vec<_> = all.filter(|(_, h)| h.arrived < end).collect();
        hits.sort_by_key(|(c, h)| (h.arrived, c.outcome.seq));
        hits
    }

    /// The open period that the step's failures began.
    pub fn period(&self, policy: &BreakerPolicy) -> Option<Period<'a>> {
        self.first_rejected?;
        let (_, cause) = self.hits_before().into_iter().next_back()?;
        Some(Period { cause, open: policy.open })
    }
}

/// How many failures opened the breaker the first time, before anything could be left over from a probe.
pub(super) fn opens_after(view: &View<'_>) -> usize {
    view.steps("trip").first().map_or(0, |step| Trip::of(view, step).hits_before().len())
}

/// The period that began with the failed call of `fate/x`, when its call arrived and failed and the promise says how long
/// it lasts.
pub(super) fn reopened<'a>(view: &View<'a>, policy: &BreakerPolicy, x: &str) -> Option<Period<'a>> {
    let fate = named("fate", x);
    let cause = view.step(&fate).flat_map(|c| c.hits.iter()).max_by_key(|h| h.ended).copied()?;
    let open = open_again(policy)?;
    (!cause.ok).then_some(Period { cause, open })
}

/// The period that the wire shows to run when `step` begins: the call before it was rejected, and the last thing that
/// arrived before it failed or was followed by rejections. `None` when the breaker was not open.
pub(super) fn running_at<'a>(view: &View<'a>, policy: &BreakerPolicy, step: &str) -> Option<Period<'a>> {
    let begin = view.step(step).map(|c| c.outcome.sent).min()?;
    if !view.last_before(begin)?.rejected() {
        return None;
    }
    let cause = view.last_hit_before(begin)?;
    let relapsed = view.step(&named("fate", variant(step))).any(|c| c.hits.iter().any(|h| h.ended == cause.ended));
    let open = if relapsed { open_again(policy)? } else { policy.open };
    Some(Period { cause, open })
}
