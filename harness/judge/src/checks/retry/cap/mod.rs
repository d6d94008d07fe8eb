//! R5: the cap of the waits.

mod given_up;
mod sides;
mod waits;
mod words;

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R5;
use crate::checks::retry::gaps::Gaps;
use crate::checks::retry::queueing::Queueing;
use crate::checks::support::{Case, Tally, pause, paused, requests, strays_among, unfired, unjoined};
use crate::evidence::{Evidence, Joined};
use crate::promise::{CapCheck, Noise, RetryPolicy};
use crate::stats::{Settings, Tail};
use given_up::Ended;
use waits::Waits;

/// Share of the expected waits that may be missing from a cap that is to be confirmed.
const MISSING: f64 = 0.02;

/// **R5** However many retries there are, no wait is above the cap, none is below what the law draws at it, and the jitter
/// lives on.
///
/// - *Measure*: the gaps of payments whose every attempt fails, while the service makes as many attempts, with as small a base
///   and as low a cap, as [`CapCheck`] says; of these gaps the ones before retries whose ceiling is the cap.
/// - *Test, too short*: a one-sided DKW test ([`crate::stats::one_sided`]) over all of them, and over each block of 8
///   successive retries, so that an overflow after the 32nd or the 64th doubling is not drowned in the rest. Noise only
///   lengthens a gap: no noise bound is needed. Of the decorrelated law every eighth wait is held against the least that a
///   chain can have grown to by then ([`crate::stats::chain`]).
/// - *Test, too long*: the same test the other way, within the noise bound, finds waits that are all the cap; more gaps above
///   the cap and the noise bound than a share of 2 % of outliers explains, among all or before one retry, a cap that is none.
/// - *Test, too few*: no payment is given up, or left hanging, with attempts to go and time for them.
/// - *False alarms*: at most 1e-7 for each of the three tests of waits; none for the count.
/// - *Inconclusive*: for the long side a canary pause above the bound, no canary, or attempts that queue in the service; for
///   the short side payments that the deadline or the driver cut short; for a pass also too few waits, a noise bound so wide
///   that lost jitter would not show, missing attempts, a fault that struck less often than planned.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-cap".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry, promise::{CapCheck, Noise, RetryPolicy}};
///
/// let policy: RetryPolicy = serde_json::from_str(
///     r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms", "cap": "5s" }, "retryable": [503] }"#)?;
/// let finding = retry::cap_holds(&policy, &CapCheck::default(), "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert!(finding.promise.contains("cap 100ms"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn cap_holds(policy: &RetryPolicy, cap: &CapCheck, link: &str, noise: Noise) -> Check {
    let (meanwhile, link) = (cap.policy(policy), link.to_owned());
    Check::new(R5, move |evidence| match &meanwhile {
        Ok(policy) => judge(evidence, policy, &link, noise),
        Err(error) => {
            let case = Case::new(R5, evidence, &link, "a cap of the waits".to_owned());
            let advice = "declare a law that has a cap, and a cap_check that fits it".to_owned();
            case.inconclusive(Tally::default(), format!("the declared law has no such cap: {error}"), advice)
        }
    })
}

fn judge(evidence: &Evidence, policy: &RetryPolicy, link: &str, noise: Noise) -> Finding {
    let law = &policy.backoff;
    let promise = format!("{} attempts, {}; the cap holds for every wait", policy.attempts, law.describe());
    let case = Case::new(R5, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |o| o.step == "capped");
    if asked.is_empty() {
        return case.did_not_run("`capped`");
    }
    let settings = Settings { eps: noise.eps, ..Settings::default() };
    let gaps = Gaps::of(&asked, policy);
    let waits = Waits::of(&gaps, law, &settings);
    let mut tally = words::numbers(evidence, &asked, &gaps, &waits, noise);
    if let Some((why, advice)) = unjoined(strays_among(&joined, asked.iter().map(|r| r.outcome)).len()) {
        return case.inconclusive(tally, why, advice);
    }
    let paused = paused(evidence);
    let ended = Ended::of(&asked, policy, noise, paused.is_some());
    let noisy = pause(evidence, noise);
    let queued = Queueing::of(evidence, gaps.iter(), noise).doubt();
    let mut chances = Vec::new();
    // First of all, because a service that waits without end is also ended by its own deadline.
    if noisy.is_none() && queued.is_none() {
        let (above, long) = (sides::above(&waits, &settings), sides::long(&waits, &settings));
        words::too_long(&above, &long, policy, &mut tally);
        chances.extend(above.chance().or(long.chance()));
    }
    if words::given_up(&ended, policy, asked.len(), paused.as_deref(), &mut tally) {
        chances.push(Tail::IMPOSSIBLE);
    }
    // The waits that a deadline or the driver cut off are the long ones: what is left looks too short.
    if ended.cut() == 0 {
        let short = sides::short(&waits, &settings);
        words::too_short(&short, &waits, policy, &mut tally);
        chances.extend(short.chance());
    }
    if let Some(first) = chances.first() {
        return case.fail(tally, *first);
    }
    tally.gaps.extend(noisy.into_iter().chain(queued));
    words::doubts(&ended, &gaps, &mut tally);
    if !sides::would_show_a_hot_loop(&waits, &settings) {
        words::too_few(&waits, asked.len(), &mut tally);
    } else if !sides::would_show_lost_jitter(&waits, &settings) {
        words::hidden(&waits, policy, noise, &mut tally);
    }
    for what in unfired(evidence, link) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    tally.judged = waits.all.len();
    let pass = format!(
        "{} waits at the cap of {} payments keep to it, and all {} attempts were made",
        waits.all.len(),
        ended.whole,
        policy.attempts
    );
    case.conclude(tally, pass)
}
