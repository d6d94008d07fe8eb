//! The report on a terminal: one line for each check, the details of what is not a pass, and the summary last, where
//! the eye is.

use crate::finding::{Finding, NotPromised, Ruling, Verdict};

use super::Style;
use super::finding::{body, title};
use super::text::{clean, plural, wrap};

/// Renders a verdict for a terminal or a log.
///
/// One line for each check with its key numbers; then every failed and every inconclusive finding in full, the machine's pauses once; then what
/// was not promised; then one line that sums up. With `color` the rulings are coloured; nothing else is.
#[must_use]
pub fn terminal(verdict: &Verdict, style: &Style) -> String {
    let mut out: Vec<String> = Vec::new();
    let names = verdict.findings.iter().map(|f| title(f).chars().count()).max().unwrap_or(0);
    let scenarios = verdict.findings.iter().map(|f| clean(&f.scenario).chars().count()).max().unwrap_or(0);
    for finding in &verdict.findings {
        let scenario = clean(&finding.scenario);
        let word = paint(finding.ruling, &format!("{:<12}", finding.ruling.word()), style);
        out.push(format!("{word}  {:<names$}  {scenario:<scenarios$}  {}", title(finding), clean(&finding.headline)));
    }
    let loudest = verdict.findings.iter().filter_map(longest_pause).max_by(|a, b| a.0.total_cmp(&b.0));
    let mut explained = false;
    for ruling in [Ruling::Fail, Ruling::Inconclusive] {
        for finding in verdict.findings.iter().filter(|f| f.ruling == ruling) {
            // One machine is explained once: its other pauses have their line in the table.
            if longest_pause(finding).is_some() && std::mem::replace(&mut explained, true) {
                continue;
            }
            out.push(String::new());
            out.extend(block(finding, style));
        }
    }
    if !verdict.not_promised.is_empty() {
        out.push(String::new());
        out.push("not promised, so not checked:".to_owned());
        out.extend(verdict.not_promised.iter().flat_map(|n| not_promised(n, style)));
    }
    if !out.is_empty() {
        out.push(String::new());
    }
    if let Some((pause, bound)) = loudest.filter(|_| blinded(verdict) > 1) {
        out.push(format!(
            "the machine was busy (longest pause {pause:.1} ms, bound {bound:.1} ms): run again on a quieter machine"
        ));
    }
    out.push(summary(verdict, style));
    out.push(String::new());
    out.join("\n")
}

/// The longest pause and its bound in milliseconds, where H1 could not rule for it.
fn longest_pause(finding: &Finding) -> Option<(f64, f64)> {
    let bound = || finding.facts.iter().find(|f| f.name == "noise bound")?.value.as_f64();
    // The canary's and each service's.
    let pauses = finding.facts.iter().filter(|f| f.name.ends_with(", max"));
    let longest = || pauses.filter_map(|f| f.value.as_f64()).max_by(f64::total_cmp);
    let busy = finding.check == "H1" && finding.ruling == Ruling::Inconclusive;
    busy.then(|| longest().zip(bound())).flatten()
}

/// What findings say of a pause, of the machine or of a service.
const PAUSED: [&str; 2] = ["the machine paused for", " for a processor, longer than"];

/// How many findings are inconclusive because the machine paused.
fn blinded(verdict: &Verdict) -> usize {
    let paused = |f: &&Finding| f.ruling == Ruling::Inconclusive && PAUSED.iter().any(|said| f.headline.contains(said));
    verdict.findings.iter().filter(paused).count()
}

fn block(finding: &Finding, style: &Style) -> Vec<String> {
    let word = paint(finding.ruling, finding.ruling.word(), style);
    let first = format!("{word} {}  {}  {}", title(finding), clean(&finding.subject), clean(&finding.headline));
    std::iter::once(first).chain(body(finding, style.width)).collect()
}

fn not_promised(entry: &NotPromised, style: &Style) -> Vec<String> {
    let checks: Vec<String> = entry.checks.iter().map(|c| clean(c)).collect();
    let text = format!("{}: {}", checks.join(" "), clean(&entry.what));
    let wrapped = wrap(&text, style.width.max(40) - 4);
    wrapped.into_iter().enumerate().map(|(i, line)| format!("{}{line}", if i == 0 { "  " } else { "    " })).collect()
}

fn summary(verdict: &Verdict, style: &Style) -> String {
    let word = paint(verdict.ruling, verdict.ruling.word(), style);
    let of = format!(
        "({}, run {}, seed {}, {})",
        clean(&verdict.service),
        clean(&verdict.run),
        verdict.seed,
        clean(&verdict.placement)
    );
    if verdict.findings.is_empty() {
        return format!("{word}  nothing was judged  {of}");
    }
    let mut parts = vec![format!("{} passed", plural(verdict.count(Ruling::Pass), "check"))];
    for (ruling, name) in [(Ruling::Fail, "failed"), (Ruling::Inconclusive, "inconclusive")] {
        let n = verdict.count(ruling);
        if n > 0 {
            parts.push(format!("{n} {name}"));
        }
    }
    format!("{word}  {}  {of}", parts.join(", "))
}

fn paint(ruling: Ruling, word: &str, style: &Style) -> String {
    if !style.color {
        return word.to_owned();
    }
    let code = match ruling {
        Ruling::Pass => "32",
        Ruling::Inconclusive => "33",
        Ruling::Fail => "1;31",
    };
    format!("\u{1b}[{code}m{word}\u{1b}[0m")
}
