//! What the engine knows of links that come and go.

use super::*;
use crate::rules::{Effect, Fault, Schedule};

fn engine() -> Arc<Engine> {
    Arc::new(Engine::new(Clock::new(Clock::base_now()), 0, Log::new(100, usize::MAX)))
}

fn down(id: &str, link: &str) -> Rule {
    Rule::new(id, Fault::at(Phase::Connect, Effect::Reset)).link(link).schedule(Schedule::fail_first(1))
}

// Proves that a link which is going cannot be named any more, neither by its name nor by none, that a refusal does not
// list it, and that its name is free for the next link at once; what a rule of it has counted still says where.
#[test]
fn a_closing_link_keeps_its_name_for_what_was_counted() {
    let engine = engine();
    engine.add_link(1, "bank", Mode::Http);
    engine.add_link(2, "shop", Mode::Tcp);
    let old = engine.put_in_force(vec![down("old", "bank")]).expect("armed").remove(0);
    let subject = Subject { link: 1, link_name: "bank", conn: 0, call: None, who: Who::Conn(0, 0) };
    assert!(engine.decide(&subject).strike.is_some());
    let counted = vec![RuleCount { link: "bank".to_owned(), of: None, n: 1 }];
    assert_eq!(engine.counts(&old, 10), counted);

    engine.close_link(1);
    for name in ["bank", ""] {
        let refused = engine.put_in_force(vec![down("new", name)]).expect_err("no such link");
        let links = "shop".to_owned();
        assert_eq!(refused, RuleError::UnknownLink { rule: "new".to_owned(), link: name.to_owned(), links });
    }
    assert_eq!(engine.counts(&old, 10), counted);

    engine.add_link(3, "bank", Mode::Http);
    let new = engine.put_in_force(vec![down("new", "bank")]).expect("armed").remove(0);
    assert_eq!((old.link, new.link), (Some(1), Some(3)));
    engine.remove_link(1);
    assert!(old.is_healed() && !new.is_healed());
}
