//! The child processes of a rig.

use std::collections::BTreeMap;

use crate::place::Process;

/// Instances of the service under test and the further services.
#[derive(Debug, Default)]
pub(super) struct Players {
    pub(super) first: Option<Process>,
    pub(super) second: Option<Process>,
    pub(super) further: BTreeMap<String, Process>,
    /// Whether an instance was ever killed: its last spans are then lost with it.
    pub(super) killed: bool,
    /// Whether the scenario has killed it and not started it again.
    pub(super) first_is_down: bool,
    /// The same of the second instance.
    pub(super) second_is_down: bool,
}

impl Players {
    pub(super) fn new(service: Process, further: BTreeMap<String, Process>) -> Self {
        Self { first: Some(service), second: None, further, killed: false, first_is_down: false, second_is_down: false }
    }

    /// Those that should be up, each with what it is called in notes.
    pub(super) fn expected(&self) -> impl Iterator<Item = (String, &Process)> {
        let first = self.first.iter().filter(|_| !self.first_is_down).map(|p| ("the service".to_owned(), p));
        let second = self.second.iter().filter(|_| !self.second_is_down);
        let second = second.map(|p| ("the service's second replica".to_owned(), p));
        first.chain(second).chain(self.further.iter().map(|(name, p)| (called(name), p)))
    }

    /// Those that run, each with the name under which the canary of waits knows it.
    pub(super) fn watched<'a>(&'a self, service: &'a str) -> impl Iterator<Item = (String, &'a Process)> {
        let first = self.first.iter().map(move |p| (service.to_owned(), p));
        let second = self.second.iter().map(move |p| (format!("{service}/2"), p));
        first.chain(second).chain(self.further.iter().map(|(name, p)| (name.clone(), p)))
    }

    /// Takes all of them out, those first that the others depend on least.
    pub(super) fn take(&mut self) -> Vec<(String, Process)> {
        let first = self.first.take().map(|p| ("the service".to_owned(), p));
        let second = self.second.take().map(|p| ("the service's second replica".to_owned(), p));
        let further = std::mem::take(&mut self.further).into_iter().map(|(name, p)| (called(&name), p));
        first.into_iter().chain(second).chain(further).collect()
    }
}

fn called(name: &str) -> String {
    format!("the further service `{name}`")
}
