//! The threads of a process and of what it started, and how much longer each has waited since the last look.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::schedstat::{self, Waited};

/// Every so many looks the children are looked for again: a service behind a wrapper script, or with workers.
const CHILDREN_EVERY: u32 = 16;
/// Generations below the process; a service is not deeper than that.
const GENERATIONS: usize = 8;

/// One process with its descendants. Their numbers are only read, never signalled.
#[derive(Debug)]
pub(super) struct Family {
    /// `/proc`.
    procs: PathBuf,
    root: u32,
    members: Vec<u32>,
    looks: u32,
    /// What each thread had waited at the last look.
    before: HashMap<u32, Waited>,
    /// The same of this look; kept for its memory.
    now: HashMap<u32, Waited>,
    text: Vec<u8>,
}

impl Family {
    /// That process, at which nobody has looked yet.
    pub(super) fn of(pid: u32) -> Self {
        Self::below(Path::new("/proc"), pid)
    }

    /// The process that it began with.
    pub(super) fn root(&self) -> u32 {
        self.root
    }

    fn below(procs: &Path, root: u32) -> Self {
        let (procs, members, text) = (procs.to_owned(), vec![root], Vec::new());
        Self { procs, root, members, looks: 0, before: HashMap::new(), now: HashMap::new(), text }
    }

    /// Looks at every thread and returns by how much the wait of one of them has grown at most. `None` at the first look, and where the
    /// system tells nothing. A thread that was not there before has no growth yet, and one that ended is gone.
    pub(super) fn longest_wait(&mut self) -> Option<u64> {
        if self.looks.is_multiple_of(CHILDREN_EVERY) {
            self.find_members();
        }
        self.looks = self.looks.wrapping_add(1);
        self.now.clear();
        for pid in &self.members {
            for thread in threads(&self.procs, *pid) {
                let path = self.procs.join(format!("{pid}/task/{thread}/schedstat"));
                if let Some(waited) = read(&path, &mut self.text).and_then(schedstat::parse) {
                    self.now.insert(thread, waited);
                }
            }
        }
        // A kernel that does not count writes zeros.
        let counted = self.now.values().any(|waited| waited.turns > 0);
        let grown = |(thread, now): (&u32, &Waited)| Some(now.ns.saturating_sub(self.before.get(thread)?.ns));
        let longest = self.now.iter().filter_map(grown).max();
        std::mem::swap(&mut self.before, &mut self.now);
        longest.filter(|_| counted)
    }

    /// The process and its descendants, as far as the kernel names children.
    fn find_members(&mut self) {
        self.members = vec![self.root];
        let mut generation = self.members.clone();
        for _ in 0..GENERATIONS {
            generation = generation.iter().flat_map(|pid| self.children(*pid)).collect();
            self.members.extend(&generation);
        }
    }

    fn children(&self, pid: u32) -> Vec<u32> {
        let list = |thread| fs::read_to_string(self.procs.join(format!("{pid}/task/{thread}/children")));
        let lists: Vec<String> = threads(&self.procs, pid).into_iter().filter_map(|thread| list(thread).ok()).collect();
        lists.iter().flat_map(|list| list.split_ascii_whitespace().filter_map(|child| child.parse().ok())).collect()
    }
}

/// None when the process is gone.
fn threads(procs: &Path, pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(procs.join(format!("{pid}/task"))).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The whole file, in memory that is used again.
fn read<'t>(path: &Path, text: &'t mut Vec<u8>) -> Option<&'t [u8]> {
    text.clear();
    File::open(path).and_then(|mut file| file.read_to_end(text)).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like `/proc`.
    struct Procs(PathBuf);

    impl Procs {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("waits-{name}-{}", std::process::id())))
        }

        fn thread(&self, pid: u32, thread: u32, schedstat: &str, children: &str) {
            let dir = self.0.join(format!("{pid}/task/{thread}"));
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("schedstat"), schedstat).unwrap();
            fs::write(dir.join("children"), children).unwrap();
        }
    }

    impl Drop for Procs {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Proves that the largest growth of any thread is told, of a grandchild's too; that a thread's first sample is its base;
    /// that one which ended does not count.
    #[test]
    fn the_largest_growth_is_told() {
        let procs = Procs::new("growth");
        procs.thread(7, 7, "1 1000 1", "8 ");
        procs.thread(8, 8, "1 50 1", "9 ");
        procs.thread(9, 9, "1 500 1", "");
        let mut family = Family::below(&procs.0, 7);
        assert_eq!(family.longest_wait(), None, "the first look is the base");
        assert_eq!(family.longest_wait(), Some(0));
        procs.thread(7, 7, "1 1020 2", "8 ");
        procs.thread(7, 70, "1 99000 9", "");
        procs.thread(9, 9, "1 900 2", "");
        assert_eq!(family.longest_wait(), Some(400), "the grandchild's, and not all that a new thread has waited");
        procs.thread(7, 70, "1 99007 9", "");
        assert_eq!(family.longest_wait(), Some(7));
        fs::remove_dir_all(procs.0.join("7/task/70")).unwrap();
        assert_eq!(family.longest_wait(), Some(0));
        fs::remove_dir_all(&procs.0).unwrap();
        assert_eq!(family.longest_wait(), None, "all are gone");
    }

    /// Proves that a system which counts nothing tells nothing.
    #[test]
    fn zeros_are_no_reading() {
        let procs = Procs::new("zeros");
        procs.thread(7, 7, "0 0 0", "");
        let mut family = Family::below(&procs.0, 7);
        assert_eq!([family.longest_wait(), family.longest_wait()], [None, None]);
    }
}
