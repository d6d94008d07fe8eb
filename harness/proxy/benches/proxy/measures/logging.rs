//! What the event log costs: CPU time for each request, with it and without.

use super::with_cpu;
use crate::client;
use crate::contenders::{Contender, Id};
use crate::error::BenchError;
use crate::plan::Plan;
use crate::samples::Figure;
use crate::targets::{LOG, LOG_FILE};

pub(super) fn round(contender: &Contender, plan: &Plan) -> Result<Vec<Figure>, BenchError> {
    let (times, cpu) = with_cpu(contender, || client::one_connection(contender.address, plan.requests))?;
    let row = match contender.id {
        Id::LibraryLogOff | Id::LibraryLogOn => LOG,
        _ => LOG_FILE,
    };
    let cpu_us = cpu.map(|ns| ns / times.len() as f64 / 1e3);
    Ok(cpu_us.map(|us| Figure::new(row, us)).into_iter().collect())
}
