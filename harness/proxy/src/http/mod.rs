//! HTTP/1.1 links: one request after the other, each forwarded byte for byte unless a rule strikes it.

mod answer;
mod back;
pub(crate) mod body;
pub(crate) mod copies;
pub(crate) mod draft;
mod ending;
pub(crate) mod exchange;
mod forward;
pub(crate) mod head;
pub(crate) mod intake;
pub(crate) mod malformed;
pub(crate) mod pace;
mod patch;
mod reply;
mod there;

use std::sync::Arc;

use evidence::{ConnectionEnd, End};
use tokio::sync::watch;

use crate::conn::{Client, ConnRecord};
use crate::h2;
use crate::link::Link;
use answer::Upstream;
use draft::Draft;
use ending::After;
use intake::Next;

/// Serves the requests of one connection until it ends.
pub(crate) async fn serve(
    link: &Arc<Link>,
    record: &mut ConnRecord,
    mut client: Client,
    mut retire: watch::Receiver<u64>,
) {
    let mut kept: Option<Upstream> = None;
    loop {
        let incoming = match intake::next(&mut client, &link.limits, &mut retire, record.requests == 0).await {
            Next::Request(incoming) => incoming,
            Next::Http2 => return Box::pin(h2::serve(link, record, client, retire)).await,
            Next::Ended => return record.ended(ConnectionEnd::ByClient, None),
            Next::Retired => return Box::pin(retired(link, record, client)).await,
            Next::Left { arrived, at } => {
                let mut draft = Draft::unreadable(link, record.conn, arrived, at);
                draft.reply.ended(End::ClientLeft, at);
                return record.ended(ConnectionEnd::ByClient, Some(at));
            }
            Next::Bad { status, why, arrived } => {
                record.requests += 1;
                let draft = Draft::unreadable(link, record.conn, arrived, client.inbox.last_came());
                Box::pin(ending::refuse(link, client, draft, status, &why)).await;
                return record.ended(ConnectionEnd::ByClient, None);
            }
        };
        record.requests += 1;
        match exchange::run(link, record, client, &mut kept, incoming).await {
            After::Next(next) => client = next,
            After::Over(end, at) => return record.ended(end, at),
        }
    }
}

/// Ends an idle connection because a rule now decides on connections: the next call needs a new one, and meets it.
async fn retired(link: &Link, record: &mut ConnRecord, client: Client) {
    let fin = client.wire.fin();
    let before = record.traffic.received();
    client.wire.linger(link.limits.linger_time).await;
    if record.traffic.received() > before {
        // The client's next request crossed our FIN. It failed like the ones that follow, but has no record.
        let text =
            format!("link `{}`, connection {}: a request crossed its end; it is not recorded", link.name, record.conn);
        link.log.spoil(fin, "crossed-retirement", text);
    }
    record.ended(ConnectionEnd::CutByFault, Some(fin));
}
