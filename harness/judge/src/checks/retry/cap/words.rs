//! What R5 says: numbers, breaches with their evidence, and reasons to doubt.

use super::MISSING;
use super::given_up::Ended;
use super::sides::{Rejected, Side};
use super::waits::{Part, Wait, Waits};
use crate::checks::catalogue::R5;
use crate::checks::retry::gaps::Gaps;
use crate::checks::support::{QUIETER, Request, Tally, attempt_line, outcome_line};
use crate::duration;
use crate::evidence::Evidence;
use crate::finding::{Line, MAX_LINES};
use crate::promise::{Noise, RetryPolicy};

const OVERFLOW: &str = R5.bug_classes[0];
const SWALLOWED: &str = R5.bug_classes[1];
const NO_CAP: &str = R5.bug_classes[2];
const ENDS_EARLY: &str = R5.bug_classes[3];
const OTHER_CAP: &str = R5.bug_classes[4];

/// The numbers of every finding.
pub(super) fn numbers(
    evidence: &Evidence,
    asked: &[Request<'_, '_>],
    gaps: &Gaps<'_>,
    waits: &Waits<'_, '_>,
    noise: Noise,
) -> Tally {
    let mut tally = Tally::default();
    tally.count("payments", asked.len());
    tally.count("attempts of a payment, max", asked.iter().map(|r| r.attempts.len()).max().unwrap_or(0));
    tally.count("waits", gaps.iter().count());
    tally.count("waits missing", gaps.missing);
    tally.count("waits at the cap", waits.all.len());
    tally.millis("noise bound", noise.eps.as_secs_f64());
    if let Some(max) = evidence.canary_max_ns() {
        tally.millis("canary, max", max as f64 / 1e9);
    }
    tally.exhibit = waits.parts().iter().skip(1).map(row).collect();
    tally
}

/// `retries 8 to 15: n 96, min 0.4, median 51.2, max 103.9 ms`.
fn row(part: &Part<'_, '_>) -> String {
    let mut sorted: Vec<f64> = part.waits.iter().map(|w| 1e3 * w.gap.seconds()).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted.get((share * (sorted.len().max(1) - 1) as f64) as usize).copied().unwrap_or(f64::NAN);
    format!("{}: n {}, min {:.1}, median {:.1}, max {:.1} ms", retries(part), sorted.len(), at(0.0), at(0.5), at(1.0))
}

/// Counted from 1, as people do.
fn retries(part: &Part<'_, '_>) -> String {
    let (first, last) = (part.retries.0 + 1, part.retries.1 + 1);
    if first == last { format!("retry {first}") } else { format!("retries {first} to {last}") }
}

/// Notes the payments whose attempts ended too early; whether there were any.
pub(super) fn given_up(
    ended: &Ended<'_, '_, '_>,
    policy: &RetryPolicy,
    asked: usize,
    paused: Option<&str>,
    tally: &mut Tally,
) -> bool {
    let mut broken = false;
    let mut note = |requests: &[&Request<'_, '_>], how: &str| {
        let Some(least) = requests.iter().map(|r| r.attempts.len()).min() else { return };
        let what = format!(
            "{} of {asked} payments were {how} after as few as {least} attempts, promised {}",
            requests.len(),
            policy.attempts
        );
        tally.breach(ENDS_EARLY, what, requests.iter().flat_map(|r| last_lines(r)).collect());
        broken = true;
    };
    note(&ended.given_up, "given up");
    let Some(pause) = paused else {
        note(&ended.silent, "left without an answer and a further attempt");
        return broken;
    };
    if ended.unseen > 0 {
        let what = format!("{} payments lack attempts that may have timed out unseen: {pause}", ended.unseen);
        tally.gap(what, QUIETER);
    }
    broken
}

fn last_lines(r: &Request<'_, '_>) -> Vec<Line> {
    let n = r.attempts.len();
    let before = n.checked_sub(2).map(|i| r.attempts[i]);
    let last = r.attempts.last().map(|a| attempt_line(a, n, before, "the last one"));
    last.into_iter().chain([outcome_line(r.outcome, "")]).collect()
}

/// Notes too many short waits.
pub(super) fn too_short(side: &Side<'_, '_>, waits: &Waits<'_, '_>, policy: &RetryPolicy, tally: &mut Tally) {
    distances(side, "too short", tally);
    let Some(worst) = side.rejected.first() else { return };
    let mut low: Vec<&Wait<'_, '_>> = worst.part.waits.iter().filter(|w| w.most <= worst.at).collect();
    low.sort_by(|a, b| a.gap.seconds().total_cmp(&b.gap.seconds()));
    let longest = low.last().map_or(0.0, |w| w.gap.seconds());
    let what = format!(
        "{} of {} waits before {} are {:.1} ms or shorter; the law at its cap puts {:.0} % there",
        low.len(),
        worst.part.waits.len(),
        retries(&worst.part),
        1e3 * longest,
        100.0 * worst.at
    );
    let hot = longest < policy.backoff.cap().unwrap_or_default().as_secs_f64() / 10.0;
    let class = if hot || begins_late(side, waits) { OVERFLOW } else { OTHER_CAP };
    tally.breach(class, what, lines(low.into_iter(), "shorter than the law draws"));
}

/// Whether the waits were right when they reached the cap, and became wrong with the number of retries.
fn begins_late(side: &Side<'_, '_>, waits: &Waits<'_, '_>) -> bool {
    let Some(all) = waits.retries() else { return false };
    let mut blocks = side.rejected.iter().map(|r| r.part.retries).filter(|retries| *retries != all).peekable();
    blocks.peek().is_some() && blocks.all(|(from, _)| from > all.0)
}

/// Notes waits above the cap or, when there are none, too many that only the cap itself explains.
pub(super) fn too_long(above: &Side<'_, '_>, long: &Side<'_, '_>, policy: &RetryPolicy, tally: &mut Tally) {
    if let Some((seen, granted)) = above.overall {
        tally.fact("waits above the cap and the noise bound", seen, "");
        tally.fact("of them granted as outliers", granted, "");
    }
    distances(long, "too long", tally);
    let cap = policy.backoff.cap().unwrap_or_default();
    if let Some(worst) = above.rejected.first() {
        let mut over: Vec<_> = worst.part.waits.iter().filter(|w| w.is_above()).collect();
        over.sort_by(|a, b| b.gap.seconds().total_cmp(&a.gap.seconds()));
        let longest = over.first().map_or(0.0, |w| w.gap.seconds());
        let what = format!(
            "{} of {} waits before {} are longer than the cap of {} and the noise bound, the longest {:.1} ms",
            over.len(),
            worst.part.waits.len(),
            retries(&worst.part),
            duration::format(cap),
            1e3 * longest
        );
        // A cap that is only another one is not left far behind, nor by the waits before all retries.
        let everywhere = above.rejected.iter().any(|r| r.part.retries.0 < r.part.retries.1);
        let class = if everywhere && longest > 3.0 * cap.as_secs_f64() { NO_CAP } else { OTHER_CAP };
        tally.breach(class, what, lines(over.into_iter(), "longer than the cap"));
    } else if let Some(worst) = long.rejected.first() {
        crowded(worst, tally);
    }
}

fn crowded(worst: &Rejected<'_, '_>, tally: &mut Tally) {
    let mut high: Vec<_> = worst.part.waits.iter().filter(|w| w.least >= worst.at).collect();
    high.sort_by(|a, b| b.gap.seconds().total_cmp(&a.gap.seconds()));
    let shortest = high.last().map_or(0.0, |w| w.gap.seconds());
    let what = format!(
        "{} of {} waits before {} are {:.1} ms or longer; the law at its cap and all noise put {:.0} % there",
        high.len(),
        worst.part.waits.len(),
        retries(&worst.part),
        1e3 * shortest,
        100.0 * (1.0 - worst.at)
    );
    tally.breach(SWALLOWED, what, lines(high.into_iter(), "nothing is drawn below the cap"));
}

fn distances(side: &Side<'_, '_>, name: &str, tally: &mut Tally) {
    if let Some((statistic, critical)) = side.overall.filter(|(statistic, _)| statistic.is_finite()) {
        tally.fact(&format!("{name}, statistic"), statistic, "");
        tally.fact(&format!("{name}, critical"), critical, "");
    }
    if let Some(worst) = side.rejected.first() {
        tally.fact(&format!("{name}, statistic of {}", retries(&worst.part)), worst.statistic, "");
        tally.fact(&format!("{name}, critical of {}", retries(&worst.part)), worst.critical, "");
    }
}

fn lines<'w>(waits: impl Iterator<Item = &'w Wait<'w, 'w>>, remark: &str) -> Vec<Line> {
    let line = |w: &Wait<'_, '_>| attempt_line(w.gap.after, w.gap.rank + 1, Some(w.gap.before), remark);
    waits.take(MAX_LINES).map(line).collect()
}

/// Payments of which something is missing.
pub(super) fn doubts(ended: &Ended<'_, '_, '_>, gaps: &Gaps<'_>, tally: &mut Tally) {
    if ended.blurred > 0 {
        let what = format!("for {} requests nobody can say which attempts were theirs", ended.blurred);
        tally.gap(what, "pass the trace context of the client on to the dependency");
    }
    let cut = ended.cut();
    if cut > 0 {
        let what = format!(
            "{cut} payments were cut short, {} by the deadline and {} by the driver: the long waits are the missing ones",
            ended.by_deadline, ended.by_driver
        );
        tally.gap(
            what,
            "give the service a longer deadline in [isolate.cap] and cap_check, and the request a longer timeout",
        );
    } else if gaps.missing as f64 > MISSING * gaps.expected as f64 {
        let what = format!("{} of {} expected waits are missing", gaps.missing, gaps.expected);
        let advice =
            "see R1: let [isolate.cap] give the service as many attempts as cap_check says; or they do not join";
        tally.gap(what, advice);
    }
}

/// Too few waits for a pass.
pub(super) fn too_few(waits: &Waits<'_, '_>, asked: usize, tally: &mut Tally) {
    let what =
        format!("{} waits at the cap of {asked} payments are too few to show a loop without a wait", waits.all.len());
    tally.gap(what, "let cap_check say more attempts, or a smaller base and a lower cap");
}

/// Jitter that cannot be seen.
pub(super) fn hidden(waits: &Waits<'_, '_>, policy: &RetryPolicy, noise: Noise, tally: &mut Tally) {
    let what = format!(
        "noise of up to {} hides the jitter of {} waits at a cap of {}: if all were the cap itself they would look the same",
        duration::format(noise.eps),
        waits.all.len(),
        duration::format(policy.backoff.cap().unwrap_or_default())
    );
    tally
        .gap(what, "let cap_check and [isolate.cap] say a higher cap or more attempts, or declare a lower noise bound");
}
