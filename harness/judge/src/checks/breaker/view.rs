//! The wire as the breaker checks read it: client calls, and what each of them caused at the proxy.

use std::collections::HashMap;
use std::time::Duration;

use crate::checks::support::paused;
use crate::evidence::{At, Attempt, Connection, End, Evidence, Joined, Outcome};
use crate::promise::BreakerPolicy;

/// What a call caused at the proxy: a request that was read, or a connection that a fault refused.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit<'a> {
    /// First byte, or the accept of a refused connection.
    pub arrived: At,
    /// End of the exchange; the failure instant when it failed.
    pub ended: At,
    /// Whether the service got a whole reply that is no error.
    pub ok: bool,
    /// Whether it ended because the service gave up. The proxy sees that *after* the service acted on it.
    pub gave_up: bool,
    /// Whether nobody knows how long after, because the machine paused for longer than the noise bound.
    pub blurred: bool,
    /// The attempt; `None` for a refused connection.
    pub attempt: Option<&'a Attempt>,
}

impl<'a> Hit<'a> {
    fn of_attempt(a: &'a Attempt) -> Self {
        let ok = a.reply.end == End::Replied && a.reply.status.is_some_and(|s| s < 400);
        let gave_up = a.reply.end == End::ClientLeft;
        Self { arrived: a.arrived, ended: a.reply.ended, ok, gave_up, blurred: false, attempt: Some(a) }
    }

    fn of_refused(c: &Connection) -> Self {
        Self { arrived: c.accepted, ended: c.closed, ok: false, gave_up: false, blurred: false, attempt: None }
    }

    /// When a hold took it, and when it was let go.
    pub fn hold(&self) -> Option<(At, Option<At>)> {
        let struck = self.attempt?.fault.as_ref()?;
        Some((struck.held?, struck.released))
    }

    /// How it ended, in words.
    pub fn fate(&self) -> String {
        let Some(a) = self.attempt else { return "connection refused by fault".to_owned() };
        let by = a.fault.as_ref().map(|f| format!(" ({})", f.what)).unwrap_or_default();
        match (a.reply.end, a.reply.status) {
            (End::Replied, Some(status)) => format!("answered {status}{by}"),
            (End::Replied, None) => format!("answered{by}"),
            (End::Reset, _) => format!("reset{by}"),
            (End::Cut, _) => format!("cut{by}"),
            (End::ClientLeft, _) => format!("given up by the service{by}"),
            (End::UpstreamFailed, _) => "upstream failed".to_owned(),
            (End::Unfinished, _) => format!("never ended{by}"),
            (End::Malformed, _) => "not readable as HTTP/1.1".to_owned(),
        }
    }
}

/// A client call with everything that it caused on the link.
#[derive(Debug, Clone)]
pub(super) struct Call<'a> {
    /// What the client saw.
    pub outcome: &'a Outcome,
    /// What the proxy saw, in the order of arrival.
    pub hits: Vec<Hit<'a>>,
}

impl Call<'_> {
    /// Nothing of it reached the proxy: the breaker, or whoever else, refused it.
    pub fn rejected(&self) -> bool {
        self.hits.is_empty()
    }

    /// Whether it was under way at that moment.
    pub fn in_flight(&self, at: At) -> bool {
        self.outcome.sent <= at && self.outcome.ended > at
    }

    /// What the client got, in words.
    pub fn answer(&self) -> String {
        match &self.outcome.answer {
            crate::evidence::Answer::Reply(reply) => reply.status.to_string(),
            crate::evidence::Answer::TimedOut => "no answer within the driver's limit".to_owned(),
            crate::evidence::Answer::Left => "nothing: the client left on purpose".to_owned(),
            crate::evidence::Answer::Failed { error } => format!("no answer ({error})"),
        }
    }
}

/// All calls of a scenario, in the order they were sent.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// Where it comes from.
    pub evidence: &'a Evidence,
    /// The link whose breaker is judged.
    pub link: String,
    /// How many good probes close it.
    pub probes: usize,
    /// How long a good call took that nobody planned to be slow, where that may count as a failure.
    pub slow: Option<Duration>,
    /// The calls.
    pub calls: Vec<Call<'a>>,
}

impl<'a> View<'a> {
    /// Reads the calls of one link.
    pub fn of(evidence: &'a Evidence, link: &str, policy: &BreakerPolicy) -> Self {
        let joined = Joined::of(evidence, link);
        let mut outcomes: Vec<&'a Outcome> = evidence.outcomes.iter().collect();
        outcomes.sort_by_key(|o| (o.sent, o.seq));
        let mut calls: Vec<Call<'a>> = outcomes.into_iter().map(|outcome| Call { outcome, hits: Vec::new() }).collect();
        let index: HashMap<u64, usize> = calls.iter().enumerate().map(|(i, c)| (c.outcome.seq, i)).collect();
        for payment in &joined.payments {
            for outcome in &payment.outcomes {
                if let Some(call) = index.get(&outcome.seq).and_then(|i| calls.get_mut(*i)) {
                    call.hits = payment.attempts_of(outcome).into_iter().map(Hit::of_attempt).collect();
                }
            }
        }
        // A service that hands on neither key nor trace leaves only time to tell whose attempt it was. Where anything
        // joins, what does not is the service's own traffic, such as a health check of the dependency.
        if calls.iter().all(Call::rejected) {
            joined.orphan_attempts.iter().for_each(|a| give(&mut calls, Hit::of_attempt(a)));
        }
        joined.refused.iter().for_each(|c| give(&mut calls, Hit::of_refused(c)));
        calls.iter_mut().for_each(|c| c.hits.sort_by_key(|h| h.arrived));
        if paused(evidence).is_some() {
            calls.iter_mut().flat_map(|c| &mut c.hits).for_each(|h| h.blurred = h.gave_up);
        }
        let slow = slowest(&calls, policy, Duration::from_nanos(evidence.header.eps_ns));
        Self { evidence, link: link.to_owned(), probes: policy.probes as usize, slow, calls }
    }

    /// Calls of the step of exactly that name.
    pub fn step<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Call<'a>> {
        self.calls.iter().filter(move |c| c.outcome.step == name)
    }

    /// The steps `name` and `name/x` that have calls, in the order of their first call.
    pub fn steps(&self, name: &str) -> Vec<&'a str> {
        let mut found: Vec<&'a str> = Vec::new();
        for call in &self.calls {
            let step = call.outcome.step.as_str();
            if base(step) == name && !found.contains(&step) {
                found.push(step);
            }
        }
        found
    }

    /// The last call that was over before that moment.
    pub fn last_before(&self, at: At) -> Option<&Call<'a>> {
        self.calls.iter().filter(|c| c.outcome.ended <= at).max_by_key(|c| (c.outcome.ended, c.outcome.seq))
    }

    /// Everything that arrived, in the order of arrival.
    pub fn hits(&self) -> Vec<(&Call<'a>, Hit<'a>)> {
        let mut hits: Vec<_> = self.calls.iter().flat_map(|c| c.hits.iter().map(move |h| (c, *h))).collect();
        hits.sort_by_key(|(c, h)| (h.arrived, c.outcome.seq));
        hits
    }

    /// The last thing that ended before that moment.
    pub fn last_hit_before(&self, at: At) -> Option<Hit<'a>> {
        self.calls.iter().flat_map(|c| c.hits.iter()).filter(|h| h.ended <= at).max_by_key(|h| h.ended).copied()
    }
}

/// The longest good call that may have counted as slow although no step meant it to. A breaker that counts slow calls is
/// then right to do what no failure explains.
fn slowest(calls: &[Call<'_>], policy: &BreakerPolicy, eps: Duration) -> Option<Duration> {
    let meant = |step: &str| base(step) == "late" || variant(step) == "slow";
    let unplanned = calls.iter().filter(|c| !meant(&c.outcome.step)).flat_map(|c| &c.hits);
    let took = unplanned.filter(|h| h.ok).map(|h| h.ended.since(h.arrived));
    took.filter(|took| policy.may_be_slow(*took, eps)).max()
}

/// Gives what arrived to the call under way that has the fewest hits so far, the one sent first among equals: the
/// count of arrivals stays right even where their owner is a guess.
fn give<'a>(calls: &mut [Call<'a>], hit: Hit<'a>) {
    let open = calls.iter_mut().filter(|c| c.outcome.sent <= hit.arrived && hit.arrived <= c.outcome.ended);
    if let Some(call) = open.min_by_key(|c| c.hits.len()) {
        call.hits.push(hit);
    }
}

/// `trip` of `trip/2`.
pub(super) fn base(step: &str) -> &str {
    step.split_once('/').map_or(step, |(base, _)| base)
}

/// `2` of `trip/2`; empty when there is none.
pub(super) fn variant(step: &str) -> &str {
    step.split_once('/').map_or("", |(_, variant)| variant)
}

/// `probe/2` for `probe` and `2`; `probe` for an empty variant.
pub(super) fn named(base: &str, variant: &str) -> String {
    if variant.is_empty() { base.to_owned() } else { format!("{base}/{variant}") }
}
