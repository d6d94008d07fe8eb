//! What the machine says of itself, and of this process.

use std::fs;

/// Processors and load average.
pub fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_else(|_| "unknown".to_owned());
    let load: Vec<&str> = load.split(' ').take(3).collect();
    format!("{cores} processors, load average {}", load.join(" "))
}

/// Resident memory in bytes, now and at its peak since [`forget_peak`]; zeros where the system does not say.
pub fn resident() -> [u64; 2] {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    ["VmRSS:", "VmHWM:"].map(|name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
    })
}

/// Starts the peak anew; without the right to do so it stays what it was.
pub fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// CPU time of this process in seconds; zero where the system does not say.
pub fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in brackets may hold blanks; the times are the 12th and 13th fields after it, in hundredths of a second.
    let after = stat.rsplit(") ").next().unwrap_or_default();
    after.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
