//! The connection to the upstream: one for each client connection, kept while both live, dialled again when it is gone.

use std::future::poll_fn;
use std::task::Poll;

use bytes::Bytes;
use h2::client::SendRequest;

use super::limits;
use crate::link::Link;
use crate::tls;
use crate::traffic::Traffic;
use crate::wire::Inbox;

/// Where the streams of one client connection are sent.
#[derive(Debug, Default)]
pub(super) struct Uplink {
    kept: tokio::sync::Mutex<Option<Kept>>,
}

#[derive(Debug)]
struct Kept {
    sender: SendRequest<Bytes>,
    generation: u64,
}

impl Uplink {
    /// A handle that takes one request. Streams that come while a dial goes on wait for that one.
    pub(super) async fn sender(&self, link: &Link) -> Result<SendRequest<Bytes>, String> {
        let mut kept = self.kept.lock().await;
        if let Some(known) = kept.as_mut()
            && known.generation == link.target().generation
            && is_alive(&mut known.sender).await
        {
            return Ok(known.sender.clone());
        }
        let fresh = dial(link).await?;
        let sender = fresh.sender.clone();
        *kept = Some(fresh);
        Ok(sender)
    }
}

/// Whether the connection takes another request: it has neither ended nor been told to go away.
async fn is_alive(sender: &mut SendRequest<Bytes>) -> bool {
    poll_fn(|cx| Poll::Ready(!matches!(sender.poll_ready(cx), Poll::Ready(Err(_))))).await
}

async fn dial(link: &Link) -> Result<Kept, String> {
    let traffic = Traffic::within(&link.flow.upstream);
    let (wire, generation) = tls::connect(link, traffic, Some(tls::HTTP_2)).await?;
    let handshake = limits::client(&link.limits).handshake(wire.into_io(Inbox::default()));
    let (sender, connection) = match tokio::time::timeout(link.limits.dial_time, handshake).await {
        Ok(Ok(both)) => both,
        Ok(Err(e)) => return Err(format!("the upstream's connection failed at once: {e}")),
        Err(_) => return Err(format!("the upstream took no HTTP/2 preface within {:?}", link.limits.dial_time)),
    };
    // How it ends is told to each of its streams, and only they care.
    link.tasks.spawn(async move { drop(connection.await) });
    Ok(Kept { sender, generation })
}
