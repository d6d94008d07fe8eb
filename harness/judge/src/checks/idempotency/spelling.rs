//! The part of I4 about spelling: whether two texts of one payload are one payload.

use super::books::{Books, attempt_lines, told_success};
use super::refusal::{calls_during, is_problem};
use crate::checks::catalogue::I4;
use crate::checks::support::{Request, Tally, note_unjoined, outcome_line, requests, strays_among};
use crate::evidence::Outcome;
use crate::promise::Fingerprint;

const RAW_BYTES: &str = I4.bug_classes[2];

/// Judges the step `respelt`: known keys with their own payload in another spelling. `status` is the one promised for
/// another payload.
pub(super) fn judge(books: &Books<'_>, fingerprint: Fingerprint, status: u16, tally: &mut Tally) {
    let asked = requests(&books.joined, |o| o.step == "respelt");
    if asked.is_empty() {
        tally.gap("the step `respelt` did not run", "run the whole scenario `duplicates`");
    }
    tally.count("payloads spelt otherwise", asked.len());
    for request in &asked {
        let Some(first) = original(request) else {
            let what = format!("{} has no success before it was spelt otherwise, or no answer", request.name());
            tally.gap(what, "see the other findings first: the original payment failed");
            continue;
        };
        if first.payload == request.outcome.payload {
            let what = format!("{} was not spelt otherwise: both bodies are the same bytes", request.name());
            tally.gap(what, "give request.body a JSON object with two members or more");
            continue;
        }
        match fingerprint {
            Fingerprint::Canonical => same_payload(request, first, status, tally),
            Fingerprint::Bytes => other_payload(request, first, status, tally),
        }
        note_unjoined(strays_among(&books.joined, std::iter::once(request.outcome)).len(), tally);
        tally.judged += 1;
    }
}

fn original<'a>(request: &Request<'_, 'a>) -> Option<&'a Outcome> {
    request.outcome.reply()?;
    request.payment.outcomes.iter().copied().find(|o| told_success(o) && o.ended <= request.outcome.sent)
}

/// A success is what counts: whether it is the original's, byte for byte and without a call, is for I3 and I1 to say.
fn same_payload(request: &Request<'_, '_>, first: &Outcome, status: u16, tally: &mut Tally) {
    let (again, name) = (request.outcome, request.name());
    if told_success(again) {
        return;
    }
    let got = again.status().unwrap_or_default();
    let class = if got == status { RAW_BYTES } else { "" };
    let what = format!("{name} came again with the same values, spelt otherwise, and got {got}");
    let lines = vec![outcome_line(first, "the original"), outcome_line(again, "the same values, spelt otherwise")];
    tally.breach(class, what, lines);
}

fn other_payload(request: &Request<'_, '_>, first: &Outcome, status: u16, tally: &mut Tally) {
    let (again, name) = (request.outcome, request.name());
    let calls = calls_during(request);
    if is_problem(again, status) && calls.is_empty() {
        return;
    }
    let got = again.status().unwrap_or_default();
    let what = format!(
        "{name} came with other bytes, {} calls, and got {got}, promised {status} as problem details",
        calls.len()
    );
    let mut lines = vec![outcome_line(first, "the original"), outcome_line(again, "other bytes")];
    lines.extend(attempt_lines(&calls));
    tally.breach("", what, lines);
}
