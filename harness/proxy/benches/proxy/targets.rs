//! The rows of the table, and what each has to reach.

use crate::contenders::Id;

pub(crate) const ONE_P50: &str = "keep-alive, 1 connection, p50";
pub(crate) const ONE_P99: &str = "keep-alive, 1 connection, p99";
pub(crate) const MANY_P50: &str = "keep-alive, 16 connections, p50";
pub(crate) const MANY_P99: &str = "keep-alive, 16 connections, p99";
pub(crate) const BULK: &str = "bulk, 1 connection";
pub(crate) const CONNECTS: &str = "new connections";
pub(crate) const LOG: &str = "event log, CPU per request";
pub(crate) const LOG_FILE: &str = "event file, CPU per request";
pub(crate) const IDLE: &str = "memory of an idle connection";
pub(crate) const LEFT: &str = "memory kept after a crowd has left";
pub(crate) const DELAY_100: &str = "latency toxic of 100 ms, mean error";
pub(crate) const DELAY_5: &str = "latency toxic of 5 ms, mean error";
pub(crate) const PIPELINED: &str = "4 MB through 100 ms";
pub(crate) const TOXIC_MEDIAN: &str = "toxic added or removed, median call";
pub(crate) const TOXIC_CALL: &str = "toxic added or removed, slowest call";
pub(crate) const STARTUP: &str = "exec to open API port";
pub(crate) const SIZE: &str = "size of the binary";

/// A row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// Unit of the CPU column.
    pub(crate) cpu_unit: &'static str,
    /// Over a direct connection in the same round.
    pub(crate) is_added: bool,
}

const fn row(name: &'static str, unit: &'static str, cpu_unit: &'static str, is_added: bool) -> Row {
    Row { name, unit, cpu_unit, is_added }
}

/// All rows, in the order of the table.
pub(crate) const ROWS: &[Row] = &[
    row(ONE_P50, "us added", "us/request", true),
    row(ONE_P99, "us added", "", true),
    row(MANY_P50, "us added", "us/request", true),
    row(MANY_P99, "us added", "", true),
    row(BULK, "MB/s", "s/GB", false),
    row(CONNECTS, "1/s", "us/connection", false),
    row(LOG, "us", "", false),
    row(LOG_FILE, "us", "", false),
    row(IDLE, "KiB", "", false),
    row(LEFT, "MiB", "", false),
    row(DELAY_100, "ms", "", false),
    row(DELAY_5, "ms", "", false),
    row(PIPELINED, "s", "", false),
    row(TOXIC_MEDIAN, "ms", "", false),
    row(TOXIC_CALL, "ms", "", false),
    row(STARTUP, "ms", "", false),
    row(SIZE, "MB", "", false),
];

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Value,
    Cpu,
}

/// What a figure has to reach.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Need {
    /// At most this many times the other contender's.
    UpTo(f64, Id),
    /// At least this many times the other contender's.
    NoLess(f64, Id),
    /// At most this.
    Below(f64),
}

/// One target of `chaos-proxy.md`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) row: &'static str,
    pub(crate) who: Id,
    pub(crate) of: Of,
    pub(crate) need: Need,
}

const fn target(row: &'static str, who: Id, of: Of, need: Need) -> Target {
    Target { row, who, of, need }
}

/// What 2.5 times Toxiproxy's bulk is in terms of the bare relay's, after the medians in `chaos-proxy.md`: the relay stands
/// for Toxiproxy, which is not in the run.
const TOXIPROXY_BULK: f64 = 2.5 * 479.0 / 1209.0;
/// The same of 1.6 times Toxiproxy's new connections.
const TOXIPROXY_CONNECTS: f64 = 1.6 * 1693.0 / 2875.0;

/// All targets.
pub(crate) const TARGETS: &[Target] = &[
    target(ONE_P50, Id::OursTcp, Of::Value, Need::UpTo(1.10, Id::Relay)),
    target(ONE_P50, Id::OursTcp, Of::Value, Need::UpTo(1.00, Id::EnvoyTcp)),
    target(ONE_P50, Id::OursHttp, Of::Value, Need::UpTo(1.00, Id::EnvoyHttp)),
    target(ONE_P99, Id::OursTcp, Of::Value, Need::UpTo(1.00, Id::EnvoyTcp)),
    target(MANY_P50, Id::OursTcp, Of::Value, Need::UpTo(1.10, Id::Relay)),
    target(MANY_P50, Id::OursTcp, Of::Value, Need::UpTo(1.00, Id::EnvoyTcp)),
    target(MANY_P50, Id::OursHttp, Of::Value, Need::UpTo(1.00, Id::EnvoyHttp)),
    target(MANY_P99, Id::OursTcp, Of::Value, Need::UpTo(1.00, Id::EnvoyTcp)),
    target(BULK, Id::OursTcp, Of::Value, Need::NoLess(1.00, Id::EnvoyTcp)),
    target(BULK, Id::OursTcp, Of::Value, Need::NoLess(TOXIPROXY_BULK, Id::Relay)),
    target(BULK, Id::OursTcp, Of::Cpu, Need::UpTo(1.00, Id::EnvoyTcp)),
    target(CONNECTS, Id::OursTcp, Of::Value, Need::NoLess(1.00, Id::EnvoyTcp)),
    target(CONNECTS, Id::OursTcp, Of::Value, Need::NoLess(TOXIPROXY_CONNECTS, Id::Relay)),
    target(LOG, Id::LibraryLogOn, Of::Value, Need::UpTo(1.05, Id::LibraryLogOff)),
    target(IDLE, Id::OursTcp, Of::Value, Need::Below(16.0)),
    target(IDLE, Id::OursHttp, Of::Value, Need::Below(16.0)),
    target(DELAY_100, Id::OursApi, Of::Value, Need::Below(0.4)),
    target(DELAY_5, Id::OursApi, Of::Value, Need::Below(0.2)),
    target(PIPELINED, Id::OursApi, Of::Value, Need::Below(0.12)),
    target(TOXIC_CALL, Id::OursApi, Of::Value, Need::Below(5.0)),
    target(STARTUP, Id::OursApi, Of::Value, Need::Below(5.0)),
    target(SIZE, Id::OursApi, Of::Value, Need::Below(6.0)),
];
