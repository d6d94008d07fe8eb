//! JUnit XML for continuous integration.

use std::fmt::Write as _;

use crate::finding::{Finding, Ruling, Verdict};

use super::finding::{body, title, value};
use super::text::clean;

/// Columns of the text in a `<failure>`.
const WIDTH: usize = 120;

/// Renders a verdict as JUnit XML: a `testsuite` for each scenario, a `testcase` for each check.
///
/// A failed check is a `<failure>`, an inconclusive one an `<error>`: neither lets a build pass. `seed`, `run` and
/// `placement` are properties of the suite; `chance` and the check's numbers (`n` and so on) are properties of the
/// case. A verdict without findings becomes one `<error>`. The output is well-formed XML 1.0 whatever the service
/// said.
#[must_use]
pub fn junit(verdict: &Verdict) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let (fails, errors) = (verdict.count(Ruling::Fail), verdict.count(Ruling::Inconclusive));
    let nothing = verdict.findings.is_empty();
    let (tests, errors) = (verdict.findings.len() + usize::from(nothing), errors + usize::from(nothing));
    let service = attribute(&verdict.service);
    line(
        &mut out,
        0,
        &format!("<testsuites name=\"harness {service}\" tests=\"{tests}\" failures=\"{fails}\" errors=\"{errors}\">"),
    );
    if nothing {
        line(&mut out, 1, "<testsuite name=\"harness\" tests=\"1\" failures=\"0\" errors=\"1\">");
        properties(&mut out, 2, &run(verdict));
        line(&mut out, 2, &format!("<testcase classname=\"{service}\" name=\"verdict\">"));
        line(&mut out, 3, "<error message=\"nothing was judged\" type=\"INCONCLUSIVE\"/>");
        line(&mut out, 2, "</testcase>");
        line(&mut out, 1, "</testsuite>");
    }
    for scenario in scenarios(verdict) {
        suite(&mut out, verdict, scenario);
    }
    out.push_str("</testsuites>\n");
    out
}

/// Scenarios in the order of their first finding.
fn scenarios(verdict: &Verdict) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for finding in &verdict.findings {
        if !found.contains(&finding.scenario.as_str()) {
            found.push(&finding.scenario);
        }
    }
    found
}

fn suite(out: &mut String, verdict: &Verdict, scenario: &str) {
    let findings: Vec<_> = verdict.findings.iter().filter(|f| f.scenario == scenario).collect();
    let count = |ruling| findings.iter().filter(|f| f.ruling == ruling).count();
    let (tests, fails, errors) = (findings.len(), count(Ruling::Fail), count(Ruling::Inconclusive));
    let name = attribute(scenario);
    line(out, 1, &format!("<testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{fails}\" errors=\"{errors}\">"));
    properties(out, 2, &run(verdict));
    for finding in findings {
        case(out, finding, &format!("{}.{name}", attribute(&verdict.service)));
    }
    line(out, 1, "</testsuite>");
}

fn case(out: &mut String, finding: &Finding, class: &str) {
    line(out, 2, &format!("<testcase classname=\"{class}\" name=\"{}\">", attribute(&title(finding))));
    let mut facts = Vec::new();
    if let Some(chance) = finding.chance {
        facts.push(("chance".to_owned(), chance.to_string()));
    }
    for fact in &finding.facts {
        let unit = if fact.unit.is_empty() { String::new() } else { format!(" {}", clean(&fact.unit)) };
        facts.push((fact.name.clone(), value(fact) + &unit));
    }
    properties(out, 3, &facts);
    let element = match finding.ruling {
        Ruling::Pass => None,
        Ruling::Fail => Some("failure"),
        Ruling::Inconclusive => Some("error"),
    };
    match element {
        None => line(out, 3, &format!("<system-out>{}</system-out>", escape(&clean(&finding.headline)))),
        Some(element) => {
            let (message, word) = (attribute(&finding.headline), finding.ruling.word());
            line(out, 3, &format!("<{element} message=\"{message}\" type=\"{} {word}\">", attribute(&finding.check)));
            line(out, 0, &escape(&format!("{}  {}", title(finding), clean(&finding.subject))));
            body(finding, WIDTH).iter().for_each(|l| line(out, 0, &escape(l)));
            line(out, 3, &format!("</{element}>"));
        }
    }
    line(out, 2, "</testcase>");
}

fn run(verdict: &Verdict) -> Vec<(String, String)> {
    vec![
        ("seed".to_owned(), verdict.seed.to_string()),
        ("run".to_owned(), verdict.run.clone()),
        ("placement".to_owned(), verdict.placement.clone()),
    ]
}

fn properties(out: &mut String, depth: usize, all: &[(String, String)]) {
    if all.is_empty() {
        return;
    }
    line(out, depth, "<properties>");
    for (name, value) in all {
        line(out, depth + 1, &format!("<property name=\"{}\" value=\"{}\"/>", attribute(name), attribute(value)));
    }
    line(out, depth, "</properties>");
}

fn line(out: &mut String, depth: usize, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{:1$}{text}", "", 2 * depth);
}

/// Foreign text in an attribute.
fn attribute(text: &str) -> String {
    escape(&clean(text))
}

/// Markup characters of clean text. `clean` has made visible what XML 1.0 forbids.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c => out.push(c),
        }
    }
    out
}
