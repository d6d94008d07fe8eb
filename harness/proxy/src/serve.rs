//! One accepted connection, from the decision over it to its record.

use std::sync::Arc;

use evidence::ConnectionEnd;
use tokio::net::TcpStream;

use crate::config::Mode;
use crate::conn::{Client, ConnRecord};
use crate::engine::{Held, Strike, Subject, Who};
use crate::http;
use crate::link::Link;
use crate::strike::{Onward, Terminal, strike};
use crate::tcp;
use crate::tls;
use crate::wire::{Inbox, Wire};

pub(crate) async fn connection(link: Arc<Link>, mut record: ConnRecord, stream: TcpStream) {
    // Subscribed before the decision, so that no arming falls between the two.
    let retire = link.engine.retirements(link.id);
    let wire = Wire::new(stream, link.clock, Arc::clone(&record.traffic));
    let mut client = Client { wire, inbox: Inbox::default() };
    // Each phase in a box of its own: an idle connection then pays for the phase it is in, not for the largest.
    if let Some(decision) = decide(&link, record.conn) {
        match Box::pin(struck(&link, &mut record, client, &decision)).await {
            Some(spared) => client = spared,
            None => return,
        }
    }
    let Some(client) = tls::accept(&link, &mut record, client).await else { return };
    match link.mode {
        Mode::Http => Box::pin(http::serve(&link, &mut record, client, retire)).await,
        Mode::Tcp => Box::pin(tcp::serve(&link, &mut record, client)).await,
    }
}

/// The one decision over a connection.
fn decide(link: &Link, conn: u64) -> Option<Strike> {
    let who = Who::Conn(conn, 0);
    link.engine.decide(&Subject { link: link.id, link_name: &link.name, conn, call: None, who }).strike
}

/// Carries out the decision over a connection; gives the client back when the connection goes on.
async fn struck(link: &Link, record: &mut ConnRecord, mut client: Client, decision: &Strike) -> Option<Client> {
    let who = Held {
        link: link.name.clone(),
        conn: record.conn,
        key: None,
        ordinal: 0,
        method: String::new(),
        path: String::new(),
        since: link.clock.now(),
    };
    let wait = strike(decision, &mut record.fault, link.clock, who);
    let onward = if link.mode == Mode::Http {
        tokio::select! {
            biased;
            onward = wait => onward,
            at = client.wire.departure(&mut client.inbox) => {
                record.ended(ConnectionEnd::ByClient, Some(at));
                return None;
            }
        }
    } else {
        // A client of a byte link may close its sending half and still wait for the answer.
        wait.await
    };
    match onward {
        Onward::GoOn | Onward::Change(_) => return Some(client),
        Onward::End(Terminal::Reset) => record.ended(ConnectionEnd::ResetByFault, Some(client.wire.reset())),
        Onward::End(Terminal::Hang) => record.ended(ConnectionEnd::ByClient, Some(client.wire.silence().await)),
        // Nothing else that ends can be armed at `connect`; validation sees to that.
        Onward::End(_) => {
            record.ended(ConnectionEnd::CutByFault, Some(client.wire.fin()));
            client.wire.linger(link.limits.linger_time).await;
        }
    }
    None
}
