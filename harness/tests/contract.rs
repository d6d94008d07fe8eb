//! A contract that is wrong says where, what, and what would be right.

use harness::contract::{Contract, ContractError};

const GOOD: &str = include_str!("../../fixtures/payments/contract.toml");

fn error(text: &str) -> ContractError {
    Contract::parse(text, "c.toml").expect_err("it is wrong")
}

/// Proves that an unknown key is an error with its line and the key that was probably meant, in every table.
#[test]
fn an_unknown_key_is_corrected() {
    for (good, bad, hint) in [
        ("pass_env", "pas_env", "pass_env"),
        ("degraded_header", "degraded_headr", "degraded_header"),
        ("settled =", "setled =", "settled"),
        ("attempt_timeout", "atempt_timeout", "attempt_timeout"),
        ("survives_restart", "survive_restart", "survives_restart"),
        ("fast_fail", "fastfail", "fast_fail"),
        ("eps =", "epps =", "eps"),
        ("[isolate.retry]", "[isolate.retries]", "retry"),
        ("cap = \"5s\"", "capp = \"5s\"", "cap"),
    ] {
        assert!(GOOD.contains(good), "{good}");
        let text = error(&GOOD.replacen(good, bad, 1)).to_string();
        assert!(text.contains(&format!("did you mean `{hint}`")), "{bad}: {text}");
        assert!(text.starts_with("c.toml:"), "{text}");
    }
}

/// Proves that a value out of range is refused with the field and what would be right.
#[test]
fn a_value_out_of_range_names_its_field() {
    for (good, bad, field) in [
        ("version = 1", "version = 2", "version"),
        ("attempts = 4", "attempts = 0", "promises.retry.attempts"),
        ("threshold = 5", "threshold = 0", "promises.breaker.threshold"),
        ("probes = 1", "probes = 0", "promises.breaker.probes"),
        ("open = \"500ms\"", "open = \"5ms\"", "promises.breaker.open"),
        ("in_flight = 409", "in_flight = 200", "promises.idempotency.in_flight"),
        ("eps = \"60ms\"", "eps = \"0ms\"", "noise.eps"),
        ("{amount}", "{amont}", "request.body"),
        ("method = \"POST\"", "method = \"post\"", "request.method"),
        ("method = \"POST\"", "method = \"TRACE\"", "request.method"),
        ("probes = 1", "probes = 1\ngrowth = 101", "promises.breaker.growth"),
        ("probes = 1", "probes = 1\ngrowth = nan", "promises.breaker.growth"),
        ("open = \"500ms\"", "open = \"7s\"\ngrowth = 99", "promises.breaker.growth"),
        ("probes = 1", "probes = 32", "promises.breaker.probes"),
        ("reject = 503", "reject = 200", "promises.breaker.reject"),
        ("mode = \"consecutive\"", "mode = \"window\"\nwindow = \"0s\"", "promises.breaker.window"),
        ("mode = \"consecutive\"", "mode = \"window\"\nwindow = \"11m\"", "promises.breaker.window"),
        ("timeout = \"20s\"", "timeout = \"1ms\"", "request.timeout"),
        ("timeout = \"20s\"", "timeout = \"11m\"", "request.timeout"),
        ("attempt_timeout = \"1s\"", "attempt_timeout = \"1ms\"", "promises.retry.attempt_timeout"),
        ("degraded_header = \"X-Degraded\"", "degraded_header = \"Host\"", "request.degraded_header"),
        ("degraded_header = \"X-Degraded\"", "degraded_header = \"X Degraded\"", "request.degraded_header"),
        (
            "replay_marker = \"X-Idempotency-Replay\"",
            "replay_marker = \"traceparent\"",
            "promises.idempotency.replay_marker",
        ),
        ("key_header = \"Idempotency-Key\"\ntimeout", "key_header = \"connection\"\ntimeout", "request.key_header"),
        ("upstream = \"mock-bank\"\nkey_header = \"Idempotency-Key\"", "key_header = \"a:b\"", "links.bank.key_header"),
        ("[links.bank]", "[links.\"b nk\"]", "links"),
        ("application/json", "a\\nb", "request.content_type"),
        ("url = \"http://", "url = \"https://", "service.url"),
        ("build = [\"cargo\"", "build = [\"\"", "service.build"),
        ("\"{bin.dir}/payments\"", "\"a\\u0000\"", "service.command"),
        ("\"PAYMENTS_DEFECT\"", "\"A=B\"", "service.pass_env"),
        ("PAYMENTS_LEASE =", "\"\" =", "service.env"),
        ("PAYMENTS_BREAKER = \"off\"", "PAYMENTS_BREAKER = \"\\u0000\"", "isolate.retry.PAYMENTS_BREAKER"),
        ("path = \"/payments\"", "path = \"payments\"", "request.path"),
        ("path = \"/ready\"", "path = \"ready\"", "service.ready.path"),
        ("\ndeadline = \"3s\"", "\ndeadline = \"1s\"", "promises.retry.deadline"),
        ("jitter = \"law\"", "limit = \"1h\"", "promises.retry.retry_after.limit"),
        ("jitter = \"law\"", "jitter = { up_to = \"1h\" }", "promises.retry.retry_after.jitter"),
        ("max_tokens = 10.0", "max_tokens = 0.5", "promises.retry.budget.max_tokens"),
        ("token_ratio = 0.2", "token_ratio = nan", "promises.retry.budget.token_ratio"),
        ("answer = \"3500ms\"", "answer = \"1h\"", "promises.timeout.answer"),
        ("spans = true", "spans = false", "telemetry.resend_count"),
        ("attempts = 75", "attempts = 19", "promises.retry.cap_check.attempts"),
        ("attempts = 75", "attempts = 201", "promises.retry.cap_check.attempts"),
        ("deadline = \"15s\"", "deadline = \"7s\"", "promises.retry.cap_check.deadline"),
        ("deadline = \"15s\"", "deadline = \"1ms\"", "promises.retry.cap_check.deadline"),
        (", deadline = \"15s\"", "", "promises.retry.cap_check.deadline"),
        ("cap = \"100ms\"", "cap = \"900us\"", "promises.retry.cap_check"),
        ("cap = \"100ms\"", "cap = \"9h\"", "promises.retry.cap_check"),
        ("cap = \"100ms\", deadline = \"15s\"", "cap = \"2s\", deadline = \"5m\"", "promises.retry.cap_check"),
        (
            "law = \"full\", base = \"200ms\", cap = \"5s\", factor = 2.0",
            "law = \"fixed\", base = \"200ms\"",
            "promises.retry.cap_check",
        ),
        (
            "[408, 425, 429, 500, 502, 503, 504, \"refuse\", \"reset\", \"cut\", \"hang\", \"lost\"]",
            "[\"refuse\", \"hang\"]",
            "promises.retry.cap_check",
        ),
    ] {
        assert!(GOOD.contains(good), "{good}");
        let error = error(&GOOD.replacen(good, bad, 1));
        assert!(matches!(&error, ContractError::Invalid { field: f, .. } if f == field), "{bad}: {error}");
    }
}

/// Proves that a wrong type, a wrong unit and a wrong word point at their line.
#[test]
fn a_wrong_value_points_at_its_line() {
    for (good, bad, word) in [
        ("base = \"200ms\"", "base = \"200 parsecs\"", "200 parsecs"),
        ("law = \"full\"", "law = \"fulll\"", "full"),
        ("kind = \"sqlite\"", "kind = \"sqllite\"", "sqlite"),
        ("attempts = 4", "attempts = \"four\"", "attempts"),
        ("\"refuse\"", "\"refused\"", "refuse"),
    ] {
        assert!(GOOD.contains(good), "{good}");
        let text = error(&GOOD.replacen(good, bad, 1)).to_string();
        assert!(text.contains(word), "{bad}: {text}");
        let line: usize = text.split(':').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
        assert!(line > 1, "{bad} has no line: {text}");
    }
}

/// Proves that a retryable hang that no scenario can cause is listed, and that a law without jitter lists R3.
#[test]
fn what_cannot_be_caused_is_not_promised() {
    // What the breaker makes of a hang cannot be promised either then.
    let text = GOOD.replacen("attempt_timeout = \"1s\"", "", 1).replacen("[429, \"hang\"]", "[429]", 1);
    let text = text.replacen("law = \"full\"", "law = \"exponential\"", 1);
    let listed = |text: &str| {
        let contract = Contract::parse(text, "c.toml").expect("it is right");
        contract.not_promised().into_iter().flat_map(|n| n.checks).collect::<Vec<_>>()
    };
    for check in ["R6 hang", "R3"] {
        assert!(listed(&text).iter().any(|c| c == check), "{check} is not listed");
        assert!(!listed(GOOD).iter().any(|c| c == check), "{check} is listed");
    }
}

/// Proves that a number in place of a duration, and a missing table, say what to write.
#[test]
fn an_error_shows_what_to_write() {
    let number = error(&GOOD.replacen("base = \"200ms\"", "base = 5", 1)).to_string();
    let option = error(&GOOD.replacen("attempt_timeout = \"1s\"", "attempt_timeout = 5", 1)).to_string();
    assert!(option.contains("a duration such as \"200ms\""), "{option}");
    assert!(number.contains("duration") || number.contains("200ms"), "{number}");
    let links =
        error("version = 1\n[service]\nname = \"s\"\ncommand = [\"s\"]\n[request]\npath = \"/p\"\nbody = \"b\"\n");
    assert!(links.to_string().contains("add [links.bank]"), "{links}");
}

/// Proves that a working directory that is not there and a file that is far too large are refused at load.
#[test]
fn the_place_of_the_file_is_checked() {
    let dir = std::env::temp_dir().join(format!("contract-place-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let path = dir.join("contract.toml");
    std::fs::write(&path, GOOD.replacen("stop_grace", "cwd = \"nowhere\"\nstop_grace", 1)).expect("written");
    let absent = Contract::load(&path);
    std::fs::write(&path, format!("{GOOD}\n#{}", "x".repeat(1024 * 1024))).expect("written");
    let large = Contract::load(&path);
    let _ = std::fs::remove_dir_all(&dir);
    assert!(matches!(absent, Err(ContractError::Invalid { field, .. }) if field == "service.cwd"));
    assert!(matches!(large, Err(ContractError::TooLarge { .. })));
}

/// Proves that a contract survives its own text: unchanged it keeps its comments, changed it is written anew, and what is
/// read back promises the same.
#[test]
fn a_contract_is_written_as_it_is() {
    let contract = Contract::parse(GOOD, "c.toml").expect("it is well formed");
    assert_eq!(contract.to_toml(), GOOD);
    let mut changed = contract.env("PAYMENTS_DEFECT", "no-jitter");
    changed.promises.retry.as_mut().expect("promised").attempts = 7;
    let text = changed.to_toml();
    let read = Contract::parse(&text, "c.toml").unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(read.promises, changed.promises);
    assert_eq!((&read.service, &read.request, &read.links), (&changed.service, &changed.request, &changed.links));
    assert_eq!((&read.ledger, &read.breaker_endpoint), (&changed.ledger, &changed.breaker_endpoint));
    assert_eq!((&read.isolate, &read.noise, &read.telemetry), (&changed.isolate, &changed.noise, &changed.telemetry));
}

/// Proves that the builder cannot fail, and that what it builds is validated like a file.
#[test]
fn a_built_contract_is_validated() {
    let built = Contract::of("shop", ["run-shop"], "/pay", "{amount} {reference}");
    assert_eq!(Contract::parse(&built.to_toml(), "b").expect("well formed").service, built.service);
    let wrong = Contract::of("shop", ["run-shop"], "pay", "{amount}").validated().expect_err("no leading slash");
    assert!(wrong.to_string().contains("request.path"), "{wrong}");
}
