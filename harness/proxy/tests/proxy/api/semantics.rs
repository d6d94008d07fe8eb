//! What Toxiproxy's calls do to proxies and their connections.

use super::kit::{Plane, Through, echo, is_refused};
use serde_json::json;

/// Creates a proxy to an echo and gives its address.
async fn proxy(plane: &Plane, name: &str) -> String {
    let body = json!({ "name": name, "listen": "127.0.0.1:0", "upstream": echo().await }).to_string();
    let made = plane.call("POST /proxies", &body).await;
    assert_eq!(made.status(), 201, "{}", made.body);
    made.json()["listen"].as_str().expect("an address").to_owned()
}

// Proves how odd paths are answered, and that a name with a slash can be created but not reached.
#[tokio::test]
async fn odd_paths_and_names() {
    let plane = Plane::start().await;
    let moved = plane.call("GET //proxies?x=1", "").await;
    assert_eq!((moved.status(), moved.header("Location"), moved.body.as_str()), (301, Some("/proxies?x=1"), ""));
    assert!(moved.header("X-Toxiproxy-Request-Id").is_none());
    assert_eq!(plane.call("GET /proxies/", "").await.body, "404 page not found\n");
    assert_eq!(plane.call("GET /metrics", "").await.status(), 404, "no metrics flag is on");
    for (name, path, status) in [("a b", "/proxies/a%20b", 200), ("a/b", "/proxies/a%2Fb", 404)] {
        let body = json!({ "name": name, "upstream": "u:1", "enabled": false }).to_string();
        assert_eq!(plane.call("POST /proxies", &body).await.status(), 201);
        assert_eq!(plane.call(&format!("GET {path}"), "").await.status(), status, "{name}");
    }
    assert_eq!(plane.call("GET /proxies/%zz", "").await.status(), 400);
}

// Proves that a call with what is there already cuts no connection, that another upstream cuts them and keeps the
// toxics, and that a disabled proxy cuts, refuses, keeps its toxics and comes back at its port.
#[tokio::test]
async fn updates_cut_only_what_changes() {
    let plane = Plane::start().await;
    let at = proxy(&plane, "p").await;
    let toxic = r#"{"type":"latency","attributes":{"latency":1}}"#;
    assert_eq!(plane.call("POST /proxies/p/toxics", toxic).await.status(), 200);
    let mut first = Through::to(&at).await;
    assert!(first.echoes("one").await);
    let now = plane.call("GET /proxies/p", "").await.json();
    let same = json!({ "listen": now["listen"], "upstream": now["upstream"], "enabled": true }).to_string();
    assert_eq!(plane.call("PATCH /proxies/p", &same).await.json(), now);
    assert!(first.echoes("two").await, "a repeated update cuts nothing");
    let other = json!({ "upstream": echo().await }).to_string();
    let moved = plane.call("PATCH /proxies/p", &other).await.json();
    assert_eq!((moved["listen"].as_str(), moved["toxics"].as_array().map(Vec::len)), (Some(at.as_str()), Some(1)));
    assert!(first.is_ended().await, "another upstream cuts");
    let mut second = Through::to(&at).await;
    assert!(second.echoes("three").await);
    let off = plane.call("POST /proxies/p", r#"{"enabled":false}"#).await.json();
    assert!(second.is_ended().await && is_refused(&at).await);
    assert_eq!((off["enabled"].as_bool(), off["toxics"].as_array().map(Vec::len)), (Some(false), Some(1)));
    assert_eq!(plane.call("PATCH /proxies/p", r#"{"enabled":true}"#).await.json()["listen"], at.as_str());
    assert!(Through::to(&at).await.echoes("four").await);
}

// Proves that an update that cannot be carried out leaves the proxy as it is.
#[tokio::test]
async fn a_failed_update_changes_nothing() {
    let plane = Plane::start().await;
    let at = proxy(&plane, "p").await;
    let taken = plane.server.address();
    let before = plane.call("GET /proxies/p", "").await.body;
    let mut open = Through::to(&at).await;
    let failed = plane.call("PATCH /proxies/p", &json!({ "listen": taken }).to_string()).await;
    let text = format!("listen tcp {taken}: bind: address already in use");
    assert_eq!((failed.status(), failed.json()["error"].as_str()), (500, Some(text.as_str())));
    assert_eq!(plane.call("GET /proxies/p", "").await.body, before);
    assert!(open.echoes("still").await);
}

// Proves populate: the same proxy is left alone with its toxics and connections whatever `enabled` says, another one
// replaces it without toxics, and one that cannot be put leaves the old one.
#[tokio::test]
async fn populate_replaces_only_what_differs() {
    let plane = Plane::start().await;
    let at = proxy(&plane, "p").await;
    plane.call("POST /proxies/p/toxics", r#"{"type":"noop"}"#).await;
    let upstream = plane.call("GET /proxies/p", "").await.json()["upstream"].clone();
    let mut open = Through::to(&at).await;
    let entry = |listen: &str, enabled: bool| {
        json!([{ "name": "p", "listen": listen, "upstream": upstream, "enabled": enabled, "toxics": [5] }]).to_string()
    };
    let same = plane.call("POST /populate", &entry(&at, false)).await;
    assert_eq!((same.status(), &same.json()["proxies"][0]["enabled"]), (201, &true.into()));
    assert_eq!(same.json()["proxies"][0]["toxics"].as_array().map(Vec::len), Some(1));
    assert!(open.echoes("left alone").await);
    let taken = plane.call("POST /populate", &entry(&plane.server.address().to_string(), true)).await;
    assert_eq!((taken.status(), taken.header("Content-Type")), (500, Some("application/json")));
    assert!(taken.json()["proxies"].is_null());
    let kept = plane.call("GET /proxies/p", "").await.json();
    assert_eq!((kept["listen"].as_str(), kept["toxics"].as_array().map(Vec::len)), (Some(at.as_str()), Some(1)));
    let replaced = plane.call("POST /populate", &entry("127.0.0.1:0", false)).await.json();
    assert_eq!(replaced["proxies"][0]["toxics"], json!([]));
    assert!(is_refused(&at).await, "the old port is closed");
}

// Proves that a reset starts what can be started, removes all toxics, and tells what could not be started.
#[tokio::test]
async fn a_reset_does_all_it_can() {
    let plane = Plane::start().await;
    let at = proxy(&plane, "z").await;
    plane.call("POST /proxies/z/toxics", r#"{"type":"noop"}"#).await;
    plane.call("PATCH /proxies/z", r#"{"enabled":false}"#).await;
    let blocked = json!({ "name": "a", "listen": plane.server.address(), "upstream": "u:1", "enabled": false });
    assert_eq!(plane.call("POST /proxies", &blocked.to_string()).await.status(), 201);
    let reset = plane.call("POST /reset", "").await;
    assert!(reset.status() == 500 && reset.body.contains("address already in use"), "{}", reset.body);
    assert!(Through::to(&at).await.echoes("up").await);
    assert_eq!(plane.call("GET /proxies/z/toxics", "").await.body, "[]");
}
