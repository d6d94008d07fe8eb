//! The event log of a breaker: the changes of state that the service tells of.

use judge::evidence::{BreakerReading, BreakerState, Note, NoteWeight, TimeBase};
use serde_json::Value;

use super::breaker::common_word;
use super::fetch::{get_json, kind};
use super::{ProbeError, ProbeLimits, code};
use crate::clock::Clock;

/// Reads a breaker's changes of state from Spring's `/actuator/circuitbreakerevents`, each of them once.
///
/// The log is a ring: what is overwritten between two readings is lost, and a note says so. Read it often enough.
#[derive(Debug, Clone)]
pub struct EventsProbe {
    url: String,
    name: String,
    /// What the log held when it was last read: moment and change, in the service's words.
    seen: Vec<(String, String)>,
}

/// New changes, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Events {
    /// One reading for each change.
    pub changes: Vec<BreakerReading>,
    /// Notes on them; they belong into the evidence.
    pub notes: Vec<Note>,
}

impl EventsProbe {
    /// A probe of the breaker `name`; `url` is the log's, without the breaker's name.
    #[must_use]
    pub fn new(url: &str, name: &str) -> Self {
        let url = format!("{}/{name}/STATE_TRANSITION", url.trim_end_matches('/'));
        Self { url, name: name.to_owned(), seen: Vec::new() }
    }

    /// Reads what has been added since the last reading. Each change has the moment of the reading: the log's own times
    /// are another clock's.
    ///
    /// # Errors
    /// When the log cannot be read or is no such log.
    pub async fn read(&mut self, time: &TimeBase, limits: &ProbeLimits) -> Result<Events, ProbeError> {
        let now = self.listed(&get_json(&self.url, limits).await?)?;
        let at = Clock::from_base(*time).now();
        let known = overlap(&self.seen, &now);
        let mut events = Events::default();
        if known == 0 && !self.seen.is_empty() {
            events.notes.push(Note {
                at,
                weight: NoteWeight::Info,
                code: code::EVENTS_LOST.to_owned(),
                text: format!("the event log of the breaker `{}` was overwritten between two readings", self.name),
            });
        }
        events.changes = now[known..]
            .iter()
            .map(|(_, change)| {
                let (from, to) = states(change);
                BreakerReading {
                    at,
                    source: "events".to_owned(),
                    name: self.name.clone(),
                    from: Some(from),
                    state: to,
                    not_permitted: None,
                }
            })
            .collect();
        self.seen = now;
        Ok(events)
    }

    /// Moment and change of each event of that breaker.
    fn listed(&self, document: &Value) -> Result<Vec<(String, String)>, ProbeError> {
        let wrong = |pointer: &str, found: Option<&Value>, expected| ProbeError::Pointer {
            url: self.url.clone(),
            pointer: pointer.to_owned(),
            found: kind(found),
            expected,
        };
        let found = document.get("circuitBreakerEvents");
        let Some(Value::Array(list)) = found else {
            return Err(wrong("/circuitBreakerEvents", found, "the list of events of a Spring actuator"));
        };
        let mut changes = Vec::new();
        for (i, event) in list.iter().enumerate() {
            let text = |name: &str| event.get(name).and_then(Value::as_str);
            if text("circuitBreakerName") != Some(&self.name) || text("type") != Some("STATE_TRANSITION") {
                continue;
            }
            let Some(change) = text("stateTransition") else {
                let pointer = format!("/circuitBreakerEvents/{i}/stateTransition");
                return Err(wrong(&pointer, event.get("stateTransition"), "a change such as CLOSED_TO_OPEN"));
            };
            changes.push((text("creationTime").unwrap_or_default().to_owned(), change.to_owned()));
        }
        Ok(changes)
    }
}

/// How many of `now`'s first entries are the last ones of `before`.
fn overlap(before: &[(String, String)], now: &[(String, String)]) -> usize {
    let most = before.len().min(now.len());
    (0..=most).rev().find(|n| before[before.len() - n..] == now[..*n]).unwrap_or(0)
}

/// `HALF_OPEN_TO_CLOSED` as two states.
fn states(change: &str) -> (BreakerState, BreakerState) {
    change
        .split_once("_TO_")
        .map_or((BreakerState::Unknown, BreakerState::Unknown), |(from, to)| (common_word(from), common_word(to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(changes: &[(u32, &str)]) -> Vec<(String, String)> {
        changes.iter().map(|(at, change)| (at.to_string(), (*change).to_owned())).collect()
    }

    /// Proves that each change is read once: over a log that grows, one that turns over, one that stays, and one that was
    /// overwritten whole.
    #[test]
    fn the_log_is_a_ring() {
        let before = log(&[(1, "CLOSED_TO_OPEN"), (2, "OPEN_TO_HALF_OPEN")]);
        assert_eq!(overlap(&before, &log(&[(1, "CLOSED_TO_OPEN"), (2, "OPEN_TO_HALF_OPEN"), (3, "X")])), 2);
        assert_eq!(overlap(&before, &log(&[(2, "OPEN_TO_HALF_OPEN"), (3, "HALF_OPEN_TO_OPEN")])), 1);
        assert_eq!(overlap(&before, &before), 2);
        assert_eq!(overlap(&before, &log(&[(8, "CLOSED_TO_OPEN"), (9, "OPEN_TO_HALF_OPEN")])), 0);
        assert_eq!(overlap(&[], &before), 0);
    }

    /// Proves that every change of resilience4j is taken apart at the right place.
    #[test]
    fn changes_are_two_states() {
        assert_eq!(states("HALF_OPEN_TO_OPEN"), (BreakerState::HalfOpen, BreakerState::Open));
        assert_eq!(states("FORCED_OPEN_TO_CLOSED"), (BreakerState::ForcedOpen, BreakerState::Closed));
        assert_eq!(states("CLOSED_TO_METRICS_ONLY"), (BreakerState::Closed, BreakerState::MetricsOnly));
        assert_eq!(states("ODD"), (BreakerState::Unknown, BreakerState::Unknown));
    }
}
