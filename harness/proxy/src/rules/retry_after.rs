//! `Retry-After` in all the forms that clients meet.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// A `Retry-After` field (RFC 9110, 10.2.3), right or wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RetryAfter {
    /// So many seconds. Negative numbers are malformed, and are sent as they are.
    Seconds(i64),
    /// A date so many seconds from the moment of the strike, as IMF-fixdate; negative ones have passed.
    HttpDateInS(i64),
    /// This text.
    Text(String),
}

impl RetryAfter {
    /// The field's value, when the moment is `now`.
    pub(crate) fn value(&self, now: SystemTime) -> String {
        match self {
            RetryAfter::Seconds(seconds) => seconds.to_string(),
            RetryAfter::HttpDateInS(seconds) => {
                let span = Duration::from_secs(seconds.unsigned_abs());
                let then = if *seconds < 0 { now.checked_sub(span) } else { now.checked_add(span) };
                httpdate::fmt_http_date(then.unwrap_or(SystemTime::UNIX_EPOCH).max(SystemTime::UNIX_EPOCH))
            }
            RetryAfter::Text(text) => text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves each form to the letter; the date is RFC 9110's own example.
    #[test]
    fn forms_are_written() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let value = |form: RetryAfter| form.value(now);
        assert_eq!(value(RetryAfter::Seconds(2)), "2");
        assert_eq!(value(RetryAfter::Seconds(-1)), "-1");
        assert_eq!(value(RetryAfter::Seconds(i64::MAX)), "9223372036854775807");
        assert_eq!(value(RetryAfter::HttpDateInS(0)), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(value(RetryAfter::HttpDateInS(3)), "Sun, 06 Nov 1994 08:49:40 GMT");
        assert_eq!(value(RetryAfter::HttpDateInS(-60)), "Sun, 06 Nov 1994 08:48:37 GMT");
        assert_eq!(value(RetryAfter::HttpDateInS(i64::MIN)), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(value(RetryAfter::Text("soon".into())), "soon");
    }
}
