//! A chaos proxy that is driven over its API, as one in a container is.

use std::net::SocketAddr;
use std::time::Duration;

use chaos_proxy::{ApiOptions, ApiServer, Effect, Fault, LinkConfig, Phase, Proxy, ProxyConfig, Rule};
use harness::clock::Clock;
use harness::remote::{RemoteBank, RemoteError, RemoteProxy};
use judge::evidence::{At, Attempt, End, Record};
use mock_bank::{Bank, BankConfig, Kind, Reply, Rule as BankRule, Script};

const PATIENCE: Duration = Duration::from_secs(20);

/// The far side: a bank, a proxy with the link `bank` to it, and the proxy's API.
struct There {
    proxy: Proxy,
    api: ApiServer,
    link: SocketAddr,
    _bank: Bank,
}

impl There {
    async fn start() -> Self {
        let bank = Bank::start(BankConfig::default()).await.expect("a bank");
        let links = vec![LinkConfig::http("bank").upstream(bank.address()).key_header("Idempotency-Key")];
        let proxy = Proxy::start(ProxyConfig::new(links)).await.expect("a proxy");
        let api = ApiServer::start(&proxy, "127.0.0.1:0", ApiOptions::default()).await.expect("an API");
        let link = proxy.link_addr("bank").expect("a link");
        Self { proxy, api, link, _bank: bank }
    }

    async fn connect(&self, clock: Clock) -> RemoteProxy {
        RemoteProxy::connect(self.api.address(), clock.base()).await.expect("it greets")
    }
}

/// The status of one charge, where there is one.
async fn charge(link: SocketAddr, key: &str) -> Option<u16> {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let request = client.post(format!("http://{link}/charges")).header("Idempotency-Key", key);
    let request = request.header("content-type", "application/json").body(r#"{"amount":5,"currency":"EUR"}"#);
    request.send().await.ok().map(|reply| reply.status().as_u16())
}

fn attempts(records: Vec<Record>) -> Vec<Attempt> {
    let attempt = |record| if let Record::Attempt(attempt) = record { Some(attempt) } else { None };
    records.into_iter().filter_map(attempt).collect()
}

// Proves that a fault strikes from the moment it is armed to the moment it is taken out, that its window and the attempts
// are on the run's axis, in the order in which they happened, and that what was there before the reader is not read.
#[tokio::test(flavor = "multi_thread")]
async fn faults_and_attempts_are_on_the_runs_axis() {
    let there = There::start().await;
    let clock = Clock::start();
    assert_eq!(charge(there.link, "before").await, Some(201));
    there.proxy.settle(PATIENCE).await.expect("its record");
    let remote = there.connect(clock).await;
    let mut log = remote.log().await.expect("a reader");
    let begun = clock.now();
    let armed = remote.arm(Rule::new("down", Fault::status(503)).link("bank")).await.expect("armed");
    assert_eq!(charge(there.link, "during").await, Some(503));
    let window = armed.disarm().await.expect("disarmed");
    assert_eq!(charge(there.link, "after").await, Some(201));
    remote.settle(PATIENCE).await.expect("settled");
    let read = log.read().await.expect("a page");
    let ended = clock.now();
    let seen = attempts(read.records);
    let keys: Vec<_> = seen.iter().map(|a| (a.key.as_deref(), a.reply.status)).collect();
    assert_eq!(keys, [(Some("during"), Some(503)), (Some("after"), Some(201))]);
    assert_eq!((window.fired, window.link.as_str(), read.lost), (1, "bank", 0));
    let moments = [begun, window.applied, seen[0].arrived, seen[0].reply.ended, window.healed, seen[1].arrived, ended];
    assert!(moments.is_sorted() && begun > At(0), "{moments:?}");
    assert_eq!(remote.arrivals("bank").await.expect("a link"), 3);
    assert!(log.read().await.expect("a page").records.is_empty(), "each record is read once");
}

// Proves that calls are held and let go one by one from afar, and that disarming lets go the rest.
#[tokio::test(flavor = "multi_thread")]
async fn calls_are_held_and_let_go() {
    let there = There::start().await;
    let remote = there.connect(Clock::start()).await;
    let armed = remote.arm(Rule::new("gate", Fault::hold(60_000)).link("bank")).await.expect("armed");
    let callers: Vec<_> = ["a", "b"].map(|key| tokio::spawn(charge(there.link, key))).into_iter().collect();
    assert!(armed.wait_held(2, PATIENCE).await.expect("an answer"));
    assert!(!armed.wait_held(3, Duration::from_millis(1)).await.expect("an answer"), "nobody else came");
    let busy = remote.settle(Duration::ZERO).await.expect_err("two are in flight");
    assert!(matches!(&busy, RemoteError::Busy { left: 2, link, .. } if link == "bank"), "{busy}");
    armed.release(1).await.expect("released");
    let answered = tokio::time::timeout(PATIENCE, async {
        while !callers.iter().any(tokio::task::JoinHandle::is_finished) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    answered.await.expect("one of them is answered");
    assert_eq!(armed.held().await.expect("an answer"), 1);
    assert_eq!(armed.disarm().await.expect("disarmed").fired, 2);
    for caller in callers {
        assert_eq!(tokio::time::timeout(PATIENCE, caller).await.expect("in time").expect("joined"), Some(201));
    }
    remote.settle(PATIENCE).await.expect("settled");
}

// Proves that what is armed hangs on the connection: when it is closed nothing is in force any more.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_outlives_the_connection() {
    let there = There::start().await;
    let remote = there.connect(Clock::start()).await;
    let _forgotten = remote.arm(Rule::new("down", Fault::status(503)).link("bank")).await.expect("armed");
    assert_eq!(there.proxy.rule_reports().len(), 1);
    remote.close().await.expect("closed");
    assert!(there.proxy.rule_reports().iter().all(|report| !report.in_force));
    assert_eq!(charge(there.link, "k").await, Some(201));
}

// Proves that a fault which cuts is on record, and that a refusal, a stranger and nobody at all are told apart.
#[tokio::test(flavor = "multi_thread")]
async fn refusals_and_strangers_are_told() {
    let there = There::start().await;
    let clock = Clock::start();
    let remote = there.connect(clock).await;
    let mut log = remote.log().await.expect("a reader");
    let armed =
        remote.arm(Rule::new("cut", Fault::at(Phase::Request, Effect::Reset)).link("bank")).await.expect("armed");
    assert_eq!(charge(there.link, "k").await, None);
    armed.disarm().await.expect("disarmed");
    remote.settle(PATIENCE).await.expect("settled");
    assert_eq!(attempts(log.read().await.expect("a page").records)[0].reply.end, End::Reset);
    let nowhere = remote.arm(Rule::new("x", Fault::status(503)).link("nowhere")).await.expect_err("no such link");
    let text = nowhere.to_string();
    assert!(matches!(nowhere, RemoteError::Refused { status: 400..=409, .. }) && text.contains("nowhere"), "{text}");
    let stranger = RemoteProxy::connect(there.link, clock.base()).await.expect_err("a bank is no proxy");
    assert!(matches!(stranger, RemoteError::Unexpected { .. }), "{stranger}");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address");
    let nobody = RemoteProxy::connect(closed, clock.base()).await.expect_err("nobody is there");
    assert!(nobody.to_string().contains("is the chaos proxy running"), "{nobody}");
}

// Proves that a bank elsewhere is scripted and read, that its journal begins with the greeting and its earlier script ends
// there, and that a stranger is told from a bank.
#[tokio::test(flavor = "multi_thread")]
async fn a_bank_elsewhere_is_scripted_and_read() {
    let bank = Bank::start(BankConfig::default()).await.expect("a bank");
    bank.script(Script::new().rule(BankRule::any().reply(Reply::status(503)))).expect("a script");
    assert_eq!(charge(bank.address(), "before").await, Some(503));
    let remote = RemoteBank::connect(bank.address()).await.expect("it greets");
    assert_eq!(charge(bank.address(), "k1").await, Some(201), "the script of somebody else is gone");
    remote.script(&Script::new().rule(BankRule::any().reply(Reply::status(500)))).await.expect("a script");
    assert_eq!(charge(bank.address(), "k2").await, Some(500));
    let (rows, lost) = remote.journal().await.expect("a journal");
    let keys: Vec<_> = rows.iter().map(|row| (row.kind, row.key.as_deref())).collect();
    let (arrival, reply, charged) = (Kind::Arrival, Kind::Reply, Kind::Charge);
    let of = |kind, key| (kind, Some(key));
    assert_eq!(keys, [of(arrival, "k1"), of(charged, "k1"), of(reply, "k1"), of(arrival, "k2"), of(reply, "k2")]);
    assert_eq!(lost, 0);
    let there = There::start().await;
    let stranger = RemoteBank::connect(there.api.address()).await.expect_err("a proxy is no bank").to_string();
    assert!(stranger.contains("/journal"), "{stranger}");
}
