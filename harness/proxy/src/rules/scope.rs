//! Scopes: a part of a proxy's calls with rules, counters and a seed of its own, so that tests beside each other can
//! share one proxy.

use serde::{Deserialize, Serialize};

use super::matching::{Call, HeaderIs};
use super::validate::is_token;

/// The longest name of a scope.
const MAX_NAME_BYTES: usize = 200;

/// A scope. A call belongs to the first scope, in the order they were added, that it fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeConfig {
    /// Its name, unique within the proxy.
    pub name: String,
    /// Which calls belong to it.
    #[serde(rename = "match")]
    pub matching: ScopeMatch,
    /// Seed of the draws of its rules; the proxy's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The lease it ends with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
}

/// Conditions that all have to hold; at least one is given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeMatch {
    /// What the link's name begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_prefix: Option<String>,
    /// A header field that is present, with this value if one is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<HeaderIs>,
    /// What the key begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_prefix: Option<String>,
}

/// Why a scope cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// A field's value does not hold.
    #[error("scope `{scope}`: `{field}` {reason}")]
    BadField {
        /// The scope.
        scope: String,
        /// Path of the field.
        field: &'static str,
        /// What would do.
        reason: &'static str,
    },
    /// A scope of that name is there.
    #[error("scope `{scope}`: a scope of that name is there; remove it first or choose another name")]
    Duplicate {
        /// The scope.
        scope: String,
    },
    /// No scope of that name.
    #[error("there is no scope `{scope}`")]
    Unknown {
        /// The name that was asked for.
        scope: String,
    },
    /// It names a lease that is over or was never granted.
    #[error("scope `{scope}`: there is no lease `{lease}`; it has ended, or was never granted")]
    UnknownLease {
        /// The scope.
        scope: String,
        /// The lease.
        lease: String,
    },
    /// Too many scopes.
    #[error("more than {limit} scopes; remove some first")]
    TooMany {
        /// The limit.
        limit: usize,
    },
}

impl ScopeError {
    /// The field that does not hold, when it is one.
    #[must_use]
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::BadField { field, .. } => Some(field),
            Self::Duplicate { .. } => Some("name"),
            Self::UnknownLease { .. } => Some("lease"),
            Self::Unknown { .. } | Self::TooMany { .. } => None,
        }
    }
}

impl ScopeConfig {
    /// A scope of the calls for which `matching` holds.
    #[must_use]
    pub fn new(name: impl Into<String>, matching: ScopeMatch) -> Self {
        Self { name: name.into(), matching, seed: None, lease: None }
    }

    /// A scope of the calls that carry this header field with this value.
    #[must_use]
    pub fn of_header(name: impl Into<String>, header: impl Into<String>, value: impl Into<String>) -> Self {
        let header = HeaderIs { name: header.into(), value: Some(value.into()) };
        Self::new(name, ScopeMatch { header: Some(header), ..ScopeMatch::default() })
    }

    /// A scope of the links whose names begin so.
    #[must_use]
    pub fn of_links(name: impl Into<String>, prefix: impl Into<String>) -> Self {
        Self::new(name, ScopeMatch { link_prefix: Some(prefix.into()), ..ScopeMatch::default() })
    }

    /// A scope of the keys that begin so.
    #[must_use]
    pub fn of_keys(name: impl Into<String>, prefix: impl Into<String>) -> Self {
        Self::new(name, ScopeMatch { key_prefix: Some(prefix.into()), ..ScopeMatch::default() })
    }

    /// Sets the seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the lease it ends with.
    #[must_use]
    pub fn lease(mut self, lease: impl Into<String>) -> Self {
        self.lease = Some(lease.into());
        self
    }

    /// Checks everything that can be checked without knowing the proxy.
    ///
    /// # Errors
    /// Names the first field that does not hold, and what would.
    pub fn validate(&self) -> Result<(), ScopeError> {
        let that = |field, holds, reason| {
            if holds { Ok(()) } else { Err(ScopeError::BadField { scope: self.name.clone(), field, reason }) }
        };
        let name = &self.name;
        let holds = !name.trim().is_empty()
            && name.len() <= MAX_NAME_BYTES
            && !name.contains(|c: char| c.is_control() || c == '/');
        that("name", holds, "must be 1 to 200 bytes without `/` and control characters")?;
        let some = self.matching != ScopeMatch::default();
        that("match", some, "must have a condition: give `link_prefix`, `header` or `key_prefix`")?;
        let header = self.matching.header.as_ref();
        that("match.header.name", header.is_none_or(|h| is_token(&h.name)), "must be a header name such as `x-test-id`")
    }
}

impl ScopeMatch {
    /// Whether it looks at nothing that only a request has.
    pub(crate) fn knows_connections(&self) -> bool {
        self.header.is_none() && self.key_prefix.is_none()
    }

    /// Whether a call belongs to it; `None` is a connection before its first request.
    pub(crate) fn fits(&self, link: &str, call: Option<&Call<'_>>) -> bool {
        let Some(call) = call else { return self.knows_connections() && self.link_fits(link) };
        self.link_fits(link)
            && self.header.as_ref().is_none_or(|h| h.fits(call.headers))
            && self.key_prefix.as_ref().is_none_or(|p| call.key.is_some_and(|key| key.starts_with(p.as_str())))
    }

    fn link_fits(&self, link: &str) -> bool {
        self.link_prefix.as_ref().is_none_or(|prefix| link.starts_with(prefix.as_str()))
    }
}
