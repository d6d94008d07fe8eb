//! From the words of a command to a program that exists.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::PlaceError;
use super::spec::ProcessSpec;

/// The command of a spec, with the environment the child will have.
pub(super) fn of(spec: &ProcessSpec) -> Result<Command, PlaceError> {
    let mut env = spec.inherit.environment();
    env.extend(spec.env.iter().map(|(k, v)| (OsString::from(k), OsString::from(v))));
    command(&spec.name, &spec.command, spec.cwd.as_deref(), env)
}

/// A command in `cwd` with exactly the environment `env`; a later variable wins over an earlier one of the same name.
pub(super) fn command(
    name: &str,
    words: &[String],
    cwd: Option<&Path>,
    env: Vec<(OsString, OsString)>,
) -> Result<Command, PlaceError> {
    let Some((program, args)) = words.split_first() else {
        return Err(PlaceError::BadSpec { name: name.to_owned(), reason: "the command is empty".to_owned() });
    };
    let here = std::env::current_dir().unwrap_or_default();
    let cwd = cwd.map_or_else(|| here.clone(), |c| here.join(c));
    if !cwd.is_dir() {
        let why = "its working directory does not exist".to_owned();
        return Err(PlaceError::CommandNotFound { name: name.to_owned(), why, looked: vec![cwd] });
    }
    let path = env.iter().rev().find(|(k, _)| k == "PATH").map(|(_, v)| v.clone()).unwrap_or_default();
    let mut command = Command::new(resolve(name, program, &cwd, &path)?);
    command.args(args).current_dir(cwd).env_clear().envs(env);
    Ok(command)
}

/// The program as an absolute path. Looking it up ourselves lets the error say where we looked, and makes a relative
/// program mean the same on every system.
fn resolve(name: &str, program: &str, cwd: &Path, path: &OsString) -> Result<PathBuf, PlaceError> {
    let candidates: Vec<PathBuf> = if program.contains('/') {
        vec![cwd.join(program)]
    } else {
        std::env::split_paths(path).map(|dir| cwd.join(dir).join(program)).collect()
    };
    if let Some(found) = candidates.iter().find(|c| is_program(c)) {
        return Ok(found.clone());
    }
    let why = match candidates.iter().find(|c| c.exists()) {
        Some(dir) if dir.is_dir() => format!("{} is a directory, not a program", dir.display()),
        Some(file) => format!("{0} is not executable (`chmod +x {0}`)", file.display()),
        None if program.contains('/') => format!("there is no program `{program}` (is it built?)"),
        None => format!("there is no program `{program}` in PATH"),
    };
    Err(PlaceError::CommandNotFound { name: name.to_owned(), why, looked: candidates })
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
