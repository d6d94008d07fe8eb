//! Reading the upstream's answer on one stream. All progress is kept here and not in a future, so that a reader may be
//! dropped at any moment (the client left) and another may go on.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;

use bytes::Bytes;
use evidence::At;
use h2::client::ResponseFuture;
use h2::{Reason, RecvStream};
use http::{HeaderMap, Response, StatusCode, response};

use super::fields::{fields_of, list_bytes};
use super::grpc::status_of;
use crate::clock::Clock;
use crate::rules::Patch;

/// Why an answer did not come whole.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) why: String,
    pub(super) scope: Scope,
}

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// This stream.
    Stream(Reason),
    /// The connection, and with it all streams.
    Connection {
        /// By RST rather than FIN.
        is_reset: bool,
        /// With this GOAWAY.
        goaway: Option<Reason>,
    },
}

impl From<h2::Error> for Failure {
    fn from(error: h2::Error) -> Self {
        let why = format!("the upstream broke off: {error}");
        let scope = match error.reason() {
            // It was not worked on: the same as a stream that is refused.
            Some(Reason::NO_ERROR) if error.is_go_away() => Scope::Stream(Reason::REFUSED_STREAM),
            Some(code) if error.is_go_away() => Scope::Connection { is_reset: false, goaway: Some(code) },
            Some(code) => Scope::Stream(code),
            None => {
                let is_reset = error.get_io().is_some_and(|e| e.kind() == io::ErrorKind::ConnectionReset);
                Scope::Connection { is_reset, goaway: None }
            }
        };
        Self { why, scope }
    }
}

/// What came of a head.
#[derive(Debug)]
pub(super) enum Heading {
    /// An interim answer (1xx).
    Interim(Response<()>),
    /// The answer itself.
    Final(Head),
}

enum Came {
    Interim(Response<()>),
    Final(Response<RecvStream>),
}

/// The head of an answer.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) fields: HeaderMap,
    code: StatusCode,
}

impl Head {
    /// As the framing layer takes it.
    pub(super) fn response(&self) -> Response<()> {
        let mut response = Response::new(());
        *response.status_mut() = self.code;
        response.headers_mut().clone_from(&self.fields);
        response
    }

    /// Its size as HTTP/2 counts it.
    pub(super) fn bytes(&self) -> usize {
        list_bytes(self.fields.iter().map(|(name, value)| (name.as_str().len(), value.len())))
    }

    /// The head as the client gets it. The body comes as it is.
    pub(super) fn patched(&self, patch: &Patch) -> Self {
        let mut head = self.clone();
        if let Some(code) = patch.status.and_then(|status| StatusCode::from_u16(status).ok()) {
            if matches!(self.status, 204 | 304) {
                // Such an answer has no body whatever it says; under another status it has to be true.
                head.fields.remove(http::header::CONTENT_LENGTH);
            }
            (head.status, head.code) = (code.as_u16(), code);
        }
        patch.remove.iter().for_each(|name| drop(head.fields.remove(name.as_str())));
        let set = fields_of(patch.set.clone().into_iter());
        // In place of all those of the same name.
        set.iter().for_each(|(name, value)| drop(head.fields.insert(name, value.clone())));
        head
    }

    pub(super) fn retry_after(&self) -> Option<String> {
        self.fields.get("retry-after").map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned())
    }

    fn new(parts: response::Parts) -> Self {
        Self { status: parts.status.as_u16(), code: parts.status, fields: parts.headers }
    }
}

/// The answer on one stream, as far as it came.
#[derive(Debug)]
pub(super) struct Answer {
    clock: Clock,
    response: ResponseFuture,
    head: Option<Head>,
    body: Option<RecvStream>,
    /// What came and was not yet asked for.
    rest: Bytes,
    pub(super) trailers: Option<HeaderMap>,
    whole: Option<At>,
}

impl Answer {
    pub(super) fn new(clock: Clock, response: ResponseFuture) -> Self {
        Self { clock, response, head: None, body: None, rest: Bytes::new(), trailers: None, whole: None }
    }

    /// The final head, once it came.
    pub(super) fn known_head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// When it was whole.
    pub(super) fn whole_at(&self) -> Option<At> {
        self.whole.filter(|_| self.rest.is_empty())
    }

    pub(super) fn is_whole(&self) -> bool {
        self.whole_at().is_some()
    }

    /// `grpc-status`, from the trailers or from a head that is all there is.
    pub(super) fn grpc_status(&self) -> Option<u32> {
        let in_head = || self.head.as_ref().filter(|_| self.whole.is_some()).and_then(|h| status_of(&h.fields));
        self.trailers.as_ref().and_then(status_of).or_else(in_head)
    }

    /// The next head.
    pub(super) async fn head(&mut self) -> Result<Heading, Failure> {
        let response = &mut self.response;
        let next = poll_fn(|cx| match response.poll_informational(cx) {
            Poll::Ready(Some(interim)) => Poll::Ready(interim.map(Came::Interim)),
            Poll::Ready(None) => Pin::new(&mut *response).poll(cx).map_ok(Came::Final),
            // Asking for the final head now would throw away an interim one that comes in this moment.
            Poll::Pending => Poll::Pending,
        });
        let last = match next.await? {
            Came::Interim(interim) => return Ok(Heading::Interim(interim)),
            Came::Final(last) => last,
        };
        let (parts, body) = last.into_parts();
        let head = Head::new(parts);
        self.whole = body.is_end_stream().then(|| self.clock.now());
        self.body = Some(body);
        self.head = Some(head.clone());
        Ok(Heading::Final(head))
    }

    /// Waits for the next piece of the body; `None` when it is over and the trailers, if any, are known. The upstream may
    /// send more only after [`Answer::took`].
    pub(super) async fn piece(&mut self, at_most: u64) -> Result<Option<Bytes>, Failure> {
        if self.rest.is_empty() {
            let Some(body) = self.body.as_mut().filter(|_| self.whole.is_none()) else { return Ok(None) };
            match body.data().await.transpose()? {
                Some(bytes) => self.rest = bytes,
                None => {
                    self.trailers = body.trailers().await?;
                    self.whole = Some(self.clock.now());
                    return Ok(None);
                }
            }
            if body.is_end_stream() {
                self.whole = Some(self.clock.now());
            }
        }
        let n = usize::try_from(at_most).unwrap_or(usize::MAX).min(self.rest.len());
        Ok(Some(self.rest.split_to(n)))
    }

    /// Lets the upstream send `n` more bytes.
    pub(super) fn took(&mut self, n: usize) {
        if let Some(body) = &mut self.body {
            // An error says that nothing more can come.
            let _over = body.flow_control().release_capacity(n);
        }
    }

    /// Reads to the end and throws away what comes.
    pub(super) async fn drain(&mut self) -> Result<(), Failure> {
        while self.head.is_none() {
            self.head().await?;
        }
        while let Some(piece) = self.piece(u64::MAX).await? {
            self.took(piece.len());
        }
        Ok(())
    }
}
