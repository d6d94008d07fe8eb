//! Leases: what a holder has put in force goes when the holder does.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::SetOnce;
use tokio::time::Instant;

use super::Engine;
use crate::sync::locked;

/// The most leases at once.
pub const MAX_LEASES: usize = 1_000;
/// The longest time that a lease lives without being renewed: a day.
pub const MAX_LEASE_TTL: Duration = Duration::from_secs(86_400);
/// The longest name of a lease.
const MAX_ID_BYTES: usize = 200;

/// A lease that was granted.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) id: String,
    pub(crate) ttl: Duration,
    deadline: Mutex<Instant>,
    over: SetOnce<()>,
}

/// Why a lease cannot be had or renewed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// It has ended, or was never granted.
    #[error("there is no lease `{lease}`; it has ended, or was never granted")]
    Unknown {
        /// The lease.
        lease: String,
    },
    /// A lease of that name is held.
    #[error("lease `{lease}` is held by someone; choose another id, or leave it out")]
    Held {
        /// The lease.
        lease: String,
    },
    /// The id does not hold.
    #[error("`id` must be 1 to 200 bytes without `/` and control characters")]
    BadId,
    /// The time to live does not hold.
    #[error("`ttl_ms` must be 1 to 86400000 (a day)")]
    BadTtl,
    /// Too many leases.
    #[error("more than {limit} leases; end some first")]
    TooMany {
        /// The limit.
        limit: usize,
    },
}

impl Grant {
    /// How long it lives if it is not renewed.
    pub(crate) fn left(&self) -> Duration {
        locked(&self.deadline).saturating_duration_since(Instant::now())
    }

    async fn until_late(&self) {
        loop {
            let deadline = *locked(&self.deadline);
            if deadline <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(deadline).await;
        }
    }
}

impl Engine {
    /// Grants a lease that ends unless it is renewed within `ttl`, again and again.
    pub(crate) fn grant(self: &Arc<Self>, id: Option<String>, ttl: Duration) -> Result<Arc<Grant>, LeaseError> {
        if ttl < Duration::from_millis(1) || ttl > MAX_LEASE_TTL {
            return Err(LeaseError::BadTtl);
        }
        let mut leases = locked(&self.leases);
        let id = match id {
            Some(id) if leases.granted.contains_key(&id) => return Err(LeaseError::Held { lease: id }),
            Some(id) if id.trim().is_empty() || id.len() > MAX_ID_BYTES => return Err(LeaseError::BadId),
            Some(id) if id.contains(|c: char| c.is_control() || c == '/') => return Err(LeaseError::BadId),
            Some(id) => id,
            None => loop {
                leases.next += 1;
                let id = format!("lease-{}", leases.next);
                if !leases.granted.contains_key(&id) {
                    break id;
                }
            },
        };
        if leases.granted.len() >= MAX_LEASES {
            return Err(LeaseError::TooMany { limit: MAX_LEASES });
        }
        let deadline = Mutex::new(Instant::now() + ttl);
        let grant = Arc::new(Grant { id: id.clone(), ttl, deadline, over: SetOnce::new() });
        leases.granted.insert(id, Arc::clone(&grant));
        drop(leases);
        self.watch_lease(&grant);
        Ok(grant)
    }

    fn watch_lease(self: &Arc<Self>, grant: &Arc<Grant>) {
        let (engine, grant) = (Arc::downgrade(self), Arc::clone(grant));
        self.spawn(async move {
            tokio::select! {
                () = grant.until_late() => {}
                _ = grant.over.wait() => return,
            }
            if let Some(engine) = Weak::upgrade(&engine) {
                engine.end_lease(&grant.id);
            }
        });
    }

    /// Lets a lease live for its time again, from now on.
    pub(crate) fn renew(&self, id: &str) -> Result<Arc<Grant>, LeaseError> {
        let leases = locked(&self.leases);
        let grant = leases.granted.get(id).ok_or_else(|| LeaseError::Unknown { lease: id.to_owned() })?;
        *locked(&grant.deadline) = Instant::now() + grant.ttl;
        Ok(Arc::clone(grant))
    }

    /// The leases, sorted by id.
    pub(crate) fn grants(&self) -> Vec<Arc<Grant>> {
        locked(&self.leases).granted.values().cloned().collect()
    }

    pub(crate) fn is_granted(&self, id: &str) -> bool {
        locked(&self.leases).granted.contains_key(id)
    }

    /// Ends a lease and everything that stands under it; returns how many rules went, `None` when it was not there.
    pub(crate) fn end_lease(&self, id: &str) -> Option<usize> {
        // Out of the table first: what is armed from now on under its name is refused, what was armed before is found.
        let grant = locked(&self.leases).granted.remove(id)?;
        // An error says that it has been ended already.
        let _already = grant.over.set(());
        Some(self.take_out_under(id))
    }

    /// Lets the watching tasks of all leases end.
    pub(super) fn forget_leases(&self) {
        for (_, grant) in std::mem::take(&mut locked(&self.leases).granted) {
            let _already = grant.over.set(());
        }
    }
}

/// A lease that this process holds. Dropping it ends it: the rules and scopes that stand under it go out of force.
#[derive(Debug)]
#[must_use = "a lease is held only as long as its handle lives"]
pub struct Lease {
    engine: Arc<Engine>,
    id: String,
}

impl Lease {
    pub(crate) fn new(engine: Arc<Engine>, grant: &Grant) -> Self {
        Self { engine, id: grant.id.clone() }
    }

    /// Its id, for [`crate::Rule::lease`] and [`crate::ScopeConfig::lease`].
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Lets it live for its time again, from now on.
    ///
    /// # Errors
    /// When it has ended.
    pub fn renew(&self) -> Result<(), LeaseError> {
        self.engine.renew(&self.id).map(drop)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.engine.end_lease(&self.id);
    }
}
