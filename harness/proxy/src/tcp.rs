//! Links that pass bytes: each half of a connection ends on its own, and a RST on one side is a RST on the other.

use std::io;
use std::net::Shutdown;

use judge::evidence::ConnectionEnd;
use socket2::SockRef;

use crate::conn::{Client, ConnRecord};
use crate::link::Link;
use crate::traffic::Traffic;
use crate::wire::{Inbox, Wire};

/// Room for one read. It is given back whenever the connection is idle.
const COPY_BYTES: usize = 64 << 10;

/// Passes bytes between a client and a freshly dialled upstream until both halves have ended.
pub(crate) async fn serve(link: &Link, record: &mut ConnRecord, client: Client) {
    let upstream = match link.dial().await {
        Ok((stream, _)) => Wire::new(stream, link.clock, Traffic::within(&link.flow.upstream)),
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
    loop {
        from.wire.stream().readable().await?;
        let mut buffer = Vec::with_capacity(COPY_BYTES);
        match from.wire.stream().try_read_buf(&mut buffer) {
            Ok(0) => {
                // An error says that the other side is gone, which its own direction reports.
                let _gone = SockRef::from(to.wire.stream()).shutdown(Shutdown::Write);
                return Ok(());
            }
            Ok(n) => {
                from.wire.traffic().came(n as u64);
                to.wire.send(&buffer).await?;
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            Err(e) => return Err(e),
        }
    }
}
