//! Evidence of one scenario that several recorders wrote, put together.

use std::collections::HashMap;
use std::hash::Hash;

use serde::Serialize;

use super::Evidence;

/// Why two pieces of evidence are not of one scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Their headers tell of different things.
    #[error(
        "the headers differ in `{field}` ({one} and {other}): only evidence of the same scenario of the same run can be merged"
    )]
    OtherHeader {
        /// The member of the header.
        field: &'static str,
        /// Its value here.
        one: String,
        /// Its value there.
        other: String,
    },
    /// Both number different records alike.
    #[error(
        "both have {what} {number}, and these differ: the two were recorded apart, each counting for itself; \
         judge them one by one"
    )]
    NumberedTwice {
        /// What is numbered, e.g. `an outcome with seq`.
        what: &'static str,
        /// The number.
        number: u64,
    },
}

impl Evidence {
    /// Puts two pieces of evidence of one scenario together: what a proxy, a bank and a driver recorded, each into a file
    /// of its own. A record that both have is kept once. The union is sealed when both pieces are.
    ///
    /// Merging is commutative, associative and idempotent in all that a check reads: the records come out
    /// [in one order](Evidence::ordered), whoever was merged into whom.
    ///
    /// # Errors
    /// When the headers are not of the same scenario of the same run on the same clock (only `recorder` may differ), or
    /// when both have different outcomes, or bank entries or attempts of one link, of the same number: checks find records by
    /// their numbers.
    pub fn merge(self, other: Self) -> Result<Self, MergeError> {
        same_scenario(&self, &other)?;
        // A ledger reading is the same one in whatever order its rows came.
        let (one, other) = (self.ordered().into_owned(), other.ordered().into_owned());
        let mut all = Evidence::new(one.header);
        // Two versions of one recorder: the name that comes first, whichever side it was on.
        all.header.recorder = all.header.recorder.min(other.header.recorder);
        all.sealed = one.sealed && other.sealed;
        all.steps = union(one.steps, other.steps);
        all.attempts = union(one.attempts, other.attempts);
        all.connections = union(one.connections, other.connections);
        all.outcomes = union(one.outcomes, other.outcomes);
        all.ledger = union(one.ledger, other.ledger);
        all.bank = union(one.bank, other.bank);
        all.spans = union(one.spans, other.spans);
        all.breakers = union(one.breakers, other.breakers);
        all.faults = union(one.faults, other.faults);
        all.edges = union(one.edges, other.edges);
        all.canary = union(one.canary, other.canary);
        all.disk = union(one.disk, other.disk);
        all.notes = union(one.notes, other.notes);
        numbered_once("an outcome with seq", &all.outcomes, |o| (o.seq, ""))?;
        numbered_once("a bank entry with seq", &all.bank, |b| (b.seq, b.link.as_deref()))?;
        numbered_once("an attempt with seq", &all.attempts, |a| (a.seq, a.link.as_str()))?;
        Ok(all.ordered().into_owned())
    }
}

fn same_scenario(one: &Evidence, other: &Evidence) -> Result<(), MergeError> {
    let (a, b) = (&one.header, &other.header);
    let members = [
        ("run", a.run.clone(), b.run.clone()),
        ("scenario", a.scenario.clone(), b.scenario.clone()),
        ("service", a.service.clone(), b.service.clone()),
        ("seed", a.seed.to_string(), b.seed.to_string()),
        ("placement", a.placement.clone(), b.placement.clone()),
        ("time.monotonic_ns", a.time.monotonic_ns.to_string(), b.time.monotonic_ns.to_string()),
        ("time.wall_ns", a.time.wall_ns.to_string(), b.time.wall_ns.to_string()),
        ("eps_ns", a.eps_ns.to_string(), b.eps_ns.to_string()),
    ];
    match members.into_iter().find(|(_, a, b)| a != b) {
        None => Ok(()),
        Some((field, one, other)) => Err(MergeError::OtherHeader { field, one, other }),
    }
}

/// Records of either side. One that both have is there as often as on the side that has it more often, so that the order
/// of merging does not matter.
fn union<T: Serialize>(one: Vec<T>, other: Vec<T>) -> Vec<T> {
    let written = |record: &T| serde_json::to_string(record).unwrap_or_default();
    let mut known: HashMap<String, usize> = HashMap::new();
    one.iter().for_each(|record| *known.entry(written(record)).or_default() += 1);
    let new = |record: &T| match known.get_mut(&written(record)) {
        Some(left @ 1..) => {
            *left -= 1;
            false
        }
        _ => true,
    };
    let new: Vec<T> = other.into_iter().filter(new).collect();
    one.into_iter().chain(new).collect()
}

fn numbered_once<'r, T: PartialEq, K: Hash + Eq>(
    what: &'static str,
    records: &'r [T],
    number: impl Fn(&'r T) -> (u64, K),
) -> Result<(), MergeError> {
    let mut seen: HashMap<(u64, K), &T> = HashMap::new();
    for record in records {
        let known = seen.entry(number(record)).or_insert(record);
        if *known != record {
            return Err(MergeError::NumberedTwice { what, number: number(record).0 });
        }
    }
    Ok(())
}
