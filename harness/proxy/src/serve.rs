//! One accepted connection, from its decision to its record.

use std::sync::Arc;

use tokio::net::TcpStream;

use crate::link::Link;

pub(crate) async fn connection(link: Arc<Link>, stream: TcpStream) {
    let _ = (link, stream);
}
