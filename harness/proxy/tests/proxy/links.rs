//! Links that come, change and go while the proxy runs.

use std::io::ErrorKind;

use chaos_proxy::{
    AddLinkError, Effect, Fault, LinkChange, LinkConfig, Match, Phase, Proxy, ProxyConfig, ProxyError, Rule, RuleError,
};
use evidence::{ConnectionEnd, End};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

use crate::kit::{Client, Ended, REPLY, Upstream, attempts, bank, connections, eventually, post, soon};

async fn empty() -> Proxy {
    Proxy::start(ProxyConfig::new([])).await.expect("start")
}

fn disable() -> LinkChange {
    LinkChange { enabled: Some(false), ..LinkChange::default() }
}

// Proves that an added link serves, and that removal closes its port, ends its connections and disarms its rules.
#[tokio::test]
async fn a_link_comes_and_goes() {
    let upstream = Upstream::start().await;
    let proxy = empty().await;
    let status = proxy.add_link(bank(upstream.addr)).await.expect("add");
    assert!(status.enabled && status.listen == proxy.link_addr("bank").expect("addr").to_string());
    let armed = proxy.arm(Rule::new("r", Fault::status(503)).link("bank")).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("a", "")).await;
    assert!(client.reply().await.starts_with("HTTP/1.1 503"));
    let addr = proxy.link_addr("bank").expect("addr");
    proxy.remove_link("bank").await.expect("remove");
    assert_eq!(client.rest().await.1, Ended::Fin);
    assert_eq!(soon(TcpStream::connect(addr)).await.expect_err("refused").kind(), ErrorKind::ConnectionRefused);
    assert!(matches!(proxy.remove_link("bank").await, Err(ProxyError::UnknownLink { .. })));
    // The window was closed by the removal, and the rule does not strike a new link of the same name.
    proxy.add_link(bank(upstream.addr)).await.expect("add again");
    let mut client = Client::to(&proxy, "bank").await;
    assert_eq!(client.send(post("a", "")).await.reply().await, REPLY);
    let window = armed.disarm();
    assert_eq!(window.fired, 1);
    assert!(window.healed <= attempts(&proxy.log())[1].arrived);
}

// Proves that a disabled link refuses connections and ended the open ones as unfinished, and that it comes back on the
// same port.
#[tokio::test]
async fn a_disabled_link_refuses() {
    let upstream = Upstream::start().await;
    let proxy = empty().await;
    proxy.add_link(bank(upstream.addr)).await.expect("add");
    let hold = proxy.arm(Rule::new("h", Fault::hold(60_000))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("a", "")).await;
    soon(hold.wait_held(1, crate::kit::PATIENCE)).await.expect("held");
    let before = proxy.link_status("bank").expect("status");
    assert_eq!(before.connections, 1);
    let after = proxy.change_link("bank", disable()).await.expect("disable");
    assert_eq!((after.enabled, after.connections, &after.listen), (false, 0, &before.listen));
    assert_eq!(client.rest().await, (String::new(), Ended::Fin));
    assert_eq!(attempts(&proxy.log())[0].reply.end, End::Unfinished);
    assert_eq!(connections(&proxy.log())[0].end, ConnectionEnd::ByShutdown);
    let refused = soon(TcpStream::connect(&before.listen)).await.expect_err("refused");
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert!(matches!(proxy.link_addr("bank"), Err(ProxyError::Disabled(_))));
    drop(hold);
    let enable = LinkChange { enabled: Some(true), ..LinkChange::default() };
    let back = proxy.change_link("bank", enable).await.expect("enable");
    assert_eq!(back.listen, before.listen);
    let mut client = Client::to(&proxy, "bank").await;
    assert_eq!(client.send(post("a", "")).await.reply().await, REPLY);
}

// Proves that a change to what is there cuts nothing, that a new upstream cuts and serves, and that a move which fails
// changes nothing: the old port goes on, with its connections.
#[tokio::test]
async fn a_change_is_whole_or_nothing() {
    let (one, two) = (Upstream::start().await, Upstream::replying("HTTP/1.1 204 two\r\n\r\n").await);
    let proxy = empty().await;
    let first = proxy.add_link(bank(one.addr)).await.expect("add");
    let mut client = Client::to(&proxy, "bank").await;
    assert_eq!(client.send(post("a", "")).await.reply().await, REPLY);
    let taken = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let taken = (taken.local_addr().expect("addr").to_string(), taken);
    let same =
        LinkChange { listen: Some(first.listen.clone()), upstream: Some(one.addr.to_string()), enabled: Some(true) };
    assert_eq!(proxy.change_link("bank", same).await.expect("same").listen, first.listen);
    for listen in [taken.0.as_str(), "nonsense", "127.0.0.1:x", "::1:80", "no-such-host.invalid:0"] {
        let change = LinkChange { listen: Some(listen.into()), upstream: Some(two.addr.to_string()), enabled: None };
        proxy.change_link("bank", change).await.expect_err(listen);
    }
    assert_eq!(client.send(post("b", "")).await.reply().await, REPLY);
    let status = proxy.link_status("bank").expect("status");
    assert_eq!((status.listen, status.upstream), (first.listen.clone(), Some(one.addr.to_string())));
    let change = LinkChange { upstream: Some(two.addr.to_string()), ..LinkChange::default() };
    assert_eq!(proxy.change_link("bank", change).await.expect("upstream").listen, first.listen);
    assert_eq!(client.rest().await.1, Ended::Fin);
    let mut client = Client::to(&proxy, "bank").await;
    assert!(client.send(post("c", "")).await.reply().await.starts_with("HTTP/1.1 204"));
    assert_eq!((one.seen().len(), two.seen().len()), (2, 1));
}

// Proves that a link moves to the unspecified address of its own port, which is bound by itself until then, and that
// hosts are optional.
#[tokio::test]
async fn a_link_moves_onto_its_own_port() {
    let upstream = Upstream::start().await;
    let proxy = empty().await;
    let first = proxy.add_link(bank(upstream.addr)).await.expect("add");
    let port = proxy.link_addr("bank").expect("addr").port();
    let change = LinkChange { listen: Some(format!("0.0.0.0:{port}")), ..LinkChange::default() };
    let moved = proxy.change_link("bank", change).await.expect("move");
    assert_eq!(moved.listen, format!("0.0.0.0:{port}"));
    let mut client = Client(soon(TcpStream::connect(&first.listen)).await.expect("connect"));
    assert_eq!(client.send(post("a", "")).await.reply().await, REPLY);
    let open = proxy.add_link(LinkConfig::tcp("open").listen("").upstream(upstream.addr)).await.expect("add");
    assert!(open.listen.starts_with("[::]:") || open.listen.starts_with("0.0.0.0:"), "{}", open.listen);
    let local = proxy.add_link(LinkConfig::tcp("local").listen("localhost:0")).await.expect("add");
    assert!(local.listen.starts_with("127.0.0.1:"), "{}", local.listen);
}

// Proves that a link's own rules strike its very first connection, and that a link whose rules are refused is not there.
#[tokio::test]
async fn rules_are_in_force_before_the_first_connection() {
    let upstream = Upstream::start().await;
    let proxy = empty().await;
    let refuse = Rule::new("down", Fault::refuse()).link("bank");
    let (status, armed) = proxy.add_link_with(bank(upstream.addr), vec![refuse]).await.expect("add");
    assert_eq!((status.enabled, armed.len()), (true, 1));
    let mut client = Client::to(&proxy, "bank").await;
    assert_eq!(client.rest().await.1, Ended::Reset);
    eventually("the record", || !connections(&proxy.log()).is_empty()).await;
    assert_eq!(connections(&proxy.log())[0].end, ConnectionEnd::ResetByFault);
    let bad = Rule::new("bad", Fault::at(Phase::Response, Effect::Reset)).link("tcp");
    let error = proxy.add_link_with(LinkConfig::tcp("tcp"), vec![bad]).await.expect_err("refused");
    assert!(matches!(error, AddLinkError::Rule(RuleError::NeedsHttp { .. })), "{error}");
    assert_eq!(proxy.links().iter().map(|l| l.name.clone()).collect::<Vec<_>>(), ["bank"]);
    let twice = proxy.add_link(bank(upstream.addr)).await.expect_err("taken");
    assert!(matches!(twice, ProxyError::NameTaken(_)));
}

// Proves that what is held when its link goes is not let through by that, and that what was sent is on record as sent,
// though the exchange is cut off in its middle.
#[tokio::test]
async fn a_removed_link_lets_nothing_through_and_denies_nothing() {
    let upstream = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let proxy = empty().await;
    proxy.add_link(bank(upstream.local_addr().expect("addr"))).await.expect("add");
    let held = Rule::new("h", Fault::hold(60_000))
        .link("bank")
        .matching(Match { key: Some("held".into()), ..Match::default() });
    let held = proxy.arm(held).expect("arm");
    let mut waiting = Client::to(&proxy, "bank").await;
    waiting.send(post("held", "x")).await;
    soon(held.wait_held(1, crate::kit::PATIENCE)).await.expect("held");
    let mut sent = Client::to(&proxy, "bank").await;
    sent.send(post("sent", "x")).await;
    // An upstream that reads the request and answers nothing.
    let (mut silent, _) = soon(upstream.accept()).await.expect("accept");
    let mut request = Vec::new();
    while crate::kit::message_length(&request).is_none() {
        soon(silent.read_buf(&mut request)).await.expect("the request");
    }
    proxy.remove_link("bank").await.expect("remove");
    assert_eq!(waiting.rest().await, (String::new(), Ended::Fin));
    let log = attempts(&proxy.log());
    let of = |key: &str| log.iter().find(|a| a.key.as_deref() == Some(key)).expect("an attempt").clone();
    assert_eq!((of("sent").reply.end, of("sent").upstream.sent.is_some()), (End::Unfinished, true));
    assert_eq!((of("held").reply.end, of("held").upstream.sent), (End::Unfinished, None));
    let nobody = tokio::time::timeout(std::time::Duration::from_millis(50), upstream.accept()).await;
    assert!(nobody.is_err(), "the held request reached the upstream");
}
