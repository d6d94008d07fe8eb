//! Certificates: which one a link shows, whom it trusts, and what is said when somebody does not.

use chaos_proxy::{CertificateFault, LinkConfig, Originate, Terminate};
use evidence::{ConnectionEnd, End};
use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, Error, RootCertStore};

use super::kit::{Ca, Client, Ended, Stage, Upstream, plain, serving, serving_only, trusting, trusting_as};
use crate::kit::{REPLY, attempts, connections, post};

fn terminating(terminate: Terminate) -> (Upstream, Stage) {
    let upstream = Upstream::replying(None, REPLY);
    let stage = Stage::with(LinkConfig::http("bank").upstream(upstream.addr).tls_terminate(terminate));
    (upstream, stage)
}

/// What a client's TLS says about a link.
fn verdict(stage: &Stage, name: &str, roots: RootCertStore) -> Result<Vec<CertificateDer<'static>>, Error> {
    match stage.client_as("bank", name, trusting(roots)) {
        Ok(Client(stream)) => Ok(stream.conn.peer_certificates().expect("certificates").to_vec()),
        Err(e) => {
            let error = e.get_ref().and_then(|e| e.downcast_ref::<Error>()).cloned();
            Err(error.unwrap_or_else(|| panic!("no TLS error: {e}")))
        }
    }
}

// Proves that a link is good for its own names, for given ones and for whatever name is asked for, that a certificate is
// made once for each name, and that proxies do not share a CA.
#[test]
fn certificates_are_made_for_the_names_asked_for() {
    let (_upstream, stage) = terminating(Terminate::new().name("given.example").name("10.1.2.3"));
    let shown = |name: &str| verdict(&stage, name, stage.roots()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let own = shown("localhost");
    // An IP address asks for no name, and gets the same certificate.
    assert!(["127.0.0.1", "::1", "10.1.2.3", "given.example"].iter().all(|name| shown(name) == own));
    let minted = shown("bank.example");
    assert_eq!(minted, shown("Bank.Example"));
    assert!(minted != own && minted != shown("other.example"));
    let (_upstream, other) = terminating(Terminate::new());
    let refused = verdict(&stage, "localhost", other.roots());
    assert_eq!(refused, Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)));
}

// Proves that a client that does not trust the CA is on record, with its alert and with what to do about it.
#[test]
fn a_client_without_trust_is_on_record() {
    let (upstream, stage) = terminating(Terminate::new());
    let refused = verdict(&stage, "localhost", Ca::new().roots());
    assert_eq!(refused, Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)));
    let text = stage.note("tls-handshake-failed");
    assert!(text.contains("link `bank`, connection 0") && text.contains("alert UnknownCA"), "{text}");
    assert!(text.contains("--ca-out"), "{text}");
    let log = stage.proxy.log();
    stage.eventually("the record", || connections(&log).len() == 1);
    let connection = connections(&log).remove(0);
    assert_eq!((connection.end, connection.requests), (ConnectionEnd::ByClient, 0));
    assert_eq!(upstream.accepted(), 0);
}

// Proves that a link signs with a given CA, and that it shows a given certificate as it is.
#[test]
fn what_is_given_is_shown() {
    let ca = Ca::new();
    let (_upstream, stage) = terminating(Terminate::new().ca(ca.pem(), ca.key_pem()));
    assert!(verdict(&stage, "bank.example", ca.roots()).is_ok());
    assert!(verdict(&stage, "bank.example", stage.roots()).is_err());

    let own = ca.issue(&["bank.example"]);
    let (_upstream, stage) = terminating(Terminate::new().certificate(own.cert.as_str(), own.key.as_str()));
    assert_eq!(verdict(&stage, "bank.example", ca.roots()), Ok(own.certs()));
    assert!(verdict(&stage, "other.example", ca.roots()).is_err());
}

// Proves that each fault of a certificate is seen by the client as what it is.
#[test]
fn a_faulty_certificate_is_refused_for_its_fault() {
    for (fault, expected) in [
        (CertificateFault::Expired, "Expired"),
        (CertificateFault::NotYetValid, "NotValidYet"),
        (CertificateFault::WrongName, "NotValidForName"),
        (CertificateFault::SelfSigned, "UnknownIssuer"),
    ] {
        let (_upstream, stage) = terminating(Terminate::new().fault(fault));
        for name in ["localhost", "bank.example"] {
            let refused = format!("{:?}", verdict(&stage, name, stage.roots()).expect_err("refused"));
            assert!(refused.contains(expected), "{fault:?}, {name}: {refused}");
        }
    }
}

// Proves both sides of client certificates: a link that asks for one serves only who has it, and a link shows its own to
// an upstream that asks.
#[test]
fn clients_prove_themselves() {
    let ca = Ca::new();
    let own = ca.issue(&["a client"]);
    let (_upstream, stage) = terminating(Terminate::new().client_ca(ca.pem()));
    let mut client = stage.client_as("bank", "localhost", trusting_as(stage.roots(), &own)).expect("handshake");
    assert_eq!(client.send(post("k", "")).reply(), REPLY);
    // The client's part of the handshake is over before the server has looked at its certificate.
    let mut client = stage.client_as("bank", "localhost", trusting(stage.roots())).expect("its part of the handshake");
    let refused = std::io::Read::read(&mut client.0, &mut [0]).expect_err("refused");
    assert!(refused.to_string().contains("CertificateRequired"), "{refused}");
    assert!(stage.note("tls-handshake-failed").contains("no certificates"));

    let config = serving_only(&ca.issue(&["127.0.0.1"]), ca.roots());
    let upstream = Upstream::replying(Some(config), REPLY);
    let trust = Originate::new().ca(ca.pem());
    let shows = trust.clone().certificate(own.cert.as_str(), own.key.as_str());
    let stage = Stage::with(LinkConfig::http("bank").upstream(upstream.addr).tls_originate(shows));
    assert_eq!(plain(stage.addr("bank")).send(post("k", "")).reply(), REPLY);
    let stage = Stage::with(LinkConfig::http("bank").upstream(upstream.addr).tls_originate(trust));
    assert_eq!(plain(stage.addr("bank")).send(post("k", "")).rest(), (String::new(), Ended::Reset));
}

// Proves that an upstream that is not what it should be has failed as a refused dial has, that the record says why and
// what would do, and that what it says to do does.
#[test]
fn an_upstream_without_trust_has_failed() {
    let ca = Ca::new();
    let upstream = Upstream::replying(Some(serving(&ca.issue(&["bank.example"]))), REPLY);
    let cases = [
        (Originate::new().ca(Ca::new().pem()), Some(["UnknownIssuer", "tls.originate.ca"])),
        (Originate::new().ca(ca.pem()), Some(["not valid for name", "tls.originate.server_name"])),
        (Originate::new().ca(ca.pem()).server_name("bank.example"), None),
        (Originate::new().insecure_skip_verify(), None),
    ];
    for (originate, complaint) in cases {
        let stage = Stage::with(LinkConfig::http("bank").upstream(upstream.addr).tls_originate(originate));
        let mut client = plain(stage.addr("bank"));
        client.send(post("k", "x"));
        let Some(words) = complaint else {
            assert_eq!(client.reply(), REPLY);
            continue;
        };
        assert_eq!(client.rest(), (String::new(), Ended::Reset));
        stage.settle();
        let attempt = attempts(&stage.proxy.log()).remove(0);
        assert_eq!((attempt.reply.end, attempt.upstream.sent), (End::UpstreamFailed, None));
        let why = attempt.upstream.error.expect("why");
        assert!(words.iter().all(|word| why.contains(word)), "{why}");
    }
}

// Proves which protocol is agreed on: the plain one with those who speak both, HTTP/2 with those who speak only that,
// and a configured order otherwise.
#[test]
fn protocols_are_agreed_on() {
    let agreed = |stage: &Stage, offered: &[&str]| {
        let mut config = trusting(stage.roots());
        config.alpn_protocols = offered.iter().map(|p| p.as_bytes().to_vec()).collect();
        let client = stage.client_as("bank", "localhost", config).map_err(|e| e.to_string())?;
        Ok(client.0.conn.alpn_protocol().map(|p| String::from_utf8_lossy(p).into_owned()))
    };
    let (_upstream, stage) = terminating(Terminate::new());
    assert_eq!(agreed(&stage, &["h2", "http/1.1"]), Ok(Some("http/1.1".to_owned())));
    assert_eq!(agreed(&stage, &["h2"]), Ok(Some("h2".to_owned())));
    assert_eq!(agreed(&stage, &[]), Ok(None));
    let refused: Result<_, String> = agreed(&stage, &["spdy/3"]);
    assert!(refused.is_err_and(|e| e.contains("NoApplicationProtocol")));
    let (_upstream, stage) = terminating(Terminate::new().alpn(["h2", "http/1.1"]));
    assert_eq!(agreed(&stage, &["http/1.1", "h2"]), Ok(Some("h2".to_owned())));
}

// Proves that the control plane hands out the certificate that clients have to trust.
#[tokio::test]
async fn the_ca_is_read_from_the_control_plane() {
    let plane = crate::api::kit::Plane::start().await;
    let answer = plane.call("GET /v1/ca.pem", "").await;
    assert_eq!((answer.status(), answer.header("content-type")), (200, Some("application/x-pem-file")));
    assert_eq!(answer.body, plane.proxy.ca_pem().expect("CA"));
    assert_eq!(plane.call("POST /v1/ca.pem", "").await.status(), 405);
}
