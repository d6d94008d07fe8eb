//! The breaker probe: what the service says of its circuit breaker.

use std::collections::BTreeMap;

use judge::evidence::{BreakerReading, BreakerState, Note, NoteWeight, TimeBase};
use serde_json::Value;

use super::fetch::{excerpt, get, get_json, kind};
use super::prometheus::{Sample, plausible, samples};
use super::{ProbeError, ProbeLimits, Probed, code};
use crate::clock::Clock;

/// The service's words for states.
pub type WordMap = BTreeMap<String, BreakerState>;

/// resilience4j's names in Prometheus text.
const PREFIX: &str = "resilience4j_circuitbreaker_";
const STATE: &str = "resilience4j_circuitbreaker_state";
/// Micrometer's counter, and the simple client's, which has the kinds of calls in one family.
const NOT_PERMITTED: [&str; 2] =
    ["resilience4j_circuitbreaker_not_permitted_calls_total", "resilience4j_circuitbreaker_not_permitted_calls"];
const CALLS: [&str; 2] = ["resilience4j_circuitbreaker_calls_total", "resilience4j_circuitbreaker_calls"];

/// Where to read a breaker's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BreakerProbe {
    /// Spring's `/actuator/circuitbreakers`.
    Actuator {
        /// The URL.
        url: String,
        /// The breaker's name.
        name: String,
    },
    /// Prometheus text with resilience4j's names.
    Prometheus {
        /// The URL.
        url: String,
        /// The breaker's name.
        name: String,
    },
    /// Any JSON.
    Json {
        /// The URL.
        url: String,
        /// The breaker's name, for the evidence.
        name: String,
        /// JSON pointer to the state.
        pointer: String,
        /// The service's words for states; those that everybody uses are known without it.
        words: WordMap,
        /// JSON pointer to the number of calls not permitted so far, if there is one.
        not_permitted: Option<String>,
    },
}

struct Seen {
    name: String,
    word: String,
    state: BreakerState,
    not_permitted: Option<u64>,
}

impl BreakerProbe {
    /// The word for it in the evidence.
    #[must_use]
    pub fn source(&self) -> &'static str {
        match self {
            Self::Actuator { .. } => "actuator",
            Self::Prometheus { .. } => "prometheus",
            Self::Json { .. } => "json",
        }
    }

    /// Reads the state. The moment is that of the answer.
    ///
    /// # Errors
    /// When the endpoint cannot be read or does not have the breaker.
    pub async fn read(&self, time: &TimeBase, limits: &ProbeLimits) -> Result<Probed<BreakerReading>, ProbeError> {
        let seen = match self {
            Self::Actuator { url, name } => actuator(url, name, &get_json(url, limits).await?)?,
            Self::Prometheus { url, name } => {
                let body = get(url, "text/plain;version=0.0.4", limits).await?;
                prometheus(url, name, &body)?
            }
            Self::Json { url, name, pointer, words, not_permitted } => {
                let document = get_json(url, limits).await?;
                let (word, not_permitted) = json(url, pointer, not_permitted.as_deref(), &document)?;
                let state = words.get(&word).copied().unwrap_or_else(|| common_word(&word));
                Seen { name: name.clone(), word, state, not_permitted }
            }
        };
        let at = Clock::from_base(*time).now();
        let unknown = (seen.state == BreakerState::Unknown).then(|| Note {
            at,
            weight: NoteWeight::Info,
            code: code::UNKNOWN_WORD.to_owned(),
            text: format!("the breaker `{}` says `{}`, which is no known state; map the word", seen.name, seen.word),
        });
        let reading = BreakerReading {
            at,
            source: self.source().to_owned(),
            name: seen.name,
            from: None,
            state: seen.state,
            not_permitted: seen.not_permitted,
        };
        Ok(Probed { reading, notes: unknown.into_iter().collect() })
    }
}

fn actuator(url: &str, name: &str, document: &Value) -> Result<Seen, ProbeError> {
    let wrong = |pointer: &str, found: Option<&Value>, expected| ProbeError::Pointer {
        url: url.to_owned(),
        pointer: pointer.to_owned(),
        found: kind(found),
        expected,
    };
    let found = document.get("circuitBreakers");
    let Some(Value::Object(breakers)) = found else {
        return Err(wrong("/circuitBreakers", found, "the object of circuit breakers of a Spring actuator"));
    };
    let Some(breaker) = breakers.get(name) else {
        return Err(no_such(url, name, breakers.keys().map(String::as_str)));
    };
    let found = breaker.get("state");
    let Some(Value::String(word)) = found else {
        return Err(wrong(&format!("/circuitBreakers/{name}/state"), found, "the breaker's state"));
    };
    // Negative means that it was not measured.
    let not_permitted = breaker.get("notPermittedCalls").and_then(Value::as_u64);
    Ok(Seen { name: name.to_owned(), state: common_word(word), word: word.clone(), not_permitted })
}

fn prometheus(url: &str, name: &str, body: &[u8]) -> Result<Seen, ProbeError> {
    let wrong = |reason: String| ProbeError::Format {
        url: url.to_owned(),
        expected: "Prometheus text",
        reason,
        excerpt: excerpt(body),
    };
    let text = std::str::from_utf8(body).map_err(|e| wrong(e.to_string()))?;
    let found = samples(text, PREFIX).map_err(wrong)?;
    let states: Vec<_> = found.iter().filter(|s| s.name == STATE).collect();
    let mine: Vec<_> = states.iter().copied().filter(|s| s.label("name") == Some(name)).collect();
    if mine.is_empty() {
        if states.is_empty() && !plausible(text) {
            return Err(wrong("it has lines that are no samples".to_owned()));
        }
        return Err(no_such(url, name, states.iter().filter_map(|s| s.label("name"))));
    }
    let (word, state) = state_of(&mine);
    Ok(Seen { name: name.to_owned(), word, state, not_permitted: not_permitted(&found, name) })
}

/// Micrometer has one gauge for each state, 1 for the present one; older versions had a single one with the ordinal.
fn state_of(gauges: &[&Sample]) -> (String, BreakerState) {
    let present: Vec<_> = gauges.iter().filter(|g| g.label("state").is_some() && g.value > 0.0).collect();
    match (present.as_slice(), gauges) {
        ([one], _) => {
            let word = one.label("state").unwrap_or_default();
            (word.to_owned(), common_word(word))
        }
        ([], [one]) if one.label("state").is_none() => (one.value.to_string(), ordinal(one.value)),
        // The gauges are read one after another, so a scrape during a transition can show no state, or two.
        (several, _) => {
            let words: Vec<_> = several.iter().filter_map(|g| g.label("state")).collect();
            (if words.is_empty() { "no state".to_owned() } else { words.join(" and ") }, BreakerState::Unknown)
        }
    }
}

/// The values of resilience4j's `CircuitBreaker.State`.
fn ordinal(value: f64) -> BreakerState {
    const ORDER: [BreakerState; 6] = [
        BreakerState::Closed,
        BreakerState::Open,
        BreakerState::HalfOpen,
        BreakerState::Disabled,
        BreakerState::ForcedOpen,
        BreakerState::MetricsOnly,
    ];
    let found = ORDER.iter().enumerate().find(|(i, _)| *i as f64 == value);
    found.map_or(BreakerState::Unknown, |(_, state)| *state)
}

fn not_permitted(found: &[Sample], name: &str) -> Option<u64> {
    let mine = || found.iter().filter(|s| s.label("name") == Some(name));
    let own = mine().find(|s| NOT_PERMITTED.contains(&s.name.as_str()));
    let kinds = || mine().find(|s| CALLS.contains(&s.name.as_str()) && s.label("kind") == Some("not_permitted"));
    own.or_else(kinds).and_then(|s| whole(s.value))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole, positive, below 2^53"
)]
fn whole(value: f64) -> Option<u64> {
    (value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value)).then_some(value as u64)
}

/// The state's word, and the number of calls not permitted when there is a pointer to it.
fn json(
    url: &str,
    pointer: &str,
    not_permitted: Option<&str>,
    document: &Value,
) -> Result<(String, Option<u64>), ProbeError> {
    let wrong = |pointer: &str, found, expected| ProbeError::Pointer {
        url: url.to_owned(),
        pointer: pointer.to_owned(),
        found: kind(found),
        expected,
    };
    let found = document.pointer(pointer);
    let word = match found {
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
        _ => return Err(wrong(pointer, found, "the breaker's state as text, number or boolean")),
    };
    let not_permitted = match not_permitted {
        None => None,
        Some(at) => {
            let found = document.pointer(at);
            Some(found.and_then(Value::as_u64).ok_or_else(|| wrong(at, found, "the number of calls not permitted"))?)
        }
    };
    Ok((word, not_permitted))
}

/// The words that libraries use: resilience4j, opossum, gobreaker, Polly, pybreaker and hystrix differ in case and in
/// what joins the two halves of half-open.
pub(super) fn common_word(word: &str) -> BreakerState {
    let plain: String = word.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    match plain.as_str() {
        "closed" => BreakerState::Closed,
        "open" => BreakerState::Open,
        "halfopen" => BreakerState::HalfOpen,
        "disabled" => BreakerState::Disabled,
        "forcedopen" | "isolated" => BreakerState::ForcedOpen,
        "metricsonly" => BreakerState::MetricsOnly,
        _ => BreakerState::Unknown,
    }
}

fn no_such<'a>(url: &str, name: &str, known: impl Iterator<Item = &'a str>) -> ProbeError {
    let mut known: Vec<_> = known.collect();
    known.sort_unstable();
    known.dedup();
    known.truncate(20);
    let known = if known.is_empty() {
        "none (is the service's breaker registered and its endpoint exposed? a breaker may appear with its first call)"
            .to_owned()
    } else {
        known.join(", ")
    };
    ProbeError::NoSuchBreaker { url: url.to_owned(), name: name.to_owned(), known }
}
