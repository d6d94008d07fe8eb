//! The measures. Each is a function that measures one contender for one round.

mod bulk;
mod connects;
mod idle;
mod keepalive;
mod logging;
mod program;
mod toxics;

use crate::contenders::{Contender, Id, World};
use crate::error::BenchError;
use crate::machine;
use crate::plan::Plan;
use crate::samples::Figure;

/// What a measure needs.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Contenders that run through all rounds.
    Running(fn(&Contender, &Plan) -> Result<Vec<Figure>, BenchError>),
    /// A process of its own in each round.
    Fresh(fn(Id, &World, &Plan) -> Result<Vec<Figure>, BenchError>),
}

/// One measure.
#[derive(Clone, Copy)]
pub(crate) struct Measure {
    pub(crate) name: &'static str,
    pub(crate) who: &'static [Id],
    pub(crate) kind: Kind,
}

/// Those that only pass bytes or requests on.
const ALL_PATHS: &[Id] = &[Id::Direct, Id::Relay, Id::EnvoyTcp, Id::OursTcp, Id::EnvoyHttp, Id::OursHttp];

/// All measures, in the order of a round.
pub(crate) const MEASURES: &[Measure] = &[
    Measure { name: "keepalive", who: ALL_PATHS, kind: Kind::Running(keepalive::one) },
    Measure { name: "keepalive16", who: ALL_PATHS, kind: Kind::Running(keepalive::many) },
    Measure { name: "bulk", who: ALL_PATHS, kind: Kind::Running(bulk::round) },
    Measure { name: "connects", who: ALL_PATHS, kind: Kind::Running(connects::round) },
    Measure {
        name: "log",
        who: &[Id::LibraryLogOff, Id::LibraryLogOn, Id::OursHttp, Id::OursHttpEvents],
        kind: Kind::Running(logging::round),
    },
    Measure {
        name: "idle",
        who: &[Id::Relay, Id::EnvoyTcp, Id::OursTcp, Id::EnvoyHttp, Id::OursHttp],
        kind: Kind::Fresh(idle::round),
    },
    Measure { name: "latency", who: &[Id::OursApi], kind: Kind::Fresh(toxics::latency) },
    Measure { name: "calls", who: &[Id::OursApi], kind: Kind::Fresh(toxics::calls) },
    Measure { name: "program", who: &[Id::OursApi], kind: Kind::Fresh(program::round) },
];

/// Their names, for `--only`.
pub(crate) const NAMES: &[&str] =
    &["keepalive", "keepalive16", "bulk", "connects", "log", "idle", "latency", "calls", "program"];

/// Does some work and says how much CPU time the contender spent on it, in nanoseconds.
fn with_cpu<T>(
    contender: &Contender,
    work: impl FnOnce() -> Result<T, BenchError>,
) -> Result<(T, Option<f64>), BenchError> {
    let Some(pid) = contender.pid() else { return Ok((work()?, None)) };
    let before = machine::cpu_ns(pid)?;
    let done = work()?;
    let spent = machine::cpu_ns(pid)?.saturating_sub(before);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53 ns")]
    Ok((done, Some(spent as f64)))
}
