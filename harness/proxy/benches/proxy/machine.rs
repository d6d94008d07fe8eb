//! What the kernel says about the machine and about processes.

use std::fs;
use std::path::Path;

use crate::error::{BenchError, While};

/// CPU time of a process so far, in nanoseconds: exact from the scheduler where the kernel keeps that, otherwise in clock
/// ticks of a hundredth of a second.
pub(crate) fn cpu_ns(pid: u32) -> Result<u64, BenchError> {
    match scheduled_ns(pid) {
        Some(ns) if ns > 0 => Ok(ns),
        _ => ticks_ns(pid),
    }
}

/// Sum over the threads that live. No contender ends a thread that carries load.
fn scheduled_ns(pid: u32) -> Option<u64> {
    let mut sum = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let text = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        sum += text.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    Some(sum)
}

fn ticks_ns(pid: u32) -> Result<u64, BenchError> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).during("reading a contender's CPU time")?;
    // The second field is the program's name in parentheses and may hold anything; utime and stime are the 14th and 15th.
    let behind = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 = behind.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(ticks * 10_000_000)
}

/// Memory of a process that is in use and not only reserved, in bytes.
pub(crate) fn resident_bytes(pid: u32) -> Result<u64, BenchError> {
    let exact = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok().and_then(|text| kilobytes(&text, "Rss:"));
    match exact {
        Some(bytes) => Ok(bytes),
        None => {
            let text = fs::read_to_string(format!("/proc/{pid}/status")).during("reading a contender's memory")?;
            kilobytes(&text, "VmRSS:").ok_or_else(|| BenchError::Usage("this kernel reports no memory use".to_owned()))
        }
    }
}

fn kilobytes(text: &str, field: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(field))?;
    rest.split_whitespace().next()?.parse::<u64>().ok().map(|n| n << 10)
}

/// One minute, five minutes, a quarter of an hour.
pub(crate) fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// The kernel's release.
pub(crate) fn kernel() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}

/// Processors that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Size of a file.
pub(crate) fn file_bytes(path: &Path) -> Result<u64, BenchError> {
    Ok(fs::metadata(path).during("looking at the proxy's binary")?.len())
}

/// A thousand held connections are two thousand sockets in a contender, and its limit is inherited from here.
pub(crate) fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current < maximum {
        // Where it may not be raised, the connections that do not fit fail with an error that says so.
        let _kept = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}
