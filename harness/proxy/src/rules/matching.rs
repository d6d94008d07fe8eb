//! Which calls a rule looks at.

use evidence::TraceId;
use serde::{Deserialize, Serialize};

/// Conditions that all have to hold; an absent one always does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// The request method, exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The request target without its query, exactly; with a trailing `*`, what it begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The key, exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What the key begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_prefix: Option<String>,
    /// A header field that is present, with this value if one is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<HeaderIs>,
    /// The attempt's ordinal within its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<OrdinalRange>,
    /// The trace that the call belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
}

/// A header field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderIs {
    /// Its name, in any case.
    pub name: String,
    /// Its value, exactly; any when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// Ordinals from 1; both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrdinalRange {
    /// The first one; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// The last one; no end when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u32>,
}

/// What a rule can look at in a call.
pub(crate) struct Call<'a> {
    pub(crate) method: &'a str,
    pub(crate) target: &'a str,
    pub(crate) key: Option<&'a str>,
    pub(crate) ordinal: u32,
    pub(crate) trace: Option<TraceId>,
    pub(crate) headers: &'a [(String, String)],
}

impl Match {
    /// Whether it looks at every call.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self == Match::default()
    }

    pub(crate) fn fits(&self, call: &Call<'_>) -> bool {
        let path = call.target.split('?').next().unwrap_or_default();
        self.method.as_ref().is_none_or(|m| m == call.method)
            && self.path.as_ref().is_none_or(|p| path_fits(p, path))
            && self.key.as_ref().is_none_or(|k| call.key == Some(k))
            && self.key_prefix.as_ref().is_none_or(|k| call.key.is_some_and(|key| key.starts_with(k.as_str())))
            && self.header.as_ref().is_none_or(|h| h.fits(call.headers))
            && self.ordinal.is_none_or(|o| o.contains(call.ordinal))
            && self.trace.is_none_or(|t| call.trace == Some(t))
    }
}

fn path_fits(wanted: &str, path: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => path == wanted,
    }
}

impl HeaderIs {
    pub(super) fn fits(&self, headers: &[(String, String)]) -> bool {
        headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case(&self.name))
            .any(|(_, value)| self.value.as_ref().is_none_or(|v| v == value))
    }
}

impl OrdinalRange {
    /// Whether it holds `ordinal`.
    #[must_use]
    pub fn contains(&self, ordinal: u32) -> bool {
        self.from.is_none_or(|from| ordinal >= from) && self.to.is_none_or(|to| ordinal <= to)
    }
}
