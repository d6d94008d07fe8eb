//! `/v1/rules`: rules are armed, looked at, released and taken out of force. A rule that was armed here stays until it is
//! deleted, its time to live or its lease ends, or the proxy does.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use serde::{Deserialize, Serialize};

use super::query::Query;
use crate::api::{Api, Reply, Request};
use crate::engine::{Armed, ArmedRule, DryCall, DryDecision, RuleCount, RuleReport};
use crate::rules::{Rule, RuleError, rules_from_json};
use crate::strict;

/// The most counters that one answer lists.
const MAX_COUNTS: usize = 10_000;
/// The longest wait of one call; a client that wants more asks again.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// An answer with the epoch of the fault set after the call.
#[derive(Serialize)]
struct Answer<T: Serialize> {
    epoch: u64,
    #[serde(flatten)]
    rest: T,
}

#[derive(Serialize)]
struct Listed {
    rules: Vec<RuleReport>,
}

#[derive(Serialize)]
struct One {
    #[serde(flatten)]
    report: RuleReport,
}

pub(super) async fn handle(api: &Api, segments: &[&str], request: &Request) -> Option<Reply> {
    let method = &request.method;
    let known: &[&str] = match segments {
        [] if *method == Method::GET => &["scope"],
        [] | ["dry-run"] => &[],
        [_, "counters"] if *method == Method::DELETE => &["scope", "of"],
        _ => &["scope"],
    };
    if let Err(refusal) = Query::of(request, known) {
        return Some(refusal);
    }
    let reply = match segments {
        [] if *method == Method::GET => list(api, request),
        [] if *method == Method::POST => arm(api, request),
        // Those of the command line and of an embedding program stay.
        [] if *method == Method::DELETE => clear(api),
        [] => Reply::no_method("GET, POST, DELETE"),
        ["dry-run"] if *method == Method::POST => dry_run(api, request),
        ["dry-run"] => Reply::no_method("POST"),
        [id, rest @ ..] => {
            let scope = request.parameter("scope");
            let Some(rule) = api.core.engine.rule(id, scope.as_deref()) else {
                let place =
                    scope.map_or_else(|| "outside the scopes".to_owned(), |scope| format!("in scope `{scope}`"));
                return Some(Reply::refusal(
                    404,
                    format!("there is no rule `{id}` {place}; name its scope by ?scope="),
                ));
            };
            return one(api, &rule, rest, request).await;
        }
    };
    Some(reply)
}

async fn one(api: &Api, rule: &Arc<ArmedRule>, rest: &[&str], request: &Request) -> Option<Reply> {
    let method = &request.method;
    Some(match rest {
        [] if *method == Method::GET => shown(api, 200, rule),
        [] if *method == Method::DELETE => {
            api.core.engine.disarm(rule);
            let reply = shown(api, 200, rule);
            api.core.engine.forget(rule);
            reply
        }
        [] => Reply::no_method("GET, DELETE"),
        ["release"] if *method == Method::POST => release(api, rule, request),
        ["wait"] if *method == Method::POST => wait(api, rule, request).await,
        ["release" | "wait"] => Reply::no_method("POST"),
        ["counters"] if *method == Method::GET => counters(api, rule),
        ["counters"] if *method == Method::DELETE => {
            rule.reset_counts(request.parameter("of").as_deref());
            counters(api, rule)
        }
        ["counters"] => Reply::no_method("GET, DELETE"),
        _ => return None,
    })
}

fn answer(api: &Api, status: u16, rest: impl Serialize) -> Reply {
    Reply::json(status, &Answer { epoch: api.core.engine.epoch(), rest })
}

fn shown(api: &Api, status: u16, rule: &ArmedRule) -> Reply {
    answer(api, status, One { report: rule.report() })
}

fn list(api: &Api, request: &Request) -> Reply {
    let scope = request.parameter("scope");
    let wanted = |rule: &&Arc<ArmedRule>| scope.is_none() || rule.rule.scope == scope;
    let rules = api.core.engine.rules();
    answer(api, 200, Listed { rules: rules.iter().filter(wanted).map(|rule| rule.report()).collect() })
}

fn arm(api: &Api, request: &Request) -> Reply {
    let rules = match read(&request.body) {
        Ok(rules) => rules,
        Err(error) => return refused(&error),
    };
    match api.core.engine.arm(rules) {
        Ok(armed) => {
            let rules = armed.iter().map(Armed::report).collect();
            api.keep(armed);
            answer(api, 201, Listed { rules })
        }
        Err(error) => refused(&error),
    }
}

/// One rule, or a list as it stands in a file.
fn read(body: &[u8]) -> Result<Vec<Rule>, RuleError> {
    let unreadable = |e: &dyn std::fmt::Display| RuleError::Unreadable { field: None, why: e.to_string() };
    let text = std::str::from_utf8(body).map_err(|e| unreadable(&e))?;
    let is_list = match serde_json::from_str::<serde_json::Value>(text).map_err(|e| unreadable(&e))? {
        serde_json::Value::Object(fields) => fields.contains_key("rules"),
        _ => true,
    };
    if is_list {
        return rules_from_json(text);
    }
    Ok(vec![strict::from_slice::<Rule>(body)?])
}

fn refused(error: &RuleError) -> Reply {
    let status = if matches!(error, RuleError::Duplicate { .. } | RuleError::TooMany { .. }) { 409 } else { 400 };
    match error.field() {
        Some(field) => Reply::refused_field(status, field, error.to_string()),
        None => Reply::refusal(status, error.to_string()),
    }
}

fn clear(api: &Api) -> Reply {
    #[derive(Serialize)]
    struct Cleared {
        disarmed: usize,
    }
    let disarmed = api.disarm_all();
    answer(api, 200, Cleared { disarmed })
}

fn release(api: &Api, rule: &ArmedRule, request: &Request) -> Reply {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a number, or \"all\"")]
    enum HowMany {
        Number(u64),
        Word(All),
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum All {
        All,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Order {
        n: HowMany,
    }
    #[derive(Serialize)]
    struct Released {
        released: usize,
        held: usize,
    }
    let n = match request.json::<Order>() {
        Ok(Order { n: HowMany::Number(n) }) => usize::try_from(n).unwrap_or(usize::MAX),
        Ok(Order { n: HowMany::Word(All::All) }) => usize::MAX,
        Err(reply) => return reply,
    };
    let released = rule.gate.release(n);
    answer(api, 200, Released { released, held: rule.gate.held().len() })
}

async fn wait(api: &Api, rule: &ArmedRule, request: &Request) -> Reply {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Order {
        #[serde(default)]
        fired: Option<u64>,
        #[serde(default)]
        held: Option<u64>,
        within_ms: u64,
    }
    #[derive(Serialize)]
    struct Waited {
        met: bool,
        fired: u64,
        held: usize,
    }
    let order = match request.json::<Order>() {
        Ok(order) => order,
        Err(reply) => return reply,
    };
    if order.fired.is_some() == order.held.is_some() {
        return Reply::refused_field(400, "fired", "give `fired` or `held`, and one of them only");
    }
    let within = Duration::from_millis(order.within_ms);
    if within > MAX_WAIT {
        return Reply::refused_field(400, "within_ms", "must be at most 20000; ask again for a longer wait");
    }
    let holds = || {
        order.fired.is_none_or(|n| rule.fired() >= n) && order.held.is_none_or(|n| rule.gate.held().len() as u64 >= n)
    };
    let met = rule.gate.until(within, holds).await;
    answer(api, if met { 200 } else { 408 }, Waited { met, fired: rule.fired(), held: rule.gate.held().len() })
}

fn counters(api: &Api, rule: &ArmedRule) -> Reply {
    #[derive(Serialize)]
    struct Counters {
        counters: Vec<RuleCount>,
    }
    answer(api, 200, Counters { counters: api.core.engine.counts(rule, MAX_COUNTS) })
}

fn dry_run(api: &Api, request: &Request) -> Reply {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Order {
        #[serde(default)]
        rules: Option<Vec<Rule>>,
        #[serde(default)]
        seed: Option<u64>,
        calls: Vec<DryCall>,
    }
    #[derive(Serialize)]
    struct Decided {
        decisions: Vec<DryDecision>,
    }
    let order = match request.json::<Order>() {
        Ok(order) => order,
        Err(reply) => return reply,
    };
    match api.core.engine.dry_run(order.rules, order.seed, &order.calls) {
        Ok(decisions) => answer(api, 200, Decided { decisions }),
        Err(error) => refused(&error),
    }
}
