//! From PEM to certificates and keys.

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncReadExt;

use super::config::{Identity, Pem};
use super::error::TlsError;

/// The longest PEM that is read: some bundles of CAs come near it, nothing else does.
const MAX_PEM_BYTES: u64 = 4 << 20;

/// A certificate chain and its key, read.
pub(super) struct Chain {
    pub(super) certs: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

/// The field names of one [`Identity`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) both: &'static str,
    pub(super) cert: &'static str,
    pub(super) key: &'static str,
}

pub(super) const CA: Fields = Fields { both: "terminate.ca", cert: "terminate.ca.cert", key: "terminate.ca.key" };
pub(super) const SERVER: Fields =
    Fields { both: "terminate.certificate", cert: "terminate.certificate.cert", key: "terminate.certificate.key" };
pub(super) const CLIENT: Fields =
    Fields { both: "originate.certificate", cert: "originate.certificate.cert", key: "originate.certificate.key" };

pub(super) async fn chain(fields: Fields, identity: &Identity) -> Result<Chain, TlsError> {
    let certs = certificates(fields.cert, &identity.cert).await?;
    let wanted = "an unencrypted private key";
    let text = text(fields.key, &identity.key).await?;
    let key = PrivateKeyDer::from_pem_slice(&text).map_err(|e| unusable(fields.key, &e, wanted))?;
    Ok(Chain { certs, key })
}

/// The roots in `pem`; at least one.
pub(super) async fn roots(field: &'static str, pem: &Pem) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for cert in certificates(field, pem).await? {
        roots.add(cert).map_err(|e| TlsError::Pem { field, reason: e.to_string(), wanted: "CA certificates" })?;
    }
    Ok(roots)
}

async fn certificates(field: &'static str, pem: &Pem) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let wanted = "one or more certificates";
    let text = text(field, pem).await?;
    let certs = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    match certs {
        Ok(certs) if certs.is_empty() => {
            Err(TlsError::Pem { field, reason: "there is no certificate in it".to_owned(), wanted })
        }
        Ok(certs) => Ok(certs),
        Err(e) => Err(unusable(field, &e, wanted)),
    }
}

async fn text(field: &'static str, pem: &Pem) -> Result<Vec<u8>, TlsError> {
    if let Some(text) = pem.text() {
        return Ok(text.as_bytes().to_vec());
    }
    let failed = |source| TlsError::File { field, path: pem.shown().to_owned(), source };
    let file = tokio::fs::File::open(pem.shown()).await.map_err(failed)?;
    let mut text = Vec::new();
    file.take(MAX_PEM_BYTES).read_to_end(&mut text).await.map_err(failed)?;
    Ok(text)
}

fn unusable(field: &'static str, error: &rustls::pki_types::pem::Error, wanted: &'static str) -> TlsError {
    use rustls::pki_types::pem::Error;
    let reason = match error {
        Error::NoItemsFound => "there is none in it".to_owned(),
        other => format!("it cannot be read: {other}"),
    };
    TlsError::Pem { field, reason, wanted }
}
