//! One long answer on one connection.

use std::time::Instant;

use super::with_cpu;
use crate::client;
use crate::contenders::Contender;
use crate::error::BenchError;
use crate::plan::Plan;
use crate::samples::Figure;
use crate::targets::BULK;

pub(super) fn round(contender: &Contender, plan: &Plan) -> Result<Vec<Figure>, BenchError> {
    let began = Instant::now();
    let ((), cpu) = with_cpu(contender, || client::bulk(contender.address, plan.bulk_bytes))?;
    let seconds = began.elapsed().as_secs_f64();
    let megabytes = plan.bulk_bytes as f64 / 1e6;
    // Seconds for each gigabyte.
    let cpu = cpu.map(|ns| ns / 1e9 / (megabytes / 1e3));
    Ok(vec![Figure::new(BULK, megabytes / seconds).cpu(cpu)])
}
