//! One finding in full: the body that terminal and JUnit share.

use crate::finding::{Fact, Finding, Line};
use crate::stats::Tail;

use super::text::{clean, labelled};

/// The body of a finding, without its first line.
pub(super) fn body(finding: &Finding, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut row = |label: &str, text: &str| lines.extend(labelled(2, label, text, width));
    row("scenario", &clean(&finding.scenario));
    row("promised", &clean(&finding.promise));
    row("measured", &clean(&finding.measured));
    if !finding.facts.is_empty() {
        row("numbers", &numbers(&finding.facts));
    }
    if let Some(chance) = finding.chance {
        row("chance", &chance_words(chance));
    }
    if let Some(class) = &finding.bug_class {
        row("looks like", &clean(class));
    }
    if let Some(advice) = &finding.advice {
        row("advice", &clean(advice));
    }
    if !finding.lines.is_empty() {
        lines.push("  evidence".to_owned());
        lines.extend(finding.lines.iter().map(|l| format!("    {}", evidence(l))));
    }
    if !finding.exhibit.is_empty() {
        lines.push("  exhibit".to_owned());
        lines.extend(finding.exhibit.iter().map(|l| format!("    {}", clean(l)).trim_end().to_owned()));
    }
    if let Some(command) = &finding.reproduce {
        // Never wrapped: it is there to be copied.
        lines.push(format!("  {:<12}{}", "reproduce", clean(command)));
    }
    lines
}

/// `B4 HalfOpenSingleProbe`.
pub(super) fn title(finding: &Finding) -> String {
    format!("{} {}", clean(&finding.check), clean(&finding.name))
}

/// All facts in one line.
pub(super) fn numbers(facts: &[Fact]) -> String {
    facts.iter().map(number).collect::<Vec<_>>().join("; ")
}

fn number(fact: &Fact) -> String {
    let unit = if fact.unit.is_empty() { String::new() } else { format!(" {}", clean(&fact.unit)) };
    format!("{} {}{unit}", clean(&fact.name), value(fact))
}

/// A fact's value as text: strings without quotes, fractions with four significant digits, everything else as JSON.
pub(super) fn value(fact: &Fact) -> String {
    match &fact.value {
        serde_json::Value::String(text) => clean(text),
        serde_json::Value::Number(n) if n.is_f64() => n.as_f64().map_or_else(|| n.to_string(), rounded),
        other => clean(&other.to_string()),
    }
}

/// Four significant digits, without trailing zeros: people compare these, programs read the JSON.
fn rounded(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let magnitude = x.abs().log10().floor();
    if !(-4.0..15.0).contains(&magnitude) {
        return format!("{x:.3e}");
    }
    let digits = (3.0 - magnitude).max(0.0) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// How likely a correct service fails like this.
pub(super) fn chance_words(chance: Tail) -> String {
    match chance.probability() {
        Some(0.0) => "0: a correct service cannot fail this way, nothing is estimated".to_owned(),
        Some(_) => format!("{chance} that a correct service is failed"),
        None => "not computable".to_owned(),
    }
}

/// One line of evidence.
pub(super) fn evidence(line: &Line) -> String {
    let mut out = format!("{:>16}", line.at.to_string());
    if let Some(key) = &line.key {
        out += &format!("  key {}", clean(key));
    }
    if let Some(attempt) = line.attempt {
        out += &format!("  attempt {attempt}");
    }
    out += &format!("  {}", clean(&line.text));
    if let Some(trace) = &line.trace {
        out += &format!("  trace {}", clean(trace));
    }
    out
}
