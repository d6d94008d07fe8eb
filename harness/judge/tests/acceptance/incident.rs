//! Section `incident`: 2,000 payments fail together, two retries each; the peak at the bank by policy and base.

use judge::sim::{Fleet, Policy};
use judge::stats::peak::max_sliding;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::count::spread;
use crate::section::{Cell, Section};

const PAYMENTS: usize = 2_000;
/// Runs of each mean of the reference.
const REFERENCE_RUNS: u64 = 40;

/// Policy, and whether first attempts count.
const COLUMNS: [(Policy, bool, &str); 8] = [
    (Policy::Immediate, true, "immediate, all"),
    (Policy::Immediate, false, "immediate, retries"),
    (Policy::FixedExponential, false, "fixed exponential"),
    (Policy::PlusMinus25, false, "+-25 %"),
    (Policy::Equal, false, "equal"),
    (Policy::Decorrelated, false, "decorrelated"),
    (Policy::Full, false, "full"),
    (Policy::Full, true, "full, all"),
];

/// Base in seconds, then for each column the mean peak of a second and, in brackets, that of 100 ms as a rate.
const ROWS: [(f64, &str); 9] = [
    (
        0.1,
        "6000 [60000], 4000 [40000], 4000 [20000], 4000 [20000], 4000 [20000], 3976 [11316], 4000 [23101], 6000 [38604]",
    ),
    (0.5, "6000 [60000], 4000 [40000], 2000 [20000], 2432 [8394], 3433 [8378], 2162 [2707], 3469 [5869], 5433 [23319]"),
    (1.0, "6000 [60000], 4000 [40000], 2000 [20000], 2000 [4387], 2000 [4366], 1173 [1455], 2480 [3102], 4432 [21646]"),
    (2.0, "6000 [60000], 4000 [40000], 2000 [20000], 1993 [2328], 1993 [2331], 640 [826], 1375 [1684], 3098 [20818]"),
    (5.0, "6000 [60000], 4000 [40000], 2000 [20000], 839 [1046], 841 [1057], 275 [402], 591 [763], 2416 [20328]"),
    (8.0, "6000 [60000], 4000 [40000], 2000 [20000], 539 [718], 538 [712], 180 [279], 382 [530], 2254 [20208]"),
    (10.0, "6000 [60000], 4000 [40000], 2000 [20000], 436 [590], 437 [599], 148 [248], 312 [446], 2203 [20162]"),
    (12.0, "6000 [60000], 4000 [40000], 2000 [20000], 373 [521], 369 [519], 126 [219], 266 [393], 2163 [20130]"),
    (15.0, "6000 [60000], 4000 [40000], 2000 [20000], 302 [442], 303 [433], 103 [191], 218 [336], 2130 [20107]"),
];

/// The page's row at the base of the incident, 9.11 s, peak of one second; it has no figure for the other columns.
const INCIDENT: [(Policy, f64); 6] = [
    (Policy::Immediate, 4_000.0),
    (Policy::FixedExponential, 2_000.0),
    (Policy::PlusMinus25, 479.0),
    (Policy::Equal, 477.0),
    (Policy::Decorrelated, 160.0),
    (Policy::Full, 340.0),
];

/// m* of that herd at 1e-7.
const MOST: usize = 464;

/// Mean peaks by base and policy.
pub fn peaks(runs: u64) -> Section {
    let title =
        format!("Peak of 2,000 payments with two retries, per second: in one second and in 100 ms, {runs} runs");
    let mut section = Section::new(title, ["base, window"].into_iter().chain(COLUMNS.map(|c| c.2)));
    for (base, text) in ROWS {
        let printed: Vec<f64> = text.split([',', '[', ']', ' ']).filter_map(|word| word.parse().ok()).collect();
        let seen = COLUMNS.map(|(policy, first, _)| {
            spread(runs, |seed| {
                let events = events(policy, base, first, seed);
                [1.0, 0.1].map(|window| max_sliding(&events, window).0 as f64 / window)
            })
        });
        for (i, window) in ["1 s", "100 ms"].into_iter().enumerate() {
            let cell = |(seen, printed): (&Vec<[f64; 2]>, &[f64])| Cell::Mean {
                values: seen.iter().map(|v| v[i]).collect(),
                printed: printed[i],
                half: 0.5,
                runs: REFERENCE_RUNS,
            };
            section.row(format!("{base} s, {window}"), seen.iter().zip(printed.chunks(2)).map(cell).collect());
        }
    }
    section
}

/// The incident itself, at full size and with base and window a tenth as long, and how many herds m* rules out.
pub fn story(runs: u64) -> Section {
    let title = format!("The incident: base 9.11 s and a window of 1 s, and a tenth of both, {runs} runs");
    let columns = ["policy", "mean peak", "a tenth of it", "least", "most", "m* = 464 or more"];
    let mut section = Section::new(title, columns);
    for (policy, printed) in INCIDENT {
        let peaks = |base: f64, window: f64| {
            spread(runs, |seed| [max_sliding(&events(policy, base, false, seed), window).0 as f64])
                .into_iter()
                .map(|[peak]| peak)
                .collect::<Vec<f64>>()
        };
        let (whole, short) = (peaks(9.11, 1.0), peaks(0.911, 0.1));
        let mean = |values: Vec<f64>| Cell::Mean { values, printed, half: 0.5, runs: REFERENCE_RUNS };
        let end = |values: &[f64], pick: fn(f64, f64) -> f64| {
            Cell::Alone(format!("{:.0}", values.iter().copied().reduce(pick).unwrap_or(f64::NAN)))
        };
        let over = whole.iter().filter(|&&peak| peak as usize >= MOST).count() as u64;
        let beyond = match policy {
            Policy::Full | Policy::Decorrelated => Cell::share(over, runs, 0.0, 1_000),
            Policy::Immediate | Policy::FixedExponential => Cell::share(over, runs, 1.0, 1_000),
            _ => Cell::Alone(format!("{over} of {runs}")),
        };
        let ends = [end(&whole, f64::min), end(&whole, f64::max)];
        section.row(policy, [mean(whole), mean(short)].into_iter().chain(ends).chain([beyond]).collect());
    }
    section
}

/// Seconds at which the herd's requests arrive: retries, and first attempts when asked for.
fn events(policy: Policy, base: f64, first: bool, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut events = Fleet::new(policy, PAYMENTS).base(base).retries(2).observe_with(&mut rng).arrivals.concat();
    if first {
        events.extend((0..PAYMENTS).map(|_| 0.01 * rng.random::<f64>()));
    }
    events
}

/// Proves the page's peaks, policy by policy and base by base.
#[test]
fn peaks_are_those_of_the_page() {
    peaks(8).assert_agrees();
}

/// Proves 340 a second for full jitter at a base of 9.11 s, in full and in short, below m* and with the herds above it.
#[test]
fn three_hundred_and_forty() {
    story(12).assert_agrees();
}
