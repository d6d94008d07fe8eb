//! Errors name the line and the field, and say what would be right.

use harness::contract::Contract;
use harness::scenario::{ScenarioError, ScenarioFile};

use crate::{SHORT, folder};

fn parsed(text: &str) -> Result<ScenarioFile, ScenarioError> {
    ScenarioFile::parse(text, "s.toml")
}

fn refused(text: &str) -> String {
    parsed(text).expect_err(text).to_string()
}

/// Proves that every committed scenario is well formed, fits the contract that it names, and is written as it is read.
#[test]
fn committed_scenarios_are_well_formed() {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder()).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let file = ScenarioFile::load(&path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(path.file_stem().and_then(|s| s.to_str()), Some(file.name.as_str()), "named as its file");
        let contract = file.contract().and_then(|c| file.applied(c)).unwrap_or_else(|e| panic!("{e}"));
        assert!(contract.service.env.len() >= file.service.env.len());
        let again = toml::to_string(&file).expect("it can be written");
        let back = parsed(&again).unwrap_or_else(|e| panic!("{e}\n{again}"));
        assert_eq!(ScenarioFile { dir: file.dir.clone(), text: file.text.clone(), ..back }, file);
        seen += 1;
    }
    assert!(seen >= 4, "{seen} scenarios");
}

/// Proves that a mistyped key, a wrong type and a wrong word are placed in the text, with the nearest known word.
#[test]
fn what_is_not_readable_has_a_place() {
    let error = refused(&SHORT.replace("payments = 3", "paymens = 3"));
    assert!(error.starts_with("s.toml:6:1: unknown field `paymens`"), "{error}");
    assert!(error.contains("did you mean `payments`?") && error.contains("    paymens = 3\n"), "{error}");
    let error = refused(&SHORT.replace("payments = 3", "payments = 3\nshape = \"atonce\""));
    assert!(error.contains("s.toml:7:") && error.contains("did you mean `at-once`?"), "{error}");
    let error = refused(&format!("{SHORT}[[faults]]\nwhat = \"loss\"\n"));
    assert!(error.contains("s.toml:10:") && error.contains("\"lost\""), "{error}");
    let error = refused(&format!("{SHORT}[[faults]]\nwhat = 503\nto = \"soon\"\n"));
    assert!(error.contains("s.toml:11:") && error.contains("neither \"answered\" nor a time"), "{error}");
    assert!(refused("version = 1\n").contains("missing field `name`"));
    let error = ScenarioFile::load(folder().join("no-such.toml")).expect_err("it is not there").to_string();
    assert!(error.contains("no-such.toml") && error.contains("give the path"), "{error}");
}

/// Proves that parts which do not fit together are refused with line, field and what would be right.
#[test]
fn what_does_not_fit_says_what_would() {
    let control = "[[variants]]\nname = \"bad\"\ncontrol = true\n";
    let fault = |rest: &str| format!("{SHORT}[[faults]]\nwhat = 503\n{rest}\n");
    let with = |from: &str, to: &str| SHORT.replace(from, to);
    let cases = [
        (with("version = 1", "version = 2"), "s.toml:1: version: is 2, but this build reads version 1"),
        (with("\"short\"", "\"a b\""), "s.toml:2: name: is `a b`; use up to 60"),
        (with("[\"I1\"]", "[]"), "s.toml:4: checks: is empty; name some of R1"),
        (with("[\"I1\"]", "[\"B4\"]"), "s.toml:4: checks[0]: is `B4`; a scenario file can be judged by R1"),
        (with("[\"I1\"]", "[\"I1\", \"I1\"]"), "s.toml:4: checks[1]: names I1 a second time"),
        (
            with("[\"I1\"]", "[\"H4\"]"),
            "s.toml:4: checks: names H4, which judges payments without a fault; add [steady]",
        ),
        (with("[\"I1\"]", "[\"R3\"]"), "load.step: is `load`, but R3 reads the step `herd`; name it so"),
        (with("payments = 3", "payments = 0"), "s.toml:6: load.payments: is 0; give 1 to 20000"),
        (with("payments = 3", "payments = 3\nin_flight = 2"), "s.toml:7: load.in_flight: goes with shape = \"waves\""),
        (with("payments = 3", "payments = 3\nshape = \"paced\""), "load.over: goes with shape = \"paced\""),
        (fault("from = \"2s\"\nto = \"1s\""), "s.toml:12: faults[0].to: is 1s, not after `from` = 2s"),
        (fault("first = 0"), "s.toml:11: faults[0].first: is 0"),
        (fault("strikes = 0"), "s.toml:11: faults[0].strikes: is 0: a fault that need not strike proves nothing"),
        (fault("delay = \"1s\""), "s.toml:11: faults[0].delay: goes with what = \"slow\""),
        (fault("from = \"11m\""), "s.toml:11: faults[0].from: is 660s; give at most 10m"),
        (format!("{SHORT}{control}"), "variants[1].expect: names no check that fails"),
        (
            format!("{SHORT}{control}expect = {{ R3 = \"fail\" }}\n"),
            "s.toml:12: variants[1].expect.R3: R3 does not judge",
        ),
        (format!("{SHORT}expect = {{ I1 = \"fail\" }}\n"), "s.toml:9: variants[0].expect: belongs to a control"),
        (
            with("name = \"sound\"", "name = \"sound\"\ncontrol = true\nexpect = { I1 = \"fail\" }"),
            "holds controls only",
        ),
        (format!("{SHORT}[[variants]]\nname = \"sound\"\n"), "s.toml:10: variants[1].name: is `sound` a second time"),
        (
            format!("{SHORT}numbers = [{{ check = \"I1\", number = \"x\" }}]\n"),
            "numbers[0]: needs `min`, `max` or both",
        ),
        (
            format!("{SHORT}numbers = [{{ check = \"S1\", number = \"x\", min = 1 }}]\n"),
            "is `S1`, which does not judge",
        ),
    ];
    for (text, wanted) in cases {
        let error = refused(&text);
        assert!(error.contains(wanted), "wanted {wanted}\ngot    {error}");
    }
}

/// Proves what only the contract can tell: a link that it has not, a promise that a check needs, a law without jitter.
#[test]
fn what_does_not_fit_the_contract_is_refused() {
    let contract = || {
        let path = folder().join("../payments/contract.toml");
        Contract::load(path).expect("the reference contract")
    };
    let refused = |text: &str, contract: Contract| {
        parsed(text).expect("well formed").applied(contract).expect_err(text).to_string()
    };
    let error = refused(&format!("{SHORT}[[faults]]\nlink = \"bnk\"\nwhat = 503\n"), contract());
    assert!(error.contains("short:10: faults[0].link: is no link of the contract; its links are bank"), "{error}");
    let mut promiseless = contract();
    promiseless.promises.retry = None;
    let error = refused(&SHORT.replace("I1", "R1"), promiseless);
    assert!(error.contains("names R1, which judges by [promises.retry]"), "{error}");
    let text = SHORT.replace("I1", "R3").replace("payments = 3", "payments = 3\nstep = \"herd\"")
        + "[promises.retry]\nattempts = 2\nretryable = [503]\nbackoff = { law = \"fixed\", base = \"1s\" }\n";
    assert!(refused(&text, contract()).contains("has no jitter"), "{text}");
    // What a scenario puts into the contract must make one: the contract's own words are shown.
    let error = refused(&format!("{SHORT}[service.env]\n\"A=B\" = \"c\"\n"), contract());
    assert!(error.contains("contract: ") && error.contains("A=B"), "{error}");
}

/// Proves what a scenario puts into the contract: its environment on top of every table, its promises in place of those
/// of the same name, its patience; and that everything else stays.
#[test]
fn the_contract_is_overridden() {
    let text = format!(
        "{SHORT}[service.env]\nPAYMENTS_BREAKER = \"window\"\n[client]\ntimeout = \"7s\"\n[promises.recovery]\nwithin = \"9s\"\n"
    );
    let file = parsed(&text).expect("well formed");
    let contract = Contract::load(folder().join("../payments/contract.toml")).expect("the reference contract");
    let applied = file.applied(contract.clone()).expect("it fits");
    // The contract says something else where it isolates the breaker or the retries.
    assert_ne!(contract.isolate.retry.get("PAYMENTS_BREAKER").map(String::as_str), Some("window"));
    for env in [&applied.service.env, &applied.isolate.retry, &applied.isolate.breaker] {
        assert_eq!(env.get("PAYMENTS_BREAKER").map(String::as_str), Some("window"));
    }
    assert_eq!(applied.request.timeout.as_secs(), 7);
    assert_eq!(applied.promises.recovery.map(|r| r.within.as_secs()), Some(9));
    assert_eq!(applied.promises.retry, contract.promises.retry);
    // No check of it reads spans, so none are waited for.
    assert!(contract.telemetry.spans && !applied.telemetry.spans);
}
