//! The server behind every contender: `GET /` gets a small answer, `GET /bytes/N` gets N bytes. HTTP/1.1 with
//! keep-alive, so that the same calls go through byte links and HTTP links alike.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::child::end_with_the_bench;
use crate::error::{BenchError, While};

/// Bytes of one write of a long answer.
const BLOCK: usize = 256 << 10;
/// The small answer. `client` expects this body.
const SMALL: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 16\r\n\r\n{\"ok\":\"charged\"}";

/// Serves until the bench ends.
pub(crate) fn main() -> Result<(), BenchError> {
    end_with_the_bench();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().during("starting the origin's runtime")?;
    runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().during("opening the origin's socket")?;
        socket.bind(([127, 0, 0, 1], 0).into()).during("binding the origin")?;
        // A thousand connections may come at once.
        let listener = socket.listen(4096).during("listening")?;
        println!("origin {}", listener.local_addr().during("asking for the port")?);
        serve(listener).await
    })
}

async fn serve(listener: TcpListener) -> Result<(), BenchError> {
    loop {
        let (stream, _) = listener.accept().await.during("accepting")?;
        tokio::spawn(async move {
            // A client that leaves in the middle is its own affair.
            let _left = connection(stream).await;
        });
    }
}

async fn connection(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut kept: Vec<u8> = Vec::new();
    loop {
        while let Some(end) = head_end(&kept) {
            let long = wanted(&kept[..end]);
            kept.drain(..end);
            match long {
                None => stream.write_all(SMALL).await?,
                Some(n) => send_bytes(&mut stream, n).await?,
            }
        }
        if stream.read_buf(&mut kept).await? == 0 {
            return Ok(());
        }
    }
}

async fn send_bytes(stream: &mut TcpStream, n: u64) -> io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-length: {n}\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let block = vec![0x5a; BLOCK];
    let mut left = n;
    while left > 0 {
        let now = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        stream.write_all(&block[..now]).await?;
        left -= now as u64;
    }
    Ok(())
}

/// Length of the head at the start of `bytes`, once it is there whole.
pub(crate) fn head_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

/// N of `GET /bytes/N`.
fn wanted(head: &[u8]) -> Option<u64> {
    let path = head.strip_prefix(b"GET /bytes/")?;
    let digits = path.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&path[..digits]).ok()?.parse().ok()
}
