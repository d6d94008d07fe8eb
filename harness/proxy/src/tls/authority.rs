//! A CA, and the certificates that it makes.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use super::config::CertificateFault;
use super::der::{distinguished, names};
use super::error::TlsError;
use super::pem::{CA, Chain};
use super::provider;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long what is made is good for; a client with a clock behind ours accepts it too.
const CA_TIME: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);
/// Some clients take no certificate that is good for more than 398 days.
const LEAF_TIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// A name that nothing has: `.invalid` is reserved for that.
const WRONG_NAME: &str = "wrong-name.invalid";

/// A CA.
#[derive(Debug)]
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// What goes behind a certificate of ours, so that it leads to the root. A generated CA is its own root.
    links: Vec<CertificateDer<'static>>,
    /// Its own certificate names its key, and those that it signs may refer to that.
    knows_key: bool,
}

impl Authority {
    /// A new CA, whose key is nowhere but here, and its certificate as PEM.
    pub(super) fn generate() -> Result<(Self, String), TlsError> {
        Self::try_generate().map_err(|e| TlsError::Make { field: "terminate.ca", reason: e.to_string() })
    }

    fn try_generate() -> Result<(Self, String), rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        let id = params.key_identifier(&key).iter().take(4).map(|b| format!("{b:02x}")).collect::<String>();
        params.distinguished_name = named(&format!("chaos-proxy CA {id}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let now = since_epoch();
        good_for(&mut params, now.saturating_sub(DAY), now + CA_TIME);
        let cert = params.self_signed(&key)?;
        Ok((Self { issuer: Issuer::new(params, key), links: Vec::new(), knows_key: true }, cert.pem()))
    }

    /// The CA of a given certificate and key.
    pub(super) fn given(chain: Chain) -> Result<Self, TlsError> {
        let unusable = |reason: &str| TlsError::Identity { field: CA.both, reason: reason.to_owned() };
        let PrivateKeyDer::Pkcs8(der) = &chain.key else {
            return Err(unusable("a CA's key has to be PKCS#8; `openssl pkcs8 -topk8 -nodes` makes one"));
        };
        let key = KeyPair::try_from(der).map_err(|e| unusable(&e.to_string()))?;
        let links = chain.certs.clone();
        CertifiedKey::from_der(chain.certs, chain.key, &provider()).map_err(|e| unusable(&e.to_string()))?;
        let names = links.first().and_then(|cert| names(cert)).ok_or_else(|| unusable("it is not a certificate"))?;
        let odd = || unusable("its name has parts that a certificate cannot repeat; use a CA with a plain name");
        let mut params = CertificateParams::default();
        params.distinguished_name = distinguished(names.subject).ok_or_else(odd)?;
        let knows_key = names.key_id.is_some();
        if let Some(id) = names.key_id {
            params.key_identifier_method = KeyIdMethod::PreSpecified(id.to_vec());
        }
        let subject = names.subject.to_vec();
        let made = Self { issuer: Issuer::new(params, key), links, knows_key };
        // A part that comes twice, for one, is repeated once: nobody would find the CA by that.
        let probe = made.certify(&[], None).map_err(|e| unusable(&e.to_string()))?;
        match probe.cert.first().and_then(|cert| self::names(cert)) {
            Some(names) if names.issuer == subject => Ok(made),
            _ => Err(odd()),
        }
    }

    /// A certificate for these names, with what is wrong with it.
    pub(super) fn certify(
        &self,
        names: &[String],
        fault: Option<CertificateFault>,
    ) -> Result<Arc<CertifiedKey>, rcgen::Error> {
        let names = match fault {
            Some(CertificateFault::WrongName) => &[WRONG_NAME.to_owned()],
            _ => names,
        };
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name = named(names.first().map_or("chaos-proxy", String::as_str));
        params.use_authority_key_identifier_extension = self.knows_key;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let now = since_epoch();
        match fault {
            Some(CertificateFault::Expired) => good_for(&mut params, now.saturating_sub(30 * DAY), now - DAY),
            Some(CertificateFault::NotYetValid) => good_for(&mut params, now + DAY, now + LEAF_TIME),
            _ => good_for(&mut params, now.saturating_sub(DAY), now + LEAF_TIME),
        }
        let (cert, links) = match fault {
            Some(CertificateFault::SelfSigned) => (params.self_signed(&key)?, &[][..]),
            _ => (params.signed_by(&key, &self.issuer)?, self.links.as_slice()),
        };
        let chain = std::iter::once(cert.into()).chain(links.iter().cloned()).collect();
        let der = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let key = provider().key_provider.load_private_key(der).map_err(|_| rcgen::Error::CouldNotParseKeyPair)?;
        Ok(Arc::new(CertifiedKey::new(chain, key)))
    }
}

fn named(name: &str) -> DistinguishedName {
    let mut dn = DistinguishedName::new();
    // Longer ones are not allowed there; it is the alternative names that count.
    dn.push(DnType::CommonName, name.chars().take(64).collect::<String>());
    dn
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

fn good_for(params: &mut CertificateParams, from: Duration, to: Duration) {
    let epoch = date_time_ymd(1970, 1, 1);
    params.not_before = epoch + from;
    params.not_after = epoch + to;
}
