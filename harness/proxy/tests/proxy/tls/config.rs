//! The configuration of a link's TLS: its text, its errors, and what it never shows.

use chaos_proxy::{LinkConfig, Originate, Proxy, ProxyConfig, Terminate, TlsConfig};

use super::kit::{Ca, Stage};

/// Why a link with this TLS cannot be started.
fn refusal(tls: TlsConfig) -> String {
    let mut link = LinkConfig::http("bank").upstream("127.0.0.1:9");
    link.tls = tls;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    let started = runtime.block_on(Proxy::start(ProxyConfig::new([link])));
    started.expect_err("refused").to_string()
}

fn terminate(terminate: Terminate) -> TlsConfig {
    TlsConfig { terminate: Some(terminate), originate: None }
}

fn originate(originate: Originate) -> TlsConfig {
    TlsConfig { terminate: None, originate: Some(originate) }
}

// Proves that the same fields are read from JSON and TOML as are built in Rust, and that unknown ones are refused.
#[test]
fn the_same_fields_everywhere() {
    let built = TlsConfig {
        terminate: Some(Terminate::new().name("bank.example").ca("ca.pem", "ca.key").alpn(["h2"])),
        originate: Some(Originate::new().ca("roots.pem").server_name("bank.example").insecure_skip_verify()),
    };
    let json = r#"{ "terminate": { "names": ["bank.example"], "ca": { "cert": "ca.pem", "key": "ca.key" }, "alpn": ["h2"] },
        "originate": { "ca": "roots.pem", "server_name": "bank.example", "insecure_skip_verify": true } }"#;
    let toml = r#"
        terminate = { names = ["bank.example"], ca = { cert = "ca.pem", key = "ca.key" }, alpn = ["h2"] }
        originate = { ca = "roots.pem", server_name = "bank.example", insecure_skip_verify = true }"#;
    assert_eq!(serde_json::from_str::<TlsConfig>(json).expect("JSON"), built);
    assert_eq!(toml::from_str::<TlsConfig>(toml).expect("TOML"), built);
    let again = serde_json::to_string(&built).expect("text");
    assert_eq!(serde_json::from_str::<TlsConfig>(&again).expect("JSON"), built);
    for wrong in [r#"{"terminator":{}}"#, r#"{"terminate":{"cn":"x"}}"#, r#"{"originate":{"verify":false}}"#] {
        let error = serde_json::from_str::<TlsConfig>(wrong).expect_err("refused").to_string();
        assert!(error.contains("unknown field"), "{error}");
    }
    let error =
        serde_json::from_str::<TlsConfig>(r#"{"terminate":{"fault":"stale"}}"#).expect_err("refused").to_string();
    assert!(error.contains("stale") && error.contains("expired"), "{error}");
}

// Proves that each wrong configuration is refused with its field and what would do.
#[test]
fn wrong_configurations_name_their_field() {
    let ca = Ca::new();
    let (one, other) = (ca.issue(&["a"]), ca.issue(&["b"]));
    let cases = [
        (terminate(Terminate::new().ca("no/such/file", "x")), ["tls.terminate.ca.cert", "no/such/file"]),
        (terminate(Terminate::new().ca(ca.pem(), ca.pem())), ["tls.terminate.ca.key", "private key"]),
        (terminate(Terminate::new().ca(ca.pem(), one.key.as_str())), ["tls.terminate.ca", "cannot be used together"]),
        (
            terminate(Terminate::new().certificate(one.key.as_str(), one.key.as_str())),
            ["tls.terminate.certificate.cert", "no certificate"],
        ),
        (
            terminate(Terminate::new().certificate(one.cert.as_str(), other.key.as_str())),
            ["tls.terminate.certificate", "cannot be used together"],
        ),
        (
            terminate(Terminate::new().certificate(one.cert.as_str(), one.key.as_str()).name("x")),
            ["tls.terminate.certificate", "terminate.names"],
        ),
        (terminate(Terminate::new().name("two words")), ["tls.terminate.names", "`two words`"]),
        (terminate(Terminate::new().alpn([""])), ["tls.terminate.alpn", "1 to 255 bytes"]),
        (terminate(Terminate::new().client_ca("-----BEGIN NOTHING-----")), ["tls.terminate.client_ca", "certificates"]),
        (
            originate(Originate::new().ca("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n")),
            ["tls.originate.ca", "cannot be read"],
        ),
        (originate(Originate::new().ca(ca.pem()).server_name("")), ["tls.originate.server_name", "DNS name"]),
        (originate(Originate::new().ca(ca.pem()).insecure_skip_verify()), ["tls.originate.ca", "insecure_skip_verify"]),
        (
            originate(Originate::new().ca(ca.pem()).certificate("missing.pem", "k")),
            ["tls.originate.certificate.cert", "missing.pem"],
        ),
    ];
    for (tls, words) in cases {
        let text = refusal(tls);
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
}

// Proves that a private key is in no text that shows a configuration: not in `Debug`, not in JSON, not in an error.
#[test]
fn private_keys_are_not_shown() {
    let ca = Ca::new();
    let key = ca.key_pem();
    let secret = key.lines().nth(1).expect("base64").to_owned();
    let tls = terminate(Terminate::new().ca(ca.pem(), key.as_str()));
    let shown = [format!("{tls:?}"), serde_json::to_string(&tls).expect("JSON")];
    assert!(shown.iter().all(|text| !text.contains(&secret) && text.contains("(a private key)")), "{shown:?}");
    assert!(!refusal(terminate(Terminate::new().ca(key.as_str(), key.as_str()))).contains(&secret));
    let mut link = LinkConfig::http("bank");
    link.tls = tls;
    let stage = Stage::with(link);
    let status = stage.proxy.link_status("bank").expect("link");
    assert!(!format!("{status:?}").contains(&secret));
}
