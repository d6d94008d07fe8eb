//! Writing evidence record by record: what a recorder does while a scenario is still going on.

use std::io::{self, Write};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Header;
use super::codec::{CodecError, FORMAT, Head, MAX_LINE_BYTES, Record, Seal, SealLine, VERSION, hex};

/// Writes the lines of one evidence: header, then records, then the seal over all of them.
///
/// Each record reaches the stream in one `write_all` of a whole line, so a writer that dies between two calls leaves a
/// file that [`read_tolerant`](super::read_tolerant) takes to its last line. After an error the stream may end in half
/// a line; drop the writer then. A writer that is dropped leaves its evidence unsealed.
///
/// ```
/// use judge::evidence::{At, EvidenceWriter, Header, Note, NoteWeight, Record, TimeBase, read};
///
/// # fn main() -> Result<(), judge::evidence::CodecError> {
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
        writer.line(&Head { format: FORMAT.to_owned(), version: VERSION, header: header.clone() })?;
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
