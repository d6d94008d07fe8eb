//! Counting over seeded runs, on all cores.

use std::thread;

/// What `one` says of each run, in the order of the seeds; every run has its own seed, so the number of cores changes
/// nothing.
pub fn spread<T: Send>(runs: u64, one: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let workers = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let one = &one;
    let mut all: Vec<(u64, T)> = thread::scope(|scope| {
        let part = |worker| (worker..runs).step_by(workers as usize).map(|seed| (seed, one(seed))).collect::<Vec<_>>();
        let parts: Vec<_> = (0..workers).map(|worker| scope.spawn(move || part(worker))).collect();
        // A panic in a worker is a bug of this program; it ends it.
        parts.into_iter().flat_map(|part| part.join().expect("a worker without panic")).collect()
    });
    all.sort_by_key(|(seed, _)| *seed);
    all.into_iter().map(|(_, value)| value).collect()
}

/// Sums what `one` says of each run.
pub fn count<const N: usize>(runs: u64, one: impl Fn(u64) -> [bool; N] + Sync) -> [u64; N] {
    spread(runs, one).into_iter().fold([0; N], |mut sums, row| {
        sums.iter_mut().zip(row).for_each(|(sum, yes)| *sum += u64::from(yes));
        sums
    })
}
