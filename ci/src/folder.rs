//! Folders of our own under `target`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::Failure;

/// Makes a folder that is empty, whatever was there.
pub fn fresh(folder: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::Tool(format!("cannot make {} afresh: {error}", folder.display()));
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
        _ => fs::create_dir_all(folder).map_err(failed),
    }
}
