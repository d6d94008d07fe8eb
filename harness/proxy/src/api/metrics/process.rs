//! Figures of the process, under the names that dashboards for Toxiproxy read.
//!
//! `process_*` are what they always are. Of `go_*` only those are there that mean something here, and their help says
//! what: a task of the runtime does for this proxy what a goroutine does for Go. Nothing claims a Go version, a heap of
//! Go's, or its collector.

use std::fs;

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::Handle;

use super::text::Text;

/// Ticks of `/proc/PID/stat` in a second: part of the kernel's interface, whatever its own clock ticks.
const TICKS: f64 = 100.0;

pub(super) fn write(text: &mut Text, runtime: &Handle) {
    gauge(text, "chaos_proxy_build_info", "Version of this program.", &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    let tasks = runtime.metrics().num_alive_tasks();
    gauge(text, "go_goroutines", "Tasks of the runtime that are alive (this is no Go program).", &[], tasks as f64);
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    let cpu = cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9;
    text.family("process_cpu_seconds_total", "counter", "User and system CPU time in seconds.");
    text.sample("process_cpu_seconds_total", &[], cpu);
    let open = fs::read_dir("/proc/self/fd").map(Iterator::count);
    // The directory itself was open while it was read.
    absent_or(text, "process_open_fds", "Open file descriptors.", open.ok().map(|n| n.saturating_sub(1) as f64));
    let limit = getrlimit(Resource::Nofile).current.map(|n| n as f64);
    absent_or(text, "process_max_fds", "File descriptors that may be open.", limit);
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = |name| field(&status, name).map(|kb| kb * 1024.0);
    absent_or(text, "process_resident_memory_bytes", "Resident memory.", kilobytes("VmRSS:"));
    absent_or(text, "process_virtual_memory_bytes", "Virtual memory.", kilobytes("VmSize:"));
    absent_or(text, "go_threads", "Threads of the process (this is no Go program).", field(&status, "Threads:"));
    absent_or(text, "process_start_time_seconds", "Start of the process, seconds since the Unix epoch.", started());
}

/// A figure that this system may not have; nothing is said of it then.
fn absent_or(text: &mut Text, name: &str, help: &str, value: Option<f64>) {
    if let Some(value) = value {
        gauge(text, name, help, &[], value);
    }
}

fn gauge(text: &mut Text, name: &str, help: &str, labels: &[(&str, &str)], value: f64) {
    text.family(name, "gauge", help);
    text.sample(name, labels, value);
}

/// The number behind a name in the lines of a file under `/proc`.
fn field(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

fn started() -> Option<f64> {
    let boot = field(&fs::read_to_string("/proc/stat").ok()?, "btime ")?;
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name is in brackets and may hold spaces; the start is the 20th field behind it.
    let ticks: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    Some(boot + ticks / TICKS)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    // Proves that the start is read from the right field: it is in the past, and not long ago, as this process is young.
    #[test]
    fn the_start_is_recent() {
        let now = clock_gettime(ClockId::Realtime).tv_sec as f64;
        let age = now - started().expect("a start");
        assert!((-2.0..3600.0).contains(&age), "started {age} s ago");
    }
}
