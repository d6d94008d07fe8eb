//! `children.jsonl`: which processes belong to a run, written so that a killed run leaves a usable list.
//!
//! One JSON object a line: first the owner and the world it lives in, then `started` and `gone` entries.
//! A pid alone says nothing, since the system gives it to others later. A pid with its start time, within one boot and
//! one pid namespace, names one process for ever.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// File name within a run folder.
pub(super) const CHILDREN: &str = "children.jsonl";
/// More entries than any run has; a longer file is not ours.
const MAX_LINES: usize = 1_000_000;

/// A process that cannot be confused with another one of the same boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its pid.
    pub pid: u32,
    /// Its start, in clock ticks since the boot.
    pub start: u64,
}

impl ProcessId {
    /// The process that has this pid now; `None` when there is none, or on a system that does not tell start times
    /// (all but Linux). A zombie, which has ended and only waits for its parent, counts as none.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the program's name in parentheses, which may itself contain any of these characters.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        if matches!(*fields.first()?, "Z" | "X") {
            return None;
        }
        Some(Self { pid, start: fields.get(19)?.parse().ok()? })
    }

    /// Whether this very process still runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid) == Some(*self)
    }
}

/// The boot and the pid namespace in which pids and start times have their meaning.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct World {
    /// The kernel's id of this boot.
    pub boot: String,
    /// The pid namespace.
    pub pids: String,
}

impl World {
    /// The world of the calling process; empty parts where the system does not tell.
    #[must_use]
    pub fn here() -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let pids = fs::read_link("/proc/self/ns/pid").map(|p| p.display().to_string()).unwrap_or_default();
        Self { boot: boot.trim().to_owned(), pids }
    }

    /// Whether a pid that was noted in this world means the same to the calling process.
    #[must_use]
    pub fn is_here(&self) -> bool {
        !self.boot.is_empty() && *self == Self::here()
    }
}

/// A child as noted in the register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildEntry {
    /// The process's name in its spec.
    pub name: String,
    /// The process.
    #[serde(flatten)]
    pub id: ProcessId,
    /// Its process group.
    pub group: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Owner {
        #[serde(flatten)]
        id: ProcessId,
        world: World,
    },
    Started(ChildEntry),
    Gone(ProcessId),
}

/// The register of a run that is going on. Clones write to the same file.
#[derive(Debug, Clone)]
pub struct ChildRegister {
    file: Arc<Mutex<File>>,
}

impl ChildRegister {
    /// Creates the register of the calling process.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create_new(true).append(true).open(path)?;
        let register = Self { file: Arc::new(Mutex::new(file)) };
        if let Some(id) = ProcessId::of(std::process::id()) {
            register.put(&Line::Owner { id, world: World::here() })?;
        }
        Ok(register)
    }

    /// Notes a child. Call it while the child is not reaped: then the pid is certainly the child's. `None` on a system
    /// that does not tell start times, or when the child has already ended.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn started(&self, name: &str, pid: u32, group: u32) -> io::Result<Option<ChildEntry>> {
        let Some(id) = ProcessId::of(pid) else { return Ok(None) };
        let entry = ChildEntry { name: name.to_owned(), id, group };
        self.put(&Line::Started(entry.clone()))?;
        Ok(Some(entry))
    }

    /// Notes that a child is gone.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn gone(&self, entry: &ChildEntry) -> io::Result<()> {
        self.put(&Line::Gone(entry.id))
    }

    fn put(&self, line: &Line) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        // One write a line: another thread, or our own death, cannot tear it.
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&bytes)
    }
}

/// What a register says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegisterRead {
    /// The harness that wrote it; `None` when its system does not tell start times.
    pub owner: Option<ProcessId>,
    /// Where its pids have their meaning.
    pub world: World,
    /// Children that are not noted as gone.
    pub children: Vec<ChildEntry>,
}

impl RegisterRead {
    /// Reads the register of a run folder. A torn or foreign line is skipped: an entry that cannot be read is never a
    /// reason to end a process.
    pub(crate) fn read(run: &Path) -> io::Result<Self> {
        let file = BufReader::new(File::open(run.join(CHILDREN))?);
        let mut found = Self::default();
        for line in file.lines().take(MAX_LINES) {
            match serde_json::from_str(&line?) {
                Ok(Line::Owner { id, world }) => (found.owner, found.world) = (Some(id), world),
                Ok(Line::Started(entry)) => found.children.push(entry),
                Ok(Line::Gone(id)) => found.children.retain(|c| c.id != id),
                Err(_) => {}
            }
        }
        Ok(found)
    }
}
