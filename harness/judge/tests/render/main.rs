//! Reports say what a person and a build server need, and nothing that a hostile service wants them to say.

mod hostile;
mod programs;
mod texts;
mod xml;

use judge::evidence::At;
use judge::stats::Tail;
use judge::{Fact, Finding, Line, NotPromised, Ruling, Verdict};

fn finding(check: &str, name: &str, ruling: Ruling, headline: &str) -> Finding {
    Finding {
        check: check.into(),
        name: name.into(),
        scenario: "breaker-recovery".into(),
        subject: "payments -> bank".into(),
        ruling,
        headline: headline.into(),
        promise: "half-open lets exactly 1 call through".into(),
        measured: "calls at the proxy while it held the probe".into(),
        chance: None,
        facts: Vec::new(),
        lines: Vec::new(),
        exhibit: Vec::new(),
        bug_class: None,
        advice: None,
        reproduce: None,
    }
}

fn failed() -> Finding {
    Finding {
        chance: Some(Tail::IMPOSSIBLE),
        facts: vec![
            Fact { name: "callers".into(), value: 32.into(), unit: String::new() },
            Fact { name: "held for".into(), value: 21.5.into(), unit: "ms".into() },
        ],
        lines: vec![Line {
            at: At(1_500_000_000),
            key: Some("key-7".into()),
            attempt: Some(1),
            trace: Some("4bf92f35".into()),
            text: "probe/2: arrived +0.1 ms after the hold began, answered 201".into(),
        }],
        exhibit: vec!["t+0.000 ms  closed  first call".into()],
        bug_class: Some("transition and permit are not atomic".into()),
        reproduce: Some("harness verify contract.toml --only B4 --seed 7".into()),
        ..finding(
            "B4",
            "HalfOpenSingleProbe",
            Ruling::Fail,
            "probe/2: 7 backend calls while the probe was held, declared 1",
        )
    }
}

/// One of each ruling, and something that is not promised.
fn verdict() -> Verdict {
    let unsure = Finding {
        advice: Some("run it again on a quieter machine".into()),
        ..finding("B3", "OpenDuration", Ruling::Inconclusive, "the machine paused for 80.0 ms")
    };
    let passed =
        finding("B1", "TripsAtThreshold", Ruling::Pass, "opened after exactly 5 failures in each of 3 trip(s)");
    let mut verdict = Verdict::of("r1", "payments", 7, "process", vec![passed, failed(), unsure]);
    let what = "a retry law: `[promises.retry]`".into();
    verdict.not_promised.push(NotPromised { checks: vec!["R1".into(), "R2".into()], what });
    verdict
}
