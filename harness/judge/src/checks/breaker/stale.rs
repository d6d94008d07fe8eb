//! B8: the end of a call that was sent while closed changes nothing once the breaker has left that state.

use std::time::Duration;

use crate::checks::Check;
use crate::checks::catalogue::{B8, class};
use crate::checks::support::ms;
use crate::evidence::At;
use crate::finding::Line;
use crate::promise::{BreakerPolicy, Noise};

use super::conclude::{Tally, Words, arrival, conclude, outcome};
use super::period::{Period, Trip};
use super::view::{Call, Hit, View, named, variant};

/// **B8** A call that was sent while the breaker was closed and ends while it is open or half-open changes nothing: it
/// neither closes nor reopens, frees no permit, and does not start the open time anew.
///
/// - *Measure*: in each cycle `x` (`succeeds`, `fails`) two calls of `late/x` whose answers the proxy holds. Others
///   trip the breaker; one answer is released while open, the other while the probes are held. Then the calls of
///   `open/x` and `during/x`, sent after the late answers had come, and `closed/x`, sent after the probes succeeded.
/// - *Test*: no call of `open/x` or `during/x` arrives while the probes are held; the probes are let through when the
///   open time is over; all calls of `closed/x` arrive.
/// - *False alarms*: none. The holds fix the order, and calls are counted. Only "no probe was let through" needs a
///   machine without long pauses.
/// - *Inconclusive*: a late answer came at another time than planned (the service gave the call up first), or the
///   breaker breaks the same rule without a late answer, which other checks own.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-late".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::{BreakerPolicy, Noise}};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).unwrap();
/// let check = breaker::stale_outcomes_change_nothing(&policy, "bank", Noise::default());
/// assert_eq!(check.judge(&Evidence::new(header)).ruling, Ruling::Inconclusive);
/// ```
#[must_use]
pub fn stale_outcomes_change_nothing(policy: &BreakerPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B8, move |evidence| {
        let view = View::of(evidence, &link, &policy);
        let mut tally = Tally::default();
        let mut sound = Sound::default();
        for late in view.steps("late") {
            let x = variant(late);
            let cycle = Cycle { view: &view, policy: &policy, eps: noise.eps, x };
            cycle.judge(&mut sound, &mut tally);
        }
        let words = Words {
            promise: "a call of an earlier state changes nothing when it ends: it does not close, reopen, or free a \
                permit"
                .to_owned(),
            measured: "calls sent after a late answer had come, while open, while the probes were held, and after them"
                .to_owned(),
            pass: format!("{} late answers, while open and while half-open, changed nothing", tally.judged),
        };
        conclude(&view, B8, None, tally, words)
    })
}

/// What an earlier cycle has shown to work with a late success: a later cycle's failure is then the late failure's.
#[derive(Default)]
struct Sound {
    probed: bool,
    closed: bool,
}

struct Cycle<'v, 'a> {
    view: &'v View<'a>,
    policy: &'v BreakerPolicy,
    eps: Duration,
    x: &'v str,
}

impl<'a> Cycle<'_, 'a> {
    fn step(&self, base: &str) -> String {
        named(base, self.x)
    }

    fn calls(&self, base: &str) -> Vec<&Call<'a>> {
        let step = self.step(base);
        self.view.calls.iter().filter(|c| c.outcome.step == step).collect()
    }

    fn judge(&self, sound: &mut Sound, tally: &mut Tally) {
        let trip = self.step("trip");
        let Some(period) = Trip::of(self.view, &trip).period(self.policy) else {
            tally.gap(format!("{trip}: the breaker never opened, or was open already"));
            return;
        };
        let late = self.late(tally);
        self.while_open(&period, &late, tally);
        self.while_half_open(&period, &late, sound, tally);
    }

    /// The held calls that ended as planned, in the order of their ends.
    fn late(&self, tally: &mut Tally) -> Vec<(&Call<'a>, Hit<'a>)> {
        let step = self.step("late");
        let calls = self.calls("late");
        let held = calls.iter().filter_map(|c| c.hits.iter().find(|h| h.hold().is_some()).map(|h| (*c, *h)));
        let mut held: Vec<_> = held.collect();
        if held.is_empty() {
            tally.gap(format!("{step}: no call was held"));
        }
        let given_up = held.iter().filter(|(_, h)| h.gave_up).count();
        if given_up > 0 {
            tally.gap(format!(
                "{step}: the service gave up {given_up} held call(s) before the answer was released; a longer attempt \
                 timeout, or a shorter open time, would show more"
            ));
        }
        let wanted = self.x != "fails";
        held.retain(|(_, h)| !h.gave_up && h.ok == wanted);
        held.sort_by_key(|(_, h)| h.ended);
        held
    }

    /// An answer that came while open, and the calls after it.
    fn while_open(&self, period: &Period<'a>, late: &[(&Call<'a>, Hit<'a>)], tally: &mut Tally) {
        let open = self.step("open");
        let end = period.not_before(self.eps);
        let Some((call, hit)) = late.iter().find(|(c, h)| h.ended >= period.from() && c.outcome.ended < end) else {
            tally.gap(format!("{open}: no late answer came while the breaker was surely open"));
            return;
        };
        let after: Vec<_> = self.calls("open");
        let after: Vec<_> =
            after.into_iter().filter(|c| c.outcome.sent >= call.outcome.ended && c.outcome.sent < end).collect();
        let passed = after.iter().filter(|c| c.hits.iter().any(|h| h.arrived < end)).count();
        if after.len() < 2 {
            tally.gap(format!("{open}: fewer than two calls were sent after the late answer and within the open time"));
        } else if passed == after.len() {
            let what = format!(
                "{open}: all {passed} calls reached the dependency {} after it opened, once {} had come",
                ms(hit.ended.since(period.from())),
                self.word()
            );
            tally.breach(class::STALE_CLOSES, what, self.lines(&after, (call, hit), period.from()));
        } else if passed > 0 {
            tally.gap(format!("{open}: {passed} of {} calls leaked, which is for B2 to judge", after.len()));
        } else {
            tally.judged += 1;
        }
    }

    /// An answer that came while the probes were held, the calls after it, and those after the probes.
    fn while_half_open(
        &self,
        period: &Period<'a>,
        late: &[(&Call<'a>, Hit<'a>)],
        sound: &mut Sound,
        tally: &mut Tally,
    ) {
        let probe = self.step("probe");
        let Some(window) = self.probes(period, late, sound, tally) else { return };
        sound.probed = true;
        let Some((call, hit)) = late.iter().find(|(c, h)| h.ended > window.0 && c.outcome.ended < window.1) else {
            tally.gap(format!("{probe}: no late answer came while the probes were held"));
            return;
        };
        let during = self.step("during");
        let after: Vec<_> = self.calls("during");
        let after: Vec<_> =
            after.into_iter().filter(|c| c.outcome.sent >= call.outcome.ended && c.outcome.sent < window.1).collect();
        if after.is_empty() {
            tally.gap(format!("{during}: no call was sent after the late answer while the probes were held"));
            return;
        }
        let passed = after.iter().filter(|c| c.hits.iter().any(|h| h.arrived < window.1)).count();
        if passed > 0 {
            let what = format!(
                "{during}: {passed} of {} calls reached the dependency while {} probe(s) were held, once {} had come",
                after.len(),
                self.policy.probes,
                self.word()
            );
            let class = if passed == after.len() { class::STALE_CLOSES } else { class::STALE_FREES };
            tally.breach(class, what, self.lines(&after, (call, hit), window.0));
            return;
        }
        self.after_probes((call, hit), window, sound, tally);
    }

    /// When the probes were held and released, if as many were as are promised.
    fn probes(
        &self,
        period: &Period<'a>,
        late: &[(&Call<'a>, Hit<'a>)],
        sound: &Sound,
        tally: &mut Tally,
    ) -> Option<(At, At)> {
        let probe = self.step("probe");
        let calls = self.calls("probe");
        let holds: Vec<_> = calls.iter().flat_map(|c| &c.hits).filter_map(Hit::hold).collect();
        let arrived = calls.iter().filter(|c| !c.rejected()).count();
        let last = calls.iter().map(|c| c.outcome.sent).max().unwrap_or_default();
        let early = late.iter().find(|(_, h)| h.ended < last);
        if let (0, true, "fails", Some((call, hit))) = (arrived, sound.probed, self.x, early)
            && last >= period.surely_over(self.eps)
        {
            let what = format!(
                "{probe}: no call was let through {} after the breaker opened, once a late failure had come while it \
                 was open; declared open time {}",
                ms(last.since(period.from())),
                ms(period.open)
            );
            tally.late(class::STALE_RESTARTS, what, self.lines(&calls, (call, hit), period.from()));
            return None;
        }
        if arrived != self.policy.probes as usize {
            tally.gap(format!(
                "{probe}: {arrived} of {} callers were let through, declared {}: B3 and B4 judge that",
                calls.len(),
                self.policy.probes
            ));
            return None;
        }
        let held = holds.iter().map(|(held, _)| *held).max();
        // One that was never released leaves no window, which is a gap to be told and no reason to say nothing.
        let released = holds.iter().map(|(_, released)| *released).collect::<Option<Vec<_>>>();
        let window = held.zip(released.and_then(|all| all.into_iter().min()));
        if window.is_none() {
            tally.gap(format!("{probe}: the probes were not held, or never released"));
        }
        window
    }

    /// After good probes the breaker is closed, whatever came late meanwhile.
    fn after_probes(&self, late: (&Call<'a>, &Hit<'a>), window: (At, At), sound: &mut Sound, tally: &mut Tally) {
        let (probe, closed) = (self.step("probe"), self.step("closed"));
        let calls = self.calls("closed");
        let good = self.calls("probe").iter().flat_map(|c| &c.hits).all(|h| h.ok);
        let rejected: Vec<_> = calls.iter().copied().filter(|c| c.rejected()).collect();
        if !good || calls.is_empty() {
            tally
                .gap(format!("{probe}: a probe failed, or no call followed it, so that nothing promises to be closed"));
        } else if rejected.is_empty() {
            sound.closed = true;
            tally.judged += 1;
        } else if self.x == "fails" && sound.closed {
            let what = format!(
                "{closed}: {} of {} calls were rejected after good probes, once a late failure had come while they \
                 were held",
                rejected.len(),
                calls.len()
            );
            tally.breach(class::STALE_REOPENS, what, self.lines(&rejected, late, window.0));
        } else {
            tally.gap(format!("{closed}: a call was rejected after good probes, which is for B6 to judge"));
        }
    }

    fn word(&self) -> &'static str {
        if self.x == "fails" { "a late failure" } else { "a late success" }
    }

    fn lines(&self, calls: &[&Call<'a>], (late, hit): (&Call<'a>, &Hit<'a>), origin: At) -> Vec<Line> {
        let origin = ("the change of state", origin);
        let mut lines = vec![arrival(late, hit, origin), outcome(late, "sent while closed, answered late")];
        for call in calls {
            lines.extend(call.hits.iter().map(|h| arrival(call, h, origin)));
            if call.rejected() {
                lines.push(outcome(call, "after the late answer"));
            }
        }
        lines
    }
}
