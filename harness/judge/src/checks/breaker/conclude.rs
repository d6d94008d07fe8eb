//! From what a check tallied to its finding: one rule for all breaker checks.

use std::time::Duration;

use crate::checks::CheckInfo;
use crate::checks::support::{QUIETER, capped, ms, pause};
use crate::evidence::At;
use crate::finding::{Fact, Finding, Line, Ruling};
use crate::promise::Noise;
use crate::stats::Tail;

use super::timeline;
use super::view::{Call, Hit, View};

/// A broken rule.
#[derive(Debug)]
pub(super) struct Breach {
    /// What was seen against what was promised.
    pub what: String,
    /// The class of bugs it looks like.
    pub class: &'static str,
    /// Whether a pause of the machine can look the same; then it only counts on a quiet one.
    pub pause_can_cause: bool,
    /// The evidence.
    pub lines: Vec<Line>,
}

/// What a check found.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// How many things were judged.
    pub judged: u64,
    /// What was broken.
    pub breaches: Vec<Breach>,
    /// What could not be judged, and why.
    pub gaps: Vec<String>,
    /// Numbers.
    pub facts: Vec<Fact>,
}

impl Tally {
    /// Notes a rule that counting alone shows to be broken.
    pub fn breach(&mut self, class: &'static str, what: String, lines: Vec<Line>) {
        self.breaches.push(Breach { what, class, pause_can_cause: false, lines });
    }

    /// Notes a rule that is broken unless the machine paused.
    pub fn late(&mut self, class: &'static str, what: String, lines: Vec<Line>) {
        self.breaches.push(Breach { what, class, pause_can_cause: true, lines });
    }

    /// Notes what could not be judged.
    pub fn gap(&mut self, what: String) {
        self.gaps.push(what);
    }

    /// Notes a count.
    pub fn count(&mut self, name: &str, value: usize) {
        self.facts.push(Fact { name: name.to_owned(), value: value.into(), unit: String::new() });
    }

    /// Notes an interval.
    pub fn time(&mut self, name: &str, value: Duration) {
        let value = (value.as_secs_f64() * 1e6).round() / 1e3;
        self.facts.push(Fact { name: name.to_owned(), value: value.into(), unit: "ms".to_owned() });
    }
}

/// The words of one check's finding.
pub(super) struct Words {
    /// The declared rule.
    pub promise: String,
    /// What was measured.
    pub measured: String,
    /// The headline of a pass.
    pub pass: String,
}

/// Rules. `noise` is given by checks whose verdict needs a machine without long pauses.
pub(super) fn conclude(
    view: &View<'_>,
    info: &'static CheckInfo,
    noise: Option<Noise>,
    tally: Tally,
    words: Words,
) -> Finding {
    let bound = noise.unwrap_or(Noise { eps: Duration::from_nanos(view.evidence.header.eps_ns) });
    let pause = pause(view.evidence, bound).map(|(what, _)| what);
    let slow = view.slow.map(|took| {
        format!("a call that no fault struck took {}, which the declared `slow_call` may count as a failure", ms(took))
    });
    let mut finding = blank(view, info, &words);
    let Tally { breaches, gaps, facts, judged } = tally;
    finding.facts = facts;
    let excusable = |b: &Breach| slow.is_some() || (b.pause_can_cause && pause.is_some());
    let (excused, broken): (Vec<_>, Vec<_>) = breaches.into_iter().partition(excusable);
    if let Some(first) = broken.first() {
        finding.ruling = Ruling::Fail;
        finding.headline = first.what.clone();
        if broken.len() > 1 {
            finding.headline += &format!(" (and {} more)", broken.len() - 1);
        }
        finding.bug_class = Some(first.class.to_owned());
        finding.chance = Some(Tail::IMPOSSIBLE);
        finding.lines = in_time(broken.into_iter().flat_map(|b| b.lines).collect());
        finding.exhibit = timeline::exhibit(view);
        return finding;
    }
    let slow = slow.filter(|_| !excused.is_empty());
    let pause = slow.or(pause.filter(|_| noise.is_some() || !excused.is_empty()));
    if let Some(pause) = pause {
        finding.headline = excused.first().map_or(pause.clone(), |b| format!("{} - but {pause}", b.what));
        finding.advice = Some(QUIETER.to_owned());
        finding.lines = in_time(excused.into_iter().flat_map(|b| b.lines).collect());
    } else if let Some(gap) = gaps.first() {
        finding.headline = gap.clone();
        if gaps.len() > 1 {
            finding.headline += &format!(" (and {} more gaps)", gaps.len() - 1);
        }
        finding.advice = Some(gap_advice(info));
        finding.exhibit = timeline::exhibit(view);
    } else if judged == 0 {
        finding.headline = "the evidence holds no step that this check reads".to_owned();
        finding.advice = Some(format!("run it in the scenario it is judged in: {}", info.scenario));
    } else {
        finding.ruling = Ruling::Pass;
        finding.headline = words.pass;
    }
    finding
}

fn gap_advice(info: &CheckInfo) -> String {
    format!(
        "look at the other breaker findings first: an earlier broken promise leaves {} nothing to judge; otherwise see \
         that the calls of {} reach the link that the contract names",
        info.id, info.scenario
    )
}

fn blank(view: &View<'_>, info: &'static CheckInfo, words: &Words) -> Finding {
    let header = &view.evidence.header;
    Finding {
        check: info.id.to_owned(),
        name: info.name.to_owned(),
        scenario: header.scenario.clone(),
        subject: format!("{} -> {}", header.service, view.link),
        ruling: Ruling::Inconclusive,
        headline: String::new(),
        promise: words.promise.clone(),
        measured: words.measured.clone(),
        chance: None,
        facts: Vec::new(),
        lines: Vec::new(),
        exhibit: Vec::new(),
        bug_class: None,
        advice: None,
        reproduce: None,
    }
}

/// The lines of a finding in time order, no more than one may carry.
fn in_time(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_by_key(|l| l.at);
    capped(lines)
}

/// A line about something that arrived.
pub(super) fn arrival(call: &Call<'_>, hit: &Hit<'_>, relative_to: (&str, At)) -> Line {
    let (name, origin) = relative_to;
    let offset = hit.arrived.seconds_from(origin) * 1e3;
    Line {
        at: hit.arrived,
        key: call.outcome.key.clone().or_else(|| hit.attempt.and_then(|a| a.key.clone())),
        attempt: hit.attempt.map(|a| a.ordinal),
        trace: Some(call.outcome.context.trace.to_string()),
        text: format!("{}: arrived {offset:+.1} ms after {name}, {}", call.outcome.step, hit.fate()),
    }
}

/// A line about what a caller got.
pub(super) fn outcome(call: &Call<'_>, remark: &str) -> Line {
    let reach = if call.rejected() { "rejected" } else { "passed" };
    Line {
        at: call.outcome.sent,
        key: call.outcome.key.clone(),
        attempt: None,
        trace: Some(call.outcome.context.trace.to_string()),
        text: format!(
            "{}: {reach}, client got {} after {}{}{remark}",
            call.outcome.step,
            call.answer(),
            ms(call.outcome.latency()),
            if remark.is_empty() { "" } else { ": " }
        ),
    }
}
