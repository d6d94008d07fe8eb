//! Section `noise`: false alarms on correct full jitter, of the tests that people use and of the battery.

use std::time::Duration;

use judge::law::Law;
use judge::sim::{Fleet, Noise, Observation, Policy};
use judge::stats::{Alpha, Decision, Sample, Settings, decide, interval_dkw};

use crate::agree::Reference;
use crate::count::count;
use crate::laws::full;
use crate::naive::{self, AD, CHI2, KS};
use crate::section::{Cell, Section};

/// Runs of each cell of the reference.
const REFERENCE_RUNS: u64 = 50_000;

const COLUMNS: [&str; 8] =
    ["KS 5 %", "KS 1e-7", "AD 5 %", "AD 1e-7", "chi-square 5 %", "gap <= ceiling", "interval-DKW 5 %", "battery"];

/// Base in seconds, noise, eps in milliseconds, and what the page prints for each column.
type Row = (f64, Noise, u64, &'static str);

/// The rows. A pause of 100 ms and more is beyond eps: there the canary must make the run inconclusive, for at a base of
/// 200 ms the battery alone is not enough.
const ROWS: [Row; 13] = [
    (1.0, Noise::None, 60, ".051 0 .050 0 .051 0 .022 0"),
    (1.0, Noise::Typical, 60, ".061 0 .121 <1e-4 .063 .909 .010 0"),
    (1.0, Noise::Wan, 110, ".274 0 .935 .026 .342 1 .001 0"),
    (1.0, Noise::Stalls, 60, ".064 0 .144 0 .064 .936 .010 0"),
    (1.0, freeze(55), 60, ".06 0 .12 0 .06 .92 .01 0"),
    (1.0, freeze(100), 60, ".07 0 .14 .0001 .09 .92 .01 0"),
    (1.0, freeze(150), 60, ".10 0 .17 .0014 .13 .92 .01 <1e-4"),
    (0.2, Noise::Typical, 60, ".411 <1e-4 .987 .119 .535 1 .0001 0"),
    (0.2, Noise::Wan, 110, "1 .904 1 1 1 1 0 0"),
    (0.2, freeze(30), 60, ".48 .0002 .99 .15 .60 1 <1e-4 0"),
    (0.2, freeze(55), 60, ".57 .010 .99 .23 .66 1 <1e-4 0"),
    (0.2, freeze(100), 60, ".67 .15 1.00 .45 .73 1 .01 .027"),
    (0.2, freeze(150), 60, ".79 .17 1.00 .62 .81 1 .20 .157"),
];

const fn freeze(ms: u64) -> Noise {
    Noise::Freeze(Duration::from_millis(ms))
}

/// The table over that many runs a row.
pub fn section(runs: u64) -> Section {
    let title = format!("False alarms on correct full jitter: 100 clients x 3, {runs} runs a row");
    let mut section = Section::new(title, ["base, noise, eps"].into_iter().chain(COLUMNS));
    for (base, noise, eps, reference) in ROWS {
        let (law, fleet) = (full(base), Fleet::new(Policy::Full, 100).base(base).noise(noise));
        let settings = Settings { eps: Duration::from_millis(eps), ..Settings::default() };
        let counts = count(runs, |seed| alarms(&fleet.observe(seed), &law, &settings));
        let cell = |(count, text)| Cell::Share { count, runs, reference: Reference::text(text, REFERENCE_RUNS) };
        section.row(
            format!("{base} s, {noise:?}, {eps} ms"),
            counts.into_iter().zip(reference.split(' ')).map(cell).collect(),
        );
    }
    section
}

fn alarms(observed: &Observation, law: &Law, settings: &Settings) -> [bool; 8] {
    let shares = naive::shares(&observed.gaps, law);
    let (ks, ad) = (naive::ks(&shares), naive::ad(&shares));
    let sample = Sample::new(&observed.gaps, law, settings).expect("finite gaps");
    let wide = Alpha::new(0.05).expect("a level");
    [
        ks > KS[0],
        ks > KS[1],
        ad > AD[0],
        ad > AD[1],
        naive::chi2(&shares) > CHI2[0],
        shares.iter().any(|&share| share > 1.0),
        interval_dkw::sample_distance(&sample).0 > interval_dkw::critical(shares.len(), wide),
        decide(&observed.gaps, law, settings) == Decision::Rejected,
    ]
}

/// Proves the page's false alarms under every noise: those of the battery are none while the noise keeps its bound.
#[test]
fn false_alarms_are_those_of_the_page() {
    section(200).assert_agrees();
}
