//! Readers that stop: what they do not read is not read for them, and is whole when they go on.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::kit::{Program, dial, resets};
use crate::kit::{PATIENCE, eventually, soon};

/// Bytes of one answer; far more than the buffers of three sockets.
const ANSWER: usize = 96 << 20;
/// Readers at once.
const READERS: usize = 4;
/// What the program may keep for one connection whose reader has stopped, in KiB. Its own buffers are a few of 16 KiB;
/// the rest is what the allocator keeps.
const KEPT_KIB: u64 = 1 << 10;
/// What the first connection of a program costs it once, in KiB: pages of code, the first arenas.
const FIRST_KIB: u64 = 4 << 10;

/// An upstream that answers each request (one read) with [`ANSWER`] bytes and counts what it could hand over.
async fn generous(head: bool, written: Arc<AtomicU64>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let addr = listener.local_addr().expect("addr");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, head, Arc::clone(&written)));
        }
    });
    addr
}

fn answer_head() -> String {
    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {ANSWER}\r\n\r\n")
}

async fn answer(mut stream: TcpStream, head: bool, written: Arc<AtomicU64>) -> std::io::Result<()> {
    stream.read_buf(&mut Vec::new()).await?;
    if head {
        let head = answer_head();
        stream.write_all(head.as_bytes()).await?;
    }
    let piece = vec![b'x'; 64 << 10];
    for _ in 0..ANSWER / piece.len() {
        stream.write_all(&piece).await?;
        written.fetch_add(piece.len() as u64, Ordering::Relaxed);
    }
    stream.shutdown().await
}

/// Waits until the counter stands still: between two looks that are far longer than a write takes.
async fn stalled(written: &AtomicU64) -> u64 {
    let look = async {
        let mut before = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let now = written.load(Ordering::Relaxed);
            if now > 0 && now == before {
                return now;
            }
            before = now;
        }
    };
    tokio::time::timeout(PATIENCE, look).await.expect("the upstream's writes stand still")
}

// Proves that clients which stop reading stop the upstream too, before it has handed over its answers, while the program
// keeps no more than a named amount for each; and that everything is there, to the byte, when they read on. On an HTTP
// link and on a byte link.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_stop_are_not_read_for() {
    for (kind, head) in [("--link", true), ("--tcp", false)] {
        let written = Arc::<AtomicU64>::default();
        let upstream = generous(head, Arc::clone(&written)).await;
        let mut program = Program::start(kind, upstream, &[]);
        let (descriptors, resident) = (program.descriptors(), program.resident());
        let mut readers = Vec::new();
        for _ in 0..READERS {
            let mut reader = dial(program.addr).await;
            reader.write_all(b"GET / HTTP/1.1\r\nhost: bank\r\n\r\n").await.expect("send");
            readers.push(reader);
        }
        let handed_over = stalled(&written).await;
        assert!(handed_over < (READERS * ANSWER) as u64, "{kind} the upstream could hand over everything");
        let grown = program.resident().saturating_sub(resident);
        assert!(
            grown <= FIRST_KIB + KEPT_KIB * READERS as u64,
            "{kind} {grown} KiB for {READERS} readers that stopped"
        );
        let mut rest = vec![0; 1 << 20];
        for mut reader in readers {
            let mut got = 0;
            loop {
                match soon(reader.read(&mut rest)).await.expect("the rest") {
                    0 => break,
                    n => got += n,
                }
            }
            let expected = ANSWER + if head { answer_head().len() } else { 0 };
            assert_eq!(got, expected, "{kind}");
        }
        // A byte link keeps the pipe of each stream for the next one, two descriptors; its two sockets are gone.
        let spare = if head { 0 } else { 2 * READERS };
        eventually("descriptors back at their floor", || program.descriptors() <= descriptors + spare).await;
        assert!(program.runs());
    }
}

// Proves the same for the other direction: an upstream that does not read stops a client's endless request, within the
// same memory. On an HTTP link a client that resets is gone at once, however deaf the upstream is; on a byte link at the
// latest when the upstream is gone too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upstream_that_stops_reading_stops_its_client() {
    for kind in ["--link", "--tcp"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let mut program = Program::start(kind, listener.local_addr().expect("addr"), &[]);
        let (descriptors, resident) = (program.descriptors(), program.resident());
        let mut client = dial(program.addr).await;
        resets(&client);
        let head = "POST / HTTP/1.1\r\nhost: bank\r\ncontent-length: 1099511627776\r\n\r\n";
        client.write_all(head.as_bytes()).await.expect("send");
        let (deaf, _) = soon(listener.accept()).await.expect("accept");
        let written = Arc::<AtomicU64>::default();
        let counter = Arc::clone(&written);
        let writer = tokio::spawn(async move {
            let piece = vec![b'x'; 64 << 10];
            while client.write_all(&piece).await.is_ok() {
                counter.fetch_add(piece.len() as u64, Ordering::Relaxed);
            }
        });
        stalled(&written).await;
        let grown = program.resident().saturating_sub(resident);
        assert!(grown <= FIRST_KIB + KEPT_KIB, "{kind} {grown} KiB");
        writer.abort();
        if kind == "--link" {
            eventually("descriptors back at their floor", || program.descriptors() <= descriptors).await;
            drop(deaf);
        } else {
            drop(deaf);
            eventually("descriptors back at their floor", || program.descriptors() <= descriptors).await;
        }
        assert!(program.runs());
    }
}
