//! Contracts with several links, further services and further routes.

use harness::contract::{Contract, ContractError, Link, Route, Upstream};

const GOOD: &str = include_str!("../../fixtures/payments/contract.toml");

/// Beside the reference contract's second dependency and its route: a service behind it, and a route with a body.
const SHAPE: &str = r#"
[services.payments]
name = "payments"
command = ["{bin.dir}/payments"]
env = { PAYMENTS_LISTEN = "127.0.0.1:{service.port}", PAYMENTS_BANK_URL = "{link.bank.url}" }

[links.payments]
upstream = { service = "payments" }
main = true

[routes.refund]
method = "POST"
path = "/refunds/{reference}"
body = '{{"amount": {amount}}}'
link = "bank"
"#;

fn shaped() -> String {
    // The route that shares the payment's keys goes the payment's way.
    let good = GOOD.replacen("\nlink = \"bank\"\n", "\nlink = \"payments\"\n", 1);
    format!("{good}\n{SHAPE}")
}

fn problem(text: &str) -> (String, String) {
    match Contract::parse(text, "c.toml") {
        Err(ContractError::Invalid { field, problem, .. }) => (field, problem),
        other => panic!("not refused for a field: {other:?}"),
    }
}

/// Proves that a contract may have several links, services and routes, that each has its defaults, and that it survives
/// being written and read again.
#[test]
fn several_links_services_and_routes_are_read() {
    let contract = Contract::parse(&shaped(), "c.toml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(contract.main_link(), "payments");
    assert_eq!(contract.links["payments"].upstream, Upstream::Service("payments".to_owned()));
    assert_eq!(contract.links["rates"], Link::default(), "what is written out is what is meant without");
    assert_eq!(contract.services["payments"].stop_grace, contract.service.stop_grace);
    let rates = &contract.routes["rates"];
    assert_eq!((rates.method.as_str(), rates.sends_key(), &rates.body), ("GET", false, &None));
    assert!(contract.routes["refund"].sends_key(), "a method that is not safe carries the key");
    assert_eq!(contract.link_of(Some("rates")), "rates");
    assert_eq!(contract.link_of(None), "payments", "the payment uses the main link");
    let anew = contract.clone().env("ANY", "thing").to_toml();
    let read = Contract::parse(&anew, "c.toml").unwrap_or_else(|e| panic!("{e}\n{anew}"));
    assert_eq!((&read.links, &read.services, &read.routes), (&contract.links, &contract.services, &contract.routes));
}

/// Proves which link is the main one without a word: the only one, whatever its name, or `bank` among several.
#[test]
fn the_main_link_needs_no_word_where_it_is_plain() {
    let of = |links: &[&str]| {
        let mut contract = Contract::of("shop", ["shop"], "/pay", "{amount}");
        contract.links.clear();
        links.iter().fold(contract, |c, name| c.link(*name, Link::default()))
    };
    assert_eq!(of(&["acquirer"]).validated().expect("one link").main_link(), "acquirer");
    assert_eq!(of(&["acquirer", "bank", "rates"]).validated().expect("a bank").main_link(), "bank");
    let doubtful = of(&["acquirer", "rates"]).validated().expect_err("two candidates").to_string();
    assert!(doubtful.contains("acquirer, rates: none of them is `main = true`"), "{doubtful}");
    let several = of(&["bank"]).link("a", Link { main: true, ..Link::default() });
    let several = several.link("b", Link { main: true, ..Link::default() }).validated().expect_err("two mains");
    assert!(several.to_string().contains("2 of them is `main = true`"), "{several}");
}

/// Proves that a part that does not fit is refused with its field and the way out.
#[test]
fn what_does_not_fit_names_its_field() {
    for (good, bad, field, word) in [
        ("{ service = \"payments\" }", "{ service = \"payment\" }", "links.payments.upstream", "[services.payment]"),
        ("link = \"rates\"", "link = \"rate\"", "routes.rates.link", "name one of bank, payments, rates"),
        ("path = \"/rates/EUR\"", "path = \"rates/EUR\"", "routes.rates.path", "begin with `/`"),
        ("/refunds/{reference}", "/refunds/{referenc}", "routes.refund.path", "reference"),
        ("'{{\"amount\": {amount}}}'\nlink", "'{amount'\nlink", "routes.refund.body", "literal brace"),
        (
            "method = \"POST\"\npath = \"/refunds",
            "method = \"post\"\npath = \"/refunds",
            "routes.refund.method",
            "capitals",
        ),
        ("[routes.rates]", "[routes.\"ra tes\"]", "routes", "[routes.rates]"),
        ("[services.payments]", "[services.\"pay ments\"]", "services", "letters"),
        ("[links.rates]", "[links.rates]\nkey_header = \"a:b\"", "links.rates.key_header", "header name"),
        (
            "command = [\"{bin.dir}/payments\"]\nenv = {",
            "command = []\nenv = {",
            "services.payments.command",
            "program",
        ),
        ("env = { PAYMENTS_LISTEN", "url = \"ftp://x\"\nenv = { PAYMENTS_LISTEN", "services.payments.url", "http://"),
    ] {
        let text = shaped();
        assert!(text.contains(good), "{good}");
        let (at, problem) = problem(&text.replacen(good, bad, 1));
        assert_eq!(at, field, "{bad}: {problem}");
        assert!(problem.contains(word), "{bad}: {problem}");
    }
}

/// Proves that a misspelt key in the new tables is corrected, and that no link at all says what to add.
#[test]
fn unknown_keys_and_missing_links_say_what_to_write() {
    for (good, bad, hint) in [("main = true", "mian = true", "main"), ("link = \"rates\"", "lnik = \"rates\"", "link")]
    {
        let text = Contract::parse(&shaped().replacen(good, bad, 1), "c.toml").expect_err("misspelt").to_string();
        assert!(text.contains(&format!("did you mean `{hint}`")), "{text}");
    }
    let mut none = Contract::of("shop", ["shop"], "/pay", "{amount}");
    none.links.clear();
    let text = none.validated().expect_err("no link").to_string();
    assert!(text.contains("[links.bank]"), "{text}");
    let many = (0..17).map(|n| (format!("route{n}"), route())).collect();
    let mut crowded = Contract::of("shop", ["shop"], "/pay", "{amount}");
    crowded.routes = many;
    assert!(crowded.validated().expect_err("too many").to_string().contains("up to 16"));
}

fn route() -> Route {
    Contract::parse(&shaped(), "c.toml").expect("well formed").routes["rates"].clone()
}

/// Proves that promises about several links and routes are held against the links and routes that there are.
#[test]
fn promises_about_links_and_routes_name_what_is_there() {
    const LAYERS: &str = include_str!("../../fixtures/payments/two-layers.toml");
    let hops = r#"hops = [{ link = "payments", attempts = 2 }, { link = "bank", attempts = 3 }]"#;
    let amplification = "promises.amplification.hops";
    for (text, good, bad, field, word) in [
        (LAYERS, hops, "hops = []", amplification, "is empty"),
        (LAYERS, hops, r#"hops = [{ link = "bnak", attempts = 2 }]"#, amplification, "[links.bnak]"),
        (LAYERS, hops, r#"hops = [{ link = "bank", attempts = 0 }]"#, amplification, "0 attempts"),
        (LAYERS, "\"payments\", attempts", "\"bank\", attempts", amplification, "twice"),
        (LAYERS, "at_most = 3", "at_most = 2", "promises.amplification.at_most", "give 3"),
        (LAYERS, "at_most = 3", "at_most = 7", "promises.amplification.at_most", "to 6"),
        (
            GOOD,
            "[promises.isolation]\nroutes = [\"rates\"]",
            "[promises.isolation]\nroutes = []",
            "promises.isolation.routes",
            "is empty",
        ),
        (
            GOOD,
            "[promises.isolation]\nroutes = [\"rates\"]",
            "[promises.isolation]\nroutes = [\"rate\"]",
            "promises.isolation.routes",
            "[routes.rate]",
        ),
        (GOOD, "link = \"rates\"", "link = \"bank\"", "promises.isolation.routes", "main link itself"),
        (GOOD, "callers = 24", "callers = 0", "promises.bulkhead.callers", "1 to 1000"),
        (GOOD, "slowdown = 3.0", "slowdown = nan", "promises.bulkhead.slowdown", "1 to 100"),
        (GOOD, "success = 0.99", "success = 1.5", "promises.bulkhead.success", "0.5 to 1"),
    ] {
        assert!(text.contains(good), "{good}");
        let (at, problem) = problem(&text.replacen(good, bad, 1));
        assert_eq!(at, field, "{bad}: {problem}");
        assert!(problem.contains(word), "{bad}: {problem}");
    }
}
