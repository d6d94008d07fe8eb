//! Claims over the small grammars inside header fields.

use evidence::TraceContext;

use crate::rules::is_token;

/// A `traceparent` is read exactly when it is well formed, and is written as it was read.
pub(super) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let token = is_token(&text);
    assert_eq!(token, http::HeaderName::from_bytes(bytes).is_ok() || http_method(bytes), "{text:?}");
    let context = TraceContext::from_traceparent(&text);
    assert_eq!(context.is_some(), well_formed(text.trim()), "{text:?}");
    if let Some(context) = context {
        let written = context.to_traceparent();
        assert_eq!(TraceContext::from_traceparent(&written), Some(context), "{written}");
        assert!(text.trim()[3..52].eq_ignore_ascii_case(&written[3..52]), "ids are kept as they are");
    }
}

fn http_method(bytes: &[u8]) -> bool {
    http::Method::from_bytes(bytes).is_ok()
}

/// The grammar of W3C Trace Context, spelled out anew, except that capital digits are read too.
fn well_formed(text: &str) -> bool {
    let hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
    let id = |part: &str, n: usize| part.len() == n && hex(part) && part.bytes().any(|b| b != b'0');
    let parts: Vec<&str> = text.split('-').collect();
    let [version, trace, parent, flags, more @ ..] = parts.as_slice() else { return false };
    let version_holds = version.len() == 2 && hex(version) && !version.eq_ignore_ascii_case("ff");
    let flags_hold = flags.len() == 2 && hex(flags);
    version_holds && flags_hold && id(trace, 32) && id(parent, 16) && (more.is_empty() || *version != "00")
}
