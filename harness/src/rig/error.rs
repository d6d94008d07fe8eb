//! Why a rig cannot start, drive or stop.

use crate::load::ClientError;
use crate::place::PlaceError;
use crate::probe::ProbeError;
use crate::record::RecordError;

/// A failure of the rig. What the service under test does wrong is evidence, never one of these.
#[derive(Debug, thiserror::Error)]
pub enum RigError {
    /// The service could not be built, started or stopped.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The proxy could not start.
    #[error("the chaos proxy cannot start: {0}")]
    Proxy(#[from] chaos_proxy::ProxyError),
    /// A rule was refused: a bug of ours, or of a suite's own rule.
    #[error("a fault rule is not usable: {0}")]
    Rule(#[from] chaos_proxy::RuleError),
    /// A proxy that runs elsewhere could not be driven.
    #[error(transparent)]
    Remote(#[from] crate::remote::RemoteError),
    /// The mock bank could not start.
    #[error("the mock bank cannot start: {0}")]
    Bank(#[from] mock_bank::BankError),
    /// The mock bank refused its script.
    #[error("the mock bank cannot be scripted so: {0}")]
    Script(#[from] mock_bank::ScriptError),
    /// The collector could not start.
    #[error(transparent)]
    Collector(#[from] crate::collector::CollectorError),
    /// The client could not ask.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The ledger or a breaker could not be read.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The run folder could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A text of the contract could not be filled in.
    #[error("the contract's {field}: {source}")]
    Template {
        /// Where in the contract.
        field: String,
        /// What is wrong.
        source: crate::place::template::TemplateError,
    },
    /// The canary could not start.
    #[error("the canary cannot start: {0}")]
    Canary(std::io::Error),
    /// The lanes cannot be used.
    #[error("cannot wait for a lane: {0}")]
    Lanes(std::io::Error),
    /// A scenario needs a promise that the contract does not make.
    #[error("this scenario needs {promise}, which the contract does not declare")]
    NotPromised {
        /// The promise, as it stands in a contract.
        promise: &'static str,
    },
    /// The system does not let this process open enough files.
    #[error(
        "this load needs {needed} open files, and the system allows {allowed}: raise the hard limit (`ulimit -n {needed}` as a user who may), or use fewer payments"
    )]
    OpenFiles {
        /// How many the load needs.
        needed: u64,
        /// The hard limit.
        allowed: u64,
    },
    /// A link has nothing behind it: the contract was not validated.
    #[error("links.{link}.upstream: leads to a service that is not declared; add its table under [services]")]
    NoUpstream {
        /// The link.
        link: String,
    },
    /// A service's URL has no host and port that a link could lead to.
    #[error("the contract's {field} is `{url}`; give one such as http://127.0.0.1:{{service.port}}")]
    BadUrl {
        /// Where in the contract.
        field: String,
        /// The URL with its variables filled in.
        url: String,
    },
    /// A second replica was asked for twice.
    #[error("the second replica is already running; a rig has two instances of the service at most")]
    ReplicaRuns,
    /// A fault or a load names a link that the contract does not have.
    #[error("the contract has no [links.{name}]; it has {known}")]
    NoLink {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The contract does not say where the running stack is.
    #[error("HARNESS_RIG is `attach`, but the contract has no [attach]; say there where the stack runs")]
    NotAttached,
    /// The running stack has no instance of the service for this.
    #[error(
        "attach.services.{isolates}: is absent; this scenario needs an instance that runs with what [isolate.{isolates}] declares"
    )]
    NoInstance {
        /// What it isolates.
        isolates: &'static str,
    },
    /// A place of the running stack is not known.
    #[error("{field} is `{text}`, which is no address: {reason}")]
    NoAddress {
        /// Where in the contract.
        field: String,
        /// What stands there.
        text: String,
        /// What happened.
        reason: String,
    },
    /// The running service does not take payments.
    #[error(
        "the service at {url} does not take payments, and no scenario can begin: the last one was {last}; see its log"
    )]
    NotWell {
        /// Its URL.
        url: String,
        /// How the last payment ended.
        last: String,
    },
    /// The service is down where the scenario needs it.
    #[error("the service is not running: it was killed and not started again")]
    NotRunning,
}
