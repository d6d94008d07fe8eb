//! A service with two dependencies and a breaker for each, or not.

use judge::evidence::Evidence;
use judge::promise::BreakerPolicy;

use super::stage::{Ask, Hit, Stage};
use crate::support::MS;

/// What it promises of its breakers.
pub fn policy() -> BreakerPolicy {
    serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).expect("well formed")
}

/// How it is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sound,
    /// One breaker for both dependencies.
    Shared,
    /// The route asks the main dependency first.
    Leaks,
    /// While the breaker is open the route serves a marked substitute.
    Degrades,
    /// The route answers from a cache and calls nobody.
    Caches,
    /// The route never works.
    Broken,
    /// The breaker of the main dependency closes while the route is used.
    Short,
    /// Half-open never succeeds, so that payments do not come back.
    Stuck,
}

fn call(s: &mut Stage, route: Option<&str>, status: u16, arrives: bool, struck: bool) {
    let (trace, sent) = (s.trace(), s.now);
    let link = if route.is_some() { "rates" } else { "bank" };
    if arrives {
        s.hit(Hit { link, trace: Some(trace), at: sent + MS, ended: sent + 2 * MS, status, struck });
    }
    s.now += 3 * MS;
    let ended = s.now;
    let degraded = status == 299;
    s.ask(Ask { route, trace, sent, ended, status: if degraded { 200 } else { status }, degraded });
    s.now += MS;
}

/// The scenario; the route's own dependency fails `struck` times at the end.
pub fn run(kind: Kind, struck: usize) -> Evidence {
    let mut s = Stage::new("breaker-isolation", "payments");
    let rates = Some("rates");
    let alone = if kind == Kind::Broken { 500 } else { 200 };
    s.step("alone/rates", |s| (0..5).for_each(|_| call(s, rates, alone, kind != Kind::Caches, false)));
    s.step("trip/rates", |s| (0..5).for_each(|_| call(s, None, 500, true, true)));
    s.fault("bank", 5, 5);
    s.step("open/rates", |s| call(s, None, 503, false, false));
    s.step("beside/rates", |s| {
        (0..5).for_each(|_| match kind {
            Kind::Shared => call(s, rates, 503, false, false),
            Kind::Leaks => call(s, rates, 502, true, false),
            Kind::Degrades => call(s, rates, 299, false, false),
            Kind::Caches => call(s, rates, 200, false, false),
            _ => call(s, rates, alone, true, false),
        });
    });
    let open = kind != Kind::Short;
    s.step("still-open/rates", |s| call(s, None, if open { 503 } else { 201 }, !open, false));
    s.step("recover/rates", |s| {
        let stuck = kind == Kind::Stuck;
        call(s, None, if stuck { 503 } else { 201 }, !stuck, false);
    });
    s.step("struck/rates", |s| (0..struck).for_each(|_| call(s, rates, 500, true, true)));
    s.fault("rates", 1, struck as u64);
    s.step("payments/rates", |s| {
        (0..3).for_each(|_| match kind {
            Kind::Shared => call(s, None, 503, false, false),
            _ => call(s, None, 201, true, false),
        });
    });
    s.e
}
