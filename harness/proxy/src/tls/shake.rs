//! The handshakes of a link's connections, and what is said when one fails.

use std::sync::Arc;

use evidence::ConnectionEnd;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};

use crate::conn::{Client, ConnRecord};
use crate::link::Link;
use crate::traffic::Traffic;
use crate::wire::{HandshakeError, Inbox, Wire};

/// Shakes hands with a client, if the link speaks TLS with its clients; what came already is the beginning of it. When
/// that fails, the connection is ended and its record says so.
pub(crate) async fn accept(link: &Link, record: &mut ConnRecord, client: Client) -> Option<Client> {
    match link.tls.server() {
        None => Some(client),
        // Boxed, so that a connection without TLS does not keep room for it.
        Some(tls) => Box::pin(shake(link, record, client, tls)).await,
    }
}

async fn shake(
    link: &Link,
    record: &mut ConnRecord,
    mut client: Client,
    tls: Result<rustls::Connection, Error>,
) -> Option<Client> {
    let why = match tls {
        Ok(tls) => {
            client.wire.begin_tls(tls, &mut client.inbox);
            match tokio::time::timeout(link.limits.handshake_time, client.wire.handshake()).await {
                Ok(Ok(())) => return Some(client),
                Ok(Err(HandshakeError::Silent)) => {
                    record.ended(ConnectionEnd::ByClient, None);
                    return None;
                }
                Ok(Err(HandshakeError::Refused(error))) => refused_by_client(&error),
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("it was not over within {:?}", link.limits.handshake_time),
            }
        }
        Err(error) => error.to_string(),
    };
    let text = format!("link `{}`, connection {}: handshake with the client: {why}", link.name, record.conn);
    link.log.remark(link.clock.now(), "tls-handshake-failed", text);
    record.ended(ConnectionEnd::ByClient, None);
    client.wire.fin();
    client.wire.linger(link.limits.linger_time).await;
    None
}

/// Dials the upstream and shakes hands with it, if the link speaks TLS with its upstream. `protocol` is what the client
/// speaks. An error says why, as that of a refused dial does.
pub(crate) async fn connect(
    link: &Link,
    traffic: Arc<Traffic>,
    protocol: Option<&[u8]>,
) -> Result<(Wire, u64), String> {
    let target = link.target();
    let stream = link.dial(&target).await?;
    let mut wire = Wire::new(stream, link.clock, traffic);
    let address = target.address.as_deref().unwrap_or_default();
    let Some(tls) = link.tls.client(host_of(address), protocol) else {
        return Ok((wire, target.generation));
    };
    wire.begin_tls(tls.map_err(|why| format!("dial {address}: {why}"))?, &mut Inbox::default());
    match Box::pin(tokio::time::timeout(link.limits.handshake_time, wire.handshake())).await {
        Ok(Ok(())) => Ok((wire, target.generation)),
        Ok(Err(HandshakeError::Refused(error))) => {
            Err(format!("dial {address}: TLS handshake: {}", refused_by_upstream(&error)))
        }
        Ok(Err(error)) => Err(format!("dial {address}: TLS handshake: {error}")),
        Err(_) => Err(format!("dial {address}: TLS handshake: not over within {:?}", link.limits.handshake_time)),
    }
}

fn host_of(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host)
}

fn refused_by_client(error: &Error) -> String {
    match error {
        Error::AlertReceived(alert) => format!("it refused with the alert {alert:?}{}", advice_on(*alert)),
        Error::InvalidMessage(what) => format!("{}; point it at this link with https://", no_tls(what)),
        other => other.to_string(),
    }
}

fn advice_on(alert: AlertDescription) -> &'static str {
    use AlertDescription as Alert;
    match alert {
        Alert::UnknownCA | Alert::BadCertificate | Alert::CertificateUnknown | Alert::UnsupportedCertificate => {
            "; it has to trust the CA of this link (`ca_pem()`, `--ca-out`, GET /v1/ca.pem)"
        }
        Alert::CertificateExpired => "; its clock and ours may differ",
        _ => "",
    }
}

fn refused_by_upstream(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(why) => format!("its certificate is not accepted: {why}{}", remedy(why)),
        Error::InvalidMessage(what) => {
            format!("{}; leave out tls.originate (https://) for a plain upstream", no_tls(what))
        }
        Error::AlertReceived(alert) => format!("the upstream refused with the alert {alert:?}"),
        other => other.to_string(),
    }
}

fn remedy(why: &CertificateError) -> &'static str {
    match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "; give the CA that signed it as tls.originate.ca"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "; give a name that it is good for as tls.originate.server_name"
        }
        _ => "",
    }
}

fn no_tls(what: &InvalidMessage) -> String {
    match what {
        InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion => {
            "what came is not TLS".to_owned()
        }
        other => format!("what came cannot be read as TLS ({other:?})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves what a certificate is checked against, for each way to write an upstream.
    #[test]
    fn the_host_of_an_upstream() {
        for (address, host) in [("bank.example:443", "bank.example"), ("127.0.0.1:1", "127.0.0.1"), ("[::1]:1", "::1")]
        {
            assert_eq!(host_of(address), host);
        }
    }
}
