//! Finding runs again.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::RecordError;
use super::folder::{EVIDENCE, LATEST, RunFolder, SCENARIOS, ScenarioFolder};
use super::manifest::{MANIFEST, Manifest};

/// A run in the folder of all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEntry {
    /// Its id.
    pub id: String,
    /// Its folder.
    pub dir: PathBuf,
}

/// The runs below `root`, newest first; none when there is no such folder.
///
/// # Errors
/// When the folder cannot be read.
pub fn runs(root: &Path) -> Result<Vec<RunEntry>, RecordError> {
    let mut found: Vec<RunEntry> = directories(root)?
        .into_iter()
        .filter(|(_, dir)| dir.join(super::children::CHILDREN).is_file() || dir.join(MANIFEST).is_file())
        .map(|(id, dir)| RunEntry { id, dir })
        .collect();
    found.sort_by(|a, b| b.id.cmp(&a.id));
    Ok(found)
}

impl RunFolder {
    /// Opens a run: `name` is a path to its folder, to a scenario's folder or to an `evidence.jsonl`, or the id of a run
    /// below `root`, or `latest`.
    ///
    /// # Errors
    /// When there is no such run (the error lists the newest ones), or the folder is something else.
    pub fn open(name: &Path, root: &Path) -> Result<Self, RecordError> {
        let found = [name.to_owned(), root.join(name)].into_iter().find(|p| p.exists());
        let Some(path) = found else { return Err(no_such_run(name, root)) };
        let path = if path.is_file() { path.parent().unwrap_or(&path).to_owned() } else { path };
        // `latest` is resolved once: it may point elsewhere in a moment.
        let dir = fs::canonicalize(&path).map_err(|e| RecordError::io("read", &path, e))?;
        if dir.join(MANIFEST).is_file() {
            return Self::load(dir, None);
        }
        let scenario = dir.file_name().map(|n| n.to_string_lossy().into_owned());
        match dir.parent().filter(|p| p.ends_with(SCENARIOS)).and_then(Path::parent) {
            Some(run) if run.join(MANIFEST).is_file() => Self::load(run.to_owned(), scenario),
            _ if dir.join(LATEST).exists() => {
                let reason = "it holds several runs; name one of them".to_owned();
                Err(RecordError::NotARun { path: dir, reason })
            }
            _ => Err(RecordError::NotARun { path: dir, reason: format!("it has no {MANIFEST}") }),
        }
    }

    fn load(dir: PathBuf, only: Option<String>) -> Result<Self, RecordError> {
        let path = dir.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|e| RecordError::io("read", &path, e))?;
        let manifest = Manifest::parse(&path, &text)?;
        Ok(Self { dir, manifest, only })
    }

    /// The scenarios that have evidence, sorted by name; only one when the run was opened by a scenario's folder.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn scenarios(&self) -> Result<Vec<ScenarioFolder>, RecordError> {
        let mut found: Vec<ScenarioFolder> = directories(&self.dir.join(SCENARIOS))?
            .into_iter()
            .filter(|(name, dir)| self.only.as_ref().is_none_or(|o| o == name) && dir.join(EVIDENCE).is_file())
            .map(|(name, dir)| ScenarioFolder { dir, name })
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// The scenario of that name on disk.
    ///
    /// # Errors
    /// When there is none; the error lists what there is.
    pub fn find_scenario(&self, name: &str) -> Result<ScenarioFolder, RecordError> {
        let all = self.scenarios()?;
        all.iter().find(|s| s.name == name).cloned().ok_or_else(|| RecordError::NoSuchScenario {
            run: self.id().to_owned(),
            name: name.to_owned(),
            known: all.iter().map(|s| s.name.clone()).collect(),
        })
    }
}

fn no_such_run(name: &Path, root: &Path) -> RecordError {
    let known = runs(root).unwrap_or_default().into_iter().map(|r| r.id).collect();
    let path = if name.components().count() == 1 { root.join(name) } else { name.to_owned() };
    RecordError::NoSuchRun { path, known }
}

/// Names and paths of the directories in `dir`; links are not followed, so that `latest` is not a second run.
fn directories(dir: &Path) -> Result<Vec<(String, PathBuf)>, RecordError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(RecordError::io("read", dir, e)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| RecordError::io("read", dir, e))?;
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            found.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    Ok(found)
}
