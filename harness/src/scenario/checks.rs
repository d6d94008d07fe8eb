//! The checks that can judge a scenario file.

use judge::checks::{Check, idempotency, retry, storm, trust};

use super::ScenarioFile;
use crate::contract::Contract;

/// Ids that may stand in `checks`. The other checks of the catalogue read steps that only the battery has.
pub const CHECKS: [&str; 10] = ["R1", "R2", "R3", "R12", "R13", "I1", "H3", "H4", "S1", "S2"];

/// Those that judge every scenario file without being named.
pub(super) const TRUST: [&str; 2] = ["H1", "H2"];

/// The checks of one variant's evidence, but for S1, which compares two.
pub(super) fn of(file: &ScenarioFile, contract: &Contract) -> Vec<Check> {
    let mut checks = vec![trust::canary_is_quiet(contract.noise), trust::faults_fired()];
    checks.extend(file.checks.iter().filter_map(|id| one(id, contract)));
    checks
}

fn one(id: &str, contract: &Contract) -> Option<Check> {
    let (link, noise, policy) = (contract.main_link(), contract.noise, contract.promises.retry.as_ref());
    Some(match id {
        "R1" => retry::bounded_attempts(policy?, link),
        "R2" => retry::backoff_law(policy?, link, noise),
        "R3" => retry::no_herd(policy?, link, noise),
        "R12" => retry::payload_is_stable(link),
        "R13" => retry::key_is_stable(link),
        "I1" => idempotency::exactly_one_effect(link),
        "H3" => trust::spans_match_wire(link),
        "H4" => trust::steady_state(link),
        "S2" => storm::recovers_after_trigger(contract.promises.recovery.as_ref()?, link),
        _ => return None,
    })
}
