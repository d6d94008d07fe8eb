//! R15: what the service's spans tell of its retries.

use std::collections::{BTreeMap, HashMap};

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R15;
use crate::checks::support::{
    Case, Request, Tally, attempt_line, failed, note_unjoined, paused, requests, strays_among,
};
use crate::evidence::{End, Evidence, Joined, Span, SpanId, SpanKind, TraceId};
use crate::finding::Line;

/// What may be wrong, in the order in which one explains the next: what is counted, and the class of bugs.
const KINDS: [(&str, &str); 6] = [
    ("attempts name the span of another attempt", R15.bug_classes[0]),
    ("attempts have no CLIENT span", R15.bug_classes[1]),
    ("resends are not told as resends", R15.bug_classes[2]),
    ("spans tell another resend count than the wire shows", R15.bug_classes[3]),
    ("spans tell another status than the wire", R15.bug_classes[4]),
    ("spans tell of an error where there was none, or of none where there was one", R15.bug_classes[5]),
];
const SHARED: usize = 0;
const LOST: usize = 1;
const NO_COUNT: usize = 2;
const WRONG_COUNT: usize = 3;
const WRONG_STATUS: usize = 4;
const WRONG_ERROR: usize = 5;

const RESEND: &str = "http.request.resend_count";

/// **R15** The service's spans tell of each attempt, by OpenTelemetry's conventions for HTTP.
///
/// - *Measure*: CLIENT spans against the attempts at the proxy, joined by the `traceparent` that each attempt carried.
/// - *Test*: a span for each attempt, and for that attempt alone; no `http.request.resend_count` on the first one and 1, 2,
///   3 on the next ones, connections that were refused counting as well; the status of the wire; `error.type` and the
///   span's status where, and only where, the attempt failed, an HTTP failure by its status.
/// - *False alarms*: none, records are matched by identity.
/// - *Inconclusive*: no payment was retried; no spans at all; attempts without a trace context; the service was killed
///   or had to be, so that its last spans went with it.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-table".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry};
///
/// let finding = retry::spans_tell_of_resends("bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// ```
#[must_use]
pub fn spans_tell_of_resends(link: &str) -> Check {
    let link = link.to_owned();
    Check::new(R15, move |evidence| judge(evidence, &link))
}

fn judge(evidence: &Evidence, link: &str) -> Finding {
    let promise =
        format!("a CLIENT span for each attempt, with {RESEND} on resends only, and status and error.type of the wire");
    let case = Case::new(R15, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |_| true);
    if asked.iter().all(|r| r.attempts.is_empty()) {
        return case.did_not_run("of any scenario that reaches the link");
    }
    let client = evidence.spans.iter().filter(|s| s.kind == SpanKind::Client);
    let spans: HashMap<(TraceId, SpanId), &Span> = client.map(|s| ((s.trace, s.span), s)).collect();
    let mut book = Book { spans: &spans, tally: Tally::default(), wrong: BTreeMap::new(), retried: 0 };
    if spans.is_empty() {
        book.tally.gap(
            "the service reported no CLIENT spans",
            "export the service's spans to the endpoint that the contract hands it, or set `spans = false`",
        );
        return case.conclude(book.tally, String::new());
    }
    let untraced = asked.iter().flat_map(|r| &r.attempts).filter(|a| a.context.is_none()).count();
    asked.iter().for_each(|r| book.request(r));
    let Book { mut tally, wrong, retried, .. } = book;
    tally.count("attempts with a CLIENT span of their own", tally.judged);
    tally.count("payments that were retried", retried);
    let paused = paused(evidence);
    for (kind, lines) in wrong {
        let (what, class) = KINDS[kind];
        let what = format!("{} {what}", lines.len());
        // The service's last spans die with it: those that are missing then were not lost by it.
        match died(evidence).filter(|_| kind == LOST) {
            Some(why) => tally
                .gap(format!("{what}, but {why}"), "let the service stop in its own time: raise service.stop_grace"),
            // Of an attempt that timed out unseen the span tells what the service knows, and the wire another story.
            None => {
                let excuse = paused.as_deref().filter(|_| [WRONG_COUNT, WRONG_STATUS, WRONG_ERROR].contains(&kind));
                tally.breach_unless(excuse, class, what, lines);
            }
        }
    }
    if untraced > 0 && tally.breaches.is_empty() {
        let what = format!("{untraced} attempts carry no trace context, so nobody knows their spans");
        tally.gap(what, "send `traceparent` to the dependency");
    }
    note_unjoined(strays_among(&joined, asked.iter().map(|r| r.outcome)).len(), &mut tally);
    if retried == 0 && tally.breaches.is_empty() {
        tally.gap("no payment was retried, so that no resend could be told of", "see R1, R6 and H2");
    }
    let pass = format!(
        "{} attempts of {} payments, {retried} of them retried, are told of one by one",
        tally.judged,
        asked.len()
    );
    case.conclude(tally, pass)
}

/// Why the last spans may be missing through no fault of the telemetry.
fn died(evidence: &Evidence) -> Option<&str> {
    let ends = ["service-killed", "service-crashed"];
    evidence.notes.iter().find(|n| ends.contains(&n.code.as_str())).map(|n| n.text.as_str())
}

struct Book<'x> {
    spans: &'x HashMap<(TraceId, SpanId), &'x Span>,
    tally: Tally,
    /// Lines by the index of [`KINDS`].
    wrong: BTreeMap<usize, Vec<Line>>,
    retried: usize,
}

impl Book<'_> {
    fn request(&mut self, r: &Request<'_, '_>) {
        self.retried += usize::from(r.tries() > 1 && !r.attempts.is_empty());
        let mut named: HashMap<SpanId, usize> = HashMap::new();
        let mut last = None;
        for (i, attempt) in r.attempts.iter().enumerate() {
            let Some(context) = attempt.context else { continue };
            if let Some(first) = named.insert(context.parent, i) {
                self.note(SHARED, r, i, &format!("names the span of attempt {}", first + 1));
                continue;
            }
            match self.spans.get(&(context.trace, context.parent)) {
                Some(span) => {
                    self.tally.judged += 1;
                    last = self.resend(r, i, span, last);
                    self.status(r, i, span);
                    self.error(r, i, span);
                }
                None if attempt.reply.end == End::Unfinished => {}
                None => self.note(LOST, r, i, "its span never came"),
            }
        }
    }

    /// The count of resends; gives back the last one that was told.
    fn resend(&mut self, r: &Request<'_, '_>, i: usize, span: &Span, last: Option<u64>) -> Option<u64> {
        let told = span.number(RESEND);
        // A connection that was refused is an attempt without a name: it counts, and only the order says whose it was.
        let unseen = r.refused.iter().filter(|c| c.accepted <= r.attempts[i].arrived).count() as u64;
        let (least, most) = (i as u64, i as u64 + unseen);
        match told {
            // Absent means 0: only resends carry it.
            None if least == 0 => {}
            None => self.note(NO_COUNT, r, i, &format!("its span has no {RESEND}, expected {least}")),
            Some(0) => self.note(WRONG_COUNT, r, i, "its span tells 0, and only resends carry the count"),
            Some(n) if (least..=most).contains(&n) && last.is_none_or(|l| n > l) => {}
            Some(n) => self.note(WRONG_COUNT, r, i, &format!("its span tells {n}, expected {least}")),
        }
        told.or(last)
    }

    fn status(&mut self, r: &Request<'_, '_>, i: usize, span: &Span) {
        let reply = &r.attempts[i].reply;
        let told = span.number("http.response.status_code").or_else(|| span.number("http.status_code"));
        let seen = reply.status.map(u64::from);
        // An answer that was cut may or may not have shown its status.
        let right = if reply.end == End::Replied { told == seen } else { told.is_none() || told == seen };
        if !right {
            let words = told.map_or_else(|| "no status".to_owned(), |t| t.to_string());
            self.note(WRONG_STATUS, r, i, &format!("its span tells {words}"));
        }
    }

    fn error(&mut self, r: &Request<'_, '_>, i: usize, span: &Span) {
        let attempt = r.attempts[i];
        if attempt.reply.end == End::Unfinished {
            return;
        }
        let kind = span.attributes.get("error.type").and_then(|v| v.as_str()).unwrap_or_default();
        let status = attempt.reply.status.map(|s| s.to_string());
        let is_status = kind.len() == 3 && kind.bytes().all(|b| b.is_ascii_digit());
        let wrong = if !failed(attempt) {
            if !kind.is_empty() || span.error { Some("it succeeded".to_owned()) } else { None }
        } else if kind.is_empty() {
            Some("it failed, and its span has no error.type".to_owned())
        } else if !span.error {
            Some(format!("its span has error.type {kind} and a status that is no error"))
        } else if is_status && status.as_deref() != Some(kind) {
            Some(format!("its span has error.type {kind}"))
        } else {
            None
        };
        wrong.into_iter().for_each(|what| self.note(WRONG_ERROR, r, i, &what));
    }

    fn note(&mut self, kind: usize, r: &Request<'_, '_>, i: usize, remark: &str) {
        let before = i.checked_sub(1).map(|b| r.attempts[b]);
        self.wrong.entry(kind).or_default().push(attempt_line(r.attempts[i], i + 1, before, remark));
    }
}
