//! Evidence on disk: JSON lines. The first line is the header with format and version, the last one the seal.
//!
//! ```text
//! {"format":"harness-evidence","version":1,"minor":1,"header":{...}}
//! {"attempt":{...}}
//! {"seal":{"records":1,"sha256":"..."}}
//! ```
//!
//! A file without a seal is what a killed run leaves: [`read_tolerant`] takes every whole line of it and says what is
//! missing; [`read`] insists on the seal.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::version::{Head, VERSION, count_unknown, unknown_field, unknown_note, unknown_record};
use super::{
    Attempt, BankEntry, BreakerReading, Canary, Connection, Disk, Evidence, FaultEdge, FaultWindow, LedgerReading,
    Note, NoteWeight, Outcome, Span, Step, time::At, writer::EvidenceWriter,
};

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
    /// A reading of the disk.
    Disk(Disk),
    /// A note.
    Note(Note),
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

/// What was read, and what was left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadReport {
    /// Records read, those included that only a later harness knows.
    pub records: u64,
    /// Whether a fitting seal closed the file.
    pub sealed: bool,
    /// The minor of the format that the file was written in; 0 when it names none.
    pub minor: u32,
    /// Records of a later minor that hold what this build does not know, by kind (`audit`) or field (`attempt.colour`).
    pub unknown: BTreeMap<String, u64>,
    /// How many lines were not records.
    pub bad: u64,
    /// Their numbers (from 1), with the reason; at most [`MAX_BAD_LINES`] are kept.
    pub bad_lines: Vec<(u64, String)>,
}

/// The most bad lines that a report names; the others are counted.
pub const MAX_BAD_LINES: usize = 100;

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
    evidence.disk.iter().cloned().map(Record::Disk).try_for_each(&mut line)?;
    evidence.notes.iter().cloned().map(Record::Note).try_for_each(&mut line)?;
    if evidence.sealed { writer.seal() } else { writer.leave_unsealed() }.map(drop)
}

/// Reads sealed evidence. What a later minor of the format added is left out, with a spoiling note.
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
        let note = Note { at: At(0), weight: NoteWeight::Spoils, code: code.to_owned(), text };
        // Evidence that was read and written again says it already.
        if !evidence.notes.contains(&note) {
            evidence.notes.push(note);
        }
    };
    if !report.sealed {
        spoil("unsealed", "the run ended before its evidence was sealed: records may be missing".to_owned());
    }
    for (line, reason) in &report.bad_lines {
        spoil("bad-line", format!("line {line} was left out: {reason}"));
    }
    let unnamed = report.bad - report.bad_lines.len() as u64;
    if unnamed > 0 {
        spoil("bad-line", format!("{unnamed} more lines were left out"));
    }
    Ok((evidence, report))
}

fn read_lines(mut input: impl BufRead, strict: bool) -> Result<(Evidence, ReadReport), CodecError> {
    let mut line = Vec::new();
    if !next_line(&mut input, &mut line)? {
        return Err(too_long(1));
    }
    let head = Head::read(&line)?;
    let newer = head.is_newer();
    let mut reading = Reading { strict, newer, report: ReadReport { minor: head.minor, ..ReadReport::default() } };
    let mut evidence = Evidence::new(head.header);
    let mut digest = Sha256::new();
    digest.update(&line);
    // A seal closes the file: whatever follows one, or a seal that does not fit, leaves it without any.
    let mut unsealable = false;
    for number in 2_u64.. {
        let whole = next_line(&mut input, &mut line)?;
        if line.is_empty() {
            break;
        }
        if std::mem::take(&mut reading.report.sealed) {
            unsealable = true;
            reading.bad(number, "a record after the seal".to_owned())?;
        }
        if !whole {
            unsealable = true;
            reading.too_long(number)?;
        } else if let Ok(SealLine { seal }) = serde_json::from_slice(&line) {
            let records = reading.report.records;
            let fits = seal.records == records && seal.sha256 == hex(&digest.clone().finalize());
            if !fits && strict {
                return Err(CodecError::BrokenSeal { records });
            }
            unsealable |= !fits;
            reading.report.sealed = !unsealable;
        } else {
            digest.update(&line);
            reading.record(&line, number, &mut evidence)?;
        }
    }
    evidence.sealed = reading.report.sealed;
    evidence.notes.extend(unknown_note(&reading.report.unknown, reading.report.minor));
    Ok((evidence, reading.report))
}

/// A read under way.
struct Reading {
    /// Whether a line that is no record is an error.
    strict: bool,
    /// Whether a later harness wrote the file.
    newer: bool,
    report: ReadReport,
}

impl Reading {
    fn record(&mut self, line: &[u8], number: u64, evidence: &mut Evidence) -> Result<(), CodecError> {
        let unknown = match serde_json::from_slice::<Record>(line) {
            Ok(record) => {
                let unknown = self.newer.then(|| unknown_field(line, &record)).flatten();
                evidence.push(record);
                unknown
            }
            Err(error) => match self.newer.then(|| unknown_record(line)).flatten() {
                Some(kind) => Some(kind),
                None => return self.bad(number, error.to_string()),
            },
        };
        self.report.records += 1;
        if let Some(what) = unknown {
            count_unknown(&mut self.report.unknown, what);
        }
        Ok(())
    }

    fn too_long(&mut self, line: u64) -> Result<(), CodecError> {
        if self.strict { Err(too_long(line)) } else { self.bad(line, LONG.to_owned()) }
    }

    fn bad(&mut self, line: u64, reason: String) -> Result<(), CodecError> {
        if self.strict {
            return Err(CodecError::BadLine { line, reason });
        }
        self.report.bad += 1;
        if self.report.bad_lines.len() < MAX_BAD_LINES {
            self.report.bad_lines.push((line, reason));
        }
        Ok(())
    }
}

const LONG: &str = "it is longer than 8 MiB, which no recorder writes";

fn too_long(line: u64) -> CodecError {
    CodecError::BadLine { line, reason: LONG.to_owned() }
}

/// Reads one line with its newline into `line`, which is empty at the end. Of a line that is too long it keeps the beginning,
/// skips the rest and returns false.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, CodecError> {
    line.clear();
    let mut bounded = io::Read::take(&mut *input, MAX_LINE_BYTES as u64 + 1);
    let n = bounded.read_until(b'\n', line)?;
    if n <= MAX_LINE_BYTES {
        return Ok(true);
    }
    while !line.ends_with(b"\n") {
        let rest = input.fill_buf()?;
        if rest.is_empty() {
            break;
        }
        let (taken, last) = match rest.iter().position(|b| *b == b'\n') {
            Some(at) => (at + 1, true),
            None => (rest.len(), false),
        };
        input.consume(taken);
        if last {
            break;
        }
    }
    Ok(false)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
