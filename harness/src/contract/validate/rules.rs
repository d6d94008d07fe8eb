//! Rules that several fields share.

use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};

use super::Checked;

/// The longest time that a battery can wait for.
pub(super) const LONGEST: Duration = Duration::from_secs(600);
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(10);
/// Headers that the client or HTTP itself sets: a service's own meaning of them could not be told from that.
const RESERVED: [&str; 6] =
    ["traceparent", "host", "content-length", "content-type", "transfer-encoding", "connection"];

/// `Ok` when it holds, else the field with its problem.
pub(super) fn require(holds: bool, field: &str, problem: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err((field.to_owned(), problem())) }
}

/// A time-out that a run can wait for.
pub(super) fn timeout(field: &str, value: Duration) -> Checked {
    require((SHORTEST_TIMEOUT..=LONGEST).contains(&value), field, || format!("is {value:?}; give 10ms to 10m"))
}

/// A header that the service may give a meaning to.
pub(super) fn header(field: &str, name: &str) -> Checked {
    require(HeaderName::from_bytes(name.as_bytes()).is_ok(), field, || {
        format!("is `{}`, which is not a header name; give one such as Idempotency-Key", name.escape_debug())
    })?;
    let reserved = RESERVED.iter().any(|r| r.eq_ignore_ascii_case(name));
    require(!reserved, field, || format!("is `{name}`, which HTTP or the harness itself sets; give another header"))
}

/// A text that can be handed to the operating system.
pub(super) fn no_nul(field: &str, text: &str) -> Checked {
    require(!text.contains('\0'), field, || "holds a NUL character; take it out".to_owned())
}

/// A program and its arguments.
pub(super) fn command(field: &str, words: &[String]) -> Checked {
    let named = words.first().is_some_and(|w| !w.trim().is_empty());
    require(named, field, || "is empty; give the program and its arguments as a list".to_owned())?;
    words.iter().try_for_each(|word| no_nul(field, word))
}

/// The name of an environment variable.
pub(super) fn variable(field: &str, name: &str) -> Checked {
    require(!name.is_empty() && !name.contains(['=', '\0']), field, || {
        format!("has the name `{}`; a variable's name is not empty and has no `=` or NUL", name.escape_debug())
    })
}

/// A path on a service.
pub(super) fn path(field: &str, path: &str) -> Checked {
    require(path.starts_with('/'), field, || format!("is `{path}`; it must begin with `/`"))?;
    no_nul(field, path)
}

/// The method of a request.
pub(super) fn method(field: &str, method: &str) -> Checked {
    require(!method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase()), field, || {
        format!("is `{method}`; give a method in capitals, e.g. POST")
    })
}

/// A text with the variables of an order.
pub(super) fn template(field: &str, text: &str) -> Checked {
    let sample = [("amount", "1"), ("reference", "x")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    crate::place::template::render(text, &sample).map(drop).map_err(|e| (field.to_owned(), e.to_string()))
}

/// The content type of a body.
pub(super) fn media_type(field: &str, text: &str) -> Checked {
    let typed = !text.trim().is_empty() && HeaderValue::from_str(text).is_ok();
    require(typed, field, || format!("is `{}`; give a media type, e.g. application/json", text.escape_debug()))
}

/// A name that stands in variables, folders and on the wire.
pub(super) fn name(table: &str, name: &str) -> Checked {
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    require(plain, table, || {
        let example = if table == "links" { "bank" } else { "rates" };
        let shown = name.escape_debug();
        format!("has the name `{shown}`; use letters, digits, `_` and `-`, as in [{table}.{example}]")
    })
}
