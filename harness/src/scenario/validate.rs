//! What a well-formed scenario must also fulfil.

use std::collections::BTreeSet;
use std::time::Duration;

use judge::Ruling;
use judge::checks::retry::excludes_a_herd;

use super::checks::{CHECKS, TRUST};
use super::fault_word::FaultWord;
use super::{FaultSpec, LoadSpec, ScenarioError, ScenarioFile, ShapeWord, Until, VERSION, Variant};
use crate::contract::Contract;
use crate::place_in_text::Place;

/// A field, as a dotted path, and what is wrong with it.
type Problem = (String, String);
type Checked = Result<(), Problem>;

/// More payments at once than any laptop's kernel lets stand.
const MOST_PAYMENTS: usize = 20_000;
/// The longest that a scenario can wait for anything.
const LONGEST: Duration = Duration::from_secs(600);

impl ScenarioFile {
    /// Checks what the syntax cannot.
    pub(super) fn validate(&self, origin: &str) -> Result<(), ScenarioError> {
        self.check().map_err(|problem| self.invalid(origin, problem))
    }

    /// Checks what only the contract can tell.
    pub(super) fn fits(&self, contract: &Contract) -> Result<(), ScenarioError> {
        let links = || contract.links.keys().cloned().collect::<Vec<_>>().join(", ");
        let check = || {
            for (i, fault) in self.faults.iter().enumerate() {
                let known = fault.link.as_ref().is_none_or(|link| contract.links.contains_key(link));
                require(known, format!("faults[{i}].link"), || {
                    format!("is no link of the contract; its links are {}", links())
                })?;
            }
            let retry = contract.promises.retry.as_ref();
            for id in ["R1", "R2", "R3", "S1"] {
                let asked = self.checks.iter().any(|c| c == id);
                require(!asked || retry.is_some(), "checks".to_owned(), || {
                    format!("names {id}, which judges by [promises.retry]; promise it here or in the contract")
                })?;
            }
            let recovers = contract.promises.recovery.is_some() || !self.checks.iter().any(|c| c == "S2");
            require(recovers, "checks".to_owned(), || {
                "names S2, which judges by [promises.recovery]; promise it here or in the contract".to_owned()
            })?;
            let storm = self.checks.iter().any(|c| c == "S1" || c == "R3");
            require(!storm || retry.is_some_and(excludes_a_herd), "checks".to_owned(), || {
                "names a check of spread, but the promised law has no jitter; promise one that has".to_owned()
            })
        };
        check().map_err(|problem| self.invalid(&self.name, problem))
    }

    fn invalid(&self, origin: &str, (field, problem): Problem) -> ScenarioError {
        let line = Place::of_field(&self.text, &field).map(|place| place.line);
        ScenarioError::Invalid { origin: origin.to_owned(), line, field, problem }
    }

    fn check(&self) -> Checked {
        require(self.version == VERSION, "version".to_owned(), || {
            format!("is {}, but this build reads version {VERSION}", self.version)
        })?;
        name("name", &self.name)?;
        require(!self.contract.trim().is_empty(), "contract".to_owned(), || {
            "is empty; give the path of the contract, relative to this file".to_owned()
        })?;
        self.checks()?;
        load(&self.load)?;
        if let Some(steady) = &self.steady {
            count("steady.payments", steady.payments)?;
            count("steady.in_flight", steady.in_flight)?;
            time("steady.settle", steady.settle)?;
        }
        positive_time("storm.window", self.storm.window)?;
        self.client.timeout.map_or(Ok(()), |t| positive_time("client.timeout", t))?;
        if let Some(bank) = &self.bank {
            count("bank.at_once", bank.at_once)?;
            positive_time("bank.work", bank.work)?;
        }
        self.faults.iter().enumerate().try_for_each(|(i, f)| fault(&format!("faults[{i}]"), f))?;
        self.variants()
    }

    fn checks(&self) -> Checked {
        let known = || CHECKS.join(", ");
        require(!self.checks.is_empty(), "checks".to_owned(), || format!("is empty; name some of {}", known()))?;
        let mut seen = BTreeSet::new();
        for (i, id) in self.checks.iter().enumerate() {
            let field = format!("checks[{i}]");
            require(CHECKS.contains(&id.as_str()), field.clone(), || {
                format!("is `{id}`; a scenario file can be judged by {}. The others read steps of the battery", known())
            })?;
            require(seen.insert(id), field, || format!("names {id} a second time; take it out"))?;
        }
        let asked = |id: &str| self.checks.iter().any(|c| c == id);
        require(!asked("H4") || self.steady.is_some(), "checks".to_owned(), || {
            "names H4, which judges payments without a fault; add [steady]".to_owned()
        })?;
        for id in ["R3", "S1"] {
            require(!asked(id) || self.load.step == "herd", "load.step".to_owned(), || {
                format!("is `{}`, but {id} reads the step `herd`; name it so", self.load.step)
            })?;
        }
        require(!asked("S2") || self.load.step == "load", "load.step".to_owned(), || {
            format!("is `{}`, but S2 reads the step `load`; leave it out", self.load.step)
        })?;
        let reads = ["herd", "waves"].contains(&self.load.step.as_str());
        require(!asked("R2") || reads, "load.step".to_owned(), || {
            format!("is `{}`, but R2 reads the step `waves` or `herd`; name it so", self.load.step)
        })?;
        let controls = self.variants.iter().filter(|v| v.control).count();
        require(!asked("S1") || controls == 1, "variants".to_owned(), || {
            format!("has {controls} controls, but S1 compares with exactly one; mark it with `control = true`")
        })
    }

    fn variants(&self) -> Checked {
        require(!self.variants.is_empty(), "variants".to_owned(), || {
            "is empty; give at least one, e.g. [[variants]] with name = \"sound\"".to_owned()
        })?;
        let subjects = self.variants.iter().filter(|v| !v.control).count();
        require(subjects > 0, "variants".to_owned(), || {
            "holds controls only; give one variant that is expected to pass".to_owned()
        })?;
        let mut names = BTreeSet::new();
        for (i, variant) in self.variants.iter().enumerate() {
            let field = format!("variants[{i}]");
            name(&format!("{field}.name"), &variant.name)?;
            require(names.insert(&variant.name), format!("{field}.name"), || {
                format!("is `{}` a second time; give each variant its own", variant.name)
            })?;
            self.expectations(&field, variant)?;
        }
        Ok(())
    }

    fn expectations(&self, field: &str, variant: &Variant) -> Checked {
        require(variant.control || variant.expect.is_empty(), format!("{field}.expect"), || {
            "belongs to a control; every check must pass on any other variant, so leave it out".to_owned()
        })?;
        let fails = variant.expect.values().any(|r| *r == Ruling::Fail);
        require(!variant.control || fails, format!("{field}.expect"), || {
            "names no check that fails; a control is failed by some check, e.g. R3 = \"fail\"".to_owned()
        })?;
        let judged = |id: &str| self.checks.iter().any(|c| c == id) || TRUST.contains(&id);
        for id in variant.expect.keys() {
            require(judged(id) && id != "S1", format!("{field}.expect.{id}"), || {
                format!("{id} does not judge a control of this scenario; name one of `checks`, but not S1")
            })?;
        }
        for (i, bound) in variant.numbers.iter().enumerate() {
            let field = format!("{field}.numbers[{i}]");
            require(
                judged(&bound.check) && !(variant.control && bound.check == "S1"),
                format!("{field}.check"),
                || format!("is `{}`, which does not judge this variant; name one of `checks`", bound.check),
            )?;
            let ordered = match (bound.min, bound.max) {
                (None, None) => false,
                (Some(min), Some(max)) => min <= max,
                (min, max) => !min.or(max).is_some_and(f64::is_nan),
            };
            require(ordered, field, || "needs `min`, `max` or both, `min` not above `max`".to_owned())?;
        }
        Ok(())
    }
}

fn load(load: &LoadSpec) -> Checked {
    let step = load.step.as_str();
    let plain = !step.is_empty() && step.bytes().all(|b| b.is_ascii_alphanumeric() || b"-/".contains(&b));
    require(plain && !step.starts_with("baseline"), "load.step".to_owned(), || {
        format!("is `{step}`; use letters, digits, `-` and `/`, and not `baseline`, which [steady] has")
    })?;
    count("load.payments", load.payments)?;
    let (waves, paced) = (load.shape == ShapeWord::Waves, load.shape == ShapeWord::Paced);
    require(load.in_flight.is_some() == waves, "load.in_flight".to_owned(), || {
        "goes with shape = \"waves\", and with no other".to_owned()
    })?;
    load.in_flight.map_or(Ok(()), |n| count("load.in_flight", n))?;
    require(load.over.is_some() == paced, "load.over".to_owned(), || {
        "goes with shape = \"paced\", and with no other".to_owned()
    })?;
    load.over.map_or(Ok(()), |over| positive_time("load.over", over))
}

fn fault(field: &str, fault: &FaultSpec) -> Checked {
    let slow = fault.what == FaultWord::Slow;
    require(fault.delay.is_some() == slow, format!("{field}.delay"), || {
        "goes with what = \"slow\", and with no other".to_owned()
    })?;
    fault.delay.map_or(Ok(()), |delay| positive_time(&format!("{field}.delay"), delay))?;
    time(&format!("{field}.from"), fault.from)?;
    if let Until::At(to) = fault.to {
        time(&format!("{field}.to"), to)?;
        require(to > fault.from, format!("{field}.to"), || format!("is {to:?}, not after `from` = {:?}", fault.from))?;
    }
    require(fault.first != Some(0), format!("{field}.first"), || {
        "is 0, so that nothing is struck; give 1 or more, or leave it out for all".to_owned()
    })?;
    require(fault.strikes > 0, format!("{field}.strikes"), || {
        "is 0: a fault that need not strike proves nothing; give 1 or more".to_owned()
    })
}

fn name(field: &str, text: &str) -> Checked {
    let plain = !text.is_empty() && text.len() <= 60 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    require(plain, field.to_owned(), || format!("is `{}`; use up to 60 letters, digits and `-`", text.escape_debug()))
}

fn count(field: &str, n: usize) -> Checked {
    require((1..=MOST_PAYMENTS).contains(&n), field.to_owned(), || format!("is {n}; give 1 to {MOST_PAYMENTS}"))
}

fn time(field: &str, value: Duration) -> Checked {
    require(value <= LONGEST, field.to_owned(), || format!("is {value:?}; give at most 10m"))
}

fn positive_time(field: &str, value: Duration) -> Checked {
    require(!value.is_zero(), field.to_owned(), || "is zero; give more".to_owned())?;
    time(field, value)
}

/// `Ok` when it holds, else the field with its problem.
fn require(holds: bool, field: String, problem: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err((field, problem())) }
}
