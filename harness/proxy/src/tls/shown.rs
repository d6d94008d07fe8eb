//! Which certificate a link shows to which client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rustls::pki_types::ServerName;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::authority::Authority;
use super::config::{CertificateFault, Terminate};
use super::error::TlsError;
use crate::sync::locked;

/// Certificates made on demand that are kept; when a client asks for more names, all are made anew.
const MAX_MADE: usize = 1024;
/// What every certificate of ours is good for.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Certificates that the proxy makes.
#[derive(Debug)]
pub(super) struct Made {
    authority: Arc<Authority>,
    fault: Option<CertificateFault>,
    names: Vec<String>,
    /// For those who ask for one of `names`, or for none.
    own: Arc<CertifiedKey>,
    others: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl Made {
    pub(super) fn new(authority: Arc<Authority>, config: &Terminate) -> Result<Self, TlsError> {
        let mut names = OWN_NAMES.map(str::to_owned).to_vec();
        for name in &config.names {
            let bare = name.strip_prefix("*.").unwrap_or(name);
            ServerName::try_from(bare).map_err(|_| TlsError::Name { field: "terminate.names", name: name.clone() })?;
            names.push(name.to_ascii_lowercase());
        }
        let own = authority
            .certify(&names, config.fault)
            .map_err(|e| TlsError::Make { field: "terminate.names", reason: e.to_string() })?;
        Ok(Self { authority, fault: config.fault, names, own, others: Mutex::default() })
    }
}

impl ResolvesServerCert for Made {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let Some(name) = hello.server_name().map(str::to_ascii_lowercase) else {
            return Some(Arc::clone(&self.own));
        };
        if self.names.contains(&name) {
            return Some(Arc::clone(&self.own));
        }
        let mut others = locked(&self.others);
        if let Some(made) = others.get(&name) {
            return Some(Arc::clone(made));
        }
        // Without one the handshake fails, and its note says that there was none.
        let made = self.authority.certify(std::slice::from_ref(&name), self.fault).ok()?;
        if others.len() >= MAX_MADE {
            others.clear();
        }
        others.insert(name, Arc::clone(&made));
        Some(made)
    }
}

/// A given certificate, for everybody.
#[derive(Debug)]
pub(super) struct Given(pub(super) Arc<CertifiedKey>);

impl ResolvesServerCert for Given {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}
