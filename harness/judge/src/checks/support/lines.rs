//! Evidence in words: one line for what a witness saw.

use std::time::Duration;

use crate::evidence::{Answer, At, Attempt, BankEntry, End, LedgerRow, Outcome};
use crate::finding::Line;

/// An interval in the unit that people compare with the contract.
pub(in crate::checks) fn ms(d: Duration) -> String {
    format!("{:.1} ms", d.as_secs_f64() * 1e3)
}

/// How an attempt ended, and at which instant that was: `503 last byte`.
fn ended_words(a: &Attempt) -> String {
    let end = match (a.reply.end, a.reply.status) {
        (End::Replied, Some(status)) => format!("{status} last byte"),
        (End::Replied, None) => "last byte".to_owned(),
        (End::Reset, _) => "RST sent".to_owned(),
        (End::Cut, _) => "FIN sent".to_owned(),
        (End::ClientLeft, _) => "the service gave up".to_owned(),
        (End::UpstreamFailed, _) => "the upstream failed".to_owned(),
        (End::Unfinished, _) => "still open at the end of the run".to_owned(),
        (End::Malformed, _) => "not readable as HTTP/1.1".to_owned(),
    };
    match &a.fault {
        Some(fault) => format!("{end}, {}", fault.what),
        None => end,
    }
}

/// A line about attempt number `rank` of a request; `before` is the one that it follows.
pub(in crate::checks) fn attempt_line(a: &Attempt, rank: usize, before: Option<&Attempt>, remark: &str) -> Line {
    let arrived = match before {
        None => format!("attempt {rank} arrived"),
        Some(b) => {
            let gap = a.arrived.seconds_from(b.reply.ended) * 1e3;
            format!("attempt {rank} arrived {gap:.1} ms after attempt {} ended ({})", rank - 1, ended_words(b))
        }
    };
    let end = if before.is_none() { format!(", {}", ended_words(a)) } else { String::new() };
    Line {
        at: a.arrived,
        key: a.key.clone(),
        attempt: u32::try_from(rank).ok(),
        trace: a.context.map(|c| c.trace.to_string()),
        text: with_remark(format!("{arrived}{end}"), remark),
    }
}

/// What a client got, in words.
pub(in crate::checks) fn outcome_words(o: &Outcome) -> String {
    match &o.answer {
        Answer::Reply(reply) => {
            let marker = if reply.marker.is_some() { ", marked as a replay" } else { "" };
            format!("{}{marker}, body {}", reply.status, digest(&reply.body_sha256))
        }
        Answer::TimedOut => "no answer within the driver's limit".to_owned(),
        Answer::Left => "nothing: it left on purpose".to_owned(),
        Answer::Failed { error } => format!("no answer ({error})"),
    }
}

/// A line about what a client got.
pub(in crate::checks) fn outcome_line(o: &Outcome, remark: &str) -> Line {
    Line {
        at: o.sent,
        key: o.key.clone(),
        attempt: None,
        trace: Some(o.context.trace.to_string()),
        text: with_remark(format!("{}: client got {} after {}", o.step, outcome_words(o), ms(o.latency())), remark),
    }
}

/// A line about a ledger row; a row has no instant of its own, so it carries that of its reading.
pub(in crate::checks) fn row_line(row: &LedgerRow, read: At, remark: &str) -> Line {
    let id = row.id.as_deref().unwrap_or("without id");
    let amount = row.amount.map_or(String::new(), |a| format!(", amount {a}"));
    let status = row.status.as_deref().unwrap_or(if row.settled { "settled" } else { "not settled" });
    let text = with_remark(format!("ledger row {id}: {status}{amount}"), remark);
    Line { at: read, key: row.key.clone(), attempt: None, trace: None, text }
}

/// A line about a charge.
pub(in crate::checks) fn charge_line(entry: &BankEntry, remark: &str) -> Line {
    let id = entry.charge.as_deref().unwrap_or("without id");
    let amount = entry.amount.map_or(String::new(), |a| format!(", amount {a}"));
    Line {
        at: entry.at,
        key: entry.key.clone(),
        attempt: None,
        trace: entry.context.map(|c| c.trace.to_string()),
        text: with_remark(format!("bank charge {id}{amount}"), remark),
    }
}

/// The first digits of a digest: enough to see that two differ.
pub(in crate::checks) fn digest(sha: &str) -> &str {
    sha.get(..8).unwrap_or(sha)
}

fn with_remark(text: String, remark: &str) -> String {
    if remark.is_empty() { text } else { format!("{text}: {remark}") }
}
