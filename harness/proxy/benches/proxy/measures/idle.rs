//! Memory of connections that are held and idle.

use std::net::TcpStream;

use crate::client;
use crate::contenders::{Contender, Id, World};
use crate::error::BenchError;
use crate::machine;
use crate::plan::Plan;
use crate::samples::Figure;
use crate::targets::IDLE;

/// Connections that come and go before the first look, so that what a process keeps for good is there already.
const WARM_UP: usize = 16;

pub(super) fn round(id: Id, world: &World, plan: &Plan) -> Result<Vec<Figure>, BenchError> {
    let contender = Contender::start(id, world)?;
    let Some(pid) = contender.pid() else { return Ok(Vec::new()) };
    drop(hold(&contender, WARM_UP)?);
    let before = machine::resident_bytes(pid)?;
    let held = hold(&contender, plan.held)?;
    let after = machine::resident_bytes(pid)?;
    let each = after.saturating_sub(before) as f64 / held.len() as f64;
    Ok(vec![Figure::new(IDLE, each / 1024.0)])
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
