//! Bounds of what is promised about several layers, dependencies and routes.

use judge::promise::{AmplificationPolicy, BulkheadPolicy};

use super::super::Contract;
use super::Checked;
use super::rules::require;

/// Calls to the last backend that one request may be promised to cause at most.
const MOST: u32 = 1000;

pub(super) fn check(contract: &Contract) -> Checked {
    let promises = &contract.promises;
    promises.amplification.as_ref().map_or(Ok(()), |policy| amplification(policy, contract))?;
    if let Some(policy) = &promises.isolation {
        require(promises.breaker.is_some(), "promises.isolation", || {
            "says that breakers are apart, but no breaker is promised; add [promises.breaker]".to_owned()
        })?;
        beside("promises.isolation.routes", &policy.routes, contract)?;
    }
    promises.bulkhead.as_ref().map_or(Ok(()), |policy| bulkhead(policy, contract))
}

fn amplification(policy: &AmplificationPolicy, contract: &Contract) -> Checked {
    let field = "promises.amplification.hops";
    require(!policy.hops.is_empty(), field, || {
        "is empty; list the links from the client to the last backend, each with its attempts".to_owned()
    })?;
    for (n, hop) in policy.hops.iter().enumerate() {
        let link = &hop.link;
        require(contract.links.contains_key(link), field, || {
            format!("names the link `{link}`, which is not declared; add [links.{link}]")
        })?;
        require(!policy.hops[..n].iter().any(|h| h.link == *link), field, || {
            format!("names the link `{link}` twice; a request passes each link of its way once")
        })?;
        require((1..=MOST).contains(&hop.attempts), field, || {
            format!("gives {link} {} attempts; give 1 to {MOST}, the first included", hop.attempts)
        })?;
    }
    require(policy.bound() <= MOST, field, || {
        format!("multiply to {}, and no `at_most` is below {MOST}; lower one of them", policy.product())
    })?;
    let least = policy.hops.iter().map(|h| h.attempts).max().unwrap_or(1);
    let at_most = policy.at_most.unwrap_or(policy.product());
    require((least..=policy.product()).contains(&at_most), "promises.amplification.at_most", || {
        let product = policy.product();
        format!("is {at_most}; give {least} (what one hop alone may do) to {product} (what the hops multiply to)")
    })
}

fn bulkhead(policy: &BulkheadPolicy, contract: &Contract) -> Checked {
    beside("promises.bulkhead.routes", &policy.routes, contract)?;
    require((1..=1000).contains(&policy.callers), "promises.bulkhead.callers", || {
        format!("is {}; give 1 to 1000", policy.callers)
    })?;
    // NaN is in no range.
    require((1.0..=100.0).contains(&policy.slowdown), "promises.bulkhead.slowdown", || {
        format!("is {}; give a factor from 1 to 100", policy.slowdown)
    })?;
    require((0.5..=1.0).contains(&policy.success), "promises.bulkhead.success", || {
        format!("is {}; give a share from 0.5 to 1", policy.success)
    })
}

/// Routes that another dependency than the main one serves.
fn beside(field: &str, routes: &[String], contract: &Contract) -> Checked {
    require(!routes.is_empty(), field, || {
        "is empty; name a route that uses another link, see [routes.NAME]".to_owned()
    })?;
    for name in routes {
        let route = contract.routes.get(name);
        require(route.is_some(), field, || format!("names `{name}`, which is not declared; add [routes.{name}]"))?;
        require(route.is_some_and(|r| r.link != contract.main_link()), field, || {
            format!("names `{name}`, which uses the main link itself; name a route that uses another one")
        })?;
    }
    Ok(())
}
