//! What to start and how to know that it is up.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::announce::Announcement;
use super::error::PlaceError;
use crate::record::ChildRegister;

/// Names that a child inherits by default: what programs need to run at all, to speak the user's language and to find
/// their runtime. Not among them on purpose: `OTEL_*`, `*_proxy` and the service's own variables, with which the
/// developer's shell would silently change what is being verified.
const INHERITED: [&str; 19] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TERM",
    "LD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "VIRTUAL_ENV",
    "JAVA_HOME",
    "GOPATH",
    "GOROOT",
    "LLVM_PROFILE_FILE",
];
/// Beginnings of names that a child inherits by default.
const INHERITED_PREFIXES: [&str; 6] = ["LC_", "CARGO", "RUST", "PYTHON", "NODE_", "DOTNET_"];

/// What a child sees of our own environment. The variables of [`ProcessSpec::env`] come on top and win.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inherit {
    /// What programs need to run (`PATH`, `HOME`, `LANG`, `LC_*`, `TMPDIR`, `CARGO*`, `RUST*`, `PYTHON*`, `NODE_*`,
    /// `JAVA_HOME`, ...), and `also`: further names, or beginnings of names with a `*` at the end.
    Basics {
        /// Further names, e.g. `PAYMENTS_DEFECT` or `PAYMENTS_*`.
        also: Vec<String>,
    },
    /// Everything.
    All,
}

impl Default for Inherit {
    fn default() -> Self {
        Self::Basics { also: Vec::new() }
    }
}

impl Inherit {
    /// Whether a variable of that name is passed on.
    #[must_use]
    pub fn passes(&self, name: &str) -> bool {
        let Self::Basics { also } = self else { return true };
        let matches = |pattern: &String| match pattern.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == pattern,
        };
        INHERITED.contains(&name) || INHERITED_PREFIXES.iter().any(|p| name.starts_with(p)) || also.iter().any(matches)
    }

    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        std::env::vars_os().filter(|(name, _)| self.passes(&name.to_string_lossy())).collect()
    }
}

/// How a process shows that it is up: by a line, by answering a GET with 2xx, or by both in that order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// A part of an output line, with at most one of `{url}` and `{port}` where the address stands:
    /// `listening on {url}`. Waited for first.
    pub line: Option<String>,
    /// Where to GET: an absolute URL, or a path on the address that the line announced.
    pub url: Option<String>,
    /// How long to wait for all of it.
    pub deadline: Duration,
}

impl Ready {
    /// Default [`Ready::deadline`].
    pub const DEADLINE: Duration = Duration::from_secs(30);

    /// Up when a GET of `url` (absolute) answers 2xx.
    #[must_use]
    pub fn url(url: impl Into<String>) -> Self {
        Self { line: None, url: Some(url.into()), deadline: Self::DEADLINE }
    }

    /// Up when a line like that was printed, e.g. `listening on {url}`.
    #[must_use]
    pub fn line(line: impl Into<String>) -> Self {
        Self { line: Some(line.into()), url: None, deadline: Self::DEADLINE }
    }

    /// After the line, a GET of this path on the announced address must answer 2xx, too.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.url = Some(path.into());
        self
    }

    /// Waits so long.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

/// A process to start. All texts are already rendered (see [`template`](super::template)).
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    /// Its name in errors and in the run folder.
    pub name: String,
    /// Program and arguments; there is no shell in between. A program without `/` is looked up in `PATH`, one with a
    /// `/` is relative to `cwd`.
    pub command: Vec<String>,
    /// Run once a [`Builder`](super::Builder) before the first start.
    pub build: Option<Vec<String>>,
    /// Working directory; ours when `None`.
    pub cwd: Option<PathBuf>,
    /// Its environment, on top of what `inherit` passes on.
    pub env: BTreeMap<String, String>,
    /// What it sees of our environment.
    pub inherit: Inherit,
    /// How to know that it is up.
    pub ready: Ready,
    /// Time between SIGTERM and SIGKILL in [`Process::stop`](super::Process::stop).
    pub stop_grace: Duration,
    /// File that takes stdout and stderr; appended to, so that restarts share it. `None` keeps only the last lines.
    pub log_path: Option<PathBuf>,
    /// The log file grows no further than this; then a last line says so.
    pub log_limit: u64,
    /// It is ended after this time even if the harness hangs.
    pub max_lifetime: Duration,
    /// Where its pid is noted, so that `harness sweep` finds it should all else fail.
    pub register: Option<ChildRegister>,
}

impl ProcessSpec {
    /// Default of [`stop_grace`](Self::stop_grace).
    pub const STOP_GRACE: Duration = Duration::from_secs(5);
    /// Default of [`log_limit`](Self::log_limit): 16 MiB.
    pub const LOG_LIMIT: u64 = 16 << 20;
    /// Default of [`max_lifetime`](Self::max_lifetime).
    pub const MAX_LIFETIME: Duration = Duration::from_secs(60 * 60);

    /// A process with the defaults: our working directory, the basic environment, no log file.
    #[must_use]
    pub fn new<S: Into<String>>(name: impl Into<String>, command: impl IntoIterator<Item = S>, ready: Ready) -> Self {
        Self {
            name: name.into(),
            command: command.into_iter().map(Into::into).collect(),
            build: None,
            cwd: None,
            env: BTreeMap::new(),
            inherit: Inherit::default(),
            ready,
            stop_grace: Self::STOP_GRACE,
            log_path: None,
            log_limit: Self::LOG_LIMIT,
            max_lifetime: Self::MAX_LIFETIME,
            register: None,
        }
    }

    /// Sets one variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets the log file.
    #[must_use]
    pub fn log_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.log_path = Some(path.into());
        self
    }

    /// Sets the build command.
    #[must_use]
    pub fn build<S: Into<String>>(mut self, command: impl IntoIterator<Item = S>) -> Self {
        self.build = Some(command.into_iter().map(Into::into).collect());
        self
    }

    /// Checks what can be checked without starting anything, and returns the line to wait for.
    pub(super) fn validate(&self) -> Result<Option<Announcement>, PlaceError> {
        let bad = |reason: &str| PlaceError::BadSpec { name: self.name.clone(), reason: reason.to_owned() };
        if self.command.first().is_none_or(String::is_empty) {
            return Err(bad("`command` is empty; give the program and its arguments as a list"));
        }
        if self.build.as_ref().is_some_and(|b| b.first().is_none_or(String::is_empty)) {
            return Err(bad("`build` is empty; leave it out when there is nothing to build"));
        }
        if let Some(name) = self.env.keys().find(|n| n.is_empty() || n.contains(['=', '\0'])) {
            return Err(bad(&format!("`{name}` cannot be the name of an environment variable")));
        }
        let texts = self.command.iter().chain(self.env.values());
        if texts.into_iter().any(|t| t.contains('\0')) {
            return Err(bad("an argument or a variable has a NUL byte in it"));
        }
        let line = self.ready.line.as_deref().map(Announcement::parse).transpose().map_err(|e| bad(&e))?;
        let announces = line.as_ref().is_some_and(Announcement::captures);
        match &self.ready.url {
            None if line.is_none() => Err(bad("`ready` needs a `url` to ask, or a `line` to wait for")),
            Some(url) if !url.starts_with("http://") && !url.starts_with('/') => {
                Err(bad(&format!("`ready.url` must begin with `http://` or, as a path, with `/`; it is `{url}`")))
            }
            Some(url) if url.starts_with('/') && !announces => Err(bad(
                "`ready.url` is a path, and no `ready.line` with `{url}` or `{port}` in it announces the address",
            )),
            _ => Ok(line),
        }
    }
}
