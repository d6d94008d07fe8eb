//! One fault set, and the one decision that it takes over a call.

use std::borrow::Cow;
use std::sync::Arc;

use evidence::At;

use super::armed_rule::{ArmedRule, InFlight, Strike};
use super::draw::Who;
use super::scope::ArmedScope;
use crate::rules::{Call, Per};

/// What is decided on.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) link: u64,
    pub(crate) link_name: &'a str,
    pub(crate) conn: u64,
    /// The request; none for a connection before its first one.
    pub(crate) call: Option<&'a Call<'a>>,
    pub(crate) who: Who<'a>,
}

/// What was decided.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// The fault that the call meets.
    pub(crate) strike: Option<Strike>,
    /// The scope that it belongs to.
    pub(crate) scope: Option<Arc<str>>,
    /// Rules that count it as in flight for as long as these live.
    pub(crate) watched: Vec<InFlight>,
}

/// Which rules and scopes are in force. Immutable: changes make another one.
#[derive(Debug, Default)]
pub(super) struct FaultSet {
    pub(super) epoch: u64,
    pub(super) rules: Vec<Arc<ArmedRule>>,
    pub(super) scopes: Vec<Arc<ArmedScope>>,
    /// Whether any rule counts calls in flight: then every rule is asked.
    watches: bool,
}

impl FaultSet {
    pub(super) fn new(epoch: u64, rules: Vec<Arc<ArmedRule>>, scopes: Vec<Arc<ArmedScope>>) -> Self {
        let watches = rules.iter().any(|rule| rule.watches());
        Self { epoch, rules, scopes, watches }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.scopes.is_empty()
    }

    pub(super) fn scope(&self, name: &str) -> Option<&Arc<ArmedScope>> {
        self.scopes.iter().find(|scope| &*scope.name == name)
    }

    /// The one decision. Counts the call with every rule that is asked.
    pub(super) fn decide(&self, now: At, seed: u64, subject: &Subject<'_>) -> Verdict {
        let scope = self.scopes.iter().find(|scope| scope.fits(subject));
        let mut verdict = Verdict { scope: scope.map(|scope| Arc::clone(&scope.name)), ..Verdict::default() };
        for rule in self.rules.iter().filter(|rule| rule.looks_at(subject, scope, now)) {
            verdict.watched.extend(rule.watch());
            if verdict.strike.is_none() {
                verdict.strike = rule.strikes(seed, self.epoch, subject);
            }
            if verdict.strike.is_some() && !self.watches {
                break;
            }
        }
        verdict
    }
}

impl Subject<'_> {
    /// What tells it from the calls that are counted apart; those without any count together.
    pub(super) fn counted_by(&self, per: &Per) -> Option<Cow<'_, str>> {
        let call = self.call?;
        match per {
            Per::Link => None,
            Per::Key => call.key.map(Cow::Borrowed),
            Per::Conn => Some(Cow::Owned(self.conn.to_string())),
            Per::Trace => call.trace.map(|trace| Cow::Owned(trace.to_string())),
            Per::Path => call.target.split('?').next().map(Cow::Borrowed),
            Per::Header(name) => {
                let field = call.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
                field.map(|(_, value)| Cow::Borrowed(value.trim()))
            }
        }
    }
}
