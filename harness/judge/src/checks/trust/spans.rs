//! H3: the service's spans tell of the same attempts as the wire.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::H3;
use crate::checks::support::{Case, Tally, attempt_line, requests};
use crate::evidence::{Attempt, Evidence, Joined, Span, SpanId, SpanKind, TraceId};
use crate::finding::Line;

const DROPPED: &str = H3.bug_classes[0];
const NOT_PROPAGATED: &str = H3.bug_classes[1];
const ONE_SPAN: &str = H3.bug_classes[2];

/// Share of attempts that may be without a span.
const UNMATCHED: f64 = 0.02;

/// Steps after which the harness kills the service: the spans that it had not yet exported die with it.
const BEFORE_A_KILL: [&str; 4] = ["first", "replay", "accepted", "start/1"];

type SpanKey = (TraceId, SpanId);

/// **H3** The service's own spans tell of the same attempts as the wire.
///
/// - *Measure*: CLIENT spans against attempts: an attempt's `traceparent` names the span that made it. Attempts of
///   payments that were sent before the harness killed the service are left out.
/// - *Test*: a matched span tells the status that the wire shows; no span towards the dependency tells of an answer that
///   the wire never gave. Either contradiction fails.
/// - *False alarms*: none, records are matched by identity.
/// - *Inconclusive*: no CLIENT spans; more than 2 % of the attempts without one; one span for several attempts; spans
///   of calls that never reached the wire in excess of the connections that a fault refused.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "steady".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::trust};
///
/// let finding = trust::spans_match_wire("bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// ```
#[must_use]
pub fn spans_match_wire(link: &str) -> Check {
    let link = link.to_owned();
    Check::new(H3, move |evidence| judge(evidence, &link))
}

fn judge(evidence: &Evidence, link: &str) -> Finding {
    let case = Case::new(
        H3,
        evidence,
        link,
        "one CLIENT span for each attempt, with the status that the wire shows".to_owned(),
    );
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |o| !BEFORE_A_KILL.contains(&o.step.as_str()));
    let attempts: Vec<&Attempt> = asked.iter().flat_map(|r| r.attempts.iter().copied()).collect();
    if attempts.is_empty() {
        return case.did_not_run("of any scenario that reaches the link");
    }
    let traces: HashSet<TraceId> = asked.iter().map(|r| r.outcome.context.trace).collect();
    let witness = Witness::of(evidence, &attempts, &traces);
    let mut tally = Tally { judged: witness.matched.len(), ..Tally::default() };
    tally.count("attempts", attempts.len());
    tally.count("attempts with a CLIENT span", witness.matched.len());
    tally.count("CLIENT spans without an attempt", witness.unmatched.len());
    witness.contradictions(&mut tally);
    witness.shortfall(&attempts, joined.refused.len(), &mut tally);
    let pass = format!(
        "{} of {} attempts have their CLIENT span, none contradicts the wire",
        witness.matched.len(),
        attempts.len()
    );
    case.conclude(tally, pass)
}

/// Attempts and spans, matched.
struct Witness<'a> {
    /// Attempts with their span.
    matched: Vec<(&'a Attempt, &'a Span)>,
    /// CLIENT spans towards this dependency that no attempt names.
    unmatched: Vec<&'a Span>,
    /// CLIENT spans of any kind in the traces of the requests.
    client_spans: usize,
    /// Attempts whose span another attempt names too.
    sharing: usize,
}

impl<'a> Witness<'a> {
    fn of(evidence: &'a Evidence, attempts: &[&'a Attempt], traces: &HashSet<TraceId>) -> Self {
        let client = evidence.spans.iter().filter(|s| s.kind == SpanKind::Client);
        // In the order of identities, so that lines about them are.
        let spans: BTreeMap<SpanKey, &Span> = client.map(|s| ((s.trace, s.span), s)).collect();
        let mut matched: Vec<(&Attempt, &Span)> = Vec::new();
        let mut named: HashSet<SpanKey> = HashSet::new();
        let mut sharing = 0;
        for attempt in attempts {
            let Some(context) = attempt.context else { continue };
            let key = (context.trace, context.parent);
            if let Some(span) = spans.get(&key) {
                if named.insert(key) {
                    matched.push((attempt, span));
                } else {
                    sharing += 1;
                }
            }
        }
        // Whoever is called under the authority of a matched span is this dependency; other CLIENT spans (a database,
        // another service) are not this link's.
        let towards: BTreeSet<String> = matched.iter().filter_map(|(_, s)| authority(s)).collect();
        let all = evidence.attempts.iter().filter_map(|a| a.context).map(|c| (c.trace, c.parent));
        let named: HashSet<SpanKey> = named.into_iter().chain(all).collect();
        let unmatched: Vec<&Span> = spans
            .iter()
            .filter(|((trace, span), s)| traces.contains(trace) && !named.contains(&(*trace, *span)) && is_http(s))
            .map(|(_, s)| *s)
            .filter(|s| authority(s).is_some_and(|a| towards.contains(&a)))
            .collect();
        let client_spans = spans.keys().filter(|(trace, _)| traces.contains(trace)).count();
        Witness { matched, unmatched, client_spans, sharing }
    }

    fn contradictions(&self, tally: &mut Tally) {
        let claims = |s: &Span| s.number("http.response.status_code").or_else(|| s.number("http.status_code"));
        let differ = |(a, s): &&(&Attempt, &Span)| match (a.reply.status, claims(s)) {
            (seen, Some(claimed)) => seen.map(u64::from) != Some(claimed),
            // A span without a status tells of no answer: that is no contradiction, the service may have left first.
            (_, None) => false,
        };
        let lying: Vec<_> = self.matched.iter().filter(differ).collect();
        if !lying.is_empty() {
            let what = format!("{} CLIENT spans tell another status than the wire", lying.len());
            let line = |(a, s): &&(&Attempt, &Span)| {
                let claimed = claims(s).map_or_else(String::new, |c| format!("its span {} tells {c}", s.span));
                attempt_line(a, a.ordinal as usize, None, &claimed)
            };
            tally.breach("", what, lying.iter().map(line).collect());
        }
        let invented: Vec<_> = self.unmatched.iter().filter(|s| claims(s).is_some()).collect();
        if !invented.is_empty() {
            let what = format!("{} CLIENT spans tell of answers that the wire never gave", invented.len());
            let line = |s: &&&Span| Line {
                at: s.start,
                key: None,
                attempt: None,
                trace: Some(s.trace.to_string()),
                text: format!("span {} ({}) tells {}, by the service's clock", s.span, s.name, claims(s).unwrap_or(0)),
            };
            tally.breach("", what, invented.iter().map(line).collect());
        }
    }

    fn shortfall(&self, attempts: &[&Attempt], refused: usize, tally: &mut Tally) {
        let lost = attempts.len() - self.matched.len();
        let untraced = attempts.iter().filter(|a| a.context.is_none()).count();
        if self.client_spans == 0 {
            let advice =
                "export the service's spans to the endpoint that the contract hands it, or set `spans = false`";
            tally.gap("the service reported no CLIENT spans", advice);
        } else if lost as f64 > UNMATCHED * attempts.len() as f64 {
            let class = match (untraced, self.sharing) {
                (n, _) if 2 * n > lost => NOT_PROPAGATED,
                (_, n) if 2 * n > lost => ONE_SPAN,
                _ => DROPPED,
            };
            tally.gap(format!("{lost} of {} attempts have no CLIENT span of their own", attempts.len()), class);
        }
        let never_sent = self.unmatched.iter().filter(|s| s.number("http.response.status_code").is_none()).count();
        if never_sent.saturating_sub(refused) as f64 > UNMATCHED * attempts.len() as f64 {
            let what =
                format!("{never_sent} CLIENT spans tell of calls that the wire never saw, and {refused} were refused");
            tally.gap(what, "see that the service calls the dependency only through the link that the contract names");
        }
    }
}

fn is_http(span: &Span) -> bool {
    span.attributes.contains_key("http.request.method") || span.attributes.contains_key("http.method")
}

/// Host and port that an HTTP CLIENT span was towards.
fn authority(span: &Span) -> Option<String> {
    let text = |name: &str| span.attributes.get(name)?.as_str().map(str::to_owned);
    if let Some(port) = span.number("server.port") {
        return Some(format!("{}:{port}", text("server.address").unwrap_or_default()));
    }
    let url = text("url.full").or_else(|| text("http.url"))?;
    Some(url.split("://").nth(1)?.split(['/', '?']).next()?.to_owned())
}
