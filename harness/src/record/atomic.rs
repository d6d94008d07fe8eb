//! Files that are either there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use uuid::Uuid;

use super::error::RecordError;

/// Writes `bytes` to `dir/name`: a reader sees the old file or the new one, never half of it, also after a crash.
pub(super) fn write(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
    if !is_plain(name) {
        return Err(RecordError::BadName { name: name.to_owned() });
    }
    let path = dir.join(name);
    let part = dir.join(format!(".{name}.{}", short_id()));
    let written = OpenOptions::new().write(true).create_new(true).open(&part).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&part, &path)).map_err(|error| {
        let _ = fs::remove_file(&part);
        RecordError::io("write", &path, error)
    })?;
    sync(dir)
}

/// Points the symbolic link `dir/name` at `target`, in one step also when it exists.
pub(super) fn link(dir: &Path, name: &str, target: &str) -> Result<(), RecordError> {
    let path = dir.join(name);
    let part = dir.join(format!(".{name}.{}", short_id()));
    let made = std::os::unix::fs::symlink(target, &part).and_then(|()| fs::rename(&part, &path));
    made.map_err(|error| {
        let _ = fs::remove_file(&part);
        RecordError::io("make the link", &path, error)
    })
}

/// Makes the directory's entries survive a crash of the machine.
pub(super) fn sync(dir: &Path) -> Result<(), RecordError> {
    File::open(dir).and_then(|d| d.sync_all()).map_err(|e| RecordError::io("sync", dir, e))
}

/// Eight hexadecimal digits that nobody else has.
pub(super) fn short_id() -> String {
    let mut id = Uuid::new_v4().simple().to_string();
    id.truncate(8);
    id
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}
