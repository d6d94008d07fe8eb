//! Counting over seeded runs, on all cores.

use std::thread;

/// Sums what `one` says of each run; every run has its own seed, so the sums do not depend on the number of cores.
pub fn count<const N: usize>(runs: u64, one: impl Fn(u64) -> [bool; N] + Sync) -> [u64; N] {
    let workers = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let one = &one;
    let part = |worker: u64| {
        let mut sums = [0; N];
        for seed in (worker..runs).step_by(workers as usize) {
            for (sum, yes) in sums.iter_mut().zip(one(seed)) {
                *sum += u64::from(yes);
            }
        }
        sums
    };
    thread::scope(|scope| {
        let parts: Vec<_> = (0..workers).map(|worker| scope.spawn(move || part(worker))).collect();
        parts.into_iter().fold([0; N], |mut sums, part| {
            // A panic in a worker is a bug of this program; it ends it.
            let part = part.join().expect("a worker without panic");
            sums.iter_mut().zip(part).for_each(|(sum, n)| *sum += n);
            sums
        })
    })
}
