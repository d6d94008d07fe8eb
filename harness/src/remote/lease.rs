//! The lease that everything armed hangs on: renewed while this process lives, and over soon after.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::RemoteError;
use super::api::{Api, segment};

/// How long the proxy waits for a sign of life.
const TTL: Duration = Duration::from_secs(10);
/// Three signs may be lost.
const RENEW: Duration = Duration::from_millis(2_500);

/// A lease that is renewed until it is given back or dropped.
#[derive(Debug)]
pub(super) struct Lease {
    id: String,
    renewal: JoinHandle<()>,
}

#[derive(Deserialize)]
struct Taken {
    id: String,
}

impl Lease {
    pub(super) async fn take(api: &Api) -> Result<Self, RemoteError> {
        let ttl = u64::try_from(TTL.as_millis()).unwrap_or(u64::MAX);
        let Taken { id } = api.post("/v1/leases", &json!({ "ttl_ms": ttl })).await?;
        let (path, api) = (format!("/v1/leases/{}/renew", segment(&id)), api.clone());
        let renewal = tokio::spawn(async move {
            loop {
                sleep(RENEW).await;
                // A sign that is lost is not missed: the next one comes in time. A lease that ended has taken its faults
                // along, which the next call of the rig finds.
                let _: Result<Value, _> = api.post(&path, &json!({})).await;
            }
        });
        Ok(Self { id, renewal })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Ends it and all that hangs on it.
    pub(super) async fn give_back(self, api: &Api) -> Result<(), RemoteError> {
        self.renewal.abort();
        api.delete::<Value>(&format!("/v1/leases/{}", segment(&self.id))).await.map(drop)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}
