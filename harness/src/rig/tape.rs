//! The tape: what is seen while a scenario runs, in memory for the rig and on disk for everybody after.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use judge::evidence::{At, Evidence, Header, Note, NoteWeight, Record};

use crate::record::{RecordError, Recorder};

/// Collects records. Clones write to the same tape.
#[derive(Debug, Clone)]
pub struct Tape {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    evidence: Evidence,
    disk: Option<Recorder>,
    /// The first failure to write; the rig reports it when it finishes.
    failed: Option<RecordError>,
}

impl Tape {
    /// A tape that also writes to disk, if a recorder is given.
    #[must_use]
    pub fn new(header: Header, disk: Option<Recorder>) -> Self {
        let evidence = Evidence::new(header);
        Self { inner: Arc::new(Mutex::new(Inner { evidence, disk, failed: None })) }
    }

    /// Adds one record. It is on disk when this returns, so that a killed run keeps it.
    pub fn append(&self, record: Record) {
        let mut inner = self.lock();
        if inner.failed.is_none()
            && let Some(disk) = inner.disk.as_mut()
            && let Err(error) = disk.append([&record])
        {
            inner.failed = Some(error);
        }
        inner.evidence.push(record);
    }

    /// Adds a note.
    pub fn note(&self, at: At, weight: NoteWeight, code: &str, text: impl Into<String>) {
        self.append(Record::Note(Note { at, weight, code: code.to_owned(), text: text.into() }));
    }

    /// Reads what is on the tape so far.
    pub fn read<T>(&self, look: impl FnOnce(&Evidence) -> T) -> T {
        look(&self.lock().evidence)
    }

    /// Seals the tape and gives the evidence out.
    ///
    /// # Errors
    /// When a record or the seal could not be written.
    pub fn seal(&self) -> Result<Evidence, RecordError> {
        let mut inner = self.lock();
        if let Some(error) = inner.failed.take() {
            return Err(error);
        }
        if let Some(disk) = inner.disk.take() {
            disk.seal()?;
        }
        inner.evidence.sealed = true;
        Ok(inner.evidence.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
