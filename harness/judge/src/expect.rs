//! What a scenario file expects of a variant: rulings of a control, and bounds on numbers.
//!
//! A scenario with a control proves itself: the control is the service made wrong on purpose, and the checks that are to
//! find it out are named beforehand. [`known_bad`] holds the control's findings against that, [`expected_numbers`] the
//! numbers of any variant against declared bounds. Both are pure functions of findings.

use serde::{Deserialize, Serialize};

use crate::checks::CheckInfo;
use crate::checks::catalogue::{H5, H6};
use crate::evidence::Header;
use crate::finding::{Fact, Finding, Ruling};
use crate::stats::Tail;

/// A number of a finding, and the bounds within which it is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// The check's id.
    pub check: String,
    /// The number's name in its finding.
    pub number: String,
    /// The smallest value; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest value; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// What it means when the number lies outside: a failure, or, for a number that a busy machine spoils, nothing.
    #[serde(default)]
    pub missed: Missed,
}

/// The ruling over a number that lies outside of its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missed {
    /// A failure.
    #[default]
    Fail,
    /// Inconclusive: noise alone can do it.
    Inconclusive,
}

/// **H5** Whether a control was ruled on as expected. `expected` names checks and rulings; `findings` are the control's.
/// A control that passes where it should fail is a failure of the scenario: its checks prove nothing.
#[must_use]
pub fn known_bad(header: &Header, expected: &[(String, Ruling)], findings: &[Finding]) -> Finding {
    let promise = expected.iter().map(|(check, ruling)| format!("{check} {}", ruling.word())).collect::<Vec<_>>();
    let mut finding = blank(H5, header, format!("the control is ruled on as expected: {}", promise.join(", ")));
    let mut seen = Vec::new();
    if expected.is_empty() {
        doubt(&mut finding, "nothing is expected of the control".to_owned(), "name the checks that fail it");
    }
    for (check, wanted) in expected {
        let Some(found) = findings.iter().find(|f| f.check == *check) else {
            doubt(
                &mut finding,
                format!("{check} did not judge the control"),
                "name the check in the scenario's `checks`",
            );
            continue;
        };
        finding.exhibit.push(format!("{} {} {}: {}", found.ruling.word(), found.check, found.name, found.headline));
        if found.ruling == *wanted {
            seen.push(format!("{check} {}", wanted.word()));
            continue;
        }
        let what = format!("{check} is {} on the control, expected {}", found.ruling.word(), wanted.word());
        if found.ruling == Ruling::Inconclusive {
            doubt(&mut finding, format!("{what}: {}", found.headline), found.advice.as_deref().unwrap_or(AGAIN));
        } else {
            breach(&mut finding, what, H5.bug_classes[0]);
        }
    }
    if finding.ruling == Ruling::Pass {
        finding.headline = format!("the control is found out: {}", seen.join(", "));
    }
    finding
}

/// **H6** Whether numbers of findings lie within their bounds.
#[must_use]
pub fn expected_numbers(header: &Header, bounds: &[Bound], findings: &[Finding]) -> Finding {
    let mut finding = blank(H6, header, "the numbers lie within the bounds that the scenario declares".to_owned());
    let mut seen = Vec::new();
    if bounds.is_empty() {
        doubt(&mut finding, "no number is expected".to_owned(), "name a number and its bounds");
    }
    for bound in bounds {
        let Bound { check, number, min, max, missed } = bound;
        let found = findings.iter().find(|f| f.check == *check);
        let Some((found, value)) = found.and_then(|f| Some((f, number_of(f, number)?))) else {
            let names = found.map_or_else(Vec::new, |f| f.facts.iter().map(|x| x.name.clone()).collect());
            let advice =
                format!("its numbers are: {}", if names.is_empty() { "none".to_owned() } else { names.join("; ") });
            doubt(&mut finding, format!("{check} has no number `{number}`"), &advice);
            continue;
        };
        let within = format!("{} to {}", edge(*min), edge(*max));
        finding.facts.push(Fact { name: format!("{check}: {number}"), value: value.into(), unit: String::new() });
        finding.exhibit.push(format!("{check}: {number} {value}, expected {within}"));
        let inside = min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max) && !value.is_nan();
        if inside && found.ruling != Ruling::Inconclusive {
            seen.push(format!("{check} {number} {value}"));
        } else if found.ruling == Ruling::Inconclusive {
            let advice = found.advice.clone().unwrap_or_else(|| AGAIN.to_owned());
            doubt(&mut finding, format!("{check} is inconclusive, and so is its `{number}`"), &advice);
        } else if *missed == Missed::Inconclusive {
            doubt(&mut finding, format!("{check}: {number} is {value}, expected {within}"), AGAIN);
        } else {
            breach(&mut finding, format!("{check}: {number} is {value}, expected {within}"), "");
        }
    }
    if finding.ruling == Ruling::Pass {
        finding.headline = format!("{} numbers lie within their bounds: {}", seen.len(), seen.join(", "));
    }
    finding
}

const AGAIN: &str = "run it again on a quieter machine";

fn number_of(finding: &Finding, name: &str) -> Option<f64> {
    finding.facts.iter().find(|f| f.name == name)?.value.as_f64()
}

fn edge(bound: Option<f64>) -> String {
    bound.map_or_else(|| "any".to_owned(), |b| b.to_string())
}

fn blank(info: &'static CheckInfo, header: &Header, promise: String) -> Finding {
    Finding {
        check: info.id.to_owned(),
        name: info.name.to_owned(),
        scenario: header.scenario.clone(),
        subject: format!("harness, scenario {}", header.scenario),
        ruling: Ruling::Pass,
        headline: String::new(),
        promise,
        measured: info.measure.to_owned(),
        chance: None,
        facts: Vec::new(),
        lines: Vec::new(),
        exhibit: Vec::new(),
        bug_class: None,
        advice: None,
        reproduce: None,
    }
}

/// A failure stays the headline, whatever is missing beside it.
fn doubt(finding: &mut Finding, what: String, advice: &str) {
    if finding.ruling == Ruling::Pass {
        finding.ruling = Ruling::Inconclusive;
        finding.headline = what;
        finding.advice = Some(advice.to_owned());
    }
}

fn breach(finding: &mut Finding, what: String, class: &str) {
    if finding.ruling == Ruling::Fail {
        finding.headline += &format!("; {what}");
        return;
    }
    finding.ruling = Ruling::Fail;
    finding.headline = what;
    finding.chance = Some(Tail::IMPOSSIBLE);
    finding.bug_class = (!class.is_empty()).then(|| class.to_owned());
    finding.advice = None;
}
