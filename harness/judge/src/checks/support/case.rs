//! From what a check tallied to its finding, always in the same order: a broken promise, then what is missing, then pass.

use super::doubt::QUIETER;
use crate::checks::CheckInfo;
use crate::evidence::Evidence;
use crate::finding::{Fact, Finding, Line, MAX_LINES, Ruling};
use crate::stats::Tail;

/// A broken rule.
#[derive(Debug)]
pub(in crate::checks) struct Breach {
    /// What was seen against what was promised.
    pub what: String,
    /// The class of bugs that it looks like.
    pub class: &'static str,
    /// The evidence.
    pub lines: Vec<Line>,
}

/// What a check found.
#[derive(Debug, Default)]
pub(in crate::checks) struct Tally {
    /// How many things were judged.
    pub judged: usize,
    /// What was broken, the clearest case first.
    pub breaches: Vec<Breach>,
    /// What could not be judged: the reason, and what to do about it.
    pub gaps: Vec<(String, String)>,
    /// Numbers.
    pub facts: Vec<Fact>,
    /// A longer exhibit.
    pub exhibit: Vec<String>,
}

impl Tally {
    /// Notes a broken rule.
    pub fn breach(&mut self, class: &'static str, what: String, lines: Vec<Line>) {
        self.breaches.push(Breach { what, class, lines });
    }

    /// Notes a broken rule, or a gap where there is an excuse for it: a pause that may have caused the same.
    pub fn breach_unless(&mut self, excuse: Option<&str>, class: &'static str, what: String, lines: Vec<Line>) {
        match excuse {
            Some(pause) => self.gap(format!("{what} - but {pause}"), QUIETER),
            None => self.breach(class, what, lines),
        }
    }

    /// Notes what could not be judged.
    pub fn gap(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.gaps.push((what.into(), advice.into()));
    }

    /// Notes a count.
    pub fn count(&mut self, name: &str, value: usize) {
        self.fact(name, value, "");
    }

    /// Notes a number.
    pub fn fact(&mut self, name: &str, value: impl Into<serde_json::Value>, unit: &str) {
        self.facts.push(Fact { name: name.to_owned(), value: value.into(), unit: unit.to_owned() });
    }

    /// Notes an interval, in milliseconds.
    pub fn millis(&mut self, name: &str, seconds: f64) {
        self.fact(name, (seconds * 1e6).round() / 1e3, "ms");
    }
}

/// One check over one evidence: everything of the finding that does not depend on the ruling.
pub(in crate::checks) struct Case<'e> {
    evidence: &'e Evidence,
    info: &'static CheckInfo,
    subject: String,
    promise: String,
    measured: String,
}

impl<'e> Case<'e> {
    /// A case about the service's promise towards `link`.
    pub fn new(info: &'static CheckInfo, evidence: &'e Evidence, link: &str, promise: String) -> Self {
        let subject = format!("{} -> {link}", evidence.header.service);
        Self { evidence, info, subject, promise, measured: info.measure.to_owned() }
    }

    /// A case about the run itself.
    pub fn of_run(info: &'static CheckInfo, evidence: &'e Evidence, promise: String) -> Self {
        let subject = format!("harness, scenario {}", evidence.header.scenario);
        Self { evidence, info, subject, promise, measured: info.measure.to_owned() }
    }

    /// Says what was measured, in place of the catalogue's words.
    pub fn measured(mut self, measured: String) -> Self {
        self.measured = measured;
        self
    }

    /// There is no request of the steps that the check reads.
    pub fn did_not_run(self, steps: &str) -> Finding {
        let headline = format!("the evidence holds no request of the steps {steps}: the scenario did not run");
        let advice = format!("run it in the scenario it is judged in: {}", self.info.scenario);
        self.inconclusive(Tally::default(), headline, advice)
    }

    /// Rules by counting: a breach fails, a gap or nothing judged is inconclusive, the rest passes.
    pub fn conclude(self, tally: Tally, pass: String) -> Finding {
        if !tally.breaches.is_empty() {
            return self.fail(tally, Tail::IMPOSSIBLE);
        }
        if let Some((first, advice)) = tally.gaps.first().cloned() {
            let headline = match tally.gaps.len() {
                1 => first,
                n => format!("{first} (and {} more gaps)", n - 1),
            };
            return self.inconclusive(tally, headline, advice);
        }
        if tally.judged == 0 {
            let advice =
                format!("see that the scenarios {} reach the link that the contract names", self.info.scenario);
            return self.inconclusive(
                tally,
                "the evidence holds nothing that this check could judge".to_owned(),
                advice,
            );
        }
        self.finding(Ruling::Pass, pass, tally)
    }

    /// A failure: the first breach gives headline and class, all of them the lines.
    pub fn fail(self, mut tally: Tally, chance: Tail) -> Finding {
        let breaches = std::mem::take(&mut tally.breaches);
        let more = breaches.len().saturating_sub(1);
        let (mut headline, class) = breaches.first().map(|b| (b.what.clone(), b.class)).unwrap_or_default();
        if more > 0 {
            headline += &format!(" (and {more} more)");
        }
        let mut finding = self.finding(Ruling::Fail, headline, tally);
        finding.chance = Some(chance);
        finding.bug_class = (!class.is_empty()).then(|| class.to_owned());
        finding.lines = capped(breaches.into_iter().flat_map(|b| b.lines).collect());
        finding
    }

    /// Neither: with the reason, and what to do about it.
    pub fn inconclusive(self, tally: Tally, headline: String, advice: String) -> Finding {
        let mut finding = self.finding(Ruling::Inconclusive, headline, tally);
        finding.advice = Some(advice);
        finding
    }

    /// A pass that says more than the catalogue does.
    pub fn pass(self, tally: Tally, headline: String) -> Finding {
        self.finding(Ruling::Pass, headline, tally)
    }

    fn finding(self, ruling: Ruling, headline: String, tally: Tally) -> Finding {
        Finding {
            check: self.info.id.to_owned(),
            name: self.info.name.to_owned(),
            scenario: self.evidence.header.scenario.clone(),
            subject: self.subject,
            ruling,
            headline,
            promise: self.promise,
            measured: self.measured,
            chance: None,
            facts: tally.facts,
            lines: Vec::new(),
            exhibit: tally.exhibit,
            bug_class: None,
            advice: None,
            reproduce: None,
        }
    }
}

/// At most [`MAX_LINES`] lines; the last one counts what was left out. They stay in the order of the breaches, so that
/// the lines of one payment stand together.
pub(in crate::checks) fn capped(mut lines: Vec<Line>) -> Vec<Line> {
    if lines.len() > MAX_LINES {
        let left_out = lines.len() - (MAX_LINES - 1);
        lines.truncate(MAX_LINES);
        if let Some(last) = lines.last_mut() {
            let at = last.at;
            *last = Line { at, key: None, attempt: None, trace: None, text: format!("and {left_out} more lines") };
        }
    }
    lines
}
