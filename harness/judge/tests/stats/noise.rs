//! Noise inside its bound never fails a correct client, whatever its law.

use std::time::Duration;

use judge::sim::{Fleet, Noise, Policy};
use judge::stats::{Decision, GapTable, Settings, decide};

use crate::{declared, full};

fn settings(eps_ms: u64) -> Settings {
    Settings { eps: Duration::from_millis(eps_ms), ..Settings::default() }
}

/// Proves that no law needs the noise to be kind: for each of the eight declared laws, noise that pushes every gap to the
/// middle of its range, rounds it up to a grid of eps, or is constant at either bound raises no alarm.
#[test]
fn adversarial_noise_raises_no_alarm() {
    let eps = 0.060;
    type Adversary = fn(f64, f64) -> f64;
    let adversaries: [(&str, Adversary); 5] = [
        ("nothing", |gap, _| gap),
        ("all of it", |gap, eps| gap + eps),
        ("towards one second", |gap, eps| if gap < 1.0 { (gap + eps).min(1.0_f64.max(gap)) } else { gap }),
        ("up to a grid", |gap, eps| (gap / eps).ceil() * eps),
        ("every other gap", |gap, eps| if ((gap * 1e6) as u64).is_multiple_of(2) { gap + eps } else { gap }),
    ];
    for (law, policy) in declared() {
        for (name, adversary) in adversaries {
            for seed in 0..40 {
                let clean = Fleet::new(policy, 100).noise(Noise::None).observe(seed).gaps;
                // A nanosecond less than eps: rounding in the sum must not leave the bound.
                let noisy = |row: &Vec<f64>| row.iter().map(|&gap| adversary(gap, eps - 1e-9)).collect();
                let table = GapTable::new(clean.rows().iter().map(noisy).collect());
                assert_eq!(decide(&table, &law, &settings(60)), Decision::Kept, "{law}, noise {name}, seed {seed}");
            }
        }
    }
}

/// Proves that the bound matters: noise beyond eps is not explained away, so it must be caught by the canary. A pause of
/// 150 ms at a base of 200 ms fails some correct fleets when eps says 60 ms, and none when eps says 200 ms.
#[test]
fn noise_beyond_its_bound_is_not_absorbed() {
    let law = full(0.2);
    let fleet = Fleet::new(Policy::Full, 100).base(0.2).noise(Noise::Freeze(Duration::from_millis(150)));
    let alarms = |eps| {
        (0..150).filter(|&seed| decide(&fleet.observe(seed).gaps, &law, &settings(eps)) == Decision::Rejected).count()
    };
    assert!(alarms(60) > 0);
    assert_eq!(alarms(200), 0);
}
