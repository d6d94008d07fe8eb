//! Where a stack is that runs already: the placement `attach`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Ledger;
use crate::rig::Isolation;

/// A running stack: `HARNESS_RIG=attach` starts nothing and drives this.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    /// `HOST:PORT` of the chaos proxy's API. It has a link of the same name for each of the contract's.
    pub proxy: String,
    /// `HOST:PORT` of the mock bank behind each link that has one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub banks: BTreeMap<String, String>,
    /// `IP:PORT` at which this process takes the stack's spans.
    #[serde(default = "default_otlp")]
    pub otlp: String,
    /// Base URLs of the service's instances, by what each isolates: the name of a table of `[isolate]`, or `none` for the
    /// service as declared.
    pub services: BTreeMap<String, String>,
    /// Where the stack keeps its rows, in place of `[ledger]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
}

impl Attach {
    /// The instance that isolates this.
    #[must_use]
    pub fn service(&self, isolation: Isolation) -> Option<&str> {
        self.services.get(isolation.word()).map(|url| url.trim_end_matches('/'))
    }
}

fn default_otlp() -> String {
    "0.0.0.0:4317".to_owned()
}
