//! Whether links, further services and routes fit together.

use super::super::{Contract, Upstream};
use super::Checked;
use super::rules::{header, media_type, method, name, no_nul, path, require, template};

/// More players than that are no scenario of seconds any more.
const MOST: usize = 16;

pub(super) fn check(contract: &Contract) -> Checked {
    few("links", contract.links.len())?;
    few("services", contract.services.len())?;
    few("routes", contract.routes.len())?;
    contract.services.keys().try_for_each(|n| name("services", n))?;
    links(contract)?;
    routes(contract)
}

fn few(table: &str, n: usize) -> Checked {
    require(n <= MOST, table, || format!("has {n} entries; a rig takes up to {MOST}"))
}

fn links(contract: &Contract) -> Checked {
    require(!contract.links.is_empty(), "links", || {
        "has no entry; declare the dependency that faults strike, e.g. [links.bank]".to_owned()
    })?;
    for (link_name, link) in &contract.links {
        name("links", link_name)?;
        header(&format!("links.{link_name}.key_header"), &link.key_header)?;
        let Upstream::Service(service) = &link.upstream else { continue };
        require(contract.services.contains_key(service), &format!("links.{link_name}.upstream"), || {
            let known = listed(contract.services.keys());
            format!("leads to the service `{service}`, which is not declared; add [services.{service}]{known}")
        })?;
    }
    require(contract.has_main_link(), "links", || {
        let mains = contract.links.values().filter(|l| l.main).count();
        let names = contract.links.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let count = if mains == 0 { "none".to_owned() } else { mains.to_string() };
        format!("{names}: {count} of them is `main = true`; set it on the one link that the promises are about")
    })
}

fn routes(contract: &Contract) -> Checked {
    for (route_name, route) in &contract.routes {
        name("routes", route_name)?;
        let field = |name: &str| format!("routes.{route_name}.{name}");
        method(&field("method"), &route.method)?;
        path(&field("path"), &route.path)?;
        template(&field("path"), &route.path)?;
        if let Some(body) = &route.body {
            template(&field("body"), body)?;
            no_nul(&field("body"), body)?;
        }
        media_type(&field("content_type"), &route.content_type)?;
        require(contract.links.contains_key(&route.link), &field("link"), || {
            let known = listed(contract.links.keys());
            format!("is `{}`, which is not declared; add [links.{}]{known}", route.link, route.link)
        })?;
    }
    Ok(())
}

fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() { String::new() } else { format!(", or name one of {}", names.join(", ")) }
}
