//! Claims over the rule grammar.

use serde_json::Value;

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
    let (before, after) = (serde_json::to_value(&rules), serde_json::to_value(&again));
    assert!(alike(&before.expect("a value"), &after.expect("a value")), "{written} is read as {again:?}");
    rules.iter().for_each(asked);
}

/// Equal, but for the last digit of a fraction: serde reads one of seventeen digits and more to within that.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap_or_default(), b.as_f64().unwrap_or_default());
            (a - b).abs() <= 4.0 * f64::EPSILON * a.abs()
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| alike(a, b)))
        }
        _ => one == other,
    }
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
