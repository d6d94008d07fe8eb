//! The table of a running stack.

use std::net::SocketAddr;

use super::Checked;
use super::rules::require;
use crate::contract::{Attach, Contract, Upstream};
use crate::rig::Isolation;

pub(super) fn check(contract: &Contract) -> Checked {
    let Some(attach) = &contract.attach else { return Ok(()) };
    address("attach.proxy", &attach.proxy)?;
    let otlp: Result<SocketAddr, _> = attach.otlp.parse();
    require(otlp.is_ok_and(|a| a.port() != 0), "attach.otlp", || {
        format!("is `{}`; give an IP address and a port that the stack can reach, e.g. 0.0.0.0:4317", attach.otlp)
    })?;
    services(attach)?;
    for (name, bank) in &attach.banks {
        let field = format!("attach.banks.{name}");
        let mocked = contract.links.get(name).is_some_and(|link| link.upstream == Upstream::MockBank);
        require(mocked, &field, || "is not the name of a link with a mock bank behind it".to_owned())?;
        address(&field, bank)?;
    }
    for (name, _) in contract.links.iter().filter(|(_, link)| link.upstream == Upstream::MockBank) {
        require(attach.banks.contains_key(name), "attach.banks", || {
            format!("does not say where the mock bank of link `{name}` is; add {name} = \"HOST:PORT\"")
        })?;
    }
    Ok(())
}

fn services(attach: &Attach) -> Checked {
    require(!attach.services.is_empty(), "attach.services", || {
        "is empty; give the URL of the service, as in none = \"http://127.0.0.1:8080\"".to_owned()
    })?;
    for (word, url) in &attach.services {
        let field = format!("attach.services.{word}");
        require(Isolation::ALL.iter().any(|i| i.word() == word), &field, || {
            let known: Vec<_> = Isolation::ALL.iter().map(|i| i.word()).collect();
            format!("isolates nothing that is known; known are {}", known.join(", "))
        })?;
        let host = url.strip_prefix("http://").is_some_and(|rest| !rest.is_empty());
        require(host && !url.contains(['{', '}']), &field, || {
            format!("is `{url}`; give the base URL of an instance that runs, e.g. http://127.0.0.1:8080")
        })?;
    }
    Ok(())
}

fn address(field: &str, text: &str) -> Checked {
    let port =
        text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).and_then(|(_, port)| port.parse::<u16>().ok());
    require(port.is_some_and(|port| port != 0) && !text.contains('/'), field, || {
        format!("is `{text}`; give HOST:PORT, without http://")
    })
}
