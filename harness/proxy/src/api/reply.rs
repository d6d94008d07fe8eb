//! What a handler answers.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use tokio::sync::mpsc;

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    /// Apart from the rest, so that a refusal stays small.
    pub(crate) headers: Box<HeaderMap>,
    pub(crate) content: Content,
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Content {
    /// All of it.
    Whole(Bytes),
    /// As it comes: it ends when the sender is dropped, and when the server stops.
    Stream(mpsc::Receiver<Bytes>),
}

/// The body of every refusal on our own paths.
#[derive(Debug, Serialize)]
struct Refusal<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    status: u16,
}

impl Reply {
    /// An answer without a body.
    pub(crate) fn empty(status: u16) -> Self {
        Self::whole(status, None, Bytes::new())
    }

    /// A JSON answer.
    pub(crate) fn json(status: u16, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => Self::whole(status, Some("application/json"), body.into()),
            Err(e) => Self::refusal(500, format!("the answer cannot be written: {e}")),
        }
    }

    /// A text answer of a type.
    pub(crate) fn text(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self::whole(status, Some(content_type), body.into())
    }

    /// An answer whose body comes piece by piece. Use a bounded channel: a slow reader holds its sender up.
    pub(crate) fn stream(content_type: &'static str, pieces: mpsc::Receiver<Bytes>) -> Self {
        let mut reply = Self::whole(200, Some(content_type), Bytes::new());
        reply.content = Content::Stream(pieces);
        reply
    }

    /// A refusal on our own paths, `{"error":..., "status":...}`.
    pub(crate) fn refusal(status: u16, error: impl AsRef<str>) -> Self {
        Self::json(status, &Refusal { error: error.as_ref(), field: None, status })
    }

    /// A refusal that names the field which does not hold.
    pub(crate) fn refused_field(status: u16, field: &str, error: impl AsRef<str>) -> Self {
        Self::json(status, &Refusal { error: error.as_ref(), field: Some(field), status })
    }

    /// A method that a path of ours does not have.
    pub(crate) fn no_method(allowed: &'static str) -> Self {
        Self::refusal(405, format!("this path takes {allowed}"))
            .with(http::header::ALLOW, HeaderValue::from_static(allowed))
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    fn whole(status: u16, content_type: Option<&'static str>, body: Bytes) -> Self {
        let mut headers = Box::new(HeaderMap::new());
        if let Some(content_type) = content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        // Handlers use numbers of the standard; anything else is a mistake of ours.
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, headers, content: Content::Whole(body) }
    }
}
