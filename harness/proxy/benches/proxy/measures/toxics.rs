//! Toxics: how exact a delay is, how much goes through one at once, and how long a change takes while data flows.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use crate::client;
use crate::contenders::{Contender, Id, World};
use crate::control;
use crate::error::{BenchError, While};
use crate::plan::Plan;
use crate::samples::Figure;
use crate::stats::median;
use crate::targets::{DELAY_5, DELAY_100, PIPELINED, TOXIC_CALL, TOXIC_MEDIAN};

/// What goes through a delayed link at once.
const PIPELINED_BYTES: u64 = 4_000_000;
/// Long answers that nobody reads while toxics come and go, and their length.
const STALLED: usize = 20;
const STALLED_BYTES: u64 = 64 << 20;
/// Toxics that come and go. None of them ends a connection.
const PASSING: [&str; 4] = [
    r#"{"name":"t","type":"latency","attributes":{"latency":20}}"#,
    r#"{"name":"t","type":"bandwidth","attributes":{"rate":100000}}"#,
    r#"{"name":"t","type":"slicer","attributes":{"average_size":64,"delay":10}}"#,
    r#"{"name":"t","type":"noop"}"#,
];

/// Mean error of a delay of 100 ms and of one of 5 ms, and the time of a long answer through the former.
pub(super) fn latency(id: Id, world: &World, plan: &Plan) -> Result<Vec<Figure>, BenchError> {
    let contender = Contender::start(id, world)?;
    let link = Link::of(&contender)?;
    let base = median(&client::one_connection(contender.address, plan.delayed * 4)?);
    let mut figures = Vec::new();
    for (row, delay_ms, requests) in [(DELAY_100, 100.0, plan.delayed), (DELAY_5, 5.0, plan.delayed * 4)] {
        link.add(&format!(r#"{{"name":"t","type":"latency","attributes":{{"latency":{delay_ms}}}}}"#))?;
        let times = client::one_connection(contender.address, requests)?;
        if delay_ms > 50.0 {
            let began = Instant::now();
            client::bulk(contender.address, PIPELINED_BYTES)?;
            figures.push(Figure::new(PIPELINED, began.elapsed().as_secs_f64()));
        }
        link.remove("t")?;
        let errors = times.iter().map(|ns| ((ns - base) / 1e6 - delay_ms).abs());
        figures.push(Figure::new(row, errors.sum::<f64>() / times.len() as f64));
    }
    Ok(figures)
}

/// The median and the slowest of many calls that add or remove a toxic, with many live connections, with answers that nobody reads, and
/// with one client that goes on exchanging.
pub(super) fn calls(id: Id, world: &World, plan: &Plan) -> Result<Vec<Figure>, BenchError> {
    let contender = Contender::start(id, world)?;
    let link = Link::of(&contender)?;
    let held = super::idle::hold(&contender, plan.held)?;
    let stalled = (0..STALLED).map(|_| stall(contender.address)).collect::<Result<Vec<_>, _>>()?;
    let is_over = AtomicBool::new(false);
    let times = thread::scope(|scope| {
        let exchanging = scope.spawn(|| exchange_until(contender.address, &is_over));
        let mut times = Vec::new();
        let mut called = Ok(());
        for toxic in (0..plan.toxics).flat_map(|_| PASSING) {
            for call in [&|| link.add(toxic), &|| link.remove("t")] as [&dyn Fn() -> Result<(), BenchError>; 2] {
                let began = Instant::now();
                called = called.and_then(|()| call());
                times.push(began.elapsed().as_secs_f64() * 1e3);
            }
        }
        is_over.store(true, Ordering::Release);
        let exchanged = exchanging.join().map_err(|_| BenchError::start("a client", "it panicked"))?;
        called.and(exchanged).map(|()| times)
    })?;
    drop((held, stalled));
    let slowest = times.iter().copied().fold(0.0, f64::max);
    Ok(vec![Figure::new(TOXIC_MEDIAN, median(&times)), Figure::new(TOXIC_CALL, slowest)])
}

fn exchange_until(to: SocketAddr, is_over: &AtomicBool) -> Result<(), BenchError> {
    let mut stream = client::connect(to)?;
    let mut buffer = [0; 4096];
    while !is_over.load(Ordering::Acquire) {
        client::exchange(&mut stream, &mut buffer)?;
    }
    Ok(())
}

/// Asks for a long answer and reads nothing of it.
fn stall(to: SocketAddr) -> Result<TcpStream, BenchError> {
    let mut stream = client::connect(to)?;
    write!(stream, "GET /bytes/{STALLED_BYTES} HTTP/1.1\r\nhost: bank.test\r\n\r\n").during("asking for bytes")?;
    Ok(stream)
}

/// The toxics of the contender's link, through its API.
struct Link {
    api: SocketAddr,
}

impl Link {
    fn of(contender: &Contender) -> Result<Self, BenchError> {
        let api = contender.api.ok_or_else(|| BenchError::start(contender.id.name(), "it has no API"))?;
        Ok(Self { api })
    }

    fn add(&self, toxic: &str) -> Result<(), BenchError> {
        self.call("POST", "/proxies/bench/toxics", toxic, 200)
    }

    fn remove(&self, name: &str) -> Result<(), BenchError> {
        self.call("DELETE", &format!("/proxies/bench/toxics/{name}"), "", 204)
    }

    fn call(&self, method: &str, path: &str, body: &str, expected: u16) -> Result<(), BenchError> {
        let (status, said) = control::call(self.api, method, path, body).during("calling the API")?;
        if status == expected {
            return Ok(());
        }
        let got = format!("{status} {}", String::from_utf8_lossy(&said));
        Err(BenchError::Wrong { through: format!("{method} {path}"), expected: expected.to_string(), got })
    }
}
