//! Fresh connections with one exchange on each, sixteen clients at once.

use std::time::Instant;

use super::with_cpu;
use crate::client;
use crate::contenders::Contender;
use crate::error::BenchError;
use crate::plan::{CONCURRENT, Plan};
use crate::samples::Figure;
use crate::targets::CONNECTS;

pub(super) fn round(contender: &Contender, plan: &Plan) -> Result<Vec<Figure>, BenchError> {
    let began = Instant::now();
    let work = || client::fresh_connections(contender.address, CONCURRENT, plan.connects_each);
    let ((), cpu) = with_cpu(contender, work)?;
    let connections = (CONCURRENT * plan.connects_each) as f64;
    let rate = connections / began.elapsed().as_secs_f64();
    Ok(vec![Figure::new(CONNECTS, rate).cpu(cpu.map(|ns| ns / connections / 1e3))])
}
