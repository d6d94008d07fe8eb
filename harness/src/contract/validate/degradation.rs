//! Answers while the dependency cannot be asked.

use std::time::Duration;

use judge::promise::Place;

use super::super::Contract;
use super::Checked;
use super::rules::{LONGEST, header, require};

/// Less than this cannot be told from the noise.
const SHORTEST: Duration = Duration::from_millis(200);

pub(super) fn check(contract: &Contract) -> Checked {
    let Some(promise) = &contract.promises.degradation else { return Ok(()) };
    let field = |name: &str| format!("promises.degradation.{name}");
    let sample = [("id".to_owned(), "x".to_owned())].into();
    let read = crate::place::template::render(&promise.read, &sample).map_err(|e| (field("read"), e.to_string()))?;
    require(read.starts_with('/') && promise.read.contains("{id}"), &field("read"), || {
        format!("is `{}`; give a path with the payment's id, as in /payments/{{id}}", promise.read)
    })?;
    let places = [("id", &promise.id), ("marker", &promise.marker), ("age", &promise.age), ("status", &promise.status)];
    for (name, place) in places {
        if let Place::Header(text) = place {
            header(&field(name), text)?;
        }
    }
    require(!promise.confirmed.is_empty(), &field("confirmed"), || {
        "is empty; list the words that tell a client that its money has moved".to_owned()
    })?;
    for (name, time) in [("max_age", promise.max_age), ("fresh_within", promise.fresh_within)] {
        require((SHORTEST..=LONGEST).contains(&time), &field(name), || {
            format!("is {time:?}; the battery can wait from 200ms to 10m")
        })?;
    }
    Ok(())
}
