//! The battery's scenarios, by the step names of the guide, played by the simulated service.

use judge::evidence::Evidence;
use judge::promise::{Failure, IdempotencyPolicy, RetryPolicy};
use judge::sim::{Fleet, Policy};

use super::service::{Defect, Order, Service};
use super::world::{Fault, World};
use crate::support::MS;

/// What the service promises.
pub fn retry_policy() -> RetryPolicy {
    serde_json::from_str(
        r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms", "cap": "5s" }, "attempt_timeout": "1s",
             "retryable": [408, 425, 429, 500, 502, 503, 504, "reset", "cut", "hang", "lost"] }"#,
    )
    .expect("a policy")
}

pub fn key_policy() -> IdempotencyPolicy {
    serde_json::from_str(
        r#"{ "replay_marker": "X-Idempotency-Replay", "in_flight": 409, "mismatch": 422, "missing": 400,
             "survives_restart": true }"#,
    )
    .expect("a policy")
}

pub struct Player {
    pub world: World,
    pub service: Service,
    orders: i64,
}

impl Player {
    pub fn new(scenario: &str, defect: Defect) -> Self {
        Self { world: World::new(scenario), service: Service::new(defect), orders: 0 }
    }

    pub fn order(&mut self) -> Order {
        self.orders += 1;
        Order { key: Some(format!("key-{}", self.orders)), amount: 100 + self.orders }
    }

    fn one(&mut self, step: &str, order: &Order, faults: &[Fault], after: Option<Fault>) {
        let service = &mut self.service;
        self.world.step(step, 1, |w| service.ask(w, step, order, faults, after));
    }

    fn many(&mut self, step: &str, callers: usize, order: &Order, faults: &[Fault]) {
        let service = &mut self.service;
        self.world.step(step, callers as u64, |w| service.twins(w, step, callers, order, faults));
    }
}

pub fn steady(defect: Defect) -> Evidence {
    let mut p = Player::new("steady", defect);
    let orders: Vec<_> = (0..20).map(|_| p.order()).collect();
    let service = &mut p.service;
    p.world.step("baseline", 20, |w| orders.iter().for_each(|o| service.ask(w, "baseline", o, &[], None)));
    p.world.finish()
}

/// Every attempt fails; the waits are those of a simulated fleet. In a herd all start within 10 ms.
pub fn all_fail(step: &str, policy: Policy, clients: usize, defect: Defect) -> Evidence {
    let mut p = Player::new(if step == "herd" { "retry-herd" } else { "retry-law" }, defect);
    let fleet = Fleet { cap: 5.0, ..Fleet::new(policy, clients) }.base(0.2).retries(12);
    let seen = fleet.observe(11);
    let orders: Vec<_> = (0..clients).map(|_| p.order()).collect();
    let (from, service) = (p.world.now, &mut p.service);
    p.world.step(step, clients as u64, |w| {
        let mut end = from;
        for (i, (order, gaps)) in orders.iter().zip(seen.gaps.rows()).enumerate() {
            if step == "herd" {
                w.now = from + i as u64 * MS / 10;
            }
            service.waits = gaps.iter().map(|g| 1e3 * g).collect();
            service.ask(w, step, order, &[], Some(Fault::Status(503)));
            end = end.max(w.now);
        }
        w.now = end;
    });
    p.world.planned(Fault::Status(503), from, (clients * 4) as u64);
    p.world.finish()
}

pub fn retry_table(defect: Defect) -> Evidence {
    let mut p = Player::new("retry-table", defect);
    let statuses = [400, 401, 404, 408, 409, 422, 425, 429, 500, 501, 502, 503, 504].map(Failure::Status);
    let others = [Failure::Refuse, Failure::Reset, Failure::Cut, Failure::Lost, Failure::Hang];
    for failure in statuses.into_iter().chain(others) {
        let fault = match failure {
            Failure::Status(status) => Fault::Status(status),
            Failure::Refuse => Fault::Refuse,
            Failure::Reset => Fault::Reset,
            Failure::Cut => Fault::Cut,
            Failure::Hang => Fault::Hang,
            Failure::Lost => Fault::Lost,
        };
        let (order, from) = (p.order(), p.world.now);
        let step = format!("case/{failure}");
        if retry_policy().retries(failure) {
            p.one(&step, &order, &[fault], None);
        } else {
            p.one(&step, &order, &[], Some(fault));
        }
        p.world.planned(fault, from, 1);
    }
    p.world.finish()
}

pub fn one_effect(defect: Defect) -> Evidence {
    let mut p = Player::new("one-effect", defect);
    let points: [(&str, &[Fault]); 5] = [
        ("cut", &[Fault::Cut]),
        ("reset", &[Fault::Reset]),
        ("lost-reset", &[Fault::Lost]),
        ("hang", &[Fault::Hang]),
        ("twice-503", &[Fault::Status(503), Fault::Status(503)]),
    ];
    for (name, faults) in points {
        let (one, crowd, from) = (p.order(), p.order(), p.world.now);
        p.one(&format!("point/{name}"), &one, faults, None);
        p.many(&format!("crowd/{name}"), 10, &crowd, faults);
        p.world.planned(faults[0], from, 2);
        let again = format!("again/{name}");
        let service = &mut p.service;
        p.world.step(&again, 2, |w| [&one, &crowd].iter().for_each(|o| service.ask(w, &again, o, &[], None)));
    }
    p.world.finish()
}

pub fn duplicates(defect: Defect) -> Evidence {
    let mut p = Player::new("duplicates", defect);
    let mut orders = Vec::new();
    for n in 1..=3 {
        let order = p.order();
        p.many(&format!("held/{n}"), 10, &order, &[Fault::Hold]);
        orders.push(order);
    }
    for n in 1..=4 {
        let order = p.order();
        p.many(&format!("burst/{n}"), 32, &order, &[]);
        orders.push(order);
    }
    let service = &mut p.service;
    p.world.step("after", 7, |w| orders.iter().for_each(|o| service.ask(w, "after", o, &[], None)));
    let others: Vec<_> = orders.iter().take(3).map(|o| Order { amount: o.amount + 5000, ..o.clone() }).collect();
    p.world.step("mismatch", 3, |w| others.iter().for_each(|o| service.ask(w, "mismatch", o, &[], None)));
    let none: Vec<_> = (0..3).map(|i| Order { key: None, amount: 900 + i }).collect();
    p.world.step("missing", 3, |w| none.iter().for_each(|o| service.ask(w, "missing", o, &[], None)));
    p.world.finish()
}

pub fn restart(defect: Defect) -> Evidence {
    let mut p = Player::new("restart", defect);
    let first: Vec<_> = (0..3).map(|_| p.order()).collect();
    let accepted: Vec<_> = (0..3).map(|_| p.order()).collect();
    let service = &mut p.service;
    p.world.step("first", 3, |w| first.iter().for_each(|o| service.ask(w, "first", o, &[], None)));
    service.restart();
    p.world.step("replay", 3, |w| first.iter().for_each(|o| service.ask(w, "replay", o, &[], None)));
    let from = p.world.now;
    p.world.step("accepted", 3, |w| accepted.iter().for_each(|o| service.die_in_flight(w, "accepted", o)));
    p.world.planned(Fault::Hold, from, 3);
    service.restart();
    let mut open = accepted;
    for n in 1..=10 {
        let step = format!("recover/{n}");
        p.world.step(&step, open.len() as u64, |w| open.iter().for_each(|o| service.recover(w, &step, o)));
        let done = |o: &Order| p.world.evidence.outcomes.iter().any(|x| x.key == o.key && x.succeeded());
        open.retain(|o| !done(o));
        if open.is_empty() {
            break;
        }
    }
    p.world.finish()
}
