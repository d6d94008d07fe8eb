//! Memory of connections that are held and idle, and what is kept of it when they have gone.

use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::client;
use crate::contenders::{Contender, Id, World};
use crate::error::BenchError;
use crate::machine;
use crate::plan::Plan;
use crate::samples::Figure;
use crate::targets::{IDLE, LEFT};

/// Connections that come and go before the first look, so that what a process keeps for good is there already.
const WARM_UP: usize = 16;
/// Memory has found its level when it was the same for so long, and is not waited for longer than that.
const STEADY: Duration = Duration::from_secs(3);
const AT_MOST: Duration = Duration::from_secs(15);

pub(super) fn round(id: Id, world: &World, plan: &Plan) -> Result<Vec<Figure>, BenchError> {
    let contender = Contender::start(id, world)?;
    let Some(pid) = contender.pid() else { return Ok(Vec::new()) };
    drop(hold(&contender, WARM_UP)?);
    let before = machine::resident_bytes(pid)?;
    let held = hold(&contender, plan.held)?;
    let after = machine::resident_bytes(pid)?;
    let each = after.saturating_sub(before) as f64 / held.len() as f64;
    drop(held);
    let left = level(pid)?.saturating_sub(before) as f64;
    Ok(vec![Figure::new(IDLE, each / 1024.0), Figure::new(LEFT, left / f64::from(1 << 20))])
}

/// The resident memory once it stays the same.
fn level(pid: u32) -> Result<u64, BenchError> {
    let began = Instant::now();
    let (mut since, mut resident) = (began, machine::resident_bytes(pid)?);
    while since.elapsed() < STEADY && began.elapsed() < AT_MOST {
        thread::sleep(Duration::from_millis(100));
        let now = machine::resident_bytes(pid)?;
        if now != resident {
            (since, resident) = (Instant::now(), now);
        }
    }
    Ok(resident)
}

/// Opens connections and makes one exchange on each, so that every one is through to the origin.
pub(super) fn hold(contender: &Contender, n: usize) -> Result<Vec<TcpStream>, BenchError> {
    let mut buffer = [0; 4096];
    let mut held = Vec::with_capacity(n);
    for _ in 0..n {
        let mut stream = client::connect(contender.address)?;
        client::exchange(&mut stream, &mut buffer)?;
        held.push(stream);
    }
    Ok(held)
}
