//! Evidence on disk: JSON lines. The first line is the header with format and version, the last one the seal.
//!
//! ```text
//! {"format":"harness-evidence","version":1,"header":{...}}
//! {"attempt":{...}}
//! {"seal":{"records":1,"sha256":"..."}}
//! ```
//!
//! A file without a seal is what a killed run leaves: [`read_tolerant`] takes every whole line of it and says what is
//! missing; [`read`] insists on the seal.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    Attempt, BankEntry, BreakerReading, Canary, Connection, Evidence, FaultEdge, FaultWindow, Header, LedgerReading,
    Note, NoteWeight, Outcome, Span, Step, time::At, writer::EvidenceWriter,
};

/// The format's name.
pub const FORMAT: &str = "harness-evidence";
/// The version this build writes; it reads every version up to this one.
pub const VERSION: u32 = 1;
/// A longer line is refused: it cannot come from a recorder of ours, whose bodies and excerpts are bounded.
pub(super) const MAX_LINE_BYTES: usize = 8 << 20;

/// One line of evidence between header and seal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A scenario step.
    Step(Step),
    /// An attempt at a proxy.
    Attempt(Attempt),
    /// A connection at a proxy.
    Connection(Connection),
    /// A client outcome.
    Outcome(Outcome),
    /// A ledger reading.
    Ledger(LedgerReading),
    /// A bank journal entry.
    Bank(BankEntry),
    /// A span.
    Span(Span),
    /// A breaker reading.
    Breaker(BreakerReading),
    /// A fault window.
    Fault(FaultWindow),
    /// An edge of a fault.
    Edge(FaultEdge),
    /// A canary reading.
    Canary(Canary),
    /// A note.
    Note(Note),
}

#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) header: Header,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Seal {
    pub(super) records: u64,
    pub(super) sha256: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SealLine {
    pub(super) seal: Seal,
}

/// Why evidence could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// The stream failed.
    #[error("cannot read or write evidence: {0}")]
    Io(#[from] io::Error),
    /// It does not begin with our header.
    #[error("line 1 is not an evidence header ({0}); give a file that `harness verify` wrote")]
    NotEvidence(String),
    /// It is newer than this build.
    #[error("evidence format version {found} is newer than {VERSION}, which this build reads; use a newer harness")]
    TooNew {
        /// The file's version.
        found: u32,
    },
    /// A line is not a record.
    #[error("line {line}: {reason}")]
    BadLine {
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The seal is missing.
    #[error("the evidence has no seal: its run was killed or is still going; `harness replay` reads what is there")]
    Unsealed,
    /// The seal does not fit.
    #[error("the seal does not fit the {records} records before it: the file was changed after the run")]
    BrokenSeal {
        /// Records found.
        records: u64,
    },
}

/// What a tolerant read left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadReport {
    /// Records read.
    pub records: u64,
    /// Whether a fitting seal closed the file.
    pub sealed: bool,
    /// Numbers of the lines (from 1) that were not records, with the reason; at most 100 are kept.
    pub bad_lines: Vec<(u64, String)>,
}

/// Writes evidence, header first and seal last.
///
/// # Errors
/// When the stream fails.
pub fn write(evidence: &Evidence, out: &mut impl Write) -> Result<(), CodecError> {
    let mut writer = EvidenceWriter::begin(out, &evidence.header)?;
    let mut line = |record: Record| writer.append(&record);
    evidence.steps.iter().cloned().map(Record::Step).try_for_each(&mut line)?;
    evidence.faults.iter().cloned().map(Record::Fault).try_for_each(&mut line)?;
    evidence.edges.iter().cloned().map(Record::Edge).try_for_each(&mut line)?;
    evidence.attempts.iter().cloned().map(Record::Attempt).try_for_each(&mut line)?;
    evidence.connections.iter().cloned().map(Record::Connection).try_for_each(&mut line)?;
    evidence.outcomes.iter().cloned().map(Record::Outcome).try_for_each(&mut line)?;
    evidence.bank.iter().cloned().map(Record::Bank).try_for_each(&mut line)?;
    evidence.ledger.iter().cloned().map(Record::Ledger).try_for_each(&mut line)?;
    evidence.breakers.iter().cloned().map(Record::Breaker).try_for_each(&mut line)?;
    evidence.spans.iter().cloned().map(Record::Span).try_for_each(&mut line)?;
    evidence.canary.iter().cloned().map(Record::Canary).try_for_each(&mut line)?;
    evidence.notes.iter().cloned().map(Record::Note).try_for_each(&mut line)?;
    if evidence.sealed { writer.seal() } else { writer.leave_unsealed() }.map(drop)
}

/// Reads sealed evidence.
///
/// # Errors
/// When the stream fails, a line is not a record, or the seal is missing or does not fit.
pub fn read(input: impl BufRead) -> Result<Evidence, CodecError> {
    let (evidence, report) = read_lines(input, true)?;
    if report.sealed { Ok(evidence) } else { Err(CodecError::Unsealed) }
}

/// Reads what is there: every whole record, with a spoiling note for each thing that is missing.
///
/// # Errors
/// When the stream fails or the first line is not our header: then there is nothing to judge.
pub fn read_tolerant(input: impl BufRead) -> Result<(Evidence, ReadReport), CodecError> {
    let (mut evidence, report) = read_lines(input, false)?;
    let mut spoil = |code: &str, text: String| {
        evidence.notes.push(Note { at: At(0), weight: NoteWeight::Spoils, code: code.to_owned(), text });
    };
    if !report.sealed {
        spoil("unsealed", "the run ended before its evidence was sealed: records may be missing".to_owned());
    }
    for (line, reason) in &report.bad_lines {
        spoil("bad-line", format!("line {line} was left out: {reason}"));
    }
    Ok((evidence, report))
}

fn read_lines(mut input: impl BufRead, strict: bool) -> Result<(Evidence, ReadReport), CodecError> {
    let mut digest = Sha256::new();
    let mut line = Vec::new();
    next_line(&mut input, &mut line)?;
    let mut evidence = Evidence::new(head(&line)?.header);
    digest.update(&line);
    let mut report = ReadReport::default();
    for number in 2_u64.. {
        if next_line(&mut input, &mut line)? == 0 {
            break;
        }
        if report.sealed {
            report.sealed = false;
            bad(&mut report, strict, number, "a record after the seal".to_owned())?;
        }
        if let Ok(found) = serde_json::from_slice::<SealLine>(&line) {
            report.sealed =
                found.seal.records == report.records && found.seal.sha256 == hex(&digest.clone().finalize());
            if !report.sealed && strict {
                return Err(CodecError::BrokenSeal { records: report.records });
            }
            continue;
        }
        digest.update(&line);
        match serde_json::from_slice::<Record>(&line) {
            Ok(record) => {
                report.records += 1;
                evidence.push(record);
            }
            Err(error) => bad(&mut report, strict, number, error.to_string())?,
        }
    }
    evidence.sealed = report.sealed;
    Ok((evidence, report))
}

fn bad(report: &mut ReadReport, strict: bool, line: u64, reason: String) -> Result<(), CodecError> {
    if strict {
        return Err(CodecError::BadLine { line, reason });
    }
    if report.bad_lines.len() < 100 {
        report.bad_lines.push((line, reason));
    }
    Ok(())
}

fn head(line: &[u8]) -> Result<Head, CodecError> {
    #[derive(Deserialize)]
    struct Probe {
        format: String,
        version: u32,
    }
    let probe: Probe = serde_json::from_slice(line).map_err(|e| CodecError::NotEvidence(e.to_string()))?;
    if probe.format != FORMAT {
        return Err(CodecError::NotEvidence(format!("its format is `{}`", probe.format)));
    }
    if probe.version > VERSION {
        return Err(CodecError::TooNew { found: probe.version });
    }
    serde_json::from_slice(line).map_err(|e| CodecError::NotEvidence(e.to_string()))
}

/// Reads one line with its newline into `line`; returns its length, 0 at the end.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<usize, CodecError> {
    line.clear();
    let mut bounded = io::Read::take(input, MAX_LINE_BYTES as u64 + 1);
    let n = bounded.read_until(b'\n', line)?;
    if n > MAX_LINE_BYTES {
        return Err(CodecError::Io(io::Error::other(format!("a line is longer than {MAX_LINE_BYTES} bytes"))));
    }
    Ok(n)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
