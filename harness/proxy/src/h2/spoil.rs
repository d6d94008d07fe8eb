//! Answers that are not whole HTTP/2 answers. Each ends with FIN, and so the other streams of the connection do.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use super::client::Gone;
use super::door::Order;
use super::ending::{Aftermath, Ending};
use crate::http::malformed::noise_bytes;
use crate::rules::Malformed;

/// Body of an answer where the upstream's is not there.
const PAYLOAD: &[u8] = br#"{"result":"this body is whole"}"#;
/// Type and flags of a HEADERS frame that is one block.
const HEADERS: [u8; 2] = [1, 4];
/// Type and flags of a DATA frame.
const DATA: [u8; 2] = [0, 0];

/// What a malformed answer is made of.
struct Basis {
    status: StatusCode,
    fields: HeaderMap,
    payload: Bytes,
}

impl Ending {
    /// Says what the kind says in its well-formed part, and gives the end that goes with it.
    pub(super) async fn spoil(&mut self, kind: Malformed, noise: u64) -> Result<Order, Gone> {
        let stream = self.client.stream();
        let noise = noise_bytes(noise);
        let basis = self.basis();
        let (length, half) = (basis.payload.len(), basis.payload.len() / 2);
        match kind {
            Malformed::Empty => Ok(Order::cut()),
            // Read as a frame it has a length that no frame may have.
            Malformed::RandomDataThenClose => Ok(Order::noise([&[0xff], noise.as_slice()].concat())),
            // A header block that is no HPACK: its first field has an index beyond any table.
            Malformed::GarbageHead => {
                Ok(Order::noise(frame(64 + 5, HEADERS, stream, &[&[0xff; 5], &noise[..]].concat())))
            }
            Malformed::BadChunk => {
                self.say(&basis, None, half, false).await?;
                Ok(Order::noise(frame(0x00ff_ffff, DATA, stream, &noise)))
            }
            Malformed::TruncatedBody => {
                self.say(&basis, Some(length), half, true).await?;
                Ok(Order::cut())
            }
            Malformed::WrongLength => {
                self.say(&basis, Some(half), length, true).await?;
                Ok(Order::cut())
            }
        }
    }

    /// Sends a head, and so many bytes of the body.
    async fn say(&mut self, basis: &Basis, length: Option<usize>, bytes: usize, ends: bool) -> Result<(), Gone> {
        let mut head = Response::new(());
        *head.status_mut() = basis.status;
        *head.headers_mut() = basis.fields.clone();
        if let Some(length) = length {
            head.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
        let span = self.client.head(head, false).await?;
        self.draft.reply.status = Some(basis.status.as_u16());
        self.draft.reply.wrote(span);
        let span = self.client.data(basis.payload.slice(..bytes), ends).await?;
        self.draft.reply.wrote(span);
        Ok(())
    }

    /// The upstream's answer when it is there, or one like it.
    fn basis(&mut self) -> Basis {
        let mut basis = Basis {
            status: StatusCode::OK,
            fields: HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]),
            payload: Bytes::from_static(PAYLOAD),
        };
        if let Aftermath::Owed(owed) = &mut self.aftermath
            && let Some(head) = owed.answer.known_head()
        {
            let (parts, ()) = head.response().into_parts();
            (basis.status, basis.fields) = (parts.status, parts.headers);
            basis.fields.remove(header::CONTENT_LENGTH);
            let payload = std::mem::take(&mut owed.kept).concat();
            if payload.len() > 1 {
                basis.payload = Bytes::from(payload);
            }
        }
        basis
    }
}

/// A frame that says that its payload has that length.
fn frame(length: u32, kind: [u8; 2], stream: u32, payload: &[u8]) -> Vec<u8> {
    [&length.to_be_bytes()[1..], &kind, &stream.to_be_bytes(), payload].concat()
}
