//! What must hold of a rule before it may be armed. Everything is checked here, once.

use super::effects_valid::effects_at;
use super::{Effect, Expect, Fault, HeaderIs, Match, Per, Phase, Rule, RuleError, Schedule, Step};

/// The longest delay, hold and time to live: a day. A longer one is a slip of units.
pub(super) const MAX_MS: u64 = 86_400_000;
/// The longest id of a rule.
const MAX_ID_BYTES: usize = 200;
/// The longest sequence.
const MAX_STEPS: usize = 10_000;

pub(super) fn rule(rule: &Rule) -> Result<(), RuleError> {
    let check = Check { rule };
    check.id()?;
    check.matching(&rule.matching)?;
    check.schedule()?;
    check.per()?;
    check.faults()?;
    check.expect()?;
    check.connect_sees_no_request()?;
    check.that("uses", rule.uses != Some(0), "must be at least 1; leave it out for no limit")?;
    check.that("ttl_ms", rule.ttl_ms.is_none_or(|t| (1..=MAX_MS).contains(&t)), "must be 1 to 86400000 (a day)")
}

pub(super) struct Check<'a> {
    pub(super) rule: &'a Rule,
}

impl Check<'_> {
    pub(super) fn that(&self, field: &str, holds: bool, reason: &str) -> Result<(), RuleError> {
        if holds {
            return Ok(());
        }
        Err(RuleError::BadField { rule: self.rule.id.clone(), field: field.to_owned(), reason: reason.to_owned() })
    }

    fn id(&self) -> Result<(), RuleError> {
        let id = &self.rule.id;
        let holds = !id.trim().is_empty() && id.len() <= MAX_ID_BYTES && !id.contains(char::is_control);
        self.that("id", holds, "must be 1 to 200 bytes without control characters")
    }

    fn matching(&self, m: &Match) -> Result<(), RuleError> {
        let method_holds = m.method.as_ref().is_none_or(|m| is_token(m));
        self.that("match.method", method_holds, "must be an HTTP method such as `POST`")?;
        let path_holds = m.path.as_ref().is_none_or(|p| p.starts_with('/') || p.starts_with('*'));
        self.that("match.path", path_holds, "must begin with `/`; end it with `*` to match what it begins with")?;
        let star_holds = m.path.as_ref().is_none_or(|p| !p.trim_end_matches('*').contains('*') && !p.ends_with("**"));
        self.that("match.path", star_holds, "may have one `*`, at its end")?;
        if let Some(HeaderIs { name, .. }) = &m.header {
            self.that("match.header.name", is_token(name), "must be a header name such as `x-tenant`")?;
        }
        if let Some(range) = m.ordinal {
            self.that("match.ordinal.from", range.from != Some(0), "counts from 1")?;
            let holds = range.to.is_none_or(|to| to >= range.from.unwrap_or(1));
            self.that("match.ordinal.to", holds, "must not be below `from`")?;
        }
        Ok(())
    }

    fn schedule(&self) -> Result<(), RuleError> {
        let at_least_one = "must be at least 1";
        match &self.rule.schedule {
            Schedule::Always => Ok(()),
            Schedule::FailFirst { n, .. } => self.that("schedule.fail_first.n", *n > 0, at_least_one),
            Schedule::Every { n, .. } => self.that("schedule.every.n", *n > 0, at_least_one),
            Schedule::Nth { n, .. } => self.that("schedule.nth.n", *n > 0, at_least_one),
            Schedule::Probability { p } => {
                self.that("schedule.probability.p", (0.0..=1.0).contains(p), "must be 0 to 1")
            }
            Schedule::Sequence { steps, .. } => {
                let holds = (1..=MAX_STEPS).contains(&steps.len());
                self.that("schedule.sequence.steps", holds, "must have 1 to 10000 steps")?;
                let struck = self.rule.faults().count();
                let on_connect = self.rule.faults().filter(|f| f.at == Phase::Connect).count();
                let reason = "must strike all at `connect` or none: a connection is decided on before its requests";
                self.that("schedule.sequence.steps", on_connect == 0 || on_connect == struck, reason)?;
                let some = steps.iter().any(|s| *s != Step::Pass);
                self.that("schedule.sequence.steps", some, "must have a fault among them")
            }
        }
    }

    fn per(&self) -> Result<(), RuleError> {
        let Some(per) = self.rule.schedule.per() else { return Ok(()) };
        let word = match &self.rule.schedule {
            Schedule::FailFirst { .. } => "fail_first",
            Schedule::Every { .. } => "every",
            Schedule::Nth { .. } => "nth",
            _ => "sequence",
        };
        let field = format!("schedule.{word}.per");
        if let Per::Header(name) = per {
            self.that(&format!("{field}.header"), is_token(name), "must be a header name such as `x-tenant`")?;
        }
        let holds = !self.rule.decides_on_connect() || matches!(per, Per::Key | Per::Link);
        self.that(&field, holds, "must be left out at `connect`: connections of a link count together")
    }

    fn expect(&self) -> Result<(), RuleError> {
        let Some(expect) = self.rule.expect else { return Ok(()) };
        self.that(
            "expect",
            expect != Expect::default(),
            "is empty: give `fired_at_least`, `fired_exactly` or `in_flight_at_most`",
        )?;
        let strikes = self.rule.faults().next().is_some();
        let reason = "cannot hold of a rule without a fault, which strikes nothing";
        self.that("expect.fired_at_least", strikes || expect.fired_at_least.is_none(), reason)?;
        self.that("expect.fired_exactly", strikes || expect.fired_exactly.is_none(), reason)?;
        let counts = expect.in_flight_at_most.is_none() || !self.rule.decides_on_connect();
        self.that("expect.in_flight_at_most", counts, "counts requests; leave it out at `connect`")
    }

    fn faults(&self) -> Result<(), RuleError> {
        if let Schedule::Sequence { steps, .. } = &self.rule.schedule {
            let reason = "must be left out beside a sequence, whose steps say what happens";
            self.that("fault", self.rule.fault.is_none(), reason)?;
            for (i, step) in steps.iter().enumerate() {
                if let Step::Fault(fault) = step {
                    self.fault(&format!("schedule.sequence.steps[{i}]"), fault)?;
                }
            }
            return Ok(());
        }
        match &self.rule.fault {
            Some(fault) => self.fault("fault", fault),
            // A rule that only watches.
            None if self.rule.expect.is_some() => {
                let reason = "says which calls are struck, and nothing would be: give a `fault`, or leave it out";
                self.that("schedule", self.rule.schedule.is_always(), reason)?;
                self.that("uses", self.rule.uses.is_none(), reason)
            }
            None => self.that("fault", false, "is missing: write { at = <phase>, effect = <effect> }"),
        }
    }

    fn fault(&self, field: &str, fault: &Fault) -> Result<(), RuleError> {
        let valid = effects_at(fault.at);
        let word = fault.effect.word();
        let name = word.split(' ').next().unwrap_or_default();
        if !valid.split(", ").any(|v| v == name) {
            let rule = self.rule.id.clone();
            let (phase, effect) = (fault.at.word(), name.to_owned());
            return Err(RuleError::BadCombination { rule, phase, effect, valid });
        }
        let after = format!("{field}.after_bytes");
        match fault.at {
            Phase::ResponseBody => {
                self.that(&after, fault.after_bytes.is_some(), "is missing: how many bytes of the body pass first")?;
            }
            _ => self.that(&after, fault.after_bytes.is_none(), "goes with `at = \"response_body\"` only")?,
        }
        let effect = format!("{field}.effect.{name}");
        match &fault.effect {
            Effect::GrpcStatus(status) => self.grpc(&effect, fault.at, status),
            other => self.effect(&effect, other),
        }
    }

    fn connect_sees_no_request(&self) -> Result<(), RuleError> {
        let holds = !self.rule.decides_on_connect() || self.rule.matching.is_any();
        self.that("match", holds, "must be left out at `connect`: no request has been read there, so nothing can match")
    }
}

/// Whether `text` is an HTTP token, as methods and header names are.
pub(crate) fn is_token(text: &str) -> bool {
    let mark = |b: u8| b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || mark(b))
}
