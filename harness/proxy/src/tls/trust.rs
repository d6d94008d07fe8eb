//! What the links of a proxy trust and are trusted by: the proxy's own CA, and the system's.

use std::sync::{Arc, Mutex};

use rustls::RootCertStore;
use tokio::sync::OnceCell;

use super::authority::Authority;
use super::error::TlsError;
use crate::sync::locked;

/// Made or read when first asked for.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    own: Mutex<Option<(Arc<Authority>, Arc<str>)>>,
    system: OnceCell<Arc<RootCertStore>>,
}

impl Trust {
    /// The CA that this proxy generates for itself.
    pub(super) fn own(&self) -> Result<Arc<Authority>, TlsError> {
        self.generated().map(|(authority, _)| authority)
    }

    /// Its certificate as PEM, for those who should trust it.
    pub(crate) fn own_pem(&self) -> Result<Arc<str>, TlsError> {
        self.generated().map(|(_, pem)| pem)
    }

    fn generated(&self) -> Result<(Arc<Authority>, Arc<str>), TlsError> {
        let mut own = locked(&self.own);
        if let Some(own) = &*own {
            return Ok(own.clone());
        }
        let (authority, pem) = Authority::generate()?;
        Ok(own.insert((Arc::new(authority), pem.into())).clone())
    }

    /// The system's CAs.
    pub(super) async fn system(&self) -> Result<Arc<RootCertStore>, TlsError> {
        self.system.get_or_try_init(read_system).await.cloned()
    }
}

async fn read_system() -> Result<Arc<RootCertStore>, TlsError> {
    let failed = |reason| TlsError::NoSystemRoots { reason };
    // Hundreds of files on some systems.
    let found = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await;
    let found = found.map_err(|e| failed(format!(" ({e})")))?;
    let mut roots = RootCertStore::empty();
    // Some systems carry roots that nobody can parse any more; the others count.
    let (good, _bad) = roots.add_parsable_certificates(found.certs);
    if good == 0 {
        return Err(failed(found.errors.first().map(|e| format!(" ({e})")).unwrap_or_default()));
    }
    Ok(Arc::new(roots))
}
