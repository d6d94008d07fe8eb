//! What people read.

use judge::checks::catalogue;
use judge::render::{Style, explain, markdown, terminal};
use judge::{Ruling, Verdict};

use crate::{finding, verdict};

/// Proves the whole layout: a line for each check, then what is not a pass in full, the summary last.
#[test]
fn terminal_report() {
    let expected = "\
PASS          B1 TripsAtThreshold     breaker-recovery  opened after exactly 5 failures in each of 3 trip(s)
FAIL          B4 HalfOpenSingleProbe  breaker-recovery  probe/2: 7 backend calls while the probe was held, declared 1
INCONCLUSIVE  B3 OpenDuration         breaker-recovery  the machine paused for 80.0 ms

FAIL B4 HalfOpenSingleProbe  payments -> bank  probe/2: 7 backend calls while the probe was held, declared 1
  scenario    breaker-recovery
  promised    half-open lets exactly 1 call through
  measured    calls at the proxy while it held the probe
  numbers     callers 32; held for 21.5 ms
  chance      0: a correct service cannot fail this way, nothing is estimated
  looks like  transition and permit are not atomic
  evidence
       t+1500.000 ms  key key-7  attempt 1  probe/2: arrived +0.1 ms after the hold began, answered 201  trace 4bf92f35
  exhibit
    t+0.000 ms  closed  first call
  reproduce   harness verify contract.toml --only B4 --seed 7

INCONCLUSIVE B3 OpenDuration  payments -> bank  the machine paused for 80.0 ms
  scenario    breaker-recovery
  promised    half-open lets exactly 1 call through
  measured    calls at the proxy while it held the probe
  advice      run it again on a quieter machine

not promised, so not checked:
  R1 R2: a retry law: `[promises.retry]`

FAIL  1 check passed, 1 failed, 1 inconclusive  (payments, run r1, seed 7, process)
";
    assert_eq!(terminal(&verdict(), &Style { color: false, width: 100 }), expected);
}

/// Proves that a busy machine is explained once and summed up in one line, however many findings it spoiled.
#[test]
fn a_busy_machine_is_one_line() {
    let paused = |check: &str, ms: f64| {
        let headline = format!("the machine paused for {ms:.1} ms, longer than the noise bound of 60.0 ms");
        let fact = |name: &str, ms: f64| judge::Fact { name: name.into(), value: ms.into(), unit: "ms".into() };
        let facts = vec![fact("noise bound", 60.0), fact("canary, max", ms)];
        judge::Finding { facts, ..finding(check, "Quiet", Ruling::Inconclusive, &headline) }
    };
    let findings = vec![paused("H1", 80.0), paused("R2", 80.0), paused("H1", 95.5)];
    let text = terminal(&Verdict::of("r1", "payments", 7, "process", findings), &Style { color: false, width: 100 });
    let line = "the machine was busy (longest pause 95.5 ms, bound 60.0 ms): run again on a quieter machine";
    assert_eq!(text.lines().rev().nth(1), Some(line), "{text}");
    assert_eq!(text.matches("\nINCONCLUSIVE H1 Quiet").count(), 1, "{text}");
    assert_eq!(text.matches("\nINCONCLUSIVE R2 Quiet").count(), 1, "{text}");
    let fact = |name: &str, ms: f64| judge::Fact { name: name.into(), value: ms.into(), unit: "ms".into() };
    let facts =
        vec![fact("noise bound", 60.0), fact("canary, max", 3.0), fact("`pay` without a processor, max", 386.0)];
    let waited = |check: &str| {
        let headline = "`pay` waited 386.0 ms for a processor, longer than the noise bound of 60.0 ms";
        judge::Finding { facts: facts.clone(), ..finding(check, "Quiet", Ruling::Inconclusive, headline) }
    };
    let findings = vec![waited("H1"), waited("R5")];
    let text = terminal(&Verdict::of("r1", "payments", 7, "process", findings), &Style { color: false, width: 100 });
    assert!(text.contains("the machine was busy (longest pause 386.0 ms, bound 60.0 ms)"), "{text}");
    let quiet = terminal(&verdict(), &Style { color: false, width: 100 });
    assert!(!quiet.contains("the machine was busy"), "{quiet}");
}

/// Proves that colour is only colour: without its sequences the text is the same, and rulings differ by it.
#[test]
fn colour_changes_nothing_else() {
    let plain = terminal(&verdict(), &Style { color: false, width: 100 });
    let coloured = terminal(&verdict(), &Style { color: true, width: 100 });
    let codes = ["\u{1b}[32m", "\u{1b}[33m", "\u{1b}[1;31m"];
    codes.iter().for_each(|c| assert!(coloured.contains(c)));
    let stripped = codes.iter().fold(coloured, |text, c| text.replace(c, "")).replace("\u{1b}[0m", "");
    assert_eq!(stripped, plain);
}

/// Proves that narrow terminals wrap words under their text, never inside a word, and that the command to copy stays
/// whole.
#[test]
fn narrow_terminals_wrap() {
    let text = terminal(&verdict(), &Style { color: false, width: 0 });
    assert!(text.contains("  promised    half-open lets exactly 1\n              call through\n"), "{text}");
    assert!(text.contains("\n  reproduce   harness verify contract.toml --only B4 --seed 7\n"), "{text}");
}

/// Proves that a run which judged nothing does not read like success.
#[test]
fn nothing_judged_is_no_success() {
    let verdict = Verdict::of("r1", "payments", 7, "process", Vec::new());
    let text = terminal(&verdict, &Style::default());
    assert_eq!(text, "INCONCLUSIVE  nothing was judged  (payments, run r1, seed 7, process)\n");
    assert!(markdown(&verdict).starts_with("### INCONCLUSIVE: payments\n"));
}

/// Proves the short summary: counts, a row for each finding that is not a pass, evidence folded away.
#[test]
fn markdown_summary() {
    let expected = "\
### FAIL: payments

1 passed, 1 failed, 1 inconclusive. Run `r1`, seed 7, process.

| | check | scenario | what was seen |
|---|---|---|---|
| FAIL | B4 HalfOpenSingleProbe | breaker-recovery | probe/2: 7 backend calls while the probe was held, declared 1 |
| INCONCLUSIVE | B3 OpenDuration | breaker-recovery | the machine paused for 80.0 ms |

<details><summary>B4 HalfOpenSingleProbe</summary>

- promised: half-open lets exactly 1 call through
- measured: calls at the proxy while it held the probe
- chance: 0: a correct service cannot fail this way, nothing is estimated
- looks like: transition and permit are not atomic
- reproduce: `harness verify contract.toml --only B4 --seed 7`

       t+1500.000 ms  key key-7  attempt 1  probe/2: arrived +0.1 ms after the hold began, answered 201  trace 4bf92f35

</details>

Not promised, so not checked:

- R1 R2: a retry law: \\`\\[promises.retry\\]\\`
";
    assert_eq!(markdown(&verdict()), expected);
    let passed = Verdict::of("r1", "payments", 7, "process", vec![finding("B1", "Trips", Ruling::Pass, "fine")]);
    assert!(!markdown(&passed).contains("| check |"));
}

/// Proves that every check of the catalogue can be explained, by id and by name, within the width of a terminal.
#[test]
fn every_check_is_explained() {
    let mut ids = std::collections::BTreeSet::new();
    for info in catalogue::CATALOGUE {
        assert!(ids.insert(info.id) && ids.insert(info.name), "{} is there twice", info.id);
        assert_eq!(catalogue::info(&info.name.to_lowercase()), Some(info));
        let text = explain(info);
        assert!(text.starts_with(&format!("{} {}  (tier {})", info.id, info.name, info.tier.number())));
        for label in ["promise", "measure", "rule", "false alarm", "unsure when"] {
            assert!(text.contains(&format!("\n{label}")), "{}: {label}", info.id);
        }
        assert!(info.bug_classes.iter().all(|c| !c.is_empty()));
        assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
        // What is explained is written in whole sentences of our own, not left blank.
        for words in [info.promise, info.measure, info.rule, info.false_alarm, info.inconclusive, info.scenario] {
            assert!(words.len() > 2 && !words.contains("  "), "{}: {words:?}", info.id);
        }
    }
    let all = "R1 R2 R3 R4 R5 R6 R8 R9 R10 R11 R12 R13 R14 R15 I1 I2 I3 I4 I5 I6 I7 I8 I9 I10 B1 B2 B3 B4 B5 B6 B7 B8 B9 B10 \
               B11 B12 B13 T1 T2 G1 G2 G3 G4 S1 S2 S3 H1 H2 H3 H4 H5 H6";
    assert_eq!(catalogue::CATALOGUE.iter().map(|c| c.id).collect::<Vec<_>>().join(" "), all);
    assert_eq!(catalogue::info("r7"), Some(catalogue::R6));
}
