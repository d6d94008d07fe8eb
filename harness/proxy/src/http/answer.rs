//! Reading the upstream's answer. All progress is kept here and not in a future, so that a reader may be dropped at any
//! moment (the client left) and another may go on.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use evidence::At;

use super::body::{BodyReader, Framing, Taken};
use super::head::{ResponseHead, length, may_be_response};
use crate::config::Limits;
use crate::link::Link;
use crate::tls;
use crate::traffic::Traffic;
use crate::wire::{Inbox, Wire};

/// A connection to the upstream.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) wire: Wire,
    pub(crate) inbox: Inbox,
    generation: u64,
}

impl Upstream {
    pub(crate) async fn dial(link: &Link) -> Result<Self, String> {
        let traffic = Traffic::within(&link.flow.upstream);
        let (wire, generation) = tls::connect(link, traffic, Some(tls::HTTP_1)).await?;
        Ok(Self { wire, inbox: Inbox::default(), generation })
    }

    pub(crate) fn tap(&mut self) -> Tap<'_> {
        Tap { wire: &self.wire, inbox: &mut self.inbox }
    }

    /// Whether another request may go over it: it leads where the link points now, and the upstream has neither closed
    /// it nor sent anything unasked. When the upstream closes it after this look, the request fails; the proxy never
    /// sends a request twice.
    pub(crate) fn is_usable(&self, link: &Link) -> bool {
        self.inbox.is_empty() && self.generation == link.target().generation && self.wire.is_quiet()
    }
}

/// The receiving side of a connection to the upstream.
#[derive(Debug)]
pub(crate) struct Tap<'a> {
    pub(crate) wire: &'a Wire,
    pub(crate) inbox: &'a mut Inbox,
}

/// Why an answer did not come whole.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) why: String,
    /// The upstream sent RST rather than FIN.
    pub(crate) is_reset: bool,
}

impl Failure {
    fn closed(why: &str) -> Self {
        Self { why: why.to_owned(), is_reset: false }
    }
}

/// The answer to one request, as far as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    method: String,
    head: Option<Arc<ResponseHead>>,
    body: BodyReader,
}

/// What came of a head.
#[derive(Debug)]
pub(crate) enum Heading {
    /// An interim answer (1xx): its bytes and its status.
    Interim(Bytes, u16),
    /// The answer itself.
    Final(Arc<ResponseHead>),
}

impl Answer {
    pub(crate) fn to(method: &str) -> Self {
        Self { method: method.to_owned(), head: None, body: BodyReader::new(Framing::Empty) }
    }

    /// The final head, once it came.
    pub(crate) fn known_head(&self) -> Option<&ResponseHead> {
        self.head.as_deref()
    }

    /// Whether it came whole.
    pub(crate) fn is_whole(&self) -> bool {
        self.head.is_some() && self.body.is_done()
    }

    /// When it was whole.
    pub(crate) fn whole_at(&self, inbox: &Inbox) -> Option<At> {
        self.is_whole().then(|| inbox.last_came())
    }

    /// Whether the connection may carry another request behind it.
    pub(crate) fn leaves_connection_usable(&self) -> bool {
        self.is_whole() && self.known_head().is_some_and(|h| h.keep_alive && !h.is_tunnel)
    }

    /// The next head.
    pub(crate) async fn head(&mut self, up: &mut Tap<'_>, limits: &Limits) -> Result<Heading, Failure> {
        loop {
            let bytes = up.inbox.bytes();
            if !may_be_response(bytes) {
                return Err(Failure::closed("the upstream's answer is not HTTP/1.x"));
            }
            match length(bytes) {
                Some(n) if n <= limits.head_bytes => {
                    let raw = up.inbox.take(n);
                    let head = ResponseHead::parse(raw, &self.method)
                        .map_err(|why| Failure::closed(&format!("the upstream's answer cannot be read: {why}")))?;
                    if head.status < 200 && head.status != 101 {
                        return Ok(Heading::Interim(head.raw, head.status));
                    }
                    self.body = BodyReader::new(head.framing);
                    let head = Arc::new(head);
                    self.head = Some(Arc::clone(&head));
                    return Ok(Heading::Final(head));
                }
                None if bytes.len() < limits.head_bytes => {}
                _ => return Err(Failure::closed("the head of the upstream's answer is too long")),
            }
            let nothing = up.inbox.is_empty();
            match up.wire.fill(up.inbox).await {
                Ok(0) if nothing => return Err(Failure::closed("the upstream closed without an answer")),
                Ok(0) => return Err(Failure::closed("the upstream closed in the middle of its head")),
                Ok(_) => {}
                Err(e) => return Err(broken(&e)),
            }
        }
    }

    /// What is there of the body, up to `at_most` payload bytes, and how many those are. Does not wait.
    pub(crate) fn ready(&mut self, up: &mut Tap<'_>, at_most: u64) -> Result<(Bytes, u64), Failure> {
        let Taken { raw, payload } = self
            .body
            .take(up.inbox.bytes(), at_most, |_| {})
            .map_err(|why| Failure::closed(&format!("the upstream's body cannot be read: {why}")))?;
        Ok((up.inbox.take(raw), payload))
    }

    /// Waits for the next piece of the body; `None` when it is over.
    pub(crate) async fn piece(&mut self, up: &mut Tap<'_>, at_most: u64) -> Result<Option<(Bytes, u64)>, Failure> {
        loop {
            if self.body.is_done() {
                return Ok(None);
            }
            let (bytes, payload) = self.ready(up, at_most)?;
            if !bytes.is_empty() {
                return Ok(Some((bytes, payload)));
            }
            match up.wire.fill(up.inbox).await {
                Ok(0) if self.body.end_of_stream() => return Ok(None),
                Ok(0) => return Err(Failure::closed("the upstream closed in the middle of its body")),
                Ok(_) => {}
                Err(e) => return Err(broken(&e)),
            }
        }
    }

    /// Reads to the end and throws away what comes.
    pub(crate) async fn drain(&mut self, up: &mut Tap<'_>, limits: &Limits) -> Result<(), Failure> {
        while self.head.is_none() {
            self.head(up, limits).await?;
        }
        while self.piece(up, u64::MAX).await?.is_some() {}
        Ok(())
    }
}

fn broken(error: &io::Error) -> Failure {
    Failure { why: format!("the upstream broke off: {error}"), is_reset: true }
}
