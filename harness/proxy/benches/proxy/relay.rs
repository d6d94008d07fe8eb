//! The bare relay: what a proxy costs on this runtime when it does nothing but copy. The measure of our byte links.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};

use crate::child::end_with_the_bench;
use crate::error::{BenchError, While};

/// Relays to the upstream that the command line names, until the bench ends.
pub(crate) fn main(words: &[String]) -> Result<(), BenchError> {
    let upstream: Option<SocketAddr> = words.first().and_then(|word| word.parse().ok());
    let upstream = upstream.ok_or_else(|| BenchError::Usage("relay: needs the upstream's address".to_owned()))?;
    end_with_the_bench();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().during("starting the relay's runtime")?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.during("binding the relay")?;
        println!("relay {}", listener.local_addr().during("asking for the port")?);
        loop {
            let (client, _) = listener.accept().await.during("accepting")?;
            tokio::spawn(async move {
                // A connection that breaks off has ended for both sides.
                let _broken = relay(client, upstream).await;
            });
        }
    })
}

async fn relay(mut client: TcpStream, upstream: SocketAddr) -> io::Result<()> {
    let mut upstream = TcpStream::connect(upstream).await?;
    client.set_nodelay(true)?;
    upstream.set_nodelay(true)?;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_upstream, mut to_upstream) = upstream.split();
    let there = async {
        copy(&mut from_client, &mut to_upstream).await?;
        to_upstream.shutdown().await
    };
    let back = async {
        copy(&mut from_upstream, &mut to_client).await?;
        to_client.shutdown().await
    };
    tokio::try_join!(there, back).map(drop)
}
