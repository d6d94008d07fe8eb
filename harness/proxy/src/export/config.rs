//! Where spans are sent to, and as whom.

use super::post::Collector;
use crate::api::decoded;

/// What the exporter calls itself by default.
const SERVICE: &str = "chaos-proxy";

/// Where spans are sent to, and as whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtlpConfig {
    /// The URL that spans are posted to.
    pub traces_url: String,
    /// Headers of every post, for collectors that want a key.
    pub headers: Vec<(String, String)>,
    /// `service.name` of the spans.
    pub service: String,
}

/// Why spans cannot be exported so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OtlpError {
    /// The endpoint is no URL that can be posted to.
    #[error("`{url}` is no OTLP endpoint: {reason}; write it as http://host:4318")]
    Endpoint {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A header cannot be sent.
    #[error("the OTLP header `{0}` is not usable; write key=value, several with commas between them")]
    Header(String),
    /// The environment asks for another protocol.
    #[error("OTEL_EXPORTER_OTLP_PROTOCOL asks for `{0}`; this exporter speaks http/json, to port 4318 of a collector")]
    Protocol(String),
}

impl OtlpConfig {
    /// A collector by its base URL, such as `http://127.0.0.1:4318`; spans go to `/v1/traces` below it.
    #[must_use]
    pub fn new(endpoint: impl AsRef<str>) -> Self {
        let traces_url = format!("{}/v1/traces", endpoint.as_ref().trim_end_matches('/'));
        Self { traces_url, headers: Vec::new(), service: SERVICE.to_owned() }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets `service.name`.
    #[must_use]
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.service = name.into();
        self
    }

    /// What OpenTelemetry's environment variables ask for; `endpoint` goes before theirs. `None` when neither names one.
    ///
    /// Read are `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, `OTEL_EXPORTER_OTLP_ENDPOINT`, the `_HEADERS` and `_PROTOCOL` of
    /// both, `OTEL_SERVICE_NAME` and `OTEL_SDK_DISABLED`.
    ///
    /// # Errors
    /// When the endpoint or the headers are not usable, or the environment alone asks for an export in another protocol.
    pub fn from_env(endpoint: Option<&str>, var: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, OtlpError> {
        let var = |name: &str| var(name).filter(|value| !value.trim().is_empty());
        let of_traces = |what: &str| {
            var(&format!("OTEL_EXPORTER_OTLP_TRACES_{what}")).or_else(|| var(&format!("OTEL_EXPORTER_OTLP_{what}")))
        };
        let disabled = var("OTEL_SDK_DISABLED").is_some_and(|on| on.eq_ignore_ascii_case("true"));
        let mut config = match (endpoint, var("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), var("OTEL_EXPORTER_OTLP_ENDPOINT"))
        {
            (Some(endpoint), ..) => Self::new(endpoint),
            _ if disabled => return Ok(None),
            (None, Some(traces_url), _) => Self { traces_url, ..Self::new("") },
            (None, None, Some(endpoint)) => Self::new(endpoint),
            (None, None, None) => return Ok(None),
        };
        if let Some(protocol) = of_traces("PROTOCOL")
            && endpoint.is_none()
            && !protocol.starts_with("http/")
        {
            return Err(OtlpError::Protocol(protocol));
        }
        if let Some(headers) = of_traces("HEADERS") {
            config.headers = pairs(&headers)?;
        }
        if let Some(service) = var("OTEL_SERVICE_NAME") {
            config.service = service;
        }
        Collector::of(&config)?;
        Ok(Some(config))
    }
}

/// Reads `key=value,key=value`, whose values are percent-encoded.
fn pairs(text: &str) -> Result<Vec<(String, String)>, OtlpError> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        Some((decoded(name.trim())?, decoded(value.trim())?))
    };
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    pairs.map(|text| pair(text).ok_or_else(|| OtlpError::Header(text.to_owned()))).collect()
}
