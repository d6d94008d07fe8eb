//! Every scenario by the checks that the battery has for it.

use judge::Finding;
use judge::checks::{Check, idempotency, retry, trust};
use judge::evidence::Evidence;
use judge::promise::Noise;
use judge::sim::Policy;

use crate::scenarios::{self, key_policy, retry_policy};
use crate::service::Defect;

pub const LINK: &str = "bank";

pub fn r1() -> Check {
    retry::bounded_attempts(&retry_policy(), LINK)
}

pub fn r2() -> Check {
    retry::backoff_law(&retry_policy(), LINK, Noise::default())
}

pub fn r3() -> Check {
    retry::no_herd(&retry_policy(), LINK, Noise::default())
}

pub fn r6() -> Check {
    retry::retries_only_the_retryable(&retry_policy(), LINK)
}

pub fn i2() -> Check {
    idempotency::one_of_many_runs(&key_policy(), LINK)
}

pub fn i3() -> Check {
    idempotency::replay_is_faithful(&key_policy(), LINK)
}

pub fn i4() -> Check {
    idempotency::mismatch_is_rejected(&key_policy(), LINK)
}

pub fn i5() -> Check {
    idempotency::missing_key_is_rejected(&key_policy(), LINK)
}

pub fn i6() -> Check {
    idempotency::survives_crash(&key_policy(), LINK)
}

/// All checks of this family.
pub fn all() -> Vec<Check> {
    let mut checks = vec![r1(), r2(), r3(), r6(), retry::key_is_stable(LINK), retry::payload_is_stable(LINK)];
    checks.extend([idempotency::exactly_one_effect(LINK), i2(), i3(), i4(), i5(), i6()]);
    checks.extend(of_every_scenario());
    checks.push(trust::steady_state(LINK));
    checks
}

fn of_every_scenario() -> Vec<Check> {
    vec![trust::canary_is_quiet(Noise::default()), trust::faults_fired(), trust::spans_match_wire(LINK)]
}

/// A scenario's name, how it is played, and the checks that the battery judges it by.
type Played = (&'static str, fn(Defect) -> Evidence, fn() -> Vec<Check>);

pub const SCENARIOS: [Played; 7] = [
    ("steady", scenarios::steady, || vec![trust::steady_state(LINK), idempotency::exactly_one_effect(LINK)]),
    (
        "retry-law",
        |d| scenarios::all_fail("waves", Policy::Full, 100, d),
        || vec![r1(), r2(), retry::key_is_stable(LINK), retry::payload_is_stable(LINK)],
    ),
    ("retry-herd", |d| scenarios::all_fail("herd", Policy::Full, 100, d), || vec![r1(), r3()]),
    ("retry-table", scenarios::retry_table, || {
        let keys = [retry::key_is_stable(LINK), retry::payload_is_stable(LINK)];
        [r6(), idempotency::exactly_one_effect(LINK)].into_iter().chain(keys).collect()
    }),
    ("one-effect", scenarios::one_effect, || {
        let keys = [retry::key_is_stable(LINK), retry::payload_is_stable(LINK)];
        [i3(), idempotency::exactly_one_effect(LINK)].into_iter().chain(keys).collect()
    }),
    ("duplicates", scenarios::duplicates, || vec![i2(), i3(), i4(), i5(), idempotency::exactly_one_effect(LINK)]),
    ("restart", scenarios::restart, || vec![i6(), idempotency::exactly_one_effect(LINK)]),
];

/// The findings of one scenario.
pub fn judge((_, play, checks): Played, defect: Defect) -> Vec<Finding> {
    let evidence = play(defect);
    checks().into_iter().chain(of_every_scenario()).map(|c| c.judge(&evidence)).collect()
}
