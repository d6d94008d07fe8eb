//! Section `table`: how often each test rejects each true policy, declared full jitter, 100 clients by 3 retries.

use judge::law::Law;
use judge::sim::{Fleet, Observation, Policy};
use judge::stats::{Alpha, Decision, Sample, Settings, TestName, decide, tests};

use crate::count::count;
use crate::laws::full;
use crate::naive::{self, AD, CHI2, KS};
use crate::section::{Cell, Section};

/// Runs of each row of the reference.
const REFERENCE_RUNS: u64 = 20_000;

const COLUMNS: [&str; 18] = [
    "pooled sd <= 800 ms",
    "two in 100 ms",
    "peak, aligned",
    "peak, sliding",
    "peak / mean",
    "chi-square 1e-7",
    "sd within attempt",
    "KS 5 %",
    "KS 1e-7",
    "AD 1e-7",
    "half-count",
    "interval-DKW",
    "support",
    "reach",
    "rank correlation",
    "gap scan",
    "phase",
    "battery",
];

/// What the simulator printed: one row for each policy, in the order of [`Policy::ALL`].
const REFERENCE: [[f64; 18]; 21] = [
    [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.062, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0001, 0.0, 0.0008, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.172, 1.0],
    [0.0, 1.0, 0.0, 0.0, 0.924, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.775, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.9999, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0],
    [0.0, 1.0, 0.0, 0.0, 0.084, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.169, 1.0],
    [0.0, 1.0, 0.0, 0.0, 0.0004, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [0.211, 1.0, 1.0, 1.0, 0.796, 1.0, 1.0, 1.0, 1.0, 1.0, 0.934, 0.9994, 0.0, 1.0, 0.0, 1.0, 0.9993, 1.0],
    [0.0, 1.0, 0.0, 0.0, 0.0, 0.043, 0.0, 0.505, 0.0057, 0.0053, 0.0005, 0.0016, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
    [1.0, 1.0, 0.0003, 0.0001, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 0.0, 0.0, 0.0001, 0.111, 0.695, 0.0001, 0.0001, 0.0001, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 0.0, 0.0008, 1.0, 0.036, 1.0, 1.0, 1.0, 0.9991, 1.0, 1.0, 0.0004, 0.0, 0.0, 0.0, 1.0],
    [0.892, 1.0, 0.013, 0.0097, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.168, 1.0],
    [1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.687, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [0.0, 1.0, 0.159, 0.028, 0.576, 0.9997, 0.0, 1.0, 0.472, 1.0, 0.0, 0.009, 0.0, 1.0, 0.0, 0.181, 1.0, 1.0],
    [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0098, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0001, 1.0, 1.0, 1.0, 1.0],
    [0.0, 1.0, 0.0, 0.0, 0.0, 0.177, 0.0, 1.0, 0.0022, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0002, 0.0, 0.0003, 0.0005],
];

/// The table over that many runs a row.
pub fn section(runs: u64) -> Section {
    let law = full(1.0);
    let title = format!("Rejections by test: declared full jitter, 100 clients x 3, typical noise, {runs} runs a row");
    let mut section = Section::new(title, ["true policy"].into_iter().chain(COLUMNS));
    for (policy, reference) in Policy::ALL.into_iter().zip(REFERENCE) {
        let counts = count(runs, |seed| rejected(&Fleet::new(policy, 100).observe(seed), &law));
        let cell = |(count, printed)| Cell::share(count, runs, printed, REFERENCE_RUNS);
        section.row(policy, counts.into_iter().zip(reference).map(cell).collect());
    }
    section
}

fn rejected(observed: &Observation, law: &Law) -> [bool; 18] {
    let settings = Settings::default();
    let made = tests(&observed.gaps, law, &settings).expect("gaps to test").made;
    let by = |name: TestName| made.iter().any(|test| test.name == name && test.rejected);
    let shares = naive::shares(&observed.gaps, law);
    let sample = Sample::new(&observed.gaps, law, &settings).expect("finite gaps");
    let [sd, two, aligned, sliding, ratio] = naive::popular(observed);
    let ks = naive::ks(&shares);
    [
        sd,
        two,
        aligned,
        sliding,
        ratio,
        naive::chi2(&shares) > CHI2[1],
        by(TestName::SdBand),
        ks > KS[0],
        ks > KS[1],
        naive::ad(&shares) > AD[1],
        naive::half_count(&sample, Alpha::DEFAULT),
        by(TestName::IntervalDkw),
        by(TestName::Support),
        by(TestName::Reach),
        by(TestName::RankCorr),
        by(TestName::GapScan),
        by(TestName::Phase),
        decide(&observed.gaps, law, &settings) == Decision::Rejected,
    ]
}

/// Proves the page's rates of all eighteen tests under each of the twenty-one policies.
#[test]
fn the_rates_are_those_of_the_page() {
    section(300).assert_agrees();
}
