//! Where a running stack is: what is missing or wrong says so, and the stack of `compose.yaml` is the one of the contract.

use harness::contract::{Contract, ContractError, Ledger};
use harness::rig::Isolation;

const GOOD: &str = include_str!("../../fixtures/payments/contract.toml");
const COMPOSE: &str = include_str!("../../compose.yaml");

/// Proves that a table which could not be used is refused with its field.
#[test]
fn a_stack_that_cannot_be_found_names_its_field() {
    for (good, bad, field) in [
        ("proxy = \"127.0.0.1:8474\"", "proxy = \"http://127.0.0.1:8474\"", "attach.proxy"),
        ("proxy = \"127.0.0.1:8474\"", "proxy = \":8474\"", "attach.proxy"),
        ("otlp = \"0.0.0.0:4317\"", "otlp = \"localhost:4317\"", "attach.otlp"),
        ("otlp = \"0.0.0.0:4317\"", "otlp = \"0.0.0.0:0\"", "attach.otlp"),
        ("rates = \"127.0.0.1:9102\"", "rates = \"127.0.0.1\"", "attach.banks.rates"),
        (", rates = \"127.0.0.1:9102\"", "", "attach.banks"),
        ("rates = \"127.0.0.1:9102\"", "rates = \"127.0.0.1:9102\", fx = \"127.0.0.1:9\"", "attach.banks.fx"),
        ("ttl = \"http://127.0.0.1:8085\"", "tll = \"http://127.0.0.1:8085\"", "attach.services.tll"),
        ("ttl = \"http://127.0.0.1:8085\"", "ttl = \"127.0.0.1:8085\"", "attach.services.ttl"),
        ("ttl = \"http://127.0.0.1:8085\"", "ttl = \"http://127.0.0.1:{service.port}\"", "attach.services.ttl"),
    ] {
        assert!(GOOD.contains(good), "{good}");
        let error = Contract::parse(&GOOD.replacen(good, bad, 1), "c.toml").expect_err("it is wrong");
        assert!(matches!(&error, ContractError::Invalid { field: f, .. } if f == field), "{good} -> {bad}: {error}");
    }
}

/// Proves that every instance of the stack runs with what the contract declares for it: a variable that only one of the two
/// files has would be measured as something else than it is promised to be.
#[test]
fn the_composed_stack_is_the_contracts() {
    let contract = Contract::parse(GOOD, "c.toml").expect("it is right");
    let attach = contract.attach.as_ref().expect("a stack");
    assert!(matches!(attach.ledger, Some(Ledger::Postgres { .. })));
    // What depends on the place, and what only a child process is told.
    let placed = ["PAYMENTS_LISTEN", "PAYMENTS_STDIN_LIFELINE", "PAYMENTS_LEDGER", "PAYMENTS_LEDGER_SURVIVES"];
    let placed =
        |name: &str, value: &str| placed.contains(&name) || value.contains("{link.") || value.contains("{otlp.");
    let declared = block("x-declared: &declared");
    for (name, value) in contract.service.env.iter().filter(|(name, value)| !placed(name, value)) {
        assert!(declared.contains(&format!("{name}: \"{value}\"")), "compose.yaml declares no {name}: {value}");
    }
    for name in declared.iter().filter_map(|line| Some(line.split_once(": ")?.0)).filter(|n| n.starts_with("PAYMENTS_"))
    {
        assert!(contract.service.env.contains_key(name), "compose.yaml sets {name}, which [service.env] does not");
    }
    for isolation in Isolation::ALL {
        let (empty, own) = (Default::default(), &contract.isolate);
        let (name, env) = match isolation {
            Isolation::None => ("payments".to_owned(), &empty),
            Isolation::Retry => ("payments-retry".to_owned(), &own.retry),
            Isolation::Breaker => ("payments-breaker".to_owned(), &own.breaker),
            Isolation::Budget => ("payments-budget".to_owned(), &own.budget),
            Isolation::Cap => ("payments-cap".to_owned(), &own.cap),
            Isolation::Ttl => ("payments-ttl".to_owned(), &own.ttl),
            Isolation::Degradation => ("payments-degradation".to_owned(), &own.degradation),
            Isolation::Bulkhead => ("payments-bulkhead".to_owned(), &own.bulkhead),
        };
        let instance = block(&format!("  {name}:"));
        let set: Vec<_> = instance.iter().filter_map(|line| line.strip_prefix("PAYMENTS_")).collect();
        let wanted: Vec<_> = env.iter().map(|(name, value)| format!("{name}: \"{value}\"")).collect();
        for line in &wanted {
            assert!(instance.contains(line), "{name} of compose.yaml has no {line}");
        }
        assert_eq!(set.len(), wanted.len(), "{name} of compose.yaml sets what [isolate] does not: {set:?}");
        let url = attach.service(isolation).expect("an instance for each");
        let port = url.rsplit(':').next().expect("a port");
        assert!(instance.contains(&format!("ports: [\"127.0.0.1:{port}:8080\"]")), "{name} is not at {url}");
    }
}

/// The lines below a heading of `compose.yaml`, without their indentation.
fn block(heading: &str) -> Vec<String> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut lines = COMPOSE.lines().skip_while(|line| *line != heading);
    let own = depth(lines.next().unwrap_or_else(|| panic!("compose.yaml has no `{heading}`")));
    let inside = lines.take_while(|line| line.trim().is_empty() || depth(line) > own);
    inside.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}
