//! The TLS of one link, ready to shake hands.

use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::server::{ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};

use super::authority::Authority;
use super::config::{Originate, Terminate, TlsConfig};
use super::error::TlsError;
use super::shown::{Given, Made};
use super::trust::Trust;
use super::verify::Anybody;
use super::{HTTP_1, HTTP_2, pem, provider};
use crate::config::Mode;

/// The TLS of one link.
#[derive(Debug, Default)]
pub(crate) struct LinkTls {
    config: TlsConfig,
    server: Option<Arc<ServerConfig>>,
    client: Option<Client>,
}

/// How it speaks TLS with its upstream.
#[derive(Debug)]
struct Client {
    config: Arc<ClientConfig>,
    name: Option<ServerName<'static>>,
    /// What to offer; when absent, what the client speaks.
    alpn: Option<Vec<Vec<u8>>>,
}

impl LinkTls {
    /// Reads and checks everything that the configuration names.
    pub(crate) async fn ready(config: &TlsConfig, mode: Mode, trust: &Trust) -> Result<Self, TlsError> {
        let server = match &config.terminate {
            Some(terminate) => Some(Arc::new(server(terminate, mode, trust).await?)),
            None => None,
        };
        let client = match &config.originate {
            Some(originate) => Some(client(originate, trust).await?),
            None => None,
        };
        Ok(Self { config: config.clone(), server, client })
    }

    /// What it was made from.
    pub(crate) fn config(&self) -> &TlsConfig {
        &self.config
    }

    /// A handshake with a client, when this link speaks TLS with its clients.
    pub(super) fn server(&self) -> Option<Result<Connection, rustls::Error>> {
        let config = Arc::clone(self.server.as_ref()?);
        Some(ServerConnection::new(config).map(Connection::Server))
    }

    /// A handshake with the upstream at `host`, when this link speaks TLS with it. `protocol` is what the client
    /// speaks.
    pub(super) fn client(&self, host: &str, protocol: Option<&[u8]>) -> Option<Result<Connection, String>> {
        let Client { config, name, alpn } = self.client.as_ref()?;
        let name = match name {
            Some(name) => Ok(name.clone()),
            None => ServerName::try_from(host.to_owned()).map_err(|_| {
                format!("no certificate can be checked against the name `{host}`; give tls.originate.server_name")
            }),
        };
        let alpn = alpn.clone().unwrap_or_else(|| protocol.map(<[u8]>::to_vec).into_iter().collect());
        Some(name.and_then(|name| {
            let made = ClientConnection::new_with_alpn(Arc::clone(config), name, alpn);
            made.map(Connection::Client).map_err(|e| e.to_string())
        }))
    }
}

async fn server(config: &Terminate, mode: Mode, trust: &Trust) -> Result<ServerConfig, TlsError> {
    let shown = shown(config, trust).await?;
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|e| TlsError::Make { field: "terminate", reason: e.to_string() })?;
    let builder = match &config.client_ca {
        Some(ca) => {
            let roots = Arc::new(pem::roots("terminate.client_ca", ca).await?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider()).build();
            builder.with_client_cert_verifier(
                verifier.map_err(|e| TlsError::Make { field: "terminate.client_ca", reason: e.to_string() })?,
            )
        }
        None => builder.with_no_client_auth(),
    };
    let mut server = builder.with_cert_resolver(shown);
    server.alpn_protocols = match (&config.alpn, mode) {
        (Some(names), _) => protocols("terminate.alpn", names)?,
        // The plain one first: it is there whatever the upstream speaks.
        (None, Mode::Http) => vec![HTTP_1.to_vec(), HTTP_2.to_vec()],
        (None, Mode::Tcp) => Vec::new(),
    };
    Ok(server)
}

async fn shown(config: &Terminate, trust: &Trust) -> Result<Arc<dyn ResolvesServerCert>, TlsError> {
    let Some(given) = &config.certificate else {
        let authority = match &config.ca {
            Some(ca) => Arc::new(Authority::given(pem::chain(pem::CA, ca).await?)?),
            None => trust.own()?,
        };
        return Ok(Arc::new(Made::new(authority, config)?));
    };
    let clash = |other| TlsError::Combination {
        field: pem::SERVER.both,
        other,
        reason: "a given certificate is shown as it is",
    };
    if config.ca.is_some() {
        return Err(clash(pem::CA.both));
    }
    if !config.names.is_empty() {
        return Err(clash("terminate.names"));
    }
    if config.fault.is_some() {
        return Err(clash("terminate.fault"));
    }
    let chain = pem::chain(pem::SERVER, given).await?;
    let key = CertifiedKey::from_der(chain.certs, chain.key, &provider());
    let key = key.map_err(|e| TlsError::Identity { field: pem::SERVER.both, reason: e.to_string() })?;
    Ok(Arc::new(Given(Arc::new(key))))
}

async fn client(config: &Originate, trust: &Trust) -> Result<Client, TlsError> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|e| TlsError::Make { field: "originate", reason: e.to_string() })?;
    let builder = if config.insecure_skip_verify {
        if config.ca.is_some() {
            let reason = "one accepts anybody, the other only those";
            return Err(TlsError::Combination { field: "originate.ca", other: "insecure_skip_verify", reason });
        }
        builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody(provider())))
    } else {
        builder.with_root_certificates(match &config.ca {
            Some(ca) => Arc::new(pem::roots("originate.ca", ca).await?),
            None => trust.system().await?,
        })
    };
    let made = match &config.certificate {
        Some(given) => {
            let chain = pem::chain(pem::CLIENT, given).await?;
            builder
                .with_client_auth_cert(chain.certs, chain.key)
                .map_err(|e| TlsError::Identity { field: pem::CLIENT.both, reason: e.to_string() })?
        }
        None => builder.with_no_client_auth(),
    };
    let name = match &config.server_name {
        Some(name) => Some(
            ServerName::try_from(name.clone())
                .map_err(|_| TlsError::Name { field: "originate.server_name", name: name.clone() })?,
        ),
        None => None,
    };
    let alpn = match &config.alpn {
        Some(names) => Some(protocols("originate.alpn", names)?),
        None => None,
    };
    Ok(Client { config: Arc::new(made), name, alpn })
}

fn protocols(field: &'static str, names: &[String]) -> Result<Vec<Vec<u8>>, TlsError> {
    let checked = names.iter().map(|name| match name.len() {
        1..=255 => Ok(name.as_bytes().to_vec()),
        _ => Err(TlsError::Alpn { field, name: name.clone() }),
    });
    checked.collect()
}
