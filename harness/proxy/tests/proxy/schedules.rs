//! Which calls a rule strikes: counts per key and link, draws from the seed, and the order of rules.

use std::collections::{BTreeMap, BTreeSet};

use crate::kit::{Client, PATIENCE, Upstream, attempts, bank, post, proxy, soon};
use chaos_proxy::{
    Delay, Effect, Fault, HeaderIs, LinkConfig, Match, OrdinalRange, Per, Phase, Proxy, ProxyConfig, Rule, RuleError,
    Schedule, Step, Then,
};
use tokio::task::JoinSet;

/// Sends one request per text on a connection of its own, one after the other; returns the statuses.
async fn statuses(proxy: &Proxy, requests: impl IntoIterator<Item = String>) -> Vec<u16> {
    let mut client = Client::to(proxy, "bank").await;
    let mut found = Vec::new();
    for request in requests {
        client.send(request).await;
        found.push(status(&client.reply().await));
    }
    found
}

fn status(reply: &str) -> u16 {
    reply.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or_else(|| panic!("no status: {reply:?}"))
}

fn busy(id: &str, schedule: Schedule) -> Rule {
    Rule::new(id, Fault::status(503)).schedule(schedule)
}

// Proves that fail_first counts each key for itself: 32 keys at once, each fails exactly its first two of four calls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fail_first_counts_each_key_under_concurrency() {
    let upstream = Upstream::start().await;
    let proxy = std::sync::Arc::new(proxy(upstream.addr).await);
    let armed = proxy.arm(busy("first", Schedule::fail_first(2))).expect("arm");
    let mut clients = JoinSet::new();
    for key in 0..32 {
        let proxy = std::sync::Arc::clone(&proxy);
        clients.spawn(async move { statuses(&proxy, (0..4).map(|_| post(&format!("key-{key}"), "x"))).await });
    }
    for found in soon(clients.join_all()).await {
        assert_eq!(found, [503, 503, 201, 201]);
    }
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!((armed.fired(), armed.decided(), upstream.seen().len()), (64, 64, 64));
    let mut ordinals = BTreeMap::<String, Vec<u32>>::new();
    let log = attempts(&proxy.log());
    assert_eq!(log.iter().map(|a| a.seq).collect::<Vec<_>>(), (0..128).collect::<Vec<_>>(), "gapless");
    for attempt in log {
        assert_eq!(attempt.fault.is_some(), attempt.ordinal <= 2, "{attempt:?}");
        ordinals.entry(attempt.key.expect("key")).or_default().push(attempt.ordinal);
    }
    assert_eq!(ordinals.len(), 32);
    assert!(ordinals.values().all(|o| *o == [1, 2, 3, 4]), "{ordinals:?}");
}

// Proves that nth and every count the calls of the link, whichever key they have: of 40 calls at once exactly one, and
// exactly every fifth, is struck.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nth_and_every_count_the_link_under_concurrency() {
    for (schedule, strikes) in [(Schedule::nth(7), 1), (Schedule::every(5), 8)] {
        let upstream = Upstream::start().await;
        let proxy = std::sync::Arc::new(proxy(upstream.addr).await);
        let armed = proxy.arm(busy("some", schedule)).expect("arm");
        let mut clients = JoinSet::new();
        for key in 0..40 {
            let proxy = std::sync::Arc::clone(&proxy);
            clients.spawn(async move { statuses(&proxy, [post(&format!("key-{key}"), "")]).await });
        }
        let found: Vec<u16> = soon(clients.join_all()).await.concat();
        assert_eq!(found.iter().filter(|s| **s == 503).count(), strikes);
        assert_eq!((armed.fired(), upstream.seen().len()), (strikes as u64, 40 - strikes));
    }
}

// Proves which calls in a row are struck, for each of the counted schedules.
#[tokio::test]
async fn schedules_strike_the_calls_they_name() {
    let f = |status| Step::Fault(Fault::status(status));
    let steps = |per, then| Schedule::Sequence { steps: vec![f(500), Step::Pass, f(503)], per, then };
    let cases: [(Schedule, [u16; 6]); 7] = [
        (Schedule::nth(3), [201, 201, 503, 201, 201, 201]),
        (Schedule::every(2), [201, 503, 201, 503, 201, 503]),
        (Schedule::fail_first(1), [503, 503, 201, 201, 201, 201]),
        (steps(Per::Link, Then::Pass), [500, 201, 503, 201, 201, 201]),
        (steps(Per::Link, Then::RepeatLast), [500, 201, 503, 503, 503, 503]),
        (steps(Per::Link, Then::Cycle), [500, 201, 503, 500, 201, 503]),
        (steps(Per::Key, Then::Pass), [500, 500, 201, 201, 503, 503]),
    ];
    for (schedule, expected) in cases {
        let upstream = Upstream::start().await;
        let proxy = proxy(upstream.addr).await;
        let fault = (!matches!(schedule, Schedule::Sequence { .. })).then(|| Fault::status(503));
        let rule = Rule { fault, ..busy("r", schedule.clone()) };
        let _armed = proxy.arm(rule).expect("arm");
        let calls = ["a", "b", "a", "b", "a", "b"].map(|key| post(key, ""));
        assert_eq!(statuses(&proxy, calls).await, expected, "{schedule:?}");
    }
}

/// Keys that were struck, when `order` gives the order of the calls and each key is called twice.
async fn struck(seed: u64, order: impl Iterator<Item = usize>, at_once: bool) -> BTreeSet<(String, u32)> {
    let upstream = Upstream::start().await;
    let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr)]).seed(seed)).await.expect("start");
    let proxy = std::sync::Arc::new(proxy);
    let _armed = proxy.arm(busy("luck", Schedule::Probability { p: 0.4 })).expect("arm");
    let mut clients = JoinSet::new();
    for key in order {
        let proxy = std::sync::Arc::clone(&proxy);
        let calls = move || async move { statuses(&proxy, (0..2).map(|_| post(&format!("key-{key}"), ""))).await };
        if at_once {
            clients.spawn(calls());
        } else {
            calls().await;
        }
    }
    soon(clients.join_all()).await;
    proxy.settle(PATIENCE).await.expect("settled");
    let log = attempts(&proxy.log()).into_iter().filter(|a| a.fault.is_some());
    log.map(|a| (a.key.expect("key"), a.ordinal)).collect()
}

// Proves that a seeded probability decides by key and ordinal alone: forwards, backwards and all at once strike the
// same calls, another seed strikes others, and the share is near p (60 of 200 calls would be 5 deviations off).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn probability_does_not_depend_on_the_order() {
    let forwards = struck(11, 0..100, false).await;
    assert_eq!(forwards, struck(11, (0..100).rev(), false).await);
    assert_eq!(forwards, struck(11, 0..100, true).await);
    assert_ne!(forwards, struck(12, 0..100, false).await);
    assert!((60..120).contains(&forwards.len()), "{}", forwards.len());
}

/// The delay that each of 50 keys was given.
async fn delays(seed: u64) -> BTreeMap<String, u64> {
    let upstream = Upstream::start().await;
    let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr)]).seed(seed)).await.expect("start");
    let delay = Effect::Delay(Delay::Uniform { lo_ms: 0.1, hi_ms: 0.3 });
    let _armed = proxy.arm(Rule::new("slow", Fault::at(Phase::Request, delay))).expect("arm");
    statuses(&proxy, (0..50).map(|i| post(&format!("key-{i}"), ""))).await;
    proxy.settle(PATIENCE).await.expect("settled");
    let log = attempts(&proxy.log()).into_iter();
    log.map(|a| (a.key.expect("key"), a.fault.and_then(|f| f.delay_requested_ns).expect("delay"))).collect()
}

// Proves that random delays come from the seed, lie within their bounds and spread over them.
#[tokio::test]
async fn delays_are_drawn_from_the_seed() {
    let drawn = delays(1).await;
    assert_eq!(drawn, delays(1).await);
    assert_ne!(drawn, delays(2).await);
    assert!(drawn.values().all(|ns| (100_000..=300_000).contains(ns)), "{drawn:?}");
    let (low, high) = (drawn.values().min().expect("min"), drawn.values().max().expect("max"));
    assert!(*low < 130_000 && *high > 270_000, "{drawn:?}");
}

// Proves the ends of the probability scale: 0 never strikes and 1 always does.
#[tokio::test]
async fn probability_zero_and_one_are_exact() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    for (p, expected) in [(0.0, 201), (1.0, 503)] {
        let _armed = proxy.arm(busy("edge", Schedule::Probability { p })).expect("arm");
        let calls = (0..50).map(|i| post(&format!("{p}-{i}"), ""));
        assert_eq!(statuses(&proxy, calls).await, [expected; 50]);
    }
}

// Proves that the rule armed first decides, that a rule which lets a call pass leaves it to the next, and that a call
// meets one fault at most.
#[tokio::test]
async fn the_first_rule_that_strikes_decides() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let first = proxy.arm(Rule::new("a", Fault::status(500)).schedule(Schedule::nth(2))).expect("arm");
    let second = proxy.arm(Rule::new("b", Fault::status(503)).uses(2)).expect("arm");
    assert!(second.epoch() > first.epoch());
    let calls = (0..5).map(|i| post(&format!("k{i}"), ""));
    assert_eq!(statuses(&proxy, calls).await, [503, 500, 503, 201, 201]);
    proxy.settle(PATIENCE).await.expect("settled");
    let epochs: Vec<_> = attempts(&proxy.log()).iter().filter_map(|a| a.fault.as_ref()).map(|f| f.epoch).collect();
    assert_eq!(epochs, [second.epoch(); 3], "each decision names the set that took it");
    assert_eq!((first.disarm().fired, second.disarm().fired), (1, 2));
}

// Proves each condition of a match: the call that fits is struck and the one that differs in that alone is not.
#[tokio::test]
async fn matches_look_at_what_they_name() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let call = |method: &str, path: &str, key: &str, extra: &str| {
        format!("{method} {path} HTTP/1.1\r\nIdempotency-Key: {key}\r\n{extra}content-length: 0\r\n\r\n")
    };
    let traced = format!("traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n");
    let other = traced.replace("4bf9", "4bf8");
    let any = Match::default;
    let header = |value: Option<&str>| HeaderIs { name: "X-Tenant".into(), value: value.map(str::to_owned) };
    let cases = [
        (Match { method: Some("PUT".into()), ..any() }, call("PUT", "/x", "k", ""), call("POST", "/x", "k", "")),
        (Match { path: Some("/x".into()), ..any() }, call("POST", "/x?q=1", "k", ""), call("POST", "/xy", "k", "")),
        (Match { path: Some("/x/*".into()), ..any() }, call("POST", "/x/1", "k", ""), call("POST", "/y/1", "k", "")),
        (Match { key: Some("k1".into()), ..any() }, call("POST", "/", "k1", ""), call("POST", "/", "k12", "")),
        (Match { key_prefix: Some("k1".into()), ..any() }, call("POST", "/", "k12", ""), call("POST", "/", "k2", "")),
        (
            Match { header: Some(header(None)), ..any() },
            call("POST", "/", "k", "x-tenant: b\r\n"),
            call("POST", "/", "k", ""),
        ),
        (
            Match { header: Some(header(Some("a"))), ..any() },
            call("POST", "/", "k", "x-tenant: a\r\n"),
            call("POST", "/", "k", "x-tenant: b\r\n"),
        ),
        (
            Match { trace: Some(trace.parse().expect("trace")), ..any() },
            call("POST", "/", "k", &traced),
            call("POST", "/", "k", &other),
        ),
    ];
    for (matching, fits, differs) in cases {
        let _armed = proxy.arm(Rule::new("m", Fault::status(503)).matching(matching.clone())).expect("arm");
        assert_eq!(statuses(&proxy, [fits, differs]).await, [503, 201], "{matching:?}");
    }
    let ordinal = Match { ordinal: Some(OrdinalRange { from: Some(2), to: Some(3) }), ..any() };
    let _armed = proxy.arm(Rule::new("m", Fault::status(503)).matching(ordinal)).expect("arm");
    let calls = (0..4).map(|_| post("fresh", ""));
    assert_eq!(statuses(&proxy, calls).await, [201, 503, 503, 201]);
}

// Proves that a rule binds only its own link, and that a rule without a link counts each link for itself.
#[tokio::test]
async fn links_are_apart() {
    let upstream = Upstream::start().await;
    let links = ["bank", "fraud"].map(|name| LinkConfig::http(name).upstream(upstream.addr));
    let proxy = Proxy::start(ProxyConfig::new(links)).await.expect("start");
    let ask = async |link| {
        let mut client = Client::to(&proxy, link).await;
        client.send(post("k", "")).await;
        status(&client.reply().await)
    };
    let own = proxy.arm(busy("own", Schedule::Always).link("fraud")).expect("arm");
    assert_eq!((ask("bank").await, ask("fraud").await), (201, 503));
    drop(own);
    let _each = proxy.arm(busy("each", Schedule::nth(2))).expect("arm");
    assert_eq!([ask("bank").await, ask("fraud").await, ask("bank").await, ask("fraud").await], [201, 201, 503, 503]);
}

// Proves that arming is all or nothing, and that each refusal says which rule and what would do.
#[tokio::test]
async fn arming_is_all_or_nothing() {
    let upstream = Upstream::start().await;
    let links = [bank(upstream.addr), LinkConfig::tcp("db")];
    let proxy = Proxy::start(ProxyConfig::new(links)).await.expect("start");
    let epoch = proxy.epoch();
    let good = || busy("good", Schedule::Always);
    let bad = [
        good().link("bnak"),
        good(),
        Rule::new("odd", Fault::at(Phase::Connect, Effect::status(503))),
        Rule::new("bytes", Fault::status(503)).link("db"),
        busy("p", Schedule::Probability { p: 1.5 }),
    ];
    for rule in bad {
        let error = proxy.arm_all(vec![good(), rule]).expect_err("refused");
        assert_eq!(proxy.epoch(), epoch, "{error}");
    }
    assert_eq!(statuses(&proxy, [post("k", "")]).await, [201], "nothing was armed");
    let error = proxy.arm(good().link("bnak")).expect_err("refused");
    assert_eq!(error.to_string(), "rule `good`: there is no link `bnak`; the links are: bank, db");
    let armed = proxy.arm(good()).expect("arm");
    assert!(matches!(proxy.arm(good()), Err(RuleError::Duplicate { .. })));
    drop(armed);
    let _again = proxy.arm(good()).expect("the id is free again");
}

// Proves that a rule with a time to live ends by itself, and that its window ends then and not when it is disarmed.
#[tokio::test]
async fn a_time_to_live_ends_a_rule() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let armed = proxy.arm(Rule { ttl_ms: Some(1), ..busy("brief", Schedule::Always) }).expect("arm");
    let armed_at = proxy.now();
    crate::kit::eventually("the rule to end", || proxy.now().since(armed_at).as_millis() >= 2).await;
    assert_eq!(statuses(&proxy, [post("k", "")]).await, [201]);
    let window = armed.disarm();
    assert_eq!((window.fired, window.healed.since(window.applied).as_millis()), (0, 1));
}
