//! The builder: the same contract, written in Rust.
//!
//! Builders consume and cannot fail; a contract is validated once, when a session starts with it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use judge::promise::{BreakerPolicy, DegradationPolicy, IdempotencyPolicy, Noise, RetryPolicy, TimeoutPolicy};

use super::{Contract, ContractError, Isolate, Link, Promises, Ready, Request, Route, Service, Telemetry, VERSION};

impl Contract {
    /// A service that is started by `command`, is asked for a payment by a POST of `body` to `path`, and has one
    /// dependency behind the link `bank`. It promises nothing yet.
    ///
    /// ```
    /// use harness::contract::Contract;
    ///
    /// let body = r#"{{"amount": {amount}, "reference": "{reference}"}}"#;
    /// let shop = Contract::of("shop", ["python3", "service.py"], "/payments", body)
    ///     .env("PORT", "{service.port}")
    ///     .env("BANK_URL", "{link.bank.url}");
    /// assert!(shop.validated().is_ok());
    /// ```
    #[must_use]
    pub fn of<S: Into<String>>(
        name: impl Into<String>,
        command: impl IntoIterator<Item = S>,
        path: impl Into<String>,
        body: impl Into<String>,
    ) -> Self {
        let service = Service {
            name: name.into(),
            build: None,
            command: command.into_iter().map(Into::into).collect(),
            cwd: None,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            url: super::default_url(),
            ready: Ready::default(),
            stop_grace: super::default_grace(),
        };
        let request = Request {
            method: super::default_method(),
            path: path.into(),
            body: body.into(),
            content_type: super::default_content_type(),
            key_header: super::default_key_header(),
            timeout: super::default_client_timeout(),
            degraded_header: None,
            caller_header: None,
            callers: super::default_callers(),
        };
        Self {
            version: VERSION,
            service,
            request,
            services: BTreeMap::new(),
            routes: BTreeMap::new(),
            links: [("bank".to_owned(), Link::default())].into(),
            ledger: None,
            breaker_endpoint: None,
            telemetry: Telemetry::default(),
            isolate: Isolate::default(),
            attach: None,
            noise: Noise::default(),
            promises: Promises::default(),
            dir: PathBuf::new(),
            text: String::new(),
        }
    }

    /// Sets the command that starts the service, in place of building it first.
    #[must_use]
    pub fn command<S: Into<String>>(mut self, command: impl IntoIterator<Item = S>) -> Self {
        self.service.build = None;
        self.service.command = command.into_iter().map(Into::into).collect();
        self
    }

    /// Sets a variable of the service's environment, templated.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.service.env.insert(name.into(), value.into());
        self
    }

    /// Adds a link, or replaces the one of that name.
    #[must_use]
    pub fn link(mut self, name: impl Into<String>, link: Link) -> Self {
        self.links.insert(name.into(), link);
        self
    }

    /// Adds a further service, or replaces the one of that name.
    #[must_use]
    pub fn service(mut self, name: impl Into<String>, service: Service) -> Self {
        self.services.insert(name.into(), service);
        self
    }

    /// Adds a further request, or replaces the one of that name.
    #[must_use]
    pub fn route(mut self, name: impl Into<String>, route: Route) -> Self {
        self.routes.insert(name.into(), route);
        self
    }

    /// Promises retries.
    #[must_use]
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.promises.retry = Some(policy);
        self
    }

    /// Promises idempotency.
    #[must_use]
    pub fn idempotency(mut self, policy: IdempotencyPolicy) -> Self {
        self.promises.idempotency = Some(policy);
        self
    }

    /// Promises a breaker.
    #[must_use]
    pub fn breaker(mut self, policy: BreakerPolicy) -> Self {
        self.promises.breaker = Some(policy);
        self
    }

    /// Promises an answer within a time.
    #[must_use]
    pub fn timeout(mut self, policy: TimeoutPolicy) -> Self {
        self.promises.timeout = Some(policy);
        self
    }

    /// Promises degraded answers.
    #[must_use]
    pub fn degradation(mut self, policy: DegradationPolicy) -> Self {
        self.promises.degradation = Some(policy);
        self
    }

    /// The contract, if its parts fit together.
    ///
    /// # Errors
    /// [`ContractError`] with the field and what would be right.
    pub fn validated(self) -> Result<Self, ContractError> {
        self.validate("<contract>")?;
        Ok(self)
    }

    /// Its text as TOML: the one it was read from while nothing was changed since, else written anew. A run keeps it, so
    /// that a replay judges by what was really promised.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let read = Self::parse(&self.text, "<text>").ok();
        let unchanged = read.is_some_and(|r| Self { dir: self.dir.clone(), ..r } == *self);
        if unchanged { self.text.clone() } else { toml::to_string(self).unwrap_or_default() }
    }
}
