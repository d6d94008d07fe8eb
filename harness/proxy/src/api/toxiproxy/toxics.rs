//! `/proxies/{proxy}/toxics`.

use std::sync::Arc;
use std::time::Duration;

use super::{Failure, input, json, show};
use crate::api::{Api, Reply};
use crate::error::ProxyError;
use crate::toxics::{FEW, Toxic, ToxicBoard};

/// How long an answer waits until every live connection runs the change, where they are few.
const SETTLE_TIME: Duration = Duration::from_millis(3);

pub(super) fn list(api: &Api, proxy: &str) -> Result<Reply, Failure> {
    let link = api.core.link_status(proxy).map_err(|_| Failure::no_proxy())?;
    Ok(json(200, show::toxics(&link.toxics)))
}

pub(super) fn show(api: &Api, proxy: &str, toxic: &str) -> Result<Reply, Failure> {
    let link = api.core.link_status(proxy).map_err(|_| Failure::no_proxy())?;
    let found = link.toxics.iter().find(|known| known.name == toxic && known.kind.is_toxiproxy());
    found.map(|toxic| json(200, show::toxic(toxic))).ok_or_else(Failure::no_toxic)
}

pub(super) async fn add(api: &Api, proxy: &str, body: &[u8]) -> Result<Reply, Failure> {
    let board = board(api, proxy)?;
    let toxic = input::toxic(body, |name| board.get(name).is_some())?;
    let change = board.add(toxic)?;
    settle(&board, change.epoch).await;
    Ok(json(200, show::toxic(&change.toxic)))
}

pub(super) async fn update(api: &Api, proxy: &str, toxic: &str, body: &[u8]) -> Result<Reply, Failure> {
    let board = board(api, proxy)?;
    visible(&board, toxic)?;
    // What the body does to its copy is taken over as a whole, or not at all.
    let change = board.update(toxic, |copy: &mut Toxic| input::toxic_update(body, copy))?;
    settle(&board, change.epoch).await;
    Ok(json(200, show::toxic(&change.toxic)))
}

pub(super) async fn remove(api: &Api, proxy: &str, toxic: &str) -> Result<Reply, Failure> {
    let board = board(api, proxy)?;
    visible(&board, toxic)?;
    let change = board.remove(toxic)?;
    settle(&board, change.epoch).await;
    Ok(Reply::empty(204))
}

fn board(api: &Api, proxy: &str) -> Result<Arc<ToxicBoard>, Failure> {
    api.core.toxics(proxy).map_err(|e| match e {
        ProxyError::UnknownLink { .. } => Failure::no_proxy(),
        // A link that reads HTTP.
        other => Failure::new(400, other.to_string()),
    })
}

/// What comes after the answer meets the change in any case. What a few connections hold, or do of themselves, does so
/// too; to wait until a crowd has been woken would cost more than it says.
async fn settle(board: &ToxicBoard, epoch: u64) {
    if board.connections() <= FEW {
        board.settled(epoch, SETTLE_TIME).await;
    }
}

/// Toxics of our own kinds have their own paths.
fn visible(board: &ToxicBoard, toxic: &str) -> Result<(), Failure> {
    let shown = board.get(toxic).is_some_and(|known| known.kind.is_toxiproxy());
    if shown { Ok(()) } else { Err(Failure::no_toxic()) }
}
