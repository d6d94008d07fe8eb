//! What a well-formed contract must also fulfil.

use std::time::Duration;

use super::{Contract, ContractError, Promises, VERSION};

impl Contract {
    /// Checks what the syntax cannot.
    pub(super) fn validate(&self, origin: &str) -> Result<(), ContractError> {
        let problems = self.problem().or_else(|| promises(&self.promises));
        match problems {
            None => Ok(()),
            Some((field, problem)) => {
                Err(ContractError::Invalid { origin: origin.to_owned(), field: field.to_owned(), problem })
            }
        }
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        if self.version != VERSION {
            return Some(("version", format!("is {}, but this build reads version {VERSION}", self.version)));
        }
        if self.service.name.trim().is_empty() {
            return Some(("service.name", "is empty; give the service's name".to_owned()));
        }
        if self.service.command.first().is_none_or(|c| c.trim().is_empty()) {
            return Some(("service.command", "is empty; give the program and its arguments as a list".to_owned()));
        }
        if self.service.build.as_ref().is_some_and(Vec::is_empty) {
            return Some(("service.build", "is empty; give the program and its arguments, or leave it out".to_owned()));
        }
        if !self.request.path.starts_with('/') || !self.service.ready.path.starts_with('/') {
            return Some(("request.path and service.ready.path", "must begin with `/`".to_owned()));
        }
        let sample = [("amount", "1"), ("reference", "x")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        if let Err(error) = crate::place::template::render(&self.request.body, &sample) {
            return Some(("request.body", error.to_string()));
        }
        if self.links.len() != 1 {
            let n = self.links.len();
            return Some((
                "links",
                format!("has {n} entries; declare the one dependency that faults strike, e.g. [links.bank]"),
            ));
        }
        let method = &self.request.method;
        if method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase()) {
            return Some(("request.method", format!("is `{method}`; give a method in capitals, e.g. POST")));
        }
        let eps = self.noise.eps;
        if eps < Duration::from_millis(1) || eps > Duration::from_secs(1) {
            return Some(("noise.eps", format!("is {eps:?}; a bound from 1ms to 1s can be declared")));
        }
        None
    }
}

fn promises(promises: &Promises) -> Option<(&'static str, String)> {
    if let Some(retry) = &promises.retry {
        if !(1..=1000).contains(&retry.attempts) {
            return Some((
                "promises.retry.attempts",
                format!("is {}; give 1 to 1000, the first included", retry.attempts),
            ));
        }
        if retry.retryable.is_empty() && retry.attempts > 1 {
            return Some((
                "promises.retry.retryable",
                "is empty, so that nothing is ever retried; list statuses and kinds".to_owned(),
            ));
        }
    }
    if let Some(keys) = &promises.idempotency {
        for (field, status) in [
            ("promises.idempotency.in_flight", Some(keys.in_flight)),
            ("promises.idempotency.mismatch", keys.mismatch),
            ("promises.idempotency.missing", keys.missing),
        ] {
            if let Some(status) = status.filter(|s| !(400..=599).contains(s)) {
                return Some((field, format!("is {status}; give a status from 400 to 599")));
            }
        }
    }
    let breaker = promises.breaker.as_ref()?;
    if breaker.threshold == 0 || breaker.threshold > 1000 {
        return Some(("promises.breaker.threshold", format!("is {}; give 1 to 1000", breaker.threshold)));
    }
    if breaker.probes == 0 {
        return Some(("promises.breaker.probes", "is 0: a breaker without probes never closes again".to_owned()));
    }
    if breaker.open < Duration::from_millis(100) || breaker.open > Duration::from_secs(600) {
        return Some((
            "promises.breaker.open",
            format!("is {:?}; the battery can wait from 100ms to 10m", breaker.open),
        ));
    }
    if !breaker.growth.is_finite() || breaker.growth < 1.0 {
        return Some(("promises.breaker.growth", format!("is {}; give a factor of 1 or more", breaker.growth)));
    }
    if matches!(breaker.mode, judge::promise::BreakerMode::Window) && breaker.window.is_none() {
        return Some(("promises.breaker.window", "is missing; mode `window` needs the time it counts over".to_owned()));
    }
    None
}
