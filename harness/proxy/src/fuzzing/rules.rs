//! Claims over the rule grammar.

use crate::rules::{Call, Rule, rules_from_json};

/// Rules that are accepted mean the same when they are written out and read again, and may be asked about any call.
pub(super) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let rules = match rules_from_json(text) {
        Ok(rules) => rules,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let written = serde_json::to_string(&rules).expect("rules can be written");
    let again = rules_from_json(&written).unwrap_or_else(|error| panic!("{written} is refused: {error}"));
    assert_eq!(again, rules, "{written}");
    rules.iter().for_each(asked);
}

/// Asks what the engine asks of a rule that is in force.
fn asked(rule: &Rule) {
    assert!(
        !rule.what().is_empty() && (rule.faults().next().is_some() || rule.expect.is_some()),
        "nothing to do: {rule:?}"
    );
    let headers = [("x-tenant".to_owned(), "acme".to_owned())];
    for ordinal in [0, 1, u32::MAX] {
        let call = Call {
            method: "POST",
            target: "/charges?x=1",
            key: Some("pay-1"),
            ordinal,
            trace: None,
            headers: &headers,
        };
        assert!(rule.matching.fits(&call) || !rule.matching.is_any(), "a rule for every call passes one by");
    }
}
