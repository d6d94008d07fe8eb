//! Thousands of connections, again and again: what they cost is given back.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::kit::{Floor, Program, dial, quiet, resets};
use crate::kit::{Client, REPLY, Upstream, connections, eventually, post, proxy, soon};

/// Rounds.
const ROUNDS: usize = 4;
/// Connections that come and go before the first look, so that what the program keeps for good is there already.
const WARM_UP: usize = 100;
/// What may stay of the memory that a crowd took: a tenth, and as much as this for pages that are touched once.
const KEPT_KIB: u64 = 1_024;

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

/// One round: connect all, let each tenth make a call, close all; a quarter by FIN, the others by RST. The program's
/// memory while all were connected.
async fn round(program: &Program, n: usize) -> u64 {
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
    let resident = program.resident();
    for (i, stream) in crowd.into_iter().enumerate() {
        if i % 4 != 0 {
            resets(&stream);
        }
    }
    eventually("descriptors back at their floor", || program.descriptors() <= floor).await;
    resident
}

/// After each round descriptors and memory are at their floor again.
async fn rounds(n: usize) {
    let upstream = Upstream::start().await;
    let mut program = Program::start("--link", upstream.addr, &[]);
    round(&program, WARM_UP).await;
    let floor = program.resident();
    for _ in 0..ROUNDS {
        let full = round(&program, n).await;
        let bound = floor + full.saturating_sub(floor) / 10 + KEPT_KIB;
        assert!(full > bound, "{n} connections take no memory that would be seen: {floor} KiB, {full} KiB");
        eprintln!("{n} connections: {floor} KiB before, {full} KiB with them, to be {bound} KiB at most after");
        eventually("memory back at its floor", || program.resident() <= bound).await;
    }
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
