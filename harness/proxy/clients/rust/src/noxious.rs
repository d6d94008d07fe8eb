//! `noxious-client` 1.0.4: it sends `direction` for `stream`, and fails on a toxic type that it does not know.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use noxious_client::error::ClientError;
use noxious_client::{Client, Proxy, ProxyConfig, StreamDirection, Toxic, ToxicKind};

use crate::checks::Checks;
use crate::echo::{exchange, is_refused};

pub async fn run(server: &str, upstream: SocketAddr, checks: &mut Checks) {
    let client = Client::new(server);
    let upstream = upstream.to_string();
    client.create_proxy("nox", "127.0.0.1:0", &upstream).await.expect("created");
    let twice = client.create_proxy("nox", "127.0.0.1:0", &upstream).await;
    checks.equal("a name is taken once", refusal(twice), (409, "proxy already exists".to_owned()));
    let missing = client.proxy("nox-nope").await;
    checks.equal("an unknown proxy is told", refusal(missing), (404, "proxy not found".to_owned()));
    let mut proxy = client.proxy("nox").await.expect("found");
    let at = proxy.config.listen.clone();
    checks.holds("its address is resolved", at.starts_with("127.0.0.1:") && !at.ends_with(":0"));
    checks.equal("bytes pass", exchange(&at, "hello").0, "hello".to_owned());

    every_toxic(&proxy, checks).await;
    slow_update(&proxy, &at, checks).await;
    proxy.disable().await.expect("disabled");
    checks.holds("a disabled proxy refuses", is_refused(&at));
    checks.holds("and says so", !client.proxy("nox").await.expect("found").is_enabled());
    proxy.enable().await.expect("enabled");
    checks.equal("an enabled one passes", exchange(&at, "again").0, "again".to_owned());
    proxy.change_name("other").await.expect("a name is passed over");
    checks.holds("no proxy is renamed", client.proxy("nox").await.is_ok() && client.proxy("other").await.is_err());

    own_toxics_stay_hidden(server, &client, checks).await;
    populate(&client, &upstream, checks).await;
    client.reset_state().await.expect("reset");
    let proxy = client.proxy("nox").await.expect("found");
    checks.equal("a reset removes toxics", proxy.toxics().await.expect("toxics").len(), 0);
    proxy.delete().await.expect("deleted");
    checks.holds("a deleted proxy is gone", client.proxy("nox").await.is_err() && is_refused(&at));
}

/// Status and text of a refusal.
fn refusal<T>(outcome: Result<T, ClientError>) -> (u16, String) {
    match outcome {
        Err(ClientError::ApiError(e)) => (e.status_code, e.message),
        Err(e) => panic!("not a refusal of the API: {e}"),
        Ok(_) => panic!("not refused"),
    }
}

/// One of each kind that this client can read, with toxicity 0. It cannot read Toxiproxy's own answer for `noop`, whose
/// attributes are an empty object.
async fn every_toxic(proxy: &Proxy, checks: &mut Checks) {
    let kinds = [
        ToxicKind::Latency { latency: 10, jitter: 5 },
        ToxicKind::Timeout { timeout: 70 },
        ToxicKind::Bandwidth { rate: 500 },
        ToxicKind::SlowClose { delay: 50 },
        ToxicKind::Slicer { average_size: 1024, size_variation: 128, delay: 500 },
        ToxicKind::LimitData { bytes: 2048 },
    ];
    for (i, kind) in kinds.into_iter().enumerate() {
        let direction = if i % 2 == 0 { StreamDirection::Upstream } else { StreamDirection::Downstream };
        let toxic = Toxic { kind, name: format!("toxic-{i}"), toxicity: 0.0, direction };
        let added = proxy.add_toxic(&toxic).await.expect("added");
        checks.equal("it comes back as it was sent", (added.kind, added.direction), (kind, direction));
    }
    let listed = proxy.toxics().await.expect("toxics");
    let upstream = listed.iter().take_while(|toxic| toxic.direction == StreamDirection::Upstream).count();
    checks.equal("upstream ones come first", (listed.len(), upstream), (kinds.len(), 3));
    let twice =
        Toxic { kind: ToxicKind::Noop, name: "toxic-1".into(), toxicity: 1.0, direction: StreamDirection::Upstream };
    let twice = proxy.add_toxic(&twice).await;
    checks.equal("names are unique over both directions", refusal(twice), (409, "toxic already exists".to_owned()));
    for toxic in listed {
        proxy.remove_toxic(&toxic.name).await.expect("removed");
    }
    let gone = proxy.remove_toxic("toxic-1").await;
    checks.equal("a removed toxic is gone", refusal(gone), (404, "toxic not found".to_owned()));
}

/// An update is seen by the next exchange.
async fn slow_update(proxy: &Proxy, at: &str, checks: &mut Checks) {
    let direction = StreamDirection::Upstream;
    let slow = |latency| ToxicKind::Latency { latency, jitter: 0 };
    let toxic = Toxic { kind: slow(0), name: "slow".into(), toxicity: 1.0, direction };
    proxy.add_toxic(&toxic).await.expect("added");
    let updated = proxy.update_toxic("slow", 1.0, slow(150), direction).await.expect("updated");
    checks.equal("an update comes back", updated.kind, slow(150));
    let (text, took) = exchange(at, "late");
    checks.holds("and works upstream", text == "late" && took >= Duration::from_millis(150));
    proxy.remove_toxic("slow").await.expect("removed");
}

/// A toxic of our own kind on a link must not break this client's listing.
async fn own_toxics_stay_hidden(server: &str, client: &Client, checks: &mut Checks) {
    let body = r#"{"type":"throttle","name":"own","attributes":{"bytes_per_s":1000000}}"#;
    let head = "POST /v1/links/nox/toxics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length:";
    let mut stream = TcpStream::connect(server).expect("connect");
    write!(stream, "{head} {}\r\n\r\n{body}", body.len()).expect("send");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    checks.holds("our own kind is added under our own path", answer.starts_with("HTTP/1.1 201 "));
    let listed = client.proxies().await.expect("a list that this client can read");
    checks.equal("and does not show in Toxiproxy's", listed["nox"].toxics().await.expect("toxics").len(), 0);
}

/// This client expects a bare array, which Toxiproxy does not send either: the call works, its answer is not read.
async fn populate(client: &Client, upstream: &str, checks: &mut Checks) {
    let config = |name: &str| ProxyConfig {
        name: name.into(),
        listen: "127.0.0.1:0".into(),
        upstream: upstream.into(),
        enabled: true,
        rand_seed: None,
    };
    let answer = client.populate(&[config("nox-a"), config("nox-b")]).await;
    checks.holds("the answer is the object that Toxiproxy sends", matches!(answer, Err(ClientError::IoError(_))));
    let proxies = client.proxies().await.expect("a list");
    for name in ["nox-a", "nox-b"] {
        let proxy = proxies.get(name).expect("populated").clone();
        checks.equal("a populated proxy passes", exchange(&proxy.config.listen, name).0, name.to_owned());
        proxy.delete().await.expect("deleted");
    }
}
