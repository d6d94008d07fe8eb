//! What the properties are claimed over.

use std::sync::LazyLock;

use judge::checks::Check;
use judge::evidence::Evidence;
use proptest::prelude::ProptestConfig;

/// What happens to the names of steps when clean evidence of the scene is added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// More payments in the steps that are there.
    Same,
    /// Further steps, `trip/2` beside `trip/1`.
    Anew,
}

/// One kind of evidence, and the checks that judge it.
pub struct Scene {
    /// For messages.
    pub name: &'static str,
    /// The checks, bound to the promises that the simulated service makes.
    pub checks: Vec<Check>,
    /// A service that keeps them.
    pub sound: Evidence,
    /// Services that break some of them, and evidence in which something went wrong.
    pub broken: Vec<(String, Evidence)>,
    /// Evidence of good behaviour that may be added without diluting what a statistical check measures.
    pub more: Evidence,
    /// What its steps are called then.
    pub steps: Steps,
}

impl Scene {
    /// Sound and broken evidence with a name for each.
    pub fn all(&self) -> impl Iterator<Item = (String, &Evidence)> {
        let broken = self.broken.iter().map(|(name, evidence)| (format!("{}, {name}", self.name), evidence));
        std::iter::once((format!("{}, sound", self.name), &self.sound)).chain(broken)
    }
}

/// All of them. A family of checks adds its own.
pub static SCENES: LazyLock<Vec<Scene>> = LazyLock::new(|| {
    let families = [
        super::payments::scenes(),
        super::breaker::scenes(),
        super::cap::scenes(),
        super::retry::scenes(),
        super::timeout::scenes(),
        super::idempotency::scenes(),
        super::degradation::scenes(),
        super::storm::scenes(),
        super::topology::scenes(),
        super::trust::scenes(),
    ];
    families.into_iter().flatten().collect()
});

/// Every evidence of every scene, in a fixed order: what a property picks from.
pub static PLAYED: LazyLock<Vec<(&'static Scene, String, &'static Evidence)>> = LazyLock::new(|| {
    let all = |scene: &'static Scene| scene.all().map(move |(name, evidence)| (scene, name, evidence));
    SCENES.iter().flat_map(all).collect()
});

/// How often a property is tried: `usual` times, or as many times that as the environment's `ATTACK_TIMES` says.
pub fn tries(usual: u32) -> ProptestConfig {
    let times = std::env::var("ATTACK_TIMES").map_or(1, |t| t.parse().expect("ATTACK_TIMES is a whole number"));
    ProptestConfig::with_cases(usual * times)
}
