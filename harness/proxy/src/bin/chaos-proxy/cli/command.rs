//! Carrying out a command; the text that it prints.

use hyper::Method;
use serde_json::{Value, json};

use super::client::{Client, part};
use super::parse::{Command, ToxicWords};
use super::show::{self, Style};

/// Carries out one command. An error says what it was about.
pub(super) async fn run(client: &Client, command: &Command, style: Style) -> Result<String, String> {
    match command {
        Command::List => {
            let proxies = client.call(Method::GET, "/proxies", None).await;
            proxies.map(|all| show::list(&all, style)).map_err(|e| format!("Failed to retrieve proxies: {e}"))
        }
        Command::Inspect { proxy } => Ok(show::proxy(&find(client, proxy).await?, style)),
        Command::Create { proxy, listen, upstream } => {
            let body = json!({ "name": proxy, "listen": listen, "upstream": upstream, "enabled": true });
            client
                .call(Method::POST, "/proxies", Some(body))
                .await
                .map_err(|e| format!("Failed to create proxy: {e}"))?;
            Ok(format!("Created new proxy {proxy}\n"))
        }
        Command::Toggle { proxy } => toggle(client, proxy, style).await,
        Command::Delete { proxy } => {
            find(client, proxy).await?;
            let gone = client.call(Method::DELETE, &path(proxy), None).await;
            gone.map_err(|e| format!("Failed to delete proxy: {e}"))?;
            Ok(format!("Deleted proxy {proxy}\n"))
        }
        Command::AddToxic { proxy, toxic } => add(client, proxy, toxic).await,
        Command::UpdateToxic { proxy, toxic } => update(client, proxy, toxic).await,
        Command::RemoveToxic { proxy, name } => {
            let path = format!("{}/toxics/{}", path(proxy), part(name));
            client.call(Method::DELETE, &path, None).await.map_err(|e| format!("Failed to remove toxic: {e}"))?;
            Ok(format!("Removed toxic '{name}' on proxy '{proxy}'\n"))
        }
    }
}

fn path(proxy: &str) -> String {
    format!("/proxies/{}", part(proxy))
}

async fn find(client: &Client, proxy: &str) -> Result<Value, String> {
    let found = client.call(Method::GET, &path(proxy), None).await;
    found.map_err(|e| format!("Failed to retrieve proxy {proxy}: {e}"))
}

async fn toggle(client: &Client, proxy: &str, style: Style) -> Result<String, String> {
    let enabled = find(client, proxy).await?["enabled"] != true;
    // POST is what servers before 2.6 know.
    let answer = client.call(Method::POST, &path(proxy), Some(json!({ "enabled": enabled }))).await;
    answer.map_err(|e| format!("Failed to toggle proxy {proxy}: {e}"))?;
    Ok(show::toggled(proxy, enabled, style))
}

async fn add(client: &Client, proxy: &str, toxic: &ToxicWords) -> Result<String, String> {
    let mut body = json!({
        "type": toxic.type_name,
        "stream": toxic.stream,
        "toxicity": toxic.toxicity.unwrap_or(1.0),
        "attributes": toxic.attributes,
    });
    if !toxic.name.is_empty() {
        body["name"] = toxic.name.as_str().into();
    }
    let added = client.call(Method::POST, &format!("{}/toxics", path(proxy)), Some(body)).await;
    let added = added.map_err(|e| format!("Failed to add toxic: {e}"))?;
    let text = |field: &str| added[field].as_str().unwrap_or_default().to_owned();
    Ok(format!("Added {} {} toxic '{}' on proxy '{proxy}'\n", text("stream"), text("type"), text("name")))
}

async fn update(client: &Client, proxy: &str, toxic: &ToxicWords) -> Result<String, String> {
    let mut body = json!({ "attributes": toxic.attributes });
    if let Some(toxicity) = toxic.toxicity {
        body["toxicity"] = toxicity.into();
    }
    let path = format!("{}/toxics/{}", path(proxy), part(&toxic.name));
    client.call(Method::POST, &path, Some(body)).await.map_err(|e| format!("Failed to update toxic: {e}"))?;
    Ok(format!("Updated toxic '{}' on proxy '{proxy}'\n", toxic.name))
}
