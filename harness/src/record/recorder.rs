//! Evidence goes to disk while it comes, and is sealed at the end.

use std::fs::{File, OpenOptions};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use judge::evidence::{EvidenceWriter, Header, Record};

use super::atomic;
use super::error::RecordError;

/// Writes the evidence of one scenario. After each batch everything is with the kernel, so that a killed harness leaves
/// a readable prefix; after [`seal`](Recorder::seal) it is on the disk.
#[derive(Debug)]
pub struct Recorder {
    writer: EvidenceWriter<BufWriter<File>>,
    path: PathBuf,
    /// A failed write may have left half a line: whatever came after it would be lost to a reader as well.
    failed: bool,
}

impl Recorder {
    pub(super) fn create(path: &Path, header: &Header) -> Result<Self, RecordError> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|e| RecordError::io("make", path, e))?;
        let mut writer =
            EvidenceWriter::begin(BufWriter::new(file), header).map_err(|e| RecordError::codec("write", path, e))?;
        writer.flush().map_err(|e| RecordError::codec("write", path, e))?;
        Ok(Self { writer, path: path.to_owned(), failed: false })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records written so far.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.writer.records()
    }

    /// Adds a batch of records, and hands it to the kernel.
    ///
    /// # Errors
    /// When the disk refuses; then every later call fails, too, and what was written before stays readable.
    pub fn append<'r>(&mut self, batch: impl IntoIterator<Item = &'r Record>) -> Result<(), RecordError> {
        if self.failed {
            return Err(RecordError::GivenUp { path: self.path.clone() });
        }
        let written = batch.into_iter().try_for_each(|r| self.writer.append(r)).and_then(|()| self.writer.flush());
        written.map_err(|e| {
            self.failed = true;
            RecordError::codec("write", &self.path, e)
        })
    }

    /// Closes the evidence with its seal and brings it to the disk. Only then may anybody judge it.
    ///
    /// # Errors
    /// When the disk refuses: then there is no seal that fits.
    pub fn seal(self) -> Result<PathBuf, RecordError> {
        let Self { writer, path, failed } = self;
        if failed {
            return Err(RecordError::GivenUp { path });
        }
        let buffer = writer.seal().map_err(|e| RecordError::codec("write", &path, e))?;
        let file = buffer.into_inner().map_err(|e| RecordError::io("write", &path, e.into_error()))?;
        file.sync_all().map_err(|e| RecordError::io("write", &path, e))?;
        if let Some(dir) = path.parent() {
            atomic::sync(dir)?;
        }
        Ok(path)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{BufWriter, EvidenceWriter, Header, OpenOptions, Path, Record, RecordError, Recorder};
    use judge::evidence::{At, Note, NoteWeight, TimeBase};

    // Proves that a full disk is told as such at the batch that hits it, and that nothing is written after it: what came
    // behind half a line would be lost to a reader. /dev/full is the kernel's own full disk.
    #[test]
    fn a_full_disk_is_told_once_and_ends_the_evidence() {
        let header = Header {
            run: "r".to_owned(),
            scenario: "s".to_owned(),
            service: "payments".to_owned(),
            seed: 1,
            placement: "process".to_owned(),
            time: TimeBase { monotonic_ns: 0, wall_ns: 0 },
            eps_ns: 0,
            recorder: "test".to_owned(),
        };
        let path = Path::new("/dev/full");
        let file = OpenOptions::new().write(true).open(path).expect("a device");
        let writer = EvidenceWriter::begin(BufWriter::new(file), &header).expect("it is buffered");
        let mut recorder = Recorder { writer, path: path.to_owned(), failed: false };
        let text = "text".to_owned();
        let record = Record::Note(Note { at: At(1), weight: NoteWeight::Info, code: "test".to_owned(), text });
        let error = recorder.append([&record]).expect_err("full");
        assert!(matches!(error, RecordError::DiskFull { .. }) && error.to_string().contains("HARNESS_RUNS"), "{error}");
        assert!(matches!(recorder.append([&record]), Err(RecordError::GivenUp { .. })));
        assert!(matches!(recorder.seal(), Err(RecordError::GivenUp { .. })));
    }
}
