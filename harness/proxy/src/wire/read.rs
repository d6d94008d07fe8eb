//! One read from a socket.

use std::cell::RefCell;
use std::io;

use bytes::BytesMut;
use tokio::io::Interest;
use tokio::net::TcpStream;

/// Room for one read.
const READ_BYTES: usize = 64 << 10;

thread_local! {
    /// Never borrowed across a wait: an idle connection holds no room for what may come.
    static ROOM: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_BYTES]);
}

/// Reads once behind what is in `into`, without waiting. Only what came takes memory there.
pub(super) fn once(stream: &TcpStream, into: &mut BytesMut) -> io::Result<usize> {
    ROOM.with_borrow_mut(|room| {
        let n = slice(stream, room)?;
        into.extend_from_slice(&room[..n]);
        Ok(n)
    })
}

/// Reads once into `room`, without waiting.
///
/// A read that leaves room has emptied the socket. The runtime is told so, and the next wait is one; without that, every
/// message would be followed by a second read that only finds out that nothing is there. What comes between the read and
/// the telling is not lost: the runtime takes "empty" only for the readiness that it had before the read.
pub(super) fn slice(stream: &TcpStream, room: &mut [u8]) -> io::Result<usize> {
    let mut emptied = None;
    let read = stream.try_io(Interest::READABLE, || {
        let n = stream.try_read(room)?;
        if n == 0 || n == room.len() {
            return Ok(n);
        }
        emptied = Some(n);
        Err(io::ErrorKind::WouldBlock.into())
    });
    emptied.map_or(read, Ok)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;

    // Proves that a short read leaves the runtime waiting for the next byte, and that neither that byte nor the end of
    // the stream is missed: each of many messages is read exactly once, whenever it comes.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_byte_wakes_the_reader() {
        const MESSAGES: usize = 20_000;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let mut peer = TcpStream::connect(listener.local_addr().expect("addr")).await.expect("connect");
        let (stream, _) = listener.accept().await.expect("accept");
        peer.set_nodelay(true).expect("nodelay");
        let writing = tokio::spawn(async move {
            for _ in 0..MESSAGES {
                peer.write_all(b"x").await.expect("write");
            }
        });
        let reading = async {
            let (mut all, mut blocked) = (0, 0);
            loop {
                stream.readable().await.expect("readable");
                let mut room = BytesMut::new();
                match once(&stream, &mut room) {
                    Ok(0) => return all,
                    Ok(n) => all += n,
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => blocked += 1,
                    Err(e) => panic!("{e}"),
                }
                assert!(blocked <= MESSAGES, "it spins");
            }
        };
        let all = tokio::time::timeout(Duration::from_secs(60), reading).await.expect("no byte is missed");
        writing.await.expect("written");
        assert_eq!(all, MESSAGES);
    }
}
