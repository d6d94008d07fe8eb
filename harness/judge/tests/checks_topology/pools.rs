//! A service with two dependencies, of which one hangs.

use judge::evidence::Evidence;
use judge::promise::BulkheadPolicy;

use super::stage::{Ask, Hit, Stage};
use crate::support::MS;

/// What it promises.
pub fn policy() -> BulkheadPolicy {
    serde_json::from_str(r#"{ "routes": ["rates"], "callers": 24 }"#).expect("well formed")
}

/// One call of the route: how long it takes, and its status.
pub type Call = (u64, u16);

fn calls(s: &mut Stage, n: u64, call: impl Fn(u64) -> Call) {
    for i in 0..n {
        let (took, status) = call(i);
        let (trace, sent) = (s.trace(), s.now);
        s.now += took;
        let ended = s.now;
        s.ask(Ask { route: Some("rates"), trace, sent, ended, status, degraded: false });
    }
}

/// Two hundred calls of 5 ms, then the hang, and `beside` as many while 24 callers hang.
pub fn run(beside: impl Fn(u64) -> Call) -> Evidence {
    run_with(24, 200, |_| (5 * MS, 200), beside)
}

pub fn run_with(hang: usize, n: u64, alone: impl Fn(u64) -> Call, beside: impl Fn(u64) -> Call) -> Evidence {
    let mut s = Stage::new("bulkhead", "payments");
    s.step("alone/rates", |s| calls(s, n, alone));
    let began = s.now;
    let traces: Vec<_> = (0..hang).map(|_| s.trace()).collect();
    s.now += 5 * MS;
    s.step("beside/rates", |s| calls(s, n, beside));
    let end = s.now;
    s.step("hung/rates", |s| {
        for trace in traces {
            s.hit(Hit { link: "bank", trace: Some(trace), at: began + MS, ended: end, status: 201, struck: true });
            s.ask(Ask { route: None, trace, sent: began, ended: end + MS, status: 201, degraded: false });
        }
    });
    s.fault("bank", 1, hang as u64);
    s.e
}
