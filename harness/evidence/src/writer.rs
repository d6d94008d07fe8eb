//! Writing evidence record by record: what a recorder does while a scenario is still going on.

use std::io::{self, Write};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Header;
use super::codec::{CodecError, MAX_LINE_BYTES, Record, Seal, SealLine, hex};
use super::version::Head;

/// Writes the lines of one evidence: header, then records, then the seal over all of them.
///
/// Each record reaches the stream in one `write_all` of a whole line, so a writer that dies between two calls leaves a
/// file that [`read_tolerant`](super::read_tolerant) takes to its last line. After an error the stream may end in half
/// a line; drop the writer then. A writer that is dropped leaves its evidence unsealed.
///
/// ```
/// use evidence::{At, EvidenceWriter, Header, Note, NoteWeight, Record, TimeBase, read};
///
/// # fn main() -> Result<(), evidence::CodecError> {
/// # let header = Header {
/// #     run: "r".into(), scenario: "s".into(), service: "payments".into(), seed: 7, placement: "process".into(),
/// #     time: TimeBase { monotonic_ns: 0, wall_ns: 0 }, eps_ns: 0, recorder: "0".into(),
/// # };
/// let mut writer = EvidenceWriter::begin(Vec::new(), &header)?;
/// let note = Note { at: At(1), weight: NoteWeight::Info, code: "started".into(), text: "pid 4711".into() };
/// writer.append(&Record::Note(note))?;
/// let bytes = writer.seal()?;
/// assert_eq!(read(bytes.as_slice())?.notes.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EvidenceWriter<W: Write> {
    out: W,
    digest: Sha256,
    records: u64,
}

impl<W: Write> EvidenceWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// When the stream fails.
    pub fn begin(out: W, header: &Header) -> Result<Self, CodecError> {
        let mut writer = Self { out, digest: Sha256::new(), records: 0 };
        writer.line(&Head::new(header.clone()))?;
        Ok(writer)
    }

    /// Writes one record.
    ///
    /// # Errors
    /// When the stream fails, or the record is so long that a reader would refuse its line; then nothing of it was
    /// written.
    pub fn append(&mut self, record: &Record) -> Result<(), CodecError> {
        self.line(record)?;
        self.records += 1;
        Ok(())
    }

    /// Records written so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Flushes the stream, so that what was written survives this process.
    ///
    /// # Errors
    /// When the stream fails.
    pub fn flush(&mut self) -> Result<(), CodecError> {
        Ok(self.out.flush()?)
    }

    /// Writes the seal, flushes, and gives the stream back.
    ///
    /// # Errors
    /// When the stream fails. A seal that was cut short does not count as one.
    pub fn seal(mut self) -> Result<W, CodecError> {
        let sha256 = hex(&self.digest.finalize_reset());
        let seal = SealLine { seal: Seal { records: self.records, sha256 } };
        self.line(&seal)?;
        self.leave_unsealed()
    }

    /// Flushes and gives the stream back without a seal.
    ///
    /// # Errors
    /// When the stream fails.
    pub fn leave_unsealed(mut self) -> Result<W, CodecError> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), CodecError> {
        let mut bytes = serde_json::to_vec(value).map_err(io::Error::from)?;
        bytes.push(b'\n');
        if bytes.len() > MAX_LINE_BYTES {
            let reason = format!("the record has {} bytes, and readers refuse more than {MAX_LINE_BYTES}", bytes.len());
            return Err(CodecError::BadLine { line: self.records + 2, reason });
        }
        self.digest.update(&bytes);
        self.out.write_all(&bytes)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{At, Evidence, Header, Note, NoteWeight, Record, TimeBase, read, read_tolerant, write};
    use super::{EvidenceWriter, MAX_LINE_BYTES};

    fn header() -> Header {
        Header {
            run: "r".to_owned(),
            scenario: "s".to_owned(),
            service: "payments".to_owned(),
            seed: 1,
            placement: "process".to_owned(),
            time: TimeBase { monotonic_ns: 0, wall_ns: 0 },
            eps_ns: 0,
            recorder: "test".to_owned(),
        }
    }

    fn note(text: String) -> Record {
        Record::Note(Note { at: At(1), weight: NoteWeight::Info, code: "test".to_owned(), text })
    }

    // Proves that evidence written as it came is, byte for byte, the evidence written at once, sealed or not.
    #[test]
    fn one_by_one_is_the_same_as_at_once() {
        for sealed in [true, false] {
            let mut evidence = Evidence::new(header());
            let mut writer = EvidenceWriter::begin(Vec::new(), &header()).expect("memory");
            for n in 0..3 {
                writer.append(&note(format!("{n}"))).expect("memory");
                evidence.push(note(format!("{n}")));
            }
            evidence.sealed = sealed;
            let one_by_one = if sealed { writer.seal() } else { writer.leave_unsealed() }.expect("memory");
            let mut at_once = Vec::new();
            write(&evidence, &mut at_once).expect("memory");
            assert_eq!(String::from_utf8_lossy(&one_by_one), String::from_utf8_lossy(&at_once));
        }
    }

    // Proves that a writer which dies at any byte leaves evidence that is read up to its last whole line and never taken
    // for sealed.
    #[test]
    fn every_prefix_is_readable_and_unsealed() {
        let mut writer = EvidenceWriter::begin(Vec::new(), &header()).expect("memory");
        (0..3).for_each(|n| writer.append(&note(format!("{n}"))).expect("memory"));
        let bytes = writer.seal().expect("memory");
        let head = bytes.iter().position(|b| *b == b'\n').expect("a header") + 1;
        // The last byte is the seal's newline, without which the seal is whole already.
        for end in head..bytes.len() - 1 {
            let prefix = &bytes[..end];
            assert!(read(prefix).is_err(), "{end} bytes were taken for sealed");
            let (evidence, report) = read_tolerant(prefix).expect("the header is whole");
            let whole = prefix.iter().filter(|b| **b == b'\n').count() - 1;
            assert!(!report.sealed && report.records as usize >= whole, "{end} bytes: {report:?}");
            assert!(evidence.spoiling_notes().next().is_some());
        }
        assert!(read(bytes.as_slice()).is_ok());
    }

    // Proves that a record which readers would refuse is refused by the writer, and spoils nothing that is written later.
    #[test]
    fn a_record_too_long_for_readers_is_not_written() {
        let mut writer = EvidenceWriter::begin(Vec::new(), &header()).expect("memory");
        assert!(writer.append(&note("x".repeat(MAX_LINE_BYTES))).is_err());
        writer.append(&note("short".to_owned())).expect("memory");
        let evidence = read(writer.seal().expect("memory").as_slice()).expect("sealed");
        assert_eq!(evidence.notes.len(), 1);
    }
}
