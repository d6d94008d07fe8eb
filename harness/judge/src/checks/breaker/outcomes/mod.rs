//! B9: each end of a call is counted as the class that is declared for it.

mod closed;
mod half_open;

use crate::checks::Check;
use crate::checks::catalogue::B9;
use crate::evidence::{At, End};
use crate::finding::Line;
use crate::promise::{BreakerPolicy, CallEnd, Failure, Noise, OutcomeClass};

use super::conclude::{Tally, Words, arrival, conclude, outcome};
use super::view::{Call, Hit, View};

/// **B9** Each end of a call counts as what is declared for it: as a success, as a failure, or as nothing.
///
/// - *Measure*: for each declared end `x`. *Closed*: the calls of `trip/x` (a failure), or of `count/x` and then
///   `below/x`, `between/x`, `trip/x` (a success, or ignored). *Half-open*: the probes of `fate/x`, which meet the end,
///   and the calls of `after/x` behind them.
/// - *Test*: a failure opens the closed breaker, and opens it again from half-open. A success and an ignored end do not
///   open it, however many come. Between `threshold - 1` failures and the next one, a success starts a consecutive
///   count over and an ignored end does not. A success as probe closes; an ignored one neither closes nor opens, and
///   gives its permit back: exactly `probes` calls are let through behind it.
/// - *False alarms*: none, calls are counted; a machine that paused excuses nothing.
/// - *Inconclusive*: the ends on the wire are not the planned ones, the breaker was not in the state that a step needs, or
///   no call followed the failures that open it before its open time may have been over.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-outcomes".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::{BreakerPolicy, Noise}};
///
/// let policy: BreakerPolicy =
///     serde_json::from_str(r#"{ "threshold": 5, "open": "400ms", "outcomes": { "ignored": [409] } }"#).unwrap();
/// let finding = breaker::outcomes_count_as_declared(&policy, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert!(finding.promise.contains("409 as ignored"));
/// ```
#[must_use]
pub fn outcomes_count_as_declared(policy: &BreakerPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B9, move |evidence| {
        let view = View::of(evidence, &link, &policy);
        let mut tally = Tally::default();
        let ran = !view.steps("fate").is_empty();
        for (end, class) in policy.classified().into_iter().filter(|_| ran) {
            let x = end.to_string();
            let case = Case { view: &view, policy: &policy, noise, x: &x, end, class };
            closed::judge(&case, &mut tally);
            half_open::judge(&case, &mut tally);
        }
        let declared: Vec<String> = policy.classified().iter().map(|(e, c)| format!("{e} as {c}")).collect();
        let words = Words {
            promise: format!("counts {}", declared.join(", ")),
            measured: "whether calls of that end open the closed breaker, and what they do to a half-open one"
                .to_owned(),
            pass: format!("{} ends of calls counted as declared, closed and half-open", declared.len()),
        };
        conclude(&view, B9, None, tally, words)
    })
}

/// One declared end of a call.
struct Case<'v, 'a> {
    view: &'v View<'a>,
    policy: &'v BreakerPolicy,
    noise: Noise,
    x: &'v str,
    end: CallEnd,
    class: OutcomeClass,
}

impl<'a> Case<'_, 'a> {
    fn step(&self, base: &str) -> String {
        format!("{base}/{}", self.x)
    }

    fn calls(&self, base: &str) -> Vec<&Call<'a>> {
        let step = self.step(base);
        self.view.calls.iter().filter(|c| c.outcome.step == step).collect()
    }

    /// Whether the wire shows that this call ended so.
    fn is(&self, hit: &Hit<'_>) -> bool {
        let Some(attempt) = hit.attempt else { return self.end == CallEnd::Fails(Failure::Refuse) };
        let end = attempt.reply.end;
        match self.end {
            CallEnd::Slow => hit.ok && self.policy.slow_call.is_some_and(|limit| hit.ended.since(hit.arrived) >= limit),
            CallEnd::Fails(Failure::Status(status)) => end == End::Replied && attempt.reply.status == Some(status),
            CallEnd::Fails(Failure::Refuse) => false,
            CallEnd::Fails(Failure::Reset | Failure::Lost) => end == End::Reset,
            CallEnd::Fails(Failure::Cut) => end == End::Cut,
            CallEnd::Fails(Failure::Hang) => end == End::ClientLeft,
        }
    }

    /// How many of a step's calls reached the dependency and ended so.
    fn met(&self, base: &str) -> usize {
        self.calls(base).iter().flat_map(|c| &c.hits).filter(|h| self.is(h)).count()
    }

    /// Arrivals and rejections of some steps, in order.
    fn lines(&self, bases: &[&str]) -> Vec<Line> {
        let calls: Vec<&Call<'a>> = bases.iter().flat_map(|b| self.calls(b)).collect();
        let origin = calls.first().map_or(At(0), |c| c.outcome.sent);
        let name = self.step(bases.first().copied().unwrap_or_default());
        let begin = format!("the begin of {name}");
        let mut lines = Vec::new();
        for call in calls {
            lines.extend(call.hits.iter().map(|h| arrival(call, h, (&begin, origin))));
            if call.rejected() {
                lines.push(outcome(call, ""));
            }
        }
        lines
    }
}
