//! Making a run folder and its scenario folders.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use judge::evidence::{Evidence, Header, ReadReport, read, read_tolerant};

use super::atomic;
use super::children::{CHILDREN, ChildRegister};
use super::error::RecordError;
use super::manifest::{MANIFEST, Manifest, Start};
use super::recorder::Recorder;
use super::stamp::Stamp;

/// Link to the newest run, in the folder of all runs.
pub(super) const LATEST: &str = "latest";
const CONTRACT: &str = "contract.toml";
pub(super) const SCENARIOS: &str = "scenarios";
pub(super) const EVIDENCE: &str = "evidence.jsonl";
/// A run with more scenarios of one name than this has lost its way.
const MAX_NAMESAKES: usize = 10_000;

/// The folder of all runs: `HARNESS_RUNS`, or `runs` at the root of the workspace around `from`, or `runs` in `from`.
#[must_use]
pub fn runs_root(from: &Path) -> PathBuf {
    if let Some(named) = std::env::var_os("HARNESS_RUNS").filter(|v| !v.is_empty()) {
        return from.join(named);
    }
    // A test runs in its package's directory; only the workspace's root has a lock file.
    from.ancestors().find(|dir| dir.join("Cargo.lock").is_file()).unwrap_or(from).join("runs")
}

/// One run on disk.
#[derive(Debug, Clone)]
pub struct RunFolder {
    pub(super) dir: PathBuf,
    pub(super) manifest: Manifest,
    /// The only scenario to look at, when a scenario's folder was opened.
    pub(super) only: Option<String>,
}

impl RunFolder {
    /// Makes the folder of a new run below `root`, with its manifest and the contract's copy, and points `latest` at it.
    /// Returns it with the register for the run's child processes.
    ///
    /// # Errors
    /// When the file system refuses; full and read-only disks have their own variants.
    pub fn create(root: &Path, start: &Start) -> Result<(Self, ChildRegister), RecordError> {
        fs::create_dir_all(root).map_err(|e| RecordError::io("make", root, e))?;
        let now = Stamp::now();
        let id = format!("{}-{}", now.compact(), atomic::short_id());
        let dir = root.join(&id);
        fs::create_dir(&dir).map_err(|e| RecordError::io("make", &dir, e))?;
        let register = ChildRegister::create(&dir.join(CHILDREN)).map_err(|e| RecordError::io("write", &dir, e))?;
        let scenarios = dir.join(SCENARIOS);
        fs::create_dir(&scenarios).map_err(|e| RecordError::io("make", &scenarios, e))?;
        let folder = Self { manifest: Manifest::new(&id, now, start), dir, only: None };
        if let Some(contract) = &start.contract {
            folder.write_atomic(CONTRACT, contract.text.as_bytes())?;
        }
        let mut manifest = serde_json::to_vec_pretty(&folder.manifest)
            .map_err(|e| RecordError::io("write", &folder.dir.join(MANIFEST), e.into()))?;
        manifest.push(b'\n');
        folder.write_atomic(MANIFEST, &manifest)?;
        atomic::link(root, LATEST, &id)?;
        Ok((folder, register))
    }

    /// The run's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.manifest.run
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The contract's copy; `None` when the run had none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn contract(&self) -> Result<Option<String>, RecordError> {
        if self.manifest.contract.is_none() {
            return Ok(None);
        }
        let path = self.dir.join(CONTRACT);
        fs::read_to_string(&path).map(Some).map_err(|e| RecordError::io("read", &path, e))
    }

    /// Writes a file of the run in one step: a reader sees it whole or not at all.
    ///
    /// # Errors
    /// When `name` is not a plain file name, or the file system refuses.
    pub fn write_atomic(&self, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
        atomic::write(&self.dir, name, bytes)
    }

    /// Reads a file of the run; `None` when there is none of that name.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, name: &str) -> Result<Option<String>, RecordError> {
        let path = self.dir.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(RecordError::io("read", &path, e)),
        }
    }

    /// Makes the folder of a scenario. Its name there is the scenario's with everything but letters, digits, `.`, `_`
    /// and `-` replaced by `-`; a second scenario of that name gets `-2` and so on. The evidence has the true name.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn scenario(&self, name: &str) -> Result<ScenarioFolder, RecordError> {
        let base = slug(name);
        for n in 1..=MAX_NAMESAKES {
            let name = if n == 1 { base.clone() } else { format!("{base}-{n}") };
            let dir = self.dir.join(SCENARIOS).join(&name);
            match fs::create_dir(&dir) {
                Ok(()) => return Ok(ScenarioFolder { dir, name }),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(RecordError::io("make", &dir, e)),
            }
        }
        Err(RecordError::BadName { name: name.to_owned() })
    }
}

/// One scenario of a run on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioFolder {
    pub(super) dir: PathBuf,
    pub(super) name: String,
}

impl ScenarioFolder {
    /// Its name on disk.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where its evidence is.
    #[must_use]
    pub fn evidence_path(&self) -> PathBuf {
        self.dir.join(EVIDENCE)
    }

    /// Where a process of the scenario logs, e.g. `service` to `service.log`.
    #[must_use]
    pub fn log_path(&self, process: &str) -> PathBuf {
        self.dir.join(format!("{}.log", slug(process)))
    }

    /// Begins the evidence of the scenario. Its folder takes one evidence only.
    ///
    /// # Errors
    /// When there is evidence already, or the file system refuses.
    pub fn recorder(&self, header: &Header) -> Result<Recorder, RecordError> {
        Recorder::create(&self.evidence_path(), header)
    }

    /// Reads sealed evidence.
    ///
    /// # Errors
    /// When it is unsealed, changed or unreadable.
    pub fn read(&self) -> Result<Evidence, RecordError> {
        let path = self.evidence_path();
        read(self.open(&path)?).map_err(|e| RecordError::codec("read", &path, e))
    }

    /// Reads what is there, with a spoiling note for what is missing.
    ///
    /// # Errors
    /// When there is no evidence at all.
    pub fn read_tolerant(&self) -> Result<(Evidence, ReadReport), RecordError> {
        let path = self.evidence_path();
        read_tolerant(self.open(&path)?).map_err(|e| RecordError::codec("read", &path, e))
    }

    /// Writes a file of the scenario in one step.
    ///
    /// # Errors
    /// When `name` is not a plain file name, or the file system refuses.
    pub fn write_atomic(&self, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
        atomic::write(&self.dir, name, bytes)
    }

    fn open(&self, path: &Path) -> Result<BufReader<File>, RecordError> {
        File::open(path).map(BufReader::new).map_err(|e| RecordError::io("read", path, e))
    }
}

fn slug(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let slug: String = name.chars().map(safe).take(120).collect();
    match slug.trim_start_matches('.') {
        "" => "unnamed".to_owned(),
        visible => visible.to_owned(),
    }
}
