//! What a link's TLS is configured with: the same fields in Rust, JSON and TOML.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// TLS of one link, on either side or both. Without a side, that side is plain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TlsConfig {
    /// Speaks TLS with the clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminate: Option<Terminate>,
    /// Speaks TLS with the upstream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub originate: Option<Originate>,
}

/// How a link shows itself to its clients.
///
/// Without `certificate` the proxy makes certificates itself, signed by `ca` or else by a CA that it generates for
/// itself and never writes anywhere unasked: for `localhost`, 127.0.0.1, `::1` and `names`, and for whatever name a
/// client asks for (SNI).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Terminate {
    /// Further names and IP addresses that the certificate is good for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Signs with this CA.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<Identity>,
    /// Shows this certificate, whatever a client asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Identity>,
    /// Asks clients for a certificate from one of these CAs, and serves no client without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_ca: Option<Pem>,
    /// Protocols to agree on (ALPN), the preferred one first. When absent, an HTTP link offers `http/1.1` and `h2` in
    /// that order, and a link that passes bytes offers none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpn: Option<Vec<String>>,
    /// Shows a certificate that no client should accept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<CertificateFault>,
}

/// What is wrong with the certificate that a link shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CertificateFault {
    /// Its time is over since yesterday.
    Expired,
    /// Its time begins tomorrow.
    NotYetValid,
    /// It is good for another name only.
    WrongName,
    /// It is signed by itself instead of the CA.
    SelfSigned,
}

/// How a link speaks TLS with its upstream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Originate {
    /// Trusts these CAs instead of the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<Pem>,
    /// The name to ask for and to check the certificate against; the upstream's host when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    /// Shows this certificate when the upstream asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Identity>,
    /// Protocols to offer (ALPN), the preferred one first. When absent, what the client speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpn: Option<Vec<String>>,
    /// Accepts any certificate from anybody: the upstream is then not proven to be what it says.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub insecure_skip_verify: bool,
}

/// A certificate chain and its private key (PKCS#8, PKCS#1 or SEC1; a CA's key PKCS#8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The certificate, followed by those that lead to its root.
    pub cert: Pem,
    /// The private key.
    pub key: Pem,
}

/// PEM: the text itself when it contains `-----BEGIN`, and otherwise the path of a file with it. Private keys are shown
/// by neither `Debug` nor serialisation.
#[derive(Clone, PartialEq, Eq)]
pub struct Pem(String);

impl TlsConfig {
    /// Whether both sides are plain.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.terminate.is_none() && self.originate.is_none()
    }
}

impl Terminate {
    /// With certificates that the proxy makes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a name or IP address that the certificate is good for.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.names.push(name.into());
        self
    }

    /// Signs with this CA.
    #[must_use]
    pub fn ca(mut self, cert: impl Into<Pem>, key: impl Into<Pem>) -> Self {
        self.ca = Some(Identity::new(cert, key));
        self
    }

    /// Shows this certificate, whatever a client asks for.
    #[must_use]
    pub fn certificate(mut self, cert: impl Into<Pem>, key: impl Into<Pem>) -> Self {
        self.certificate = Some(Identity::new(cert, key));
        self
    }

    /// Serves only clients with a certificate from one of these CAs.
    #[must_use]
    pub fn client_ca(mut self, ca: impl Into<Pem>) -> Self {
        self.client_ca = Some(ca.into());
        self
    }

    /// Sets the protocols to agree on, the preferred one first.
    #[must_use]
    pub fn alpn<P: Into<String>>(mut self, protocols: impl IntoIterator<Item = P>) -> Self {
        self.alpn = Some(protocols.into_iter().map(Into::into).collect());
        self
    }

    /// Shows a certificate that no client should accept.
    #[must_use]
    pub fn fault(mut self, fault: CertificateFault) -> Self {
        self.fault = Some(fault);
        self
    }
}

impl Originate {
    /// Trusts the system's CAs and checks the upstream's host.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts these CAs instead of the system's.
    #[must_use]
    pub fn ca(mut self, ca: impl Into<Pem>) -> Self {
        self.ca = Some(ca.into());
        self
    }

    /// Asks for this name, and checks the certificate against it.
    #[must_use]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// Shows this certificate when the upstream asks for one.
    #[must_use]
    pub fn certificate(mut self, cert: impl Into<Pem>, key: impl Into<Pem>) -> Self {
        self.certificate = Some(Identity::new(cert, key));
        self
    }

    /// Sets the protocols to offer, the preferred one first.
    #[must_use]
    pub fn alpn<P: Into<String>>(mut self, protocols: impl IntoIterator<Item = P>) -> Self {
        self.alpn = Some(protocols.into_iter().map(Into::into).collect());
        self
    }

    /// Accepts any certificate from anybody.
    #[must_use]
    pub fn insecure_skip_verify(mut self) -> Self {
        self.insecure_skip_verify = true;
        self
    }
}

impl Identity {
    /// A certificate and its key.
    #[must_use]
    pub fn new(cert: impl Into<Pem>, key: impl Into<Pem>) -> Self {
        Self { cert: cert.into(), key: key.into() }
    }
}

impl Pem {
    /// The text itself, when it is not the path of a file.
    pub(crate) fn text(&self) -> Option<&str> {
        self.0.contains("-----BEGIN").then_some(&self.0)
    }

    /// What it may be called in front of anybody.
    pub(crate) fn shown(&self) -> &str {
        match self.text() {
            Some(text) if text.contains("PRIVATE KEY") => "(a private key)",
            _ => &self.0,
        }
    }
}

impl<T: Into<String>> From<T> for Pem {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pem").field(&self.shown()).finish()
    }
}

impl Serialize for Pem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.shown())
    }
}

impl<'de> Deserialize<'de> for Pem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}
