//! Small requests on kept connections: what a hop adds to a round trip.

use super::with_cpu;
use crate::client;
use crate::contenders::Contender;
use crate::error::BenchError;
use crate::plan::{CONCURRENT, Plan};
use crate::samples::Figure;
use crate::stats::quantile;
use crate::targets::{MANY_P50, MANY_P99, ONE_P50, ONE_P99};

/// A closed loop on one connection.
pub(super) fn one(contender: &Contender, plan: &Plan) -> Result<Vec<Figure>, BenchError> {
    let (times, cpu) = with_cpu(contender, || client::one_connection(contender.address, plan.requests))?;
    Ok(figures(&times, cpu, ONE_P50, ONE_P99))
}

/// Sixteen closed loops at once.
pub(super) fn many(contender: &Contender, plan: &Plan) -> Result<Vec<Figure>, BenchError> {
    let work = || client::many_connections(contender.address, CONCURRENT, plan.requests_each);
    let (times, cpu) = with_cpu(contender, work)?;
    Ok(figures(&times, cpu, MANY_P50, MANY_P99))
}

fn figures(times_ns: &[f64], cpu: Option<f64>, p50: &'static str, p99: &'static str) -> Vec<Figure> {
    let cpu_us = cpu.map(|ns| ns / times_ns.len() as f64 / 1e3);
    vec![Figure::new(p50, quantile(times_ns, 0.50) / 1e3).cpu(cpu_us), Figure::new(p99, quantile(times_ns, 0.99) / 1e3)]
}
