//! Facts about the machine and the tree, so that a run can be told from one on another machine.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Variables in which a CI system names the commit, in order of preference.
const COMMIT_VARIABLES: [&str; 5] = ["HARNESS_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "GIT_COMMIT"];

/// Where a run took place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Operating system, e.g. `linux`.
    pub os: String,
    /// Architecture, e.g. `x86_64`.
    pub arch: String,
    /// Kernel release.
    pub kernel: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Commit of the tree, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl Host {
    /// The facts of this machine, and the commit of the tree around `dir`.
    #[must_use]
    pub fn here(dir: &Path) -> Self {
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            kernel: kernel.trim().to_owned(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            commit: commit(dir),
        }
    }
}

fn commit(dir: &Path) -> Option<String> {
    let named = COMMIT_VARIABLES.iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    named.or_else(|| dir.ancestors().find_map(git_dir).and_then(|git| head(&git)))
}

/// The git directory of a work tree; a linked work tree has a file there which names it.
fn git_dir(dir: &Path) -> Option<PathBuf> {
    let git = dir.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    Some(dir.join(text.trim().strip_prefix("gitdir:")?.trim()))
}

/// The commit that HEAD names, read without running git: it may not be installed.
fn head(git: &Path) -> Option<String> {
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref:").map(str::trim) else { return hash(&head) };
    // A linked work tree keeps its branches in the common directory.
    let common =
        fs::read_to_string(git.join("commondir")).map(|c| git.join(c.trim())).unwrap_or_else(|_| git.to_owned());
    let loose = fs::read_to_string(common.join(name)).ok().and_then(|text| hash(&text));
    loose.or_else(|| {
        let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
        packed.lines().find_map(|line| hash(line.strip_suffix(name)?))
    })
}

fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    (text.len() >= 40 && text.bytes().all(|b| b.is_ascii_hexdigit())).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::head;
    use std::fs;

    // Proves that the commit is found on a branch, on a packed branch and on a detached HEAD, and that garbage gives
    // none rather than a wrong one.
    #[test]
    fn the_commit_of_every_kind_of_head() {
        let git = std::env::temp_dir().join(format!("record-git-{}", uuid::Uuid::new_v4()));
        fs::create_dir_all(git.join("refs/heads")).expect("a directory");
        let (loose, packed, detached) = ("a".repeat(40), "b".repeat(40), "c".repeat(40));
        let is = |text: &str, expected: Option<&String>| {
            fs::write(git.join("HEAD"), text).expect("written");
            assert_eq!(head(&git).as_ref(), expected, "HEAD is `{text}`");
        };
        fs::write(git.join("refs/heads/main"), format!("{loose}\n")).expect("written");
        fs::write(git.join("packed-refs"), format!("# pack-refs\n{packed} refs/heads/old\n")).expect("written");
        is("ref: refs/heads/main\n", Some(&loose));
        is("ref: refs/heads/old\n", Some(&packed));
        is(&format!("{detached}\n"), Some(&detached));
        is("ref: refs/heads/none\n", None);
        is("garbage", None);
        fs::remove_dir_all(&git).expect("removed");
    }
}
