//! The query of a call on our own paths, read strictly: a parameter that nobody reads is refused, not ignored.

use std::str::FromStr;

use crate::api::{Reply, Request};

/// The parameters of one call.
#[derive(Debug)]
pub(super) struct Query<'a> {
    request: &'a Request,
}

impl<'a> Query<'a> {
    /// Takes the query if it has no other parameters than these, each once.
    pub(super) fn of(request: &'a Request, known: &[&str]) -> Result<Self, Reply> {
        let mut seen: Vec<&str> = Vec::new();
        for pair in request.query.split('&').filter(|pair| !pair.is_empty()) {
            let name = pair.split_once('=').map_or(pair, |(name, _)| name);
            if !known.contains(&name) {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(refused(name, &format!("is no parameter of this call; it takes {known}")));
            }
            if seen.contains(&name) {
                return Err(refused(name, "is given twice"));
            }
            seen.push(name);
            if request.parameter(name).is_none() {
                return Err(refused(name, "cannot be decoded; percent-encode its UTF-8"));
            }
        }
        Ok(Self { request })
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.request.parameter(name)
    }

    /// A whole number from `least` to `most`; `absent` when it is not given.
    pub(super) fn number<N>(&self, name: &str, absent: Option<N>, least: N, most: N) -> Result<N, Reply>
    where
        N: FromStr + PartialOrd + std::fmt::Display,
    {
        let Some(text) = self.text(name) else {
            return absent.ok_or_else(|| refused(name, "is missing"));
        };
        match text.parse::<N>() {
            Ok(n) if n >= least && n <= most => Ok(n),
            _ => Err(refused(name, &format!("has to be a whole number from {least} to {most}, not `{text}`"))),
        }
    }

    /// One of some words.
    pub(super) fn word(&self, name: &str, words: &[&'static str]) -> Result<Option<&'static str>, Reply> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match words.iter().find(|word| **word == text) {
            Some(word) => Ok(Some(word)),
            None => Err(refused(name, &format!("has to be one of {}, not `{text}`", words.join(", ")))),
        }
    }
}

fn refused(field: &str, what: &str) -> Reply {
    Reply::refused_field(400, field, format!("`{field}` {what}"))
}
