//! The program itself: its size, and how soon after exec the port of its API is open.

use std::time::Instant;

use crate::client;
use crate::contenders::{Contender, Id, World};
use crate::error::BenchError;
use crate::machine;
use crate::plan::Plan;
use crate::samples::Figure;
use crate::targets::{SIZE, STARTUP};

pub(super) fn round(id: Id, world: &World, _plan: &Plan) -> Result<Vec<Figure>, BenchError> {
    let began = Instant::now();
    let contender = Contender::start(id, world)?;
    drop(client::connect(contender.api.unwrap_or(contender.address))?);
    let milliseconds = began.elapsed().as_secs_f64() * 1e3;
    let size = machine::file_bytes(&world.binary)? as f64 / 1e6;
    Ok(vec![Figure::new(STARTUP, milliseconds), Figure::new(SIZE, size)])
}
