//! Scopes in force, and the handle of one.

use std::sync::Arc;

use super::{Armed, Engine, Subject};
use crate::rules::{Rule, RuleError, ScopeConfig};

/// The most scopes at once.
pub const MAX_SCOPES: usize = 1_000;

/// A scope in force.
#[derive(Debug)]
pub(crate) struct ArmedScope {
    pub(crate) config: ScopeConfig,
    pub(crate) name: Arc<str>,
}

impl ArmedScope {
    pub(super) fn new(config: ScopeConfig) -> Self {
        Self { name: Arc::from(config.name.as_str()), config }
    }

    pub(super) fn fits(&self, subject: &Subject<'_>) -> bool {
        self.config.matching.fits(subject.link_name, subject.call)
    }
}

/// A scope of a proxy. Dropping it takes its rules out of force, lets go what they hold, and forgets their counters.
#[derive(Debug)]
#[must_use = "a scope is there only as long as its handle lives"]
pub struct Scope {
    engine: Arc<Engine>,
    scope: Arc<ArmedScope>,
}

impl Scope {
    pub(super) fn new(engine: Arc<Engine>, scope: Arc<ArmedScope>) -> Self {
        Self { engine, scope }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.scope.name
    }

    /// Puts a rule in force that looks at the calls of this scope alone. Ids need to be unique within the scope only.
    ///
    /// # Errors
    /// Says which field does not hold and what would.
    pub fn arm(&self, rule: Rule) -> Result<Armed, RuleError> {
        let mut armed = self.arm_all(vec![rule])?;
        // One rule in, one handle out.
        armed.pop().ok_or(RuleError::TooMany { limit: 0 })
    }

    /// Puts all rules in force in one step, or none.
    ///
    /// # Errors
    /// Says which rule and field does not hold and what would.
    pub fn arm_all(&self, rules: Vec<Rule>) -> Result<Vec<Armed>, RuleError> {
        let own = |rule: Rule| Rule { scope: Some(self.name().to_owned()), ..rule };
        self.engine.arm(rules.into_iter().map(own).collect())
    }

    /// Takes its rules out of force and lets go what they hold; returns how many there were. The scope stays.
    pub fn reset(&self) -> usize {
        self.engine.reset_scope(&self.scope)
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.engine.remove_scope(&self.scope);
    }
}
