//! The sound breaker is never failed, whatever it declares.

use std::time::Duration;

use judge::Ruling;
use judge::promise::{BreakerMode, BreakerPolicy};
use proptest::prelude::*;

use crate::machine::Defect;
use crate::scenarios::battery;
use crate::{policy, windowed};

fn all_pass(policy: &BreakerPolicy, seed: u64) {
    for finding in battery(policy, Defect::None, seed) {
        assert_eq!(finding.ruling, Ruling::Pass, "{policy:?}, seed {seed}: {finding:#?}");
        assert!(finding.lines.is_empty() && finding.chance.is_none() && finding.bug_class.is_none());
    }
}

/// Proves that no check is out of reach: the sound breaker passes every one of them.
#[test]
fn passes_everything() {
    for seed in 0..100 {
        all_pass(&policy(), seed);
        all_pass(&windowed(), seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Proves the false-alarm bound of counting checks (none) over policies and noise within the bound.
    #[test]
    fn passes_whatever_it_declares(
        threshold in 1_u32..12,
        open_ms in 300_u64..3_000,
        probes in 1_u32..4,
        growth in prop::sample::select(vec![1.0, 1.5, 2.0, 3.0]),
        window_s in prop::option::of(2_u64..20),
        seed: u64,
    ) {
        let mode = if window_s.is_some() { BreakerMode::Window } else { BreakerMode::Consecutive };
        let policy = BreakerPolicy {
            mode,
            threshold,
            window: window_s.map(Duration::from_secs),
            open: Duration::from_millis(open_ms),
            probes,
            growth,
            ..policy()
        };
        let findings = battery(&policy, Defect::None, seed);
        for finding in findings {
            prop_assert_ne!(finding.ruling, Ruling::Fail, "{:#?}", finding);
        }
    }
}
