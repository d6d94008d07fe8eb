//! A short summary for a pull request.

use crate::finding::{Finding, Ruling, Verdict};

use super::finding::{chance_words, evidence, title};
use super::text::clean;

/// Renders a verdict as a short Markdown summary: the counts, a table of what is not a pass, the evidence of each
/// failure folded away, and what was not promised.
#[must_use]
pub fn markdown(verdict: &Verdict) -> String {
    let mut out = vec![
        format!("### {}: {}", verdict.ruling.word(), escape(&verdict.service)),
        String::new(),
        format!(
            "{} passed, {} failed, {} inconclusive. Run `{}`, seed {}, {}.",
            verdict.count(Ruling::Pass),
            verdict.count(Ruling::Fail),
            verdict.count(Ruling::Inconclusive),
            code(&verdict.run),
            verdict.seed,
            escape(&verdict.placement)
        ),
    ];
    let open: Vec<_> = verdict.findings.iter().filter(|f| f.ruling != Ruling::Pass).collect();
    if !open.is_empty() {
        out.extend([
            String::new(),
            "| | check | scenario | what was seen |".to_owned(),
            "|---|---|---|---|".to_owned(),
        ]);
        out.extend(open.iter().map(|f| {
            let scenario = escape(&f.scenario);
            format!("| {} | {} | {scenario} | {} |", f.ruling.word(), escape(&title(f)), escape(&f.headline))
        }));
    }
    open.iter().filter(|f| f.ruling == Ruling::Fail).for_each(|f| out.extend(details(f)));
    if !verdict.not_promised.is_empty() {
        out.extend([String::new(), "Not promised, so not checked:".to_owned(), String::new()]);
        out.extend(
            verdict.not_promised.iter().map(|n| format!("- {}: {}", escape(&n.checks.join(" ")), escape(&n.what))),
        );
    }
    out.push(String::new());
    out.join("\n")
}

fn details(finding: &Finding) -> Vec<String> {
    let mut out =
        vec![String::new(), format!("<details><summary>{}</summary>", escape(&title(finding))), String::new()];
    out.push(format!("- promised: {}", escape(&finding.promise)));
    out.push(format!("- measured: {}", escape(&finding.measured)));
    out.extend(finding.chance.map(|c| format!("- chance: {}", escape(&chance_words(c)))));
    out.extend(finding.bug_class.as_ref().map(|c| format!("- looks like: {}", escape(c))));
    out.extend(finding.reproduce.as_ref().map(|c| format!("- reproduce: `{}`", code(c))));
    if !finding.lines.is_empty() {
        out.push(String::new());
        // An indented block cannot be closed from within, as a fence could.
        out.extend(finding.lines.iter().map(|l| format!("    {}", evidence(l))));
    }
    out.extend([String::new(), "</details>".to_owned()]);
    out
}

/// Foreign text in running Markdown: what could start markup, HTML, a mention or a table cell is escaped.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // A mention written as an entity notifies nobody, and reads the same.
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Foreign text between backticks.
fn code(text: &str) -> String {
    clean(text).replace('`', "'")
}
