//! The nightly exploration: the suites again and again, each time with another seed.

use std::hash::{BuildHasher, RandomState};

use crate::step::Step;
use crate::{Failure, fuzz, pr};

/// `pr`, the abuse of the proxy that takes too long for it, a minute for each fuzz target, then `rounds` more runs of the
/// suites. A red round does not end the night: the seeds that failed are what the night is for.
pub fn run(rounds: u32) -> Result<(), Failure> {
    pr::run()?;
    abuse().run()?;
    fuzz::run(&[])?;
    let mut red = Vec::new();
    for round in 1..=rounds {
        let seed = seed();
        eprintln!("== round {round} of {rounds}, seed {seed}");
        let step = pr::suites().env("HARNESS_SEED", seed.to_string());
        match step.run() {
            Ok(()) => {}
            Err(Failure::Red(_)) => red.push(step.line()),
            Err(broken) => return Err(broken),
        }
    }
    verdict(rounds, &red)
}

/// Ten thousand connections and the like: tests of the proxy that are marked for the night.
fn abuse() -> Step {
    Step::cargo("abuse", &["test", "-p", "chaos-proxy", "--test", "proxy", "abuse::", "--", "--ignored"])
}

/// A fresh seed. The standard library seeds its hash maps from the system's generator; that is the only door
/// to it without a dependency.
fn seed() -> u64 {
    RandomState::new().hash_one("seed")
}

fn verdict(rounds: u32, red: &[String]) -> Result<(), Failure> {
    if red.is_empty() {
        return Ok(());
    }
    let lines = red.join("\n  ");
    Err(Failure::Red(format!("{} of {rounds} rounds failed; each again with:\n  {lines}", red.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a night with a red round is red and names the command of exactly that round.
    #[test]
    fn every_red_round_is_named() {
        assert_eq!(verdict(3, &[]), Ok(()));
        let step = pr::suites().env("HARNESS_SEED", "7");
        let Err(Failure::Red(what)) = verdict(3, &[step.line()]) else { panic!("a red round is red") };
        assert!(what.contains("1 of 3") && what.contains("HARNESS_SEED=7 cargo test -p suites"), "{what}");
    }

    /// Proves that seeds differ: two equal ones in eight have a chance of one in 10^18.
    #[test]
    fn seeds_differ() {
        let seeds: std::collections::HashSet<u64> = (0..8).map(|_| seed()).collect();
        assert_eq!(seeds.len(), 8);
    }
}
