//! Thousands of connections, again and again: what they cost is given back, or used again.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::kit::{Floor, Program, dial, quiet, resets};
use crate::kit::{Client, REPLY, Upstream, connections, eventually, post, proxy, soon};

/// Rounds, and after how many the program's memory must have found its level: an allocator keeps what it was given, and
/// each of its arenas has to have seen the whole crowd once.
const ROUNDS: usize = 8;
const LEVEL: usize = 5;
/// By how much it may swing from there. A leak of 2.5 KiB for each connection is beyond it.
const SWING: f64 = 1.15;

/// Opens `n` connections, a hundred at a time so that the backlog is never full.
async fn open(addr: SocketAddr, n: usize) -> Vec<TcpStream> {
    let mut open = Vec::with_capacity(n);
    while open.len() < n {
        let mut dials = tokio::task::JoinSet::new();
        for _ in 0..100.min(n - open.len()) {
            dials.spawn(dial(addr));
        }
        open.extend(dials.join_all().await);
    }
    open
}

/// One round: connect all, let each tenth make a call, close all; a quarter by FIN, the others by RST.
async fn round(program: &Program, n: usize) {
    let floor = program.descriptors();
    let mut crowd = open(program.addr, n).await;
    eventually("every connection accepted", || program.descriptors() >= floor + n).await;
    for stream in crowd.iter_mut().step_by(10) {
        stream.write_all(post("k", "x").as_bytes()).await.expect("send");
    }
    for stream in crowd.iter_mut().step_by(10) {
        let mut reply = vec![0; REPLY.len()];
        soon(stream.read_exact(&mut reply)).await.expect("a reply");
        assert_eq!(reply, REPLY.as_bytes());
    }
    for (i, stream) in crowd.into_iter().enumerate() {
        if i % 4 != 0 {
            resets(&stream);
        }
    }
    eventually("descriptors back at their floor", || program.descriptors() <= floor).await;
}

/// Descriptors are at their floor after each round, and the memory stays at its level.
async fn rounds(n: usize) {
    let upstream = Upstream::start().await;
    let mut program = Program::start("--link", upstream.addr, &[]);
    let mut resident = Vec::new();
    for _ in 0..ROUNDS {
        round(&program, n).await;
        resident.push(program.resident());
    }
    eprintln!("{n} connections, resident KiB after each round: {resident:?}");
    assert!(resident[ROUNDS - 1] as f64 <= resident[LEVEL - 1] as f64 * SWING, "{resident:?}");
    assert!(program.runs());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_connections_leave_nothing_behind() {
    rounds(1_000).await;
}

// Both ends of 10,000 connections are descriptors, of this process and of the program: with a lower hard limit it says
// so and fails, because a smaller crowd would prove something else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "role: nightly abuse, cargo ci nightly"]
async fn ten_thousand_connections_leave_nothing_behind() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).expect("the soft limit may be raised to the hard one");
    assert!(limit.maximum.is_none_or(|n| n >= 12_000), "raise the hard limit of open files above 12000: {limit:?}");
    rounds(10_000).await;
}

// Proves that a crowd in this process leaves no task behind either, and a record for each connection.
#[tokio::test]
async fn a_crowd_leaves_no_task_behind() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let floor = Floor::here();
    for round in 1..=2 {
        let mut crowd = open(proxy.link_addr("bank").expect("link"), 500).await;
        for stream in crowd.iter_mut().step_by(5) {
            stream.write_all(b"POST /half HTTP/1.1\r\ncontent-length: 10\r\n\r\nhalf").await.expect("send");
        }
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post("k", "x")).await;
        assert_eq!(client.reply().await, REPLY);
        drop((client, crowd));
        quiet(&proxy, "bank").await;
        eventually("a record of each connection", || connections(&proxy.log()).len() == 501 * round).await;
        floor.regained().await;
    }
    proxy.shutdown().await;
}
