//! `/v1/links/{link}/toxics`: Toxiproxy's toxics and our own. The answer to a change says since which epoch of the
//! link's toxics it is in force, and whether all live connections run it already.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use serde_json::{Map, Value, json};

use super::fields::{Fields, refused};
use super::links::refusal;
use crate::api::{Api, Reply, Request};
use crate::toxics::{Toxic, ToxicBoard, ToxicError, ToxicParseError};

/// How long an answer waits until every live connection runs the change.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// Answers a call; `segments` are the parts of the path behind `toxics`.
pub(super) async fn handle(api: &Api, link: &str, segments: &[&str], request: &Request) -> Option<Reply> {
    let board = match api.core.toxics(link) {
        Ok(board) => board,
        Err(e) => return Some(refusal(&e)),
    };
    let outcome = match (segments, &request.method) {
        ([], &Method::GET) => Ok(list(&board)),
        ([], &Method::POST) => add(&board, request).await,
        ([], &Method::DELETE) => {
            let epoch = board.clear();
            Ok(settled(&board, 200, json!({}), epoch).await)
        }
        ([], _) => Ok(Reply::no_method("GET, POST, DELETE")),
        ([name], &Method::GET) => show(&board, name),
        ([name], &Method::PATCH) => update(&board, name, request).await,
        ([name], &Method::DELETE) => remove(&board, name).await,
        ([_], _) => Ok(Reply::no_method("GET, PATCH, DELETE")),
        _ => return None,
    };
    Some(outcome.unwrap_or_else(|refusal| refusal))
}

fn list(board: &ToxicBoard) -> Reply {
    Reply::json(200, &json!({ "toxics": board.list(), "epoch": board.epoch() }))
}

fn show(board: &ToxicBoard, name: &str) -> Result<Reply, Reply> {
    let toxic = board.get(name).ok_or_else(|| Refused::from(ToxicError::Unknown(name.to_owned())).0)?;
    Ok(Reply::json(200, &json!({ "toxic": toxic, "epoch": board.epoch() })))
}

async fn add(board: &Arc<ToxicBoard>, request: &Request) -> Result<Reply, Reply> {
    let toxic = Toxic::from_json(request.json()?).map_err(|e| Refused::from(e).0)?;
    let change = board.add(toxic).map_err(|e| Refused::from(e).0)?;
    Ok(settled(board, 201, json!({ "toxic": change.toxic }), change.epoch).await)
}

async fn update(board: &Arc<ToxicBoard>, name: &str, request: &Request) -> Result<Reply, Reply> {
    let mut fields = Fields::of(request, &["attributes", "toxicity"])?;
    let attributes: Map<String, Value> = fields.optional("attributes")?.unwrap_or_default();
    let toxicity: Option<f32> = fields.optional("toxicity")?;
    let change = board.update(name, |toxic| merge(toxic, attributes, toxicity)).map_err(|Refused(reply)| reply)?;
    Ok(settled(board, 200, json!({ "toxic": change.toxic }), change.epoch).await)
}

/// Merges key by key, and reads the result as strictly as a new toxic.
fn merge(toxic: &mut Toxic, attributes: Map<String, Value>, toxicity: Option<f32>) -> Result<(), Refused> {
    let mut value = json!(toxic);
    for (key, wanted) in attributes {
        value["attributes"][key] = wanted;
    }
    // Toxiproxy's interface accepts any toxicity; what stands there already is not judged again.
    value["toxicity"] = json!(toxicity.unwrap_or(1.0));
    let merged = Toxic::from_json(value)?;
    toxic.kind = merged.kind;
    toxic.toxicity = toxicity.unwrap_or(toxic.toxicity);
    Ok(())
}

async fn remove(board: &Arc<ToxicBoard>, name: &str) -> Result<Reply, Reply> {
    let change = board.remove(name).map_err(|e| Refused::from(e).0)?;
    Ok(settled(board, 200, json!({ "removed": name }), change.epoch).await)
}

async fn settled(board: &ToxicBoard, status: u16, mut answer: Value, epoch: u64) -> Reply {
    answer["epoch"] = epoch.into();
    answer["settled"] = board.settled(epoch, SETTLE_TIME).await.into();
    Reply::json(status, &answer)
}

/// A refusal as an error, so that a change can end in one.
struct Refused(Reply);

impl From<ToxicError> for Refused {
    fn from(error: ToxicError) -> Self {
        let text = error.to_string();
        Self(match error {
            ToxicError::Unknown(_) => Reply::refusal(404, text),
            ToxicError::Duplicate(_) => Reply::refused_field(409, "name", text),
            ToxicError::TooMany { .. } => Reply::refusal(409, text),
        })
    }
}

impl From<ToxicParseError> for Refused {
    fn from(error: ToxicParseError) -> Self {
        Self(refused(&error.field, &error.why))
    }
}
