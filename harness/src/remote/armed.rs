//! A rule in force at a remote proxy.

use std::time::Duration;

use chaos_proxy::Rule;
use judge::evidence::FaultWindow;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{Api, segment};
use super::{Axes, RemoteError};

/// The longest wait of one call to the proxy.
const ONE_WAIT: Duration = Duration::from_secs(20);

/// A rule in force. Dropping it leaves it in force until the connection's lease ends: [`RemoteArmed::disarm`] is the way out.
#[derive(Debug)]
pub struct RemoteArmed {
    api: Api,
    axes: Axes,
    path: String,
}

#[derive(Deserialize)]
struct Armed {
    rules: Vec<Report>,
}

/// What the proxy says of a rule.
#[derive(Deserialize)]
struct Report {
    rule: Named,
    fired: u64,
    held: usize,
    window: FaultWindow,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

pub(super) async fn arm(api: &Api, axes: Axes, rule: Rule) -> Result<RemoteArmed, RemoteError> {
    let armed: Armed = api.post("/v1/rules", &rule).await?;
    let Some(report) = armed.rules.first() else {
        return Err(RemoteError::Unexpected { call: "POST /v1/rules".to_owned(), what: "it armed nothing".to_owned() });
    };
    let scope = rule.scope.as_deref().map(|scope| format!("?scope={}", segment(scope))).unwrap_or_default();
    let path = format!("/v1/rules/{}{scope}", segment(&report.rule.id));
    Ok(RemoteArmed { api: api.clone(), axes, path })
}

impl RemoteArmed {
    /// How many calls wait at its gate.
    ///
    /// # Errors
    /// When the proxy does not answer.
    pub async fn held(&self) -> Result<usize, RemoteError> {
        Ok(self.report().await?.held)
    }

    /// How many calls it struck so far.
    ///
    /// # Errors
    /// When the proxy does not answer.
    pub async fn fired(&self) -> Result<u64, RemoteError> {
        Ok(self.report().await?.fired)
    }

    /// Waits until `n` calls are held, for `within` and 20 s at most; whether they are.
    ///
    /// # Errors
    /// When the proxy does not answer.
    pub async fn wait_held(&self, n: usize, within: Duration) -> Result<bool, RemoteError> {
        let within = within.min(ONE_WAIT);
        let ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        let body = json!({ "held": n, "within_ms": ms });
        match self.api.wait::<Value>(&self.below("/wait"), &body, within).await {
            Ok(_) => Ok(true),
            // The proxy's way to say that the time is over.
            Err(RemoteError::Refused { status: 408, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lets `n` held calls go.
    ///
    /// # Errors
    /// When the proxy does not answer.
    pub async fn release(&self, n: usize) -> Result<(), RemoteError> {
        self.api.post::<Value>(&self.below("/release"), &json!({ "n": n })).await.map(drop)
    }

    /// Takes it out of force, lets go what it held, and returns when it was in force, on the run's axis.
    ///
    /// # Errors
    /// When the proxy does not answer, or its lease had ended before.
    pub async fn disarm(self) -> Result<FaultWindow, RemoteError> {
        let report: Report = self.api.delete(&self.path).await?;
        let mut window = report.window;
        window.each_moment(&mut |at| *at = self.axes.ours.place(*at, &self.axes.theirs));
        Ok(window)
    }

    async fn report(&self) -> Result<Report, RemoteError> {
        self.api.get(&self.path).await
    }

    fn below(&self, word: &str) -> String {
        match self.path.split_once('?') {
            Some((path, scope)) => format!("{path}{word}?{scope}"),
            None => format!("{}{word}", self.path),
        }
    }
}
