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
