//! Links that pass bytes: each half of a connection ends on its own, and a RST on one side is a RST on the other.

use std::io;

use judge::evidence::ConnectionEnd;

use crate::conn::{Client, ConnRecord};
use crate::link::Link;
use crate::tls;
use crate::traffic::Traffic;
use crate::wire::Inbox;

/// Passes bytes between a client and a freshly dialled upstream until both halves have ended.
pub(crate) async fn serve(link: &Link, record: &mut ConnRecord, client: Client) {
    let protocol = client.wire.alpn();
    let traffic = Traffic::within(&link.flow.upstream);
    let upstream = match tls::connect(link, traffic, protocol.as_deref()).await {
        Ok((wire, _)) => wire,
        Err(why) => {
            let text = format!("link `{}`, connection {}: {why}", link.name, record.conn);
            link.log.remark(link.clock.now(), "dial-failed", text);
            // A refused dial is passed on as the nearest thing that an accepted connection can show.
            record.ended(ConnectionEnd::ByUpstream, Some(client.wire.reset()));
            return;
        }
    };
    let end = relay(client, Client { wire: upstream, inbox: Inbox::default() }).await;
    record.ended(end, None);
}

/// Passes bytes both ways; what is already in the inboxes goes first. Says which side ended first.
pub(crate) async fn relay(client: Client, upstream: Client) -> ConnectionEnd {
    let (mut first, mut broken) = (None, None);
    {
        let up = pump(&client, &upstream);
        let down = pump(&upstream, &client);
        tokio::pin!(up, down);
        let (mut up_open, mut down_open) = (true, true);
        while broken.is_none() && (up_open || down_open) {
            let (end, result) = tokio::select! {
                result = &mut up, if up_open => { up_open = false; (ConnectionEnd::ByClient, result) }
                result = &mut down, if down_open => { down_open = false; (ConnectionEnd::ByUpstream, result) }
            };
            first.get_or_insert(end);
            broken = result.err();
        }
    }
    if broken.is_some_and(|e| e.kind() == io::ErrorKind::ConnectionReset) {
        client.wire.reset();
        upstream.wire.reset();
    }
    first.unwrap_or(ConnectionEnd::ByClient)
}

/// Passes one direction until its end, and then ends it on the other side.
async fn pump(from: &Client, to: &Client) -> io::Result<()> {
    if !from.inbox.is_empty() {
        to.wire.send(from.inbox.bytes()).await?;
    }
    let mut inbox = Inbox::default();
    while from.wire.fill(&mut inbox).await? > 0 {
        to.wire.send(inbox.bytes()).await?;
        inbox.clear();
        inbox.shrink();
    }
    // An error would say that the other side is gone, which its own direction reports.
    to.wire.fin();
    to.wire.flushed().await;
    Ok(())
}
