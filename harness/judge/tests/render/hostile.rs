//! Text that a service chose must not act on a terminal, a build server or a pull request.

use judge::evidence::At;
use judge::render::{Style, json, junit, markdown, terminal};
use judge::{Fact, Finding, Line, NotPromised, Ruling, Verdict};
use proptest::prelude::*;

use crate::failed;
use crate::xml::well_formed;

/// A verdict with `text` in every field that can come from outside.
fn poisoned(text: &str) -> Verdict {
    let t = || text.to_owned();
    let one = |ruling| Finding {
        check: t(),
        name: t(),
        scenario: t(),
        subject: t(),
        ruling,
        headline: t(),
        promise: t(),
        measured: t(),
        facts: vec![Fact { name: t(), value: serde_json::Value::String(t()), unit: t() }],
        lines: vec![Line { at: At(1), key: Some(t()), attempt: None, trace: Some(t()), text: t() }],
        exhibit: vec![t()],
        bug_class: Some(t()),
        advice: Some(t()),
        reproduce: Some(t()),
        ..failed()
    };
    let findings = [Ruling::Pass, Ruling::Inconclusive, Ruling::Fail].map(one).to_vec();
    let mut verdict = Verdict::of(text, text, 7, text, findings);
    verdict.not_promised.push(NotPromised { checks: vec![t()], what: t() });
    verdict
}

/// Lines that the report itself makes, so that a line too many is seen.
fn lines(text: &str) -> usize {
    terminal(&poisoned(text), &Style { color: false, width: 10_000 }).lines().count()
}

fn harmless(text: &str) {
    let verdict = poisoned(text);
    let shown = terminal(&verdict, &Style { color: false, width: 10_000 });
    assert!(shown.chars().all(|c| !c.is_control() || c == '\n'), "{shown:?}");
    assert_eq!(lines(text), lines("x"), "{text:?} made lines of its own");
    let xml = junit(&verdict);
    well_formed(&xml).unwrap_or_else(|e| panic!("{e}: {xml}"));
    let summary = markdown(&verdict);
    assert!(summary.chars().all(|c| !c.is_control() || c == '\n'), "{summary:?}");
    let data = json(&verdict);
    assert!(data.chars().all(|c| !c.is_control() || c == '\n'), "{data:?}");
    assert_eq!(serde_json::from_str::<Verdict>(&data).expect("JSON"), verdict);
}

/// Proves it for the known tricks: terminal sequences, forged lines, markup, characters that XML forbids, direction
/// marks.
#[test]
fn known_tricks_are_neutralised() {
    for trick in [
        "\u{1b}[2J\u{1b}[1;1HPASS",
        "\u{9b}31m",
        "\u{1b}]0;title\u{7}",
        "fine\nPASS  B4 HalfOpenSingleProbe",
        "fine\r\nPASS",
        "\u{2028}PASS\u{2029}\u{85}PASS",
        "</failure></testcase><testcase name=\"x\"/>",
        "]]> <![CDATA[ &lt; &#x1b; \" '",
        "\0\u{1}\u{8}\u{b}\u{c}\u{1f}\u{7f}\u{fffe}\u{ffff}",
        "\u{202e}SSAP\u{202c}\u{2066}\u{feff}\u{200b}",
        "| a | b |\n|---|\n```\n</details><script>alert(1)</script>",
        "@everyone [x](javascript:alert) `code`",
        "",
    ] {
        harmless(trick);
    }
    let summary = markdown(&poisoned("<script>@team</script> | ![x](y)"));
    let markup: Vec<_> = summary.lines().filter(|l| !l.starts_with("    ") && l.contains("<script>")).collect();
    assert!(markup.iter().all(|l| l.starts_with("- reproduce: `") || l.contains("Run `")), "{markup:#?}");
}

/// Proves that an escape is visible, so that the reader sees that something was there.
#[test]
fn what_is_neutralised_stays_visible() {
    let shown = terminal(&poisoned("\u{1b}[31m"), &Style::default());
    assert!(shown.contains("\\u{1b}[31m"), "{shown}");
}

/// Proves that a service cannot flood a report.
#[test]
fn long_text_is_cut() {
    let shown = terminal(&poisoned(&"x".repeat(1_000_000)), &Style::default());
    assert!(shown.len() < 200_000, "{}", shown.len());
}

proptest! {
    /// Proves it for whatever else there is.
    #[test]
    fn any_text_is_harmless(text in "\\PC{0,20}|[\\x00-\\x7f]{0,40}|(?s:.){0,20}|\\p{C}{0,20}") {
        harmless(&text);
    }
}
