//! Our own interface, `/v1/`.

use serde_json::{Value, json};

use super::kit::{Plane, Through, echo};
use crate::kit::{Upstream, post};

// Proves that a link and its rules are created in one call: the first request that can reach it meets the rule, and so
// does the first of another key, since an HTTP link has a key header without being told.
#[tokio::test]
async fn a_link_is_born_with_its_rules() {
    let (plane, upstream) = (Plane::start().await, Upstream::start().await);
    let rule = json!({ "id": "first", "schedule": { "fail_first": { "n": 1 } },
        "fault": { "at": "request", "effect": { "reply": { "status": 503 } } } });
    let body = json!({ "name": "bank", "mode": "http", "upstream": upstream.addr,
        "rules": [rule] });
    let made = plane.call("POST /v1/links", &body.to_string()).await;
    assert_eq!(made.status(), 201, "{}", made.body);
    let (link, epoch) = (made.json()["link"].clone(), made.json()["epoch"].as_u64());
    assert_eq!((&link["mode"], &link["enabled"], &link["toxics"]), (&"http".into(), &true.into(), &json!([])));
    let at = link["listen"].as_str().expect("an address");
    let mut client = crate::kit::Client(tokio::net::TcpStream::connect(at).await.expect("connect"));
    assert!(client.send(post("k", "x")).await.reply().await.starts_with("HTTP/1.1 503"));
    assert!(client.send(post("k", "x")).await.reply().await.starts_with("HTTP/1.1 201"));
    assert!(client.send(post("other", "x")).await.reply().await.starts_with("HTTP/1.1 503"));
    assert_eq!(link["key_header"], "Idempotency-Key");
    let reset = plane.call("POST /v1/reset", "").await.json();
    assert_eq!((reset["disarmed"].as_u64(), reset["links"].as_u64()), (Some(1), Some(1)));
    assert_eq!(reset["left"], 0);
    assert!(reset["epoch"].as_u64() > epoch, "disarming makes an epoch");
    assert!(client.send(post("new", "x")).await.reply().await.starts_with("HTTP/1.1 201"), "the rule is gone");
}

// Proves that each kind of mistake is refused with its field, and that nothing is left of the call then.
#[tokio::test]
async fn refusals_name_the_field() {
    let plane = Plane::start().await;
    let taken = plane.server.address().to_string();
    let cases = [
        (json!({ "mode": "tcp" }), 400, "name"),
        (json!({ "name": "p" }), 400, "mode"),
        (json!({ "name": "p", "mode": "udp" }), 400, "mode"),
        (json!({ "name": 5, "mode": "tcp" }), 400, "name"),
        (json!({ "name": "p", "mode": "tcp", "lisetn": "x" }), 400, "lisetn"),
        (json!({ "name": "p", "mode": "tcp", "listen": "nonsense" }), 400, "listen"),
        (json!({ "name": "p", "mode": "tcp", "listen": taken }), 409, "listen"),
        (json!({ "name": "p", "mode": "tcp", "upstream": "nonsense" }), 400, "upstream"),
        (json!({ "name": "p", "mode": "tcp", "toxics": [{ "type": "x" }] }), 400, "toxics[0].type"),
        (json!({ "name": "p", "mode": "http", "toxics": [{ "type": "noop" }] }), 400, "toxics"),
        (json!({ "name": "p", "mode": "http", "rules": [{ "id": "r", "fautl": 1 }] }), 400, "rules[0].fautl"),
        (
            json!({ "name": "p", "mode": "http", "rules": [{ "id": "r", "link": "q",
            "fault": { "at": "connect", "effect": "reset" } }] }),
            400,
            "rules[0].link",
        ),
        (
            json!({ "name": "p", "mode": "http", "rules": [{ "id": "r",
            "fault": { "at": "connect", "effect": { "reply": { "status": 500 } } } }] }),
            400,
            "rules",
        ),
    ];
    for (body, status, field) in cases {
        let refused = plane.call("POST /v1/links", &body.to_string()).await;
        assert_eq!((refused.status(), refused.json()["field"].as_str()), (status, Some(field)), "{}", refused.body);
        assert_eq!(refused.json()["status"], status);
    }
    assert_eq!(plane.call("GET /v1/links", "").await.json()["links"], json!([]));
    for (call, status) in
        [("GET /v1/nope", 404), ("PUT /v1/links", 405), ("GET /v1/links/p", 404), ("GET /v1/reset", 405)]
    {
        let refused = plane.call(call, "").await;
        assert_eq!((refused.status(), &refused.json()["status"]), (status, &status.into()), "{call}");
    }
}

// Proves the whole life of a toxic of our own kind: born with the link, merged key by key, told when it is in force on a
// live connection, and never shown to Toxiproxy's clients.
#[tokio::test]
async fn own_toxics_live_under_their_own_path() {
    let plane = Plane::start().await;
    let throttle = json!({ "type": "throttle", "name": "own", "attributes": { "bytes_per_s": 1_000_000 } });
    let body = json!({ "name": "p", "mode": "tcp", "upstream": echo().await, "toxics": [throttle] });
    let made = plane.call("POST /v1/links", &body.to_string()).await.json();
    assert_eq!(made["link"]["toxics"][0]["name"], "own");
    let mut open = Through::to(made["link"]["listen"].as_str().expect("an address")).await;
    assert!(open.echoes("through").await);
    assert_eq!(plane.call("GET /proxies/p/toxics", "").await.body, "[]");
    assert_eq!(plane.call("GET /proxies/p", "").await.json()["toxics"], json!([]));
    for call in ["GET", "PATCH", "DELETE"] {
        assert_eq!(plane.call(&format!("{call} /proxies/p/toxics/own"), "{}").await.status(), 404);
    }
    let patch = r#"{"attributes":{"per":"link"},"toxicity":0.5}"#;
    let changed = plane.call("PATCH /v1/links/p/toxics/own", patch).await.json();
    assert_eq!(changed["toxic"]["attributes"], json!({ "bytes_per_s": 1_000_000, "per": "link" }));
    assert_eq!((&changed["toxic"]["toxicity"], &changed["settled"]), (&0.5.into(), &true.into()));
    let bad =
        plane.call("PATCH /v1/links/p/toxics/own", r#"{"attributes":{"bytes_per_s":0,"per":"connection"}}"#).await;
    assert_eq!((bad.status(), &bad.json()["field"]), (400, &"attributes.bytes_per_s".into()));
    let kept = plane.call("GET /v1/links/p/toxics", "").await.json();
    assert_eq!(kept["toxics"][0], changed["toxic"], "a failed update changes nothing");
    let twice = plane.call("POST /v1/links/p/toxics", &throttle.to_string()).await;
    assert_eq!((twice.status(), &twice.json()["field"]), (409, &"name".into()));
    let gone = plane.call("DELETE /v1/links/p/toxics/own", "").await.json();
    assert!(gone["epoch"].as_u64() > changed["epoch"].as_u64() && gone["settled"] == true, "{gone}");
    assert_eq!(plane.call("DELETE /v1/links/p/toxics/own", "").await.status(), 404);
    assert!(open.echoes("still").await);
    assert_eq!(plane.call("DELETE /v1/links/p", "").await.json()["removed"], "p");
    assert!(open.is_ended().await);
}

// Proves that a key header is shown where keys are read, and nowhere else.
#[tokio::test]
async fn a_tcp_link_shows_no_key_header() {
    use chaos_proxy::LinkConfig;
    let links = [LinkConfig::tcp("bytes"), LinkConfig::http("web")].map(|link| link.key_header("X-Key"));
    let plane = Plane::with(links).await;
    let links = plane.call("GET /v1/links", "").await.json()["links"].clone();
    assert_eq!((&links[0]["name"], links[0].get("key_header")), (&"bytes".into(), None));
    assert_eq!((&links[1]["name"], &links[1]["key_header"]), (&"web".into(), &"X-Key".into()));
}

// Proves that an HTTP link shows among Toxiproxy's proxies, and refuses a toxic with what would do.
#[tokio::test]
async fn http_links_take_no_toxics() {
    let plane = Plane::with([chaos_proxy::LinkConfig::http("web").upstream("127.0.0.1:1")]).await;
    assert_eq!(plane.call("GET /proxies/web", "").await.json()["toxics"], json!([]));
    let refused = plane.call("POST /proxies/web/toxics", r#"{"type":"noop"}"#).await;
    assert!(refused.status() == 400 && refused.body.contains("TCP link in front"), "{}", refused.body);
    assert_eq!(plane.call("POST /v1/links/web/toxics", r#"{"type":"noop"}"#).await.json()["field"], "toxics");
}

// Proves what the status says.
#[tokio::test]
async fn the_status_is_told() {
    let plane = Plane::with([chaos_proxy::LinkConfig::tcp("p").upstream("127.0.0.1:1")]).await;
    let status: Value = plane.call("GET /v1/status", "").await.json();
    assert_eq!(status["api"], plane.server.address().to_string());
    assert_eq!(status["links"]["p"], plane.proxy.link_addr("p").expect("link").to_string());
    assert_eq!((status["seed"].as_u64(), status["log"]["dropped"].as_u64()), (Some(0), Some(0)));
    assert!(status["toxiproxy"].as_str().is_some_and(|v| v.starts_with("2.12.0+chaos-proxy.")));
}
