//! What happens at the point where a fault strikes, as far as connections and requests share it.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use evidence::Struck;

use crate::clock::{Clock, pause};
use crate::engine::{Held, Passage, Strike};
use crate::rules::{Effect, GrpcStatus, HoldThen, Http2Code, Malformed, Part, Patch, RetryAfter};

/// Whether the exchange goes on after its fault.
#[derive(Debug)]
pub(crate) enum Onward {
    /// It does: the fault was only a wait.
    GoOn,
    /// It does, but not as it was.
    Change(Change),
    /// It does not.
    End(Terminal),
}

/// Effects that an exchange goes on with.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// The request is delivered so many times more, each delivery so long behind the one before.
    Copies { times: u32, after: Duration },
    /// The rest is delivered slowly.
    Trickle(Pace),
    /// The head of the answer is changed; the time of `Retry-After` is told, and stands among the fields to be set.
    Patch(Patch),
}

/// Slow delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    pub(crate) bytes: usize,
    pub(crate) every: Duration,
    pub(crate) part: Part,
}

/// Effects that end an exchange.
#[derive(Debug)]
pub(crate) enum Terminal {
    Reply {
        status: u16,
        headers: BTreeMap<String, String>,
        body: String,
    },
    Reset,
    Close,
    Hang,
    /// `noise` is the seed of bytes that mean nothing.
    Malformed {
        kind: Malformed,
        noise: u64,
    },
    RstStream(Http2Code),
    GoAway {
        code: Http2Code,
        last_stream: Option<u32>,
    },
    GrpcStatus(GrpcStatus),
}

impl Terminal {
    /// The nearest thing that HTTP/1.1 has.
    pub(crate) fn on_http1(self) -> Self {
        match self {
            Self::RstStream(_) => Self::Reset,
            Self::GoAway { .. } => Self::Close,
            Self::GrpcStatus(status) => {
                let headers = crate::h2::grpc_fields(&status).collect();
                Self::Reply { status: 200, headers, body: String::new() }
            }
            other => other,
        }
    }
}

/// Carries out a wait, and hands back what ends the exchange. The caller watches the client meanwhile and drops this
/// when the client leaves; `slot` then has what is known so far.
pub(crate) async fn strike(strike: &Strike, slot: &mut Option<Struck>, clock: Clock, who: Held) -> Onward {
    let struck = slot.insert(strike.land());
    match &strike.fault.effect {
        Effect::Delay(_) => {
            let from = clock.now();
            pause(strike.delay.unwrap_or_default()).await;
            struck.delay_injected_ns = u64::try_from(clock.now().since(from).as_nanos()).ok();
            Onward::GoOn
        }
        Effect::Hold { timeout_ms, then } => {
            let since = clock.now();
            struck.held = Some(since);
            let who = Held { since, ..who };
            let passage = strike.rule.gate.pass(who, Duration::from_millis(*timeout_ms)).await;
            struck.released = Some(clock.now());
            match (passage, then) {
                (Passage::TimedOut, HoldThen::Reset) => Onward::End(Terminal::Reset),
                _ => Onward::GoOn,
            }
        }
        Effect::Reply { status, headers, body, retry_after } => {
            let headers = with_retry_after(headers, retry_after.as_ref());
            Onward::End(Terminal::Reply { status: *status, headers, body: body.clone() })
        }
        Effect::Duplicate { times, after_ms } => {
            Onward::Change(Change::Copies { times: *times, after: milliseconds(*after_ms) })
        }
        Effect::Trickle(trickle) => {
            let bytes = usize::try_from(trickle.bytes).unwrap_or(usize::MAX);
            Onward::Change(Change::Trickle(Pace { bytes, every: milliseconds(trickle.every_ms), part: trickle.part }))
        }
        Effect::PatchResponse(patch) => {
            let set = with_retry_after(&patch.set, patch.retry_after.as_ref());
            Onward::Change(Change::Patch(Patch { set, retry_after: None, ..patch.clone() }))
        }
        Effect::Malformed { kind } => Onward::End(Terminal::Malformed { kind: *kind, noise: strike.noise }),
        Effect::Reset => Onward::End(Terminal::Reset),
        Effect::Close => Onward::End(Terminal::Close),
        Effect::Hang => Onward::End(Terminal::Hang),
        Effect::RstStream { code } => Onward::End(Terminal::RstStream(*code)),
        Effect::GoAway { code, last_stream } => {
            Onward::End(Terminal::GoAway { code: *code, last_stream: *last_stream })
        }
        Effect::GrpcStatus(status) => Onward::End(Terminal::GrpcStatus(status.clone())),
    }
}

fn with_retry_after(fields: &BTreeMap<String, String>, form: Option<&RetryAfter>) -> BTreeMap<String, String> {
    let field = form.map(|form| ("Retry-After".to_owned(), form.value(SystemTime::now())));
    fields.clone().into_iter().chain(field).collect()
}

fn milliseconds(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}
