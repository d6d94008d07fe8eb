//! gRPC statuses as header fields.

use std::fmt::Write;

use http::HeaderMap;

use crate::rules::GrpcStatus;

/// The media type of gRPC.
const MEDIA_TYPE: &str = "application/grpc";

/// The fields of an answer that is a status alone.
pub(crate) fn grpc_fields(status: &GrpcStatus) -> impl Iterator<Item = (String, String)> {
    let kind = [("content-type".to_owned(), MEDIA_TYPE.to_owned())];
    kind.into_iter().chain(status_fields(status))
}

/// The fields of the status itself, as trailers have them.
pub(super) fn status_fields(status: &GrpcStatus) -> impl Iterator<Item = (String, String)> {
    let code = ("grpc-status".to_owned(), status.code.number().to_string());
    let message = status.message.as_ref().map(|m| ("grpc-message".to_owned(), percent_encoded(m)));
    let pushback = status.retry_pushback_ms.map(|ms| ("grpc-retry-pushback-ms".to_owned(), ms.to_string()));
    [Some(code), message, pushback].into_iter().flatten()
}

/// `grpc-status` among the fields.
pub(super) fn status_of(fields: &HeaderMap) -> Option<u32> {
    fields.get("grpc-status")?.to_str().ok()?.trim().parse().ok()
}

/// The gRPC protocol leaves printable ASCII as it is, but for the percent sign.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if (b' '..=b'~').contains(&byte) && byte != b'%' {
            encoded.push(char::from(byte));
        } else {
            // Writing into a String cannot fail.
            let _infallible = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves the encoding of `grpc-message`: UTF-8 bytes, control bytes and the percent sign itself are escaped.
    #[test]
    fn messages_are_percent_encoded() {
        assert_eq!(percent_encoded("bank down: 100%"), "bank down: 100%25");
        assert_eq!(percent_encoded("zu sp\u{e4}t\n"), "zu sp%C3%A4t%0A");
    }
}
