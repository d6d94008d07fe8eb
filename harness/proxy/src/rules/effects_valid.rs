//! What must hold of an effect, and where each may strike.

use std::collections::BTreeMap;

use super::validate::{Check, MAX_MS, is_token};
use super::{Effect, GrpcStatus, Patch, Phase, RetryAfter, RuleError, Trickle};

/// The largest body of a reply.
const MAX_REPLY_BYTES: usize = 1 << 20;
/// The longest message of a gRPC status.
const MAX_GRPC_MESSAGE_BYTES: usize = 4096;
/// The highest number of an HTTP/2 stream.
const MAX_STREAM: u32 = (1 << 31) - 1;
/// The most further deliveries of one request.
const MAX_COPIES: u32 = 100;
/// How far a date of `Retry-After` may be away: ten years.
const MAX_DATE_S: u64 = 315_360_000;

type Fields = BTreeMap<String, String>;

impl Check<'_> {
    pub(super) fn grpc(&self, field: &str, at: Phase, status: &GrpcStatus) -> Result<(), RuleError> {
        let fits = status.message.as_ref().is_none_or(|m| m.len() <= MAX_GRPC_MESSAGE_BYTES);
        self.that(&format!("{field}.message"), fits, "must not be longer than 4096 bytes")?;
        let holds = status.retry_pushback_ms.is_none_or(|ms| (-1..=MAX_MS as i64).contains(&ms));
        self.that(&format!("{field}.retry_pushback_ms"), holds, "must be -1 (do not retry) to 86400000 (a day)")?;
        let holds = !status.after_messages || at == Phase::Response;
        self.that(&format!("{field}.after_messages"), holds, "goes with `at = \"response\"` only")
    }

    pub(super) fn effect(&self, field: &str, effect: &Effect) -> Result<(), RuleError> {
        match effect {
            Effect::Reset | Effect::Close | Effect::Hang | Effect::RstStream { .. } => Ok(()),
            Effect::GoAway { last_stream, .. } => {
                let holds = last_stream.is_none_or(|n| n <= MAX_STREAM);
                self.that(&format!("{field}.last_stream"), holds, "must be at most 2147483647")
            }
            Effect::Hold { timeout_ms, .. } => {
                let holds = (1..=MAX_MS).contains(timeout_ms);
                self.that(&format!("{field}.timeout_ms"), holds, "must be 1 to 86400000 (a day)")
            }
            Effect::Delay(delay) => match delay.check() {
                Ok(()) => Ok(()),
                Err(e) => self.that(&format!("{field}.{}", e.field), false, &e.expected),
            },
            Effect::Reply { status, headers, body, retry_after } => {
                self.status(field, *status)?;
                let bodiless = matches!(status, 204 | 304);
                self.that(&format!("{field}.body"), !bodiless || body.is_empty(), "cannot go with this status")?;
                let fits = body.len() <= MAX_REPLY_BYTES;
                self.that(&format!("{field}.body"), fits, "must not be longer than 1 MiB")?;
                self.fields(&format!("{field}.headers"), headers)?;
                self.retry_after(field, retry_after.as_ref(), headers)
            }
            Effect::Duplicate { times, after_ms } => {
                let holds = (1..=MAX_COPIES).contains(times);
                self.that(&format!("{field}.times"), holds, "must be 1 to 100")?;
                self.delay(&format!("{field}.after_ms"), *after_ms)
            }
            Effect::Trickle(Trickle { bytes, every_ms, .. }) => {
                self.that(&format!("{field}.bytes"), *bytes > 0, "must be at least 1")?;
                self.delay(&format!("{field}.every_ms"), *every_ms)
            }
            Effect::PatchResponse(patch) => self.patch(field, patch),
            Effect::Malformed { .. } => Ok(()),
            // Checked with its phase.
            Effect::GrpcStatus(_) => Ok(()),
        }
    }

    fn delay(&self, field: &str, ms: f64) -> Result<(), RuleError> {
        // `contains` also refuses NaN.
        self.that(field, (0.0..=MAX_MS as f64).contains(&ms), "must be 0 to 86400000 (a day)")
    }

    fn status(&self, field: &str, status: u16) -> Result<(), RuleError> {
        self.that(&format!("{field}.status"), (200..=599).contains(&status), "must be 200 to 599")
    }

    fn patch(&self, field: &str, patch: &Patch) -> Result<(), RuleError> {
        self.that(
            field,
            *patch != Patch::default(),
            "changes nothing: give `status`, `set`, `remove` or `retry_after`",
        )?;
        if let Some(status) = patch.status {
            self.status(field, status)?;
            let reason = "cannot be 204 or 304: the upstream's body comes as it is";
            self.that(&format!("{field}.status"), !matches!(status, 204 | 304), reason)?;
        }
        self.fields(&format!("{field}.set"), &patch.set)?;
        patch.remove.iter().try_for_each(|name| self.name(&format!("{field}.remove.{name}"), name))?;
        self.retry_after(field, patch.retry_after.as_ref(), &patch.set)
    }

    fn retry_after(&self, field: &str, form: Option<&RetryAfter>, fields: &Fields) -> Result<(), RuleError> {
        let Some(form) = form else { return Ok(()) };
        let twice = fields.keys().any(|name| name.eq_ignore_ascii_case("retry-after"));
        let field = format!("{field}.retry_after");
        self.that(&field, !twice, "is among the header fields too: leave one out")?;
        match form {
            RetryAfter::Seconds(_) => Ok(()),
            RetryAfter::HttpDateInS(seconds) => {
                let reason = "must be within ten years (315360000 s)";
                self.that(&format!("{field}.http_date_in_s"), seconds.unsigned_abs() <= MAX_DATE_S, reason)
            }
            RetryAfter::Text(text) => self.value(&format!("{field}.text"), text),
        }
    }

    fn fields(&self, field: &str, fields: &Fields) -> Result<(), RuleError> {
        fields.iter().try_for_each(|(name, value)| {
            let field = format!("{field}.{name}");
            self.name(&field, name)?;
            self.value(&field, value)
        })
    }

    fn name(&self, field: &str, name: &str) -> Result<(), RuleError> {
        self.that(field, is_token(name), "is not a header name")?;
        let ours = ["content-length", "transfer-encoding", "connection"];
        let free = !ours.iter().any(|o| name.eq_ignore_ascii_case(o));
        self.that(field, free, "is set by the proxy itself: leave it out")
    }

    fn value(&self, field: &str, value: &str) -> Result<(), RuleError> {
        let holds = value.bytes().all(|b| b == b'\t' || (b >= b' ' && b != 0x7f));
        self.that(field, holds, "must not have control characters")
    }
}

/// Effects that mean something at a phase.
pub(super) fn effects_at(phase: Phase) -> &'static str {
    match phase {
        Phase::Connect => "delay, reset, close, hang, hold",
        Phase::Request => {
            "reply, delay, reset, close, hang, hold, duplicate, trickle, malformed, rst_stream, goaway, grpc_status"
        }
        Phase::Forwarded => {
            "reply, delay, reset, close, hang, hold, duplicate, malformed, rst_stream, goaway, grpc_status"
        }
        Phase::ResponseHead => {
            "reply, delay, reset, close, hang, hold, trickle, patch_response, rst_stream, goaway, grpc_status"
        }
        Phase::ResponseBody => "delay, reset, close, hang, hold, rst_stream, goaway, grpc_status",
        Phase::Response => {
            "reply, delay, reset, close, hang, hold, trickle, patch_response, malformed, rst_stream, goaway, grpc_status"
        }
    }
}
