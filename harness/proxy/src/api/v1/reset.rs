//! `POST /v1/reset`: the state of a fresh start but for the links and the log.

use http::Method;
use serde_json::json;

use super::links::refusal;
use crate::api::{Api, Reply, Request};

/// Disarms every rule that was armed over the API, removes all toxics and starts every link that is stopped.
pub(super) async fn handle(api: &Api, request: &Request) -> Reply {
    if request.method != Method::POST {
        return Reply::no_method("POST");
    }
    let disarmed = api.disarm_all();
    let mut failed = Vec::new();
    let links = api.core.link_statuses();
    for link in &links {
        if let Ok(board) = api.core.toxics(&link.name) {
            board.clear();
        }
        // One that was removed meanwhile needs nothing.
        if let Err(e) = api.core.enable_link(&link.name).await
            && api.core.link_status(&link.name).is_ok()
        {
            failed.push(e);
        }
    }
    match failed.first() {
        Some(error) => refusal(error),
        None => {
            // Those of the program's own rules file, and of whoever embeds the proxy.
            let left = api.core.engine.rules().iter().filter(|rule| !rule.is_healed()).count();
            let epoch = api.core.engine.epoch();
            Reply::json(200, &json!({ "links": links.len(), "disarmed": disarmed, "left": left, "epoch": epoch }))
        }
    }
}
