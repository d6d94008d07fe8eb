//! `toxiproxy_rust` 0.1.6: it decodes attributes as unsigned numbers and fails on anything else.

use std::net::SocketAddr;
use std::time::Duration;

use toxiproxy_rust::client::Client;
use toxiproxy_rust::proxy::{Proxy, ProxyPack};

use crate::checks::Checks;
use crate::echo::{exchange, is_refused};

pub fn run(server: &str, upstream: SocketAddr, checks: &mut Checks) {
    let client = Client::new(server);
    checks.holds("the server runs", client.is_running());
    let version = client.version().expect("a version");
    checks.holds("it names the version it is compatible with", version.contains("\"2.12.0"));
    let pack = |name: &str| ProxyPack::new(name.into(), "127.0.0.1:0".into(), upstream.to_string());
    let made = client.populate(vec![pack("rust-a"), pack("rust-b")]).expect("populated");
    checks.equal("both are created", names(&made), vec!["rust-a".to_owned(), "rust-b".into()]);
    let listed = client.all().expect("a list");
    checks.holds("both are listed", listed.contains_key("rust-a") && listed.contains_key("rust-b"));
    let proxy = client.find_proxy("rust-a").expect("found");
    let at = proxy.proxy_pack.listen.clone();
    checks.equal("bytes pass", exchange(&at, "hello").0, "hello".to_owned());
    checks.holds("an unknown proxy is not decoded as one", client.find_proxy("rust-nope").is_err());

    proxy.with_latency("downstream".into(), 150, 0, 1.0);
    let (text, took) = exchange(&at, "late");
    checks.equal("late bytes are the same", text, "late".to_owned());
    checks.holds("latency delays", took >= Duration::from_millis(150));
    proxy.delete_all_toxics().expect("removed");
    every_toxic(&client, &proxy, checks);

    let down = proxy.with_down(|| checks.holds("a disabled proxy refuses", is_refused(&at)));
    down.expect("down and up again");
    checks.equal("an enabled one passes", exchange(&at, "again").0, "again".to_owned());
    let limited = proxy.with_limit_data("downstream".into(), 4, 1.0).apply(|| {
        checks.equal("limit_data closes behind its bytes", exchange(&at, "12345678").0, "1234".to_owned());
    });
    limited.expect("applied");

    proxy.with_slicer("upstream".into(), 64, 32, 10, 1.0);
    proxy.disable().expect("disabled");
    client.reset().expect("reset");
    checks.equal("a reset removes toxics", proxy.toxics().expect("toxics").len(), 0);
    checks.equal("and starts what was stopped", exchange(&at, "up").0, "up".to_owned());
    for made in made {
        made.delete().expect("deleted");
    }
    checks.holds("a deleted proxy is gone", client.find_proxy("rust-a").is_err() && is_refused(&at));
}

/// One of each, with toxicity 0 so that none of them acts; their attributes come back as they were sent.
fn every_toxic(client: &Client, proxy: &Proxy, checks: &mut Checks) {
    let down = || "downstream".to_owned();
    proxy.with_latency("upstream".into(), 10, 5, 0.0);
    proxy.with_bandwidth(down(), 500, 0.0).with_slow_close(down(), 50, 0.0).with_timeout(down(), 70, 0.0);
    proxy.with_slicer(down(), 1024, 128, 500, 0.0).with_limit_data(down(), 2048, 0.0);
    let expected = [
        ("latency_upstream", &[("jitter", 5), ("latency", 10)][..]),
        ("bandwidth_downstream", &[("rate", 500)]),
        ("slow_close_downstream", &[("delay", 50)]),
        ("timeout_downstream", &[("timeout", 70)]),
        ("slicer_downstream", &[("average_size", 1024), ("delay", 500), ("size_variation", 128)]),
        ("limit_data_downstream", &[("bytes", 2048)]),
    ];
    let toxics = proxy.toxics().expect("toxics");
    checks.equal("every toxic is listed", toxics.len(), expected.len());
    for (toxic, (name, attributes)) in toxics.iter().zip(expected) {
        let mut got: Vec<_> = toxic.attributes.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        got.sort_unstable();
        checks.equal(name, (toxic.name.as_str(), got, toxic.toxicity), (name, attributes.to_vec(), 0.0));
    }
    let at = &proxy.proxy_pack.listen;
    checks.equal("toxicity 0 strikes nobody", exchange(at, "through all").0, "through all".to_owned());
    client.find_and_reset_proxy("rust-a").expect("found and reset");
    checks.equal("they are removed one by one", proxy.toxics().expect("toxics").len(), 0);
}

fn names(proxies: &[Proxy]) -> Vec<String> {
    proxies.iter().map(|proxy| proxy.proxy_pack.name.clone()).collect()
}
