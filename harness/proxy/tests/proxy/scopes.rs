//! Scopes, leases and times to live: what goes when its owner goes, and who shares a proxy without seeing the others.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::kit::{Client, PATIENCE, REPLY, Upstream, attempts, bank, eventually, post, proxy, soon};
use chaos_proxy::{
    Effect, Fault, LeaseError, LinkConfig, Phase, Proxy, ProxyConfig, Rule, RuleError, Schedule, ScopeConfig,
    ScopeError, ScopeMatch,
};

/// Longer than any test: what is not let go fails its test by hanging.
const NEVER_MS: u64 = 3_600_000;

/// A call that says which test it belongs to.
fn of_test(test: &str, key: &str) -> String {
    post(key, "").replace("host: bank", &format!("host: bank\r\nx-test: {test}"))
}

async fn status(proxy: &Proxy, link: &str, request: String) -> u16 {
    let mut client = Client::to(proxy, link).await;
    client.send(request).await;
    let reply = client.reply().await;
    reply.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status")
}

// Proves that two scopes share one proxy and one link: each rule looks at the calls of its own scope alone, counts them
// alone, may have the same id as the other's, and each record says its scope.
#[tokio::test]
async fn scopes_do_not_see_each_other() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let scopes = ["a", "b"].map(|name| proxy.scope(ScopeConfig::of_header(name, "X-Test", name)).expect("scope"));
    let second = || Rule::new("second", Fault::status(503)).schedule(Schedule::nth(2));
    let armed = scopes.each_ref().map(|scope| scope.arm(second()).expect("arm"));
    for (test, expected) in [("a", 201), ("b", 201), ("c", 201), ("a", 503), ("a", 201), ("b", 503), ("c", 201)] {
        assert_eq!(status(&proxy, "bank", of_test(test, "k")).await, expected, "{test}");
    }
    proxy.settle(PATIENCE).await.expect("settled");
    let mut seen = BTreeMap::<_, u32>::new();
    for attempt in attempts(&proxy.log()) {
        *seen.entry(attempt.scope).or_default() += 1;
    }
    let expected = [(None, 2), (Some("a".to_owned()), 3), (Some("b".to_owned()), 2)];
    assert_eq!(seen, BTreeMap::from(expected));
    assert!(armed.iter().all(|rule| rule.fired() == 1));
}

// Proves each way to tell a scope: by the link's name, by a header, by the key; and that a call belongs to the first
// scope that it fits.
#[tokio::test]
async fn scopes_are_told_by_link_header_and_key() {
    let upstream = Upstream::start().await;
    let links = ["left-bank", "right-bank"]
        .map(|name| LinkConfig::http(name).upstream(upstream.addr).key_header("Idempotency-Key"));
    let proxy = Proxy::start(ProxyConfig::new(links)).await.expect("start");
    let configs = [
        ScopeConfig::of_links("links", "left-"),
        ScopeConfig::of_header("headers", "x-test", "t"),
        ScopeConfig::of_keys("keys", "pay-"),
    ];
    let scopes = configs.map(|config| proxy.scope(config).expect("scope"));
    for (link, request, scope) in [
        ("left-bank", of_test("t", "pay-1"), Some("links")),
        ("right-bank", of_test("t", "pay-1"), Some("headers")),
        ("right-bank", of_test("u", "pay-1"), Some("keys")),
        ("right-bank", of_test("u", "k"), None),
    ] {
        assert_eq!(status(&proxy, link, request).await, 201);
        soon(proxy.settle(PATIENCE)).await.expect("settled");
        assert_eq!(attempts(&proxy.log()).last().and_then(|a| a.scope.as_deref()), scope);
    }
    // A connection has neither header nor key: only the scope of links can rule over it.
    let down = || Rule::new("down", Fault::refuse());
    let _down = scopes[0].arm(down()).expect("arm");
    let error = scopes[1].arm(down()).expect_err("refused").to_string();
    assert!(error.contains("rule `down`: `scope` is told by a header or a key"), "{error}");
    assert_eq!(Client::to(&proxy, "left-bank").await.rest().await.1, crate::kit::Ended::Reset);
    assert_eq!(status(&proxy, "right-bank", of_test("u", "k")).await, 201);
}

// Proves that resetting a scope, and dropping it, takes its rules out of force and lets go what they hold, and leaves
// every other rule alone.
#[tokio::test]
async fn a_scope_takes_its_rules_along() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let other = proxy.arm(Rule::new("gate", Fault::hold(NEVER_MS)).matching(key("other"))).expect("arm");
    for by_drop in [false, true] {
        let scope = proxy.scope(ScopeConfig::of_header("mine", "x-test", "t")).expect("scope");
        let gate = scope.arm(Rule::new("gate", Fault::hold(NEVER_MS))).expect("the id is free in this scope");
        let mut client = Client::to(&proxy, "bank").await;
        client.send(of_test("t", "k")).await;
        gate.wait_held(1, PATIENCE).await.expect("held");
        let before = proxy.epoch();
        if by_drop {
            drop(scope);
        } else {
            assert_eq!((scope.reset(), scope.reset()), (1, 0));
            assert_eq!(proxy.epoch(), before + 1, "one step");
        }
        assert_eq!(client.reply().await, REPLY);
        let report = gate.report();
        assert!(!report.in_force && report.fired == 1 && report.window.healed > report.window.applied);
        assert_eq!(proxy.rule_reports().len(), 1, "the other rule alone");
    }
    assert!(other.report().in_force);
}

fn key(prefix: &str) -> chaos_proxy::Match {
    chaos_proxy::Match { key_prefix: Some(prefix.to_owned()), ..chaos_proxy::Match::default() }
}

// Proves that a scope draws from its own seed: the same as a proxy with that seed does, whatever the proxy's own is.
#[tokio::test]
async fn a_scope_has_a_seed_of_its_own() {
    let upstream = Upstream::start().await;
    let luck = || Rule::new("luck", Fault::status(503)).schedule(Schedule::Probability { p: 0.5 });
    let mut drawn = Vec::new();
    for (proxy_seed, scope_seed) in [(7, None), (1, Some(7)), (2, Some(7)), (1, Some(8))] {
        let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr)]).seed(proxy_seed)).await.expect("start");
        let config = ScopeConfig::of_header("mine", "x-test", "t");
        let scope = proxy.scope(ScopeConfig { seed: scope_seed, ..config }).expect("scope");
        let _armed = scope.arm(luck()).expect("arm");
        let mut statuses = Vec::new();
        for i in 0..20 {
            statuses.push(status(&proxy, "bank", of_test("t", &format!("k{i}"))).await);
        }
        drawn.push(statuses);
    }
    assert_eq!((&drawn[0], &drawn[0]), (&drawn[1], &drawn[2]));
    assert_ne!(drawn[0], drawn[3]);
}

// Proves what is refused of scopes and what names them, each with its field.
#[tokio::test]
async fn slips_of_scopes_are_named() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let refused = |config| proxy.scope(config).expect_err("refused");
    assert_eq!(refused(ScopeConfig::of_keys("", "k")).field(), Some("name"));
    assert_eq!(refused(ScopeConfig::of_keys("a/b", "k")).field(), Some("name"));
    assert_eq!(refused(ScopeConfig::new("a", ScopeMatch::default())).field(), Some("match"));
    assert_eq!(refused(ScopeConfig::of_header("a", "x y", "k")).field(), Some("match.header.name"));
    assert_eq!(refused(ScopeConfig::of_keys("a", "k").lease("none")).field(), Some("lease"));
    let scope = proxy.scope(ScopeConfig::of_keys("a", "k")).expect("scope");
    assert!(matches!(refused(ScopeConfig::of_keys("a", "k")), ScopeError::Duplicate { .. }));
    drop(scope);
    let _again = proxy.scope(ScopeConfig::of_keys("a", "k")).expect("the name is free again");
    let epoch = proxy.epoch();
    let error = proxy.arm(Rule::new("r", Fault::status(503)).scope("b")).expect_err("refused");
    assert!(matches!(error, RuleError::UnknownScope { .. }), "{error}");
    let error = proxy.arm(Rule::new("r", Fault::status(503)).lease("b")).expect_err("refused");
    assert_eq!((error.field(), proxy.epoch()), (Some("lease"), epoch));
}

// Proves that a time to live ends a rule at its moment and not when somebody looks: the call that it holds goes on, its
// window ends there, its id is free again, and what became of it can still be read.
#[tokio::test]
async fn the_end_of_a_time_to_live_releases() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let gate = |ttl| Rule { ttl_ms: Some(ttl), ..Rule::new("gate", Fault::hold(NEVER_MS)) };
    let armed = proxy.arm(gate(50)).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "")).await;
    assert_eq!(client.reply().await, REPLY, "nobody released it");
    eventually("the rule to be over", || !armed.report().in_force).await;
    let report = armed.report();
    assert_eq!(report.window.healed.since(report.window.applied), Duration::from_millis(50));
    assert_eq!(proxy.rule_reports().len(), 1);
    let again = proxy.arm(gate(NEVER_MS)).expect("the id is free");
    assert!(again.report().in_force);
}

// Proves that a lease that is not renewed takes the rules and scopes under it along, releases what they hold, and that
// a renewed one does not.
#[tokio::test]
async fn a_lease_takes_its_faults_along() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let kept = proxy.lease(Duration::from_secs(3_600)).expect("lease");
    let short = proxy.lease(Duration::from_millis(50)).expect("lease");
    assert_ne!(kept.id(), short.id());
    let stays = proxy.arm(Rule::new("stays", Fault::status(500)).matching(key("none")).lease(kept.id())).expect("arm");
    let scope = proxy.scope(ScopeConfig::of_keys("mine", "pay-").lease(short.id())).expect("scope");
    let in_scope = scope.arm(Rule::new("in-scope", Fault::hold(NEVER_MS))).expect("arm");
    let bare = proxy.arm(Rule::new("bare", Fault::hold(NEVER_MS)).lease(short.id())).expect("arm");
    let mut clients = Vec::new();
    for name in ["pay-1", "other"] {
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post(name, "")).await;
        clients.push(client);
    }
    for client in &mut clients {
        assert_eq!(client.reply().await, REPLY, "nobody released it");
    }
    eventually("the rules to go", || !in_scope.report().in_force && !bare.report().in_force).await;
    assert!(stays.report().in_force);
    assert!(matches!(short.renew(), Err(LeaseError::Unknown { .. })));
    kept.renew().expect("still held");
    assert!(matches!(scope.arm(Rule::new("late", Fault::status(500))), Err(RuleError::UnknownScope { .. })));
    drop(kept);
    assert!(!stays.report().in_force, "dropping a lease ends it at once");
    assert!(matches!(proxy.lease(Duration::ZERO), Err(LeaseError::BadTtl)));
}

// Proves that rules with a time to live leave nothing behind in the runtime once they are disarmed, and nor does a
// proxy that is gone.
#[tokio::test]
async fn times_to_live_leave_no_task_behind() {
    let upstream = Upstream::start().await;
    let metrics = tokio::runtime::Handle::current().metrics();
    let idle = metrics.num_alive_tasks();
    let proxy = proxy(upstream.addr).await;
    let quiet = metrics.num_alive_tasks();
    let rule = |i: u32| Rule {
        ttl_ms: Some(NEVER_MS),
        ..Rule::new(format!("r{i}"), Fault::at(Phase::Request, Effect::Close))
    };
    let armed = proxy.arm_all((0..100).map(rule).collect()).expect("arm");
    let lease = proxy.lease(Duration::from_secs(3_600)).expect("lease");
    assert!(metrics.num_alive_tasks() > quiet);
    drop((armed, lease));
    eventually("their tasks to end", || metrics.num_alive_tasks() == quiet).await;
    let held = proxy.arm_all((0..100).map(rule).collect()).expect("arm");
    proxy.shutdown().await;
    drop(held);
    eventually("all tasks to end", || metrics.num_alive_tasks() == idle).await;
}
