//! The promises about keys and degraded answers: what does not fit together says what would.

use harness::battery::SCENARIOS;
use harness::contract::{Contract, ContractError};
use harness::judge::promise::{AgeUnit, Memo, Place};

const GOOD: &str = include_str!("../../fixtures/payments/contract.toml");

/// Proves that promises which a run could not test, or which lack what they need, are refused with their field.
#[test]
fn promises_that_cannot_be_tested_name_their_field() {
    let keys = "promises.idempotency";
    for (good, bad, field) in [
        ("caller_header = \"X-Caller\"\n", "", format!("{keys}.scope")),
        ("[\"shop-a\", \"shop-b\"]", "[\"one\"]", "request.callers".to_owned()),
        ("[\"shop-a\", \"shop-b\"]", "[\"one\", \"one\"]", "request.callers".to_owned()),
        ("caller_header = \"X-Caller\"", "caller_header = \"Host\"", "request.caller_header".to_owned()),
        ("ttl = \"1500ms\"\n", "", format!("{keys}.ttl")),
        ("ttl = \"1500ms\"\n", "ttl = \"24h\"\n", format!("{keys}.ttl")),
        ("ttl = \"1500ms\"\n", "ttl = \"1ms\"\n", format!("{keys}.ttl")),
        ("lease = \"2s\"\n", "lease = \"0s\"\n", format!("{keys}.lease")),
        ("survives_restart = true\n", "", format!("{keys}.lease")),
        ("mismatch = 422\n", "", format!("{keys}.fingerprint")),
        ("body = '{{\"amount\": {amount}", "body = '{{\"amount\"= {amount}", format!("{keys}.fingerprint")),
        ("{ status = 409, body", "{ status = 200, body", format!("{keys}.waits_out.status")),
        ("{ status = 409, body", "{ content_type = \" \", body", format!("{keys}.waits_out.content_type")),
        ("read = \"/payments/{id}/", "read = \"/payments/", "promises.degradation.read".to_owned()),
        ("read = \"/payments/{id}/", "read = \"/payments/{key}/", "promises.degradation.read".to_owned()),
        ("marker = \"X-Degraded\"", "marker = \"X Degraded\"", "promises.degradation.marker".to_owned()),
        ("confirmed = [\"confirmed\"]", "confirmed = []", "promises.degradation.confirmed".to_owned()),
        ("max_age = \"1500ms\"", "max_age = \"1h\"", "promises.degradation.max_age".to_owned()),
        ("fresh_within = \"1s\"", "fresh_within = \"1ms\"", "promises.degradation.fresh_within".to_owned()),
    ] {
        assert!(GOOD.contains(good), "{good}");
        let error = Contract::parse(&GOOD.replacen(good, bad, 1), "c.toml").expect_err("it is wrong");
        assert!(matches!(&error, ContractError::Invalid { field: f, .. } if *f == field), "{good} -> {bad}: {error}");
    }
}

/// Proves that the route which shares the payment's keys is one that can: it is named exactly when keys belong to routes, it
/// is there, moves money by a key, and over the main link. Each error says what to do.
#[test]
fn a_route_that_cannot_share_keys_is_refused() {
    let named = "scope_route = \"topup\"";
    for (good, bad, advice) in [
        (format!("{named}\n"), "", "name one of [routes]"),
        ("[\"caller\", \"route\"]".to_owned(), "[\"caller\"]", "take scope_route out"),
        (named.to_owned(), "scope_route = \"top-up\"", "add [routes.top-up]"),
        (named.to_owned(), "scope_route = \"rates\"", "whose method is GET"),
        ("/topups\"\n".to_owned(), "/topups\"\nkey = false\n", "take `key = false` out of [routes.topup]"),
        ("\nlink = \"bank\"\n".to_owned(), "\nlink = \"rates\"\n", "the main link, `bank`"),
    ] {
        assert_eq!(GOOD.matches(&good).count(), 1, "{good}");
        let error = Contract::parse(&GOOD.replacen(&good, bad, 1), "c.toml").expect_err("it is wrong");
        let ContractError::Invalid { field, .. } = &error else { panic!("{error}") };
        assert_eq!(field, "promises.idempotency.scope_route", "{error}");
        assert!(error.to_string().contains(advice), "{advice}: {error}");
    }
    // Without a route of its own a scope of callers asks for none.
    let callers = GOOD.replace("[\"caller\", \"route\"]\nscope_route = \"topup\"", "[\"caller\"]");
    assert!(Contract::parse(&callers, "c.toml").is_ok());
}

/// Proves that the words of the contract are read as they are written.
#[test]
fn words_are_read_as_written() {
    let contract = Contract::parse(GOOD, "c.toml").expect("it is right");
    let (keys, degradation) = (contract.promises.idempotency.as_ref(), contract.promises.degradation.as_ref());
    assert_eq!(keys.and_then(|k| k.memo), Some(Memo::SuccessesAndRefusals));
    let degradation = degradation.expect("promised");
    assert_eq!((&degradation.age, degradation.age_unit), (&Place::Member("/age_ms".to_owned()), AgeUnit::Millis));
    assert_eq!(degradation.marker, Place::Header("X-Degraded".to_owned()));
}

/// Proves that each of these promises brings its scenario and its check, and is listed where it is absent.
#[test]
fn an_absent_promise_is_listed_and_not_checked() {
    for (line, check, scenario) in [
        ("memo = \"2xx+4xx\"\n", "I7", Some("key-memo")),
        ("scope = [\"caller\", \"route\"]\nscope_route = \"topup\"\n", "I8", Some("key-scope")),
        ("ttl = \"1500ms\"\nafter_ttl = \"new\"\n", "I9", Some("key-expiry")),
        (
            "waits_out = { status = 409, body = '{\"type\":\"urn:mock-bank:key-in-flight\",\"status\":409}' }\n",
            "I10",
            Some("bank-conflict"),
        ),
        ("lease = \"2s\"\n", "I6 lease", None),
        ("fingerprint = \"canonical\"\n", "I4 spelling", None),
    ] {
        assert!(GOOD.contains(line), "{line}");
        let without = Contract::parse(&GOOD.replacen(line, "", 1), "c.toml").expect("it is right");
        let with = Contract::parse(GOOD, "c.toml").expect("it is right");
        let lists = |c: &Contract| c.not_promised().iter().any(|n| n.checks.iter().any(|c| c == check));
        let runs = |c: &Contract| SCENARIOS.iter().any(|s| Some(s.name) == scenario && s.applies(c));
        assert_eq!((lists(&without), lists(&with)), (true, false), "{check}");
        assert_eq!((runs(&without), runs(&with)), (false, scenario.is_some()), "{check}");
    }
    // Of a scope that names one owner the other one is listed.
    let scope = "[\"caller\", \"route\"]\nscope_route = \"topup\"";
    for (scope_alone, other) in [("[\"caller\"]", "I8 route"), ("[\"route\"]\nscope_route = \"topup\"", "I8 caller")] {
        let one = Contract::parse(&GOOD.replacen(scope, scope_alone, 1), "c.toml").expect("it is right");
        let listed: Vec<_> = one.not_promised().into_iter().flat_map(|n| n.checks).collect();
        assert_eq!(listed.iter().filter(|c| c.starts_with("I8")).collect::<Vec<_>>(), [other]);
        assert!(SCENARIOS.iter().any(|s| s.name == "key-scope" && s.applies(&one)));
    }
    let mut bare = Contract::parse(GOOD, "c.toml").expect("it is right");
    bare.promises.degradation = None;
    let listed: Vec<_> = bare.not_promised().into_iter().flat_map(|n| n.checks).collect();
    assert!(["G1", "G2", "G3", "G4"].iter().all(|g| listed.iter().any(|c| c == g)), "{listed:?}");
}
