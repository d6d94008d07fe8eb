//! Expectations, counters and dry runs: what a rule tells about itself, before, while and after it is in force.

use std::collections::BTreeMap;

use crate::kit::{Client, PATIENCE, REPLY, Upstream, post, proxy};
use chaos_proxy::{Delay, DryCall, Effect, Expect, Fault, Match, Per, Phase, Rule, RuleCount, Schedule, Step, Then};

async fn status(client: &mut Client, request: String) -> u16 {
    client.send(request).await;
    let reply = client.reply().await;
    reply.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status")
}

// Proves both expectations of strikes, met and not met, and that a rule without any is expected to strike.
#[tokio::test]
async fn strikes_are_expected() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let least = |n| Expect { fired_at_least: Some(n), ..Expect::default() };
    let exactly = |n| Expect { fired_exactly: Some(n), ..Expect::default() };
    for (expect, met) in
        [(least(2), true), (least(3), false), (exactly(2), true), (exactly(1), false), (exactly(3), false)]
    {
        let armed = proxy.arm(Rule::new("r", Fault::status(503)).uses(2).expect(expect)).expect("arm");
        let mut client = Client::to(&proxy, "bank").await;
        for _ in 0..3 {
            status(&mut client, post("k", "")).await;
        }
        let report = armed.finish();
        assert_eq!((report.met, report.expect.len(), report.expect[0].seen), (met, 1, 2), "{expect:?}");
        assert!(!report.in_force && !report.never_fired());
    }
    let idle = proxy.arm(Rule::new("idle", Fault::status(503)).matching(key("none"))).expect("arm").finish();
    assert!(idle.never_fired() && !idle.met);
    let none = proxy.arm(Rule::new("none", Fault::status(503)).matching(key("none")).expect(exactly(0))).expect("arm");
    assert!(none.finish().met, "none was wanted");
}

fn key(key: &str) -> Match {
    Match { key: Some(key.to_owned()), ..Match::default() }
}

// Proves that a watching rule counts what is in flight at once, struck by others or not, and decides nothing: three
// calls are held together, so that "at most two" fails and "at most three" holds; calls one after the other count one.
#[tokio::test]
async fn calls_in_flight_are_watched() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let gate = proxy.arm(Rule::new("gate", Fault::hold(3_600_000)).matching(key("held"))).expect("arm");
    let watches = [2, 3].map(|n| proxy.arm(Rule::watch(format!("at-most-{n}"), n)).expect("arm"));
    let mut clients = Vec::new();
    for i in 0..3 {
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post("held", "")).await;
        gate.wait_held(i + 1, PATIENCE).await.expect("held");
        clients.push(client);
    }
    gate.release_all();
    for client in &mut clients {
        assert_eq!(client.reply().await, REPLY);
    }
    proxy.settle(PATIENCE).await.expect("settled");
    let later = proxy.arm(Rule::watch("later", 1)).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    for _ in 0..3 {
        assert_eq!(status(&mut client, post("free", "")).await, 201);
    }
    let [two, three] = watches.map(chaos_proxy::Armed::finish);
    assert_eq!((two.met, two.expect[0].seen, two.fired), (false, 3, 0));
    assert_eq!((three.met, three.expect[0].seen, three.never_fired()), (true, 3, false));
    let later = later.finish();
    assert_eq!((later.met, later.expect[0].seen, later.window.what.as_str()), (true, 1, "watch"));
}

// Proves that schedules count by what they name: the same six calls, counted by each thing that a call has.
#[tokio::test]
async fn schedules_count_by_what_they_name() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let call = |key: &str, path: &str, tenant: &str, trace: char| {
        let trace = format!("traceparent: 00-{}-00f067aa0ba902b7-01", trace.to_string().repeat(32));
        let head = format!("POST {path} HTTP/1.1\r\nIdempotency-Key: {key}\r\nX-Tenant: {tenant}\r\n{trace}\r\n");
        format!("{head}content-length: 0\r\n\r\n")
    };
    // Each call and the connection that it goes over.
    let calls = [
        (0, call("a", "/x?1", "t", '1')),
        (1, call("b", "/y", "t", '1')),
        (0, call("c", "/x?2", "u", '1')),
        (1, call("a", "/y", "u", '2')),
        (0, call("b", "/z", "t", '2')),
        (1, call("c", "/x", "t", '3')),
    ];
    for (per, struck) in [
        (Per::Key, [false, false, false, true, true, true]),
        (Per::Link, [false, true, false, false, false, false]),
        (Per::Conn, [false, false, true, true, false, false]),
        (Per::Trace, [false, true, false, false, true, false]),
        (Per::Path, [false, false, true, true, false, false]),
        (Per::Header("x-tenant".to_owned()), [false, true, false, true, false, false]),
    ] {
        let rule = Rule::new("second", Fault::status(503)).schedule(Schedule::Nth { n: 2, per: per.clone() });
        let _armed = proxy.arm(rule).expect("arm");
        let mut clients = [Client::to(&proxy, "bank").await, Client::to(&proxy, "bank").await];
        let mut found = Vec::new();
        for (client, request) in &calls {
            found.push(status(&mut clients[*client], request.clone()).await == 503);
        }
        assert_eq!(found, struck, "{per:?}");
    }
}

// Proves that counters can be read, and that a schedule starts anew when they are reset: for one key, or for all.
#[tokio::test]
async fn counters_are_read_and_reset() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let armed = proxy.arm(Rule::new("first", Fault::status(503)).schedule(Schedule::fail_first(1))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    for (key, expected) in [("a", 503), ("a", 201), ("b", 503)] {
        assert_eq!(status(&mut client, post(key, "")).await, expected);
    }
    let count = |of: &str, n| RuleCount { link: "bank".to_owned(), of: Some(of.to_owned()), n };
    assert_eq!(armed.counts(10), [count("a", 2), count("b", 1)]);
    assert_eq!(armed.counts(1).len(), 1);
    armed.reset_counts(Some("a"));
    assert_eq!(armed.counts(10), [count("b", 1)]);
    assert_eq!((status(&mut client, post("a", "")).await, status(&mut client, post("b", "")).await), (503, 201));
    armed.reset_counts(None);
    assert!(armed.counts(10).is_empty());
    assert_eq!(status(&mut client, post("b", "")).await, 503);
    assert_eq!(armed.fired(), 4, "strikes stay what they were");
}

// Proves that a dry run says what really happens then, that of rules in force it goes on from their counters, and that
// it moves nothing.
#[tokio::test]
async fn a_dry_run_tells_the_truth_and_touches_nothing() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let steps = vec![Step::Fault(Fault::status(500)), Step::Pass];
    let slow = Effect::Delay(Delay::Uniform { lo_ms: 0.1, hi_ms: 0.9 });
    let rules = || {
        vec![
            Rule::new("luck", Fault::status(503)).schedule(Schedule::Probability { p: 0.4 }),
            Rule { fault: None, ..Rule::new("script", Fault::status(500)) }.schedule(Schedule::Sequence {
                steps: steps.clone(),
                per: Per::Key,
                then: Then::Cycle,
            }),
            Rule::new("slow", Fault::at(Phase::Request, slow.clone())).matching(key("k3")),
        ]
    };
    let keys: Vec<String> = (0..40).map(|i| format!("k{}", i % 8)).collect();
    let calls: Vec<_> = keys
        .iter()
        .map(|key| DryCall { link: Some("bank".to_owned()), key: Some(key.clone()), ..DryCall::default() })
        .collect();
    let before = proxy.epoch();
    let told = proxy.dry_run(Some(rules()), &calls).expect("dry run");
    assert_eq!(told, proxy.dry_run(Some(rules()), &calls).expect("again"));
    assert_eq!((proxy.epoch(), proxy.rule_reports().len()), (before, 0));

    let armed = proxy.arm_all(rules()).expect("arm");
    assert_eq!(told, proxy.dry_run(None, &calls).expect("of those in force"));
    let mut client = Client::to(&proxy, "bank").await;
    for key in &keys {
        status(&mut client, post(key, "")).await;
    }
    proxy.settle(PATIENCE).await.expect("settled");
    let happened: Vec<_> = crate::kit::attempts(&proxy.log())
        .into_iter()
        .map(|a| (a.ordinal, a.fault.map(|f| (f.rule, f.what, f.delay_requested_ns))))
        .collect();
    let nanos = |ms: f64| (ms * 1e6).round() as u64;
    let foretold: Vec<_> = told
        .iter()
        .map(|d| {
            (d.ordinal, d.rule.clone().zip(d.what.clone()).map(|(rule, what)| (rule, what, d.delay_ms.map(nanos))))
        })
        .collect();
    assert_eq!(happened, foretold);
    let strikes: BTreeMap<_, _> = armed.iter().map(|rule| (rule.id(), rule.fired())).collect();
    assert!(strikes.values().all(|fired| *fired > 0), "{strikes:?}");

    // From here on: the script of k0 has seen calls, and the ordinals go on where the caller says.
    let next = DryCall { ordinal: Some(6), ..calls[0].clone() };
    let decided = proxy.dry_run(None, std::slice::from_ref(&next)).expect("dry run");
    assert_eq!(decided, proxy.dry_run(None, &[next]).expect("again"));
    assert_eq!(decided[0].ordinal, 6);
    let unknown = DryCall { link: Some("bnak".to_owned()), ..DryCall::default() };
    assert!(proxy.dry_run(None, &[unknown]).is_err());
}
