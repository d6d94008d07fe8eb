//! The load: closed loops of small requests, long answers, and fresh connections. Every answer is checked; a contender
//! that loses or invents a byte stops the run.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::error::{BenchError, While};
use crate::origin::head_end;

/// A request such as a client library sends.
const REQUEST: &[u8] = b"GET /charges/17 HTTP/1.1\r\nhost: bank.test\r\nuser-agent: bench\r\naccept: */*\r\n\r\n";
/// The body of its answer.
const ANSWER: &[u8] = b"{\"ok\":\"charged\"}";
/// The longest wait for any byte. Only a hang is ended by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens a connection for blocking use.
pub(crate) fn connect(to: SocketAddr) -> Result<TcpStream, BenchError> {
    let stream = TcpStream::connect(to).during("connecting to a contender")?;
    stream.set_nodelay(true).during("setting TCP_NODELAY")?;
    stream.set_read_timeout(Some(PATIENCE)).during("setting a time limit")?;
    Ok(stream)
}

/// Sends one request and reads its answer.
pub(crate) fn exchange(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<(), BenchError> {
    stream.write_all(REQUEST).during("sending a request")?;
    let mut filled = 0;
    while !is_whole(&buffer[..filled])? {
        match stream.read(&mut buffer[filled..]).during("reading an answer")? {
            0 => return Err(wrong(&buffer[..filled])),
            n => filled += n,
        }
    }
    Ok(())
}

/// Round trips of `n` requests on one connection, in nanoseconds.
pub(crate) fn one_connection(to: SocketAddr, n: usize) -> Result<Vec<f64>, BenchError> {
    let mut stream = connect(to)?;
    let mut buffer = [0; 4096];
    let mut times = Vec::with_capacity(n);
    for _ in 0..n {
        let began = Instant::now();
        exchange(&mut stream, &mut buffer)?;
        times.push(nanos(began));
    }
    Ok(times)
}

/// Round trips of `each` requests on each of `connections` connections at once.
pub(crate) fn many_connections(to: SocketAddr, connections: usize, each: usize) -> Result<Vec<f64>, BenchError> {
    let all = together(connections, move || async move {
        let mut stream = open(to).await?;
        let mut times = Vec::with_capacity(each);
        for _ in 0..each {
            let began = Instant::now();
            exchange_async(&mut stream).await?;
            times.push(nanos(began));
        }
        Ok(times)
    })?;
    Ok(all.into_iter().flatten().collect())
}

/// Opens `each` connections one after the other from each of `clients` clients, with one exchange on each.
pub(crate) fn fresh_connections(to: SocketAddr, clients: usize, each: usize) -> Result<(), BenchError> {
    together(clients, move || async move {
        for _ in 0..each {
            let mut stream = open(to).await?;
            exchange_async(&mut stream).await?;
        }
        Ok(())
    })
    .map(drop)
}

/// Reads an answer of `n` bytes and throws it away.
pub(crate) fn bulk(to: SocketAddr, n: u64) -> Result<(), BenchError> {
    let mut stream = connect(to)?;
    write!(stream, "GET /bytes/{n} HTTP/1.1\r\nhost: bank.test\r\n\r\n").during("asking for bytes")?;
    let mut buffer = vec![0; 256 << 10];
    let mut filled = 0;
    let head = loop {
        if let Some(end) = head_end(&buffer[..filled]) {
            break end;
        }
        match stream.read(&mut buffer[filled..]).during("reading a long answer")? {
            0 => return Err(wrong(&buffer[..filled])),
            n => filled += n,
        }
    };
    let mut came = (filled - head) as u64;
    while came < n {
        match stream.read(&mut buffer).during("reading a long answer")? {
            0 => break,
            some => came += some as u64,
        }
    }
    if came == n {
        return Ok(());
    }
    Err(BenchError::Wrong { through: to.to_string(), expected: format!("{n} bytes"), got: format!("{came} bytes") })
}

/// Runs `n` clients at once on one thread.
fn together<T, F>(n: usize, client: impl Fn() -> F) -> Result<Vec<T>, BenchError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, BenchError>> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().during("starting the clients")?;
    runtime.block_on(async {
        let tasks: Vec<_> = (0..n).map(|_| tokio::spawn(client())).collect();
        let mut done = Vec::new();
        for task in tasks {
            done.push(task.await.map_err(|e| BenchError::start("a client", e))??);
        }
        Ok(done)
    })
}

async fn open(to: SocketAddr) -> Result<tokio::net::TcpStream, BenchError> {
    let stream = tokio::net::TcpStream::connect(to).await.during("connecting to a contender")?;
    stream.set_nodelay(true).during("setting TCP_NODELAY")?;
    Ok(stream)
}

async fn exchange_async(stream: &mut tokio::net::TcpStream) -> Result<(), BenchError> {
    stream.write_all(REQUEST).await.during("sending a request")?;
    let mut buffer = [0; 4096];
    let mut filled = 0;
    while !is_whole(&buffer[..filled])? {
        match stream.read(&mut buffer[filled..]).await.during("reading an answer")? {
            0 => return Err(wrong(&buffer[..filled])),
            n => filled += n,
        }
    }
    Ok(())
}

/// Whether the small answer is there whole. Peers may add header fields, never change the status or the body.
fn is_whole(bytes: &[u8]) -> Result<bool, BenchError> {
    let Some(head) = head_end(bytes) else { return Ok(false) };
    let body = &bytes[head..];
    if !bytes.starts_with(b"HTTP/1.1 200") || !ANSWER.starts_with(body) {
        return Err(wrong(bytes));
    }
    Ok(body.len() == ANSWER.len())
}

fn wrong(got: &[u8]) -> BenchError {
    BenchError::Wrong {
        through: "a contender".to_owned(),
        expected: format!("200 and {}", String::from_utf8_lossy(ANSWER)),
        got: String::from_utf8_lossy(got).into_owned(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a round trip is far below 2^53 ns")]
fn nanos(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64
}
