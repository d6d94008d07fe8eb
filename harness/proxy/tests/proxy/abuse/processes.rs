//! The program out of descriptors, and killed without a warning.

use std::path::PathBuf;

use evidence::Record;
use rustix::process::{Resource, Rlimit, prlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::kit::{Program, dial};
use crate::kit::{REPLY, Upstream, eventually, post, soon};

fn scratch(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(std::process::id().to_string());
    std::fs::create_dir_all(&dir).expect("scratch folder");
    dir.join(name)
}

/// Connections that ask for more than there is room for.
const CROWD: usize = 40;

/// One call on a connection of its own.
async fn call(program: &Program) {
    let mut client = dial(program.addr).await;
    client.write_all(post("k", "x").as_bytes()).await.expect("send");
    let mut reply = vec![0; REPLY.len()];
    soon(client.read_exact(&mut reply)).await.expect("a reply");
    assert_eq!(reply, REPLY.as_bytes());
}

// Proves that a program which is out of descriptors goes on with what it has, says in its log what it could not accept
// and what it could not dial, and serves again when there is room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_recovers_from_exhausted_descriptors() {
    let upstream = Upstream::start().await;
    let events = scratch("exhausted.ndjson");
    let mut program = Program::start("--link", upstream.addr, &["--events", events.to_str().expect("a path")]);
    call(&program).await;
    let mut early = dial(program.addr).await;
    early.write_all(post("early", "x").as_bytes()).await.expect("send");
    let mut reply = vec![0; REPLY.len()];
    soon(early.read_exact(&mut reply)).await.expect("a reply");
    let limit = program.descriptors() as u64 + 8;
    prlimit(Some(program.pid()), Resource::Nofile, Rlimit { current: Some(limit), maximum: Some(limit) })
        .expect("a lower limit");
    // Far more than there is room for: the rest waits in the kernel.
    let mut crowd = Vec::new();
    for _ in 0..CROWD {
        crowd.push(dial(program.addr).await);
    }
    let text = || std::fs::read_to_string(&events).expect("events");
    eventually("the remark", || text().contains("accept-failed")).await;
    early.write_all(post("early", "x").as_bytes()).await.expect("send");
    soon(early.read_exact(&mut reply)).await.expect("an open connection is served on");
    assert_eq!(reply, REPLY.as_bytes());
    // It was accepted, so it is owed an answer, and there is no descriptor left to fetch one.
    crowd[0].write_all(post("late", "x").as_bytes()).await.expect("send");
    eventually("the other remark", || text().contains("dial-exhausted")).await;
    drop(crowd);
    // Until the last of the crowd has come out of the backlog and gone, a new call finds room only by luck.
    let gone = || text().lines().filter(|line| line.starts_with("{\"connection\"")).count();
    eventually("the end of the crowd", || gone() > CROWD).await;
    call(&program).await;
    assert!(program.runs());
}

// Proves that a kill in the middle of traffic leaves a file whose lines are all whole but perhaps the last one, with
// nothing out of order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_program_leaves_a_readable_file() {
    let upstream = Upstream::start().await;
    let events = scratch("killed.ndjson");
    let mut program = Program::start("--link", upstream.addr, &["--events", events.to_str().expect("a path")]);
    let addr = program.addr;
    let callers: Vec<_> = (0..8)
        .map(|n| {
            tokio::spawn(async move {
                let mut reply = vec![0; REPLY.len()];
                let Ok(mut client) = tokio::net::TcpStream::connect(addr).await else { return };
                while client.write_all(post(&n.to_string(), "x").as_bytes()).await.is_ok()
                    && client.read_exact(&mut reply).await.is_ok()
                {}
            })
        })
        .collect();
    let text = || std::fs::read_to_string(&events).expect("events");
    eventually("a few hundred records", || text().lines().count() > 300).await;
    program.kill();
    for caller in callers {
        soon(caller).await.expect("joined");
    }
    let text = text();
    let whole: Vec<_> = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
    let head: serde_json::Value = serde_json::from_str(whole[0]).expect("header");
    assert_eq!(head["format"], "chaos-proxy-events");
    let mut next = 0;
    for line in &whole[1..] {
        let record: Record = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        let seq = serde_json::to_value(&record).expect("written")["attempt"]["seq"].as_u64();
        if let Some(seq) = seq {
            assert!(seq >= next, "{line}");
            next = seq + 1;
        }
    }
    assert!(whole.len() > 300 && text.matches("\"end\":{\"records\"").count() == 0, "no end without a clean stop");
}
