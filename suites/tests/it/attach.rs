//! The placement `attach`: the same battery against a stack that runs already.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use chaos_proxy::{ApiOptions, ApiServer, LinkConfig, Proxy, ProxyConfig};
use harness::contract::{Attach, Contract, Ledger};
use harness::judge::{Ruling, Verdict, render};
use harness::place::template::{Vars, render as fill};
use harness::place::{Builder, Process, ProcessSpec, Ready, ReservedPort};
use harness::{Placement, Silent, VerifyOptions, verify};
use mock_bank::{Bank, BankConfig};

use crate::service::payments;

/// A stack as somebody else would have started it: banks, a proxy with its API, and instances of the service that share a
/// ledger. It ends with the test.
struct Stack {
    contract: Contract,
    services: Vec<Process>,
    dir: PathBuf,
    _banks: Vec<Bank>,
    _proxy: (Proxy, ApiServer),
}

impl Stack {
    /// One with an instance for each of these words of `[attach.services]`.
    async fn up(mut contract: Contract, words: &[&str]) -> Self {
        let dir = std::env::temp_dir().join(format!("stack-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&dir).expect("a folder");
        let (mut banks, mut places, mut links) = (Vec::new(), BTreeMap::new(), Vec::new());
        for (name, link) in &contract.links {
            let bank = Bank::start(BankConfig::default()).await.expect("a bank");
            places.insert(name.clone(), bank.address().to_string());
            links.push(LinkConfig::http(name).upstream(bank.address()).key_header(&link.key_header));
            banks.push(bank);
        }
        let proxy = Proxy::start(ProxyConfig::new(links)).await.expect("a proxy");
        let api = ApiServer::start(&proxy, "127.0.0.1:0", ApiOptions::default()).await.expect("an API");
        let spans = ReservedPort::pick().expect("a port").number();
        let mut vars = Vars::from([
            ("run.dir".to_owned(), dir.display().to_string()),
            ("otlp.grpc".to_owned(), format!("http://127.0.0.1:{spans}")),
        ]);
        for name in contract.links.keys() {
            vars.insert(format!("link.{name}.url"), format!("http://{}", proxy.link_addr(name).expect("a link")));
        }
        let (mut services, mut urls) = (Vec::new(), BTreeMap::new());
        for word in words {
            let port = ReservedPort::pick().expect("a port");
            vars.insert("service.port".to_owned(), port.number().to_string());
            let url = format!("http://127.0.0.1:{}", port.number());
            let ready = Ready::url(format!("{url}/ready"));
            let mut spec = ProcessSpec::new(*word, contract.service.command.clone(), ready);
            for (name, value) in contract.service.env.iter().chain(isolated(&contract, word)) {
                spec.env.insert(name.clone(), fill(value, &vars).expect("a known variable"));
            }
            services.push(Process::start(spec, &Builder::default(), Some(port)).await.expect("it starts"));
            urls.insert((*word).to_owned(), url);
        }
        let mut ledger = contract.ledger.clone();
        if let Some(Ledger::Sqlite { path, .. }) = &mut ledger {
            *path = dir.join("ledger.sqlite").display().to_string();
        }
        let (proxy_at, otlp) = (api.address().to_string(), format!("127.0.0.1:{spans}"));
        contract.attach = Some(Attach { proxy: proxy_at, banks: places, otlp, services: urls, ledger });
        Self { contract, services, dir, _banks: banks, _proxy: (proxy, api) }
    }

    async fn verify(&self, only: &[&str]) -> Verdict {
        let only = only.iter().map(|word| (*word).to_owned()).collect();
        let placement = Some(Placement::Attach);
        let options = VerifyOptions { only, seed: Some(1), placement, ..VerifyOptions::default() };
        verify(self.contract.clone(), &options, Arc::new(Silent)).await.expect("it runs").verdict
    }

    async fn down(self) {
        for service in self.services {
            service.stop().await.expect("it stops");
        }
        let _ = std::fs::remove_dir_all(self.dir);
    }
}

fn isolated<'c>(contract: &'c Contract, word: &str) -> &'c BTreeMap<String, String> {
    match word {
        "retry" => &contract.isolate.retry,
        "breaker" => &contract.isolate.breaker,
        _ => panic!("the test knows no instance `{word}`"),
    }
}

fn report(verdict: &Verdict) -> String {
    render::terminal(verdict, &render::Style { color: false, width: 120 })
}

/// Proves that scenarios which follow each other on one running stack do not see each other: keys, rows, spans, and a breaker
/// that the one before left open; and that a second run with the same seed asks for payments of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_running_stack_is_verified() {
    let stack = Stack::up(payments(), &["retry", "breaker"]).await;
    let scenarios = ["one-effect", "breaker-recovery", "breaker-trip", "retry-table"];
    for run in 1..=2 {
        let verdict = stack.verify(&scenarios).await;
        assert_eq!(verdict.ruling, Ruling::Pass, "run {run}\n{}", report(&verdict));
        assert_eq!(verdict.placement, "attach");
        let seen: std::collections::BTreeSet<_> = verdict.findings.iter().map(|f| f.scenario.as_str()).collect();
        assert_eq!(seen, scenarios.into());
        // What needs a kill, or an instance that is not there, is told and not dropped.
        let told = |word: &str| verdict.not_promised.iter().any(|n| n.what.contains(word));
        assert!(told("killed") && told("attach.services.bulkhead"), "{:?}", verdict.not_promised);
    }
    stack.down().await;
}

/// Proves that a defect is found out there as it is in a rig of one's own.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_service_of_a_running_stack_is_failed() {
    let stack = Stack::up(payments().env("PAYMENTS_DEFECT", "lost-reply-second-row"), &["retry"]).await;
    let verdict = stack.verify(&["one-effect"]).await;
    let failed: Vec<_> = verdict.findings.iter().filter(|f| f.ruling == Ruling::Fail).map(|f| &f.check).collect();
    assert!(failed.iter().any(|check| *check == "I1"), "\n{}", report(&verdict));
    stack.down().await;
}
