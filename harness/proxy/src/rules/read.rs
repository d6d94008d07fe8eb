//! Rules from a file.

use serde::Deserialize;

use super::{Rule, RuleError};
use crate::strict;

/// A longer rules file is refused.
pub const MAX_RULES_BYTES: usize = 4 << 20;

/// Reads a JSON array of rules, or an object with such an array under `rules`, and validates each.
///
/// # Errors
/// Says which line or which field of which rule is wrong.
pub fn rules_from_json(text: &str) -> Result<Vec<Rule>, RuleError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        rules: Vec<Rule>,
    }
    if text.len() > MAX_RULES_BYTES {
        return Err(RuleError::Unreadable { field: None, why: format!("longer than {MAX_RULES_BYTES} bytes") });
    }
    if !text.trim_start().starts_with(['{', '[']) {
        let what = "this is no list of rules: that is an array of rules, or an object with one under `rules`";
        return Err(RuleError::Unreadable { field: None, why: what.to_owned() });
    }
    let rules = if text.trim_start().starts_with('{') {
        strict::from_slice::<File>(text.as_bytes())?.rules
    } else {
        strict::from_slice::<Vec<Rule>>(text.as_bytes())?
    };
    rules.iter().try_for_each(Rule::validate)?;
    Ok(rules)
}
