//! Who is measured, and how each is started.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::args::Options;
use crate::child::{Running, ourselves};
use crate::envoy;
use crate::error::{BenchError, While};

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Id {
    /// No proxy in between.
    Direct,
    /// The bare relay.
    Relay,
    /// A byte link of the `chaos-proxy` binary.
    OursTcp,
    /// The same beside the API, without a toxic to begin with.
    OursApi,
    /// An HTTP link of the binary, without a log.
    OursHttp,
    /// The same, writing its events to a file.
    OursHttpEvents,
    /// An HTTP link of the library, with the log off.
    LibraryLogOff,
    /// The same with the log on and drained.
    LibraryLogOn,
    /// Envoy's TCP proxy.
    EnvoyTcp,
    /// Envoy's HTTP router.
    EnvoyHttp,
}

impl Id {
    /// All, in the order of the table.
    pub(crate) const ALL: [Id; 10] = [
        Id::Direct,
        Id::Relay,
        Id::EnvoyTcp,
        Id::OursTcp,
        Id::OursApi,
        Id::EnvoyHttp,
        Id::OursHttp,
        Id::OursHttpEvents,
        Id::LibraryLogOff,
        Id::LibraryLogOn,
    ];

    /// How the table calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Id::Direct => "direct",
            Id::Relay => "relay",
            Id::OursTcp => "ours tcp",
            Id::OursApi => "ours tcp + api",
            Id::OursHttp => "ours http",
            Id::OursHttpEvents => "ours http + events",
            Id::LibraryLogOff => "library log off",
            Id::LibraryLogOn => "library log on",
            Id::EnvoyTcp => "envoy tcp",
            Id::EnvoyHttp => "envoy http",
        }
    }

    /// Whether it needs Envoy's binary.
    pub(crate) fn is_envoy(self) -> bool {
        matches!(self, Id::EnvoyTcp | Id::EnvoyHttp)
    }
}

/// What the contenders of a run share.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) origin: SocketAddr,
    pub(crate) binary: PathBuf,
    pub(crate) envoy: Option<PathBuf>,
    folder: PathBuf,
    started: AtomicUsize,
    _origin: Running,
}

impl World {
    pub(crate) fn open(options: &Options) -> Result<Self, BenchError> {
        let (running, addresses) = Running::announced(ourselves(&["origin"])?, "the origin", &["origin"])?;
        let folder = std::env::temp_dir().join(format!("chaos-proxy-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).during("making a folder for the peers' files")?;
        Ok(Self {
            origin: addresses[0],
            binary: options.binary.clone(),
            envoy: envoy::find(),
            folder,
            started: AtomicUsize::new(0),
            _origin: running,
        })
    }

    /// Whether a contender can take part.
    pub(crate) fn has(&self, id: Id) -> bool {
        !id.is_envoy() || self.envoy.is_some()
    }

    fn file(&self, what: &str) -> PathBuf {
        self.folder.join(format!("{what}-{}", self.started.fetch_add(1, Ordering::Relaxed)))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // What is left behind is a few kilobytes in the folder for temporary files.
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}

/// A contender that runs.
#[derive(Debug)]
pub(crate) struct Contender {
    pub(crate) id: Id,
    pub(crate) address: SocketAddr,
    /// Where its API listens, when it has one.
    pub(crate) api: Option<SocketAddr>,
    running: Option<Running>,
}

impl Contender {
    /// Its process; none of a direct connection.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(Running::pid)
    }

    /// Starts one in a process of its own.
    pub(crate) fn start(id: Id, world: &World) -> Result<Self, BenchError> {
        let upstream = world.origin.to_string();
        let (running, address) = match id {
            Id::Direct => return Ok(Self { id, address: world.origin, api: None, running: None }),
            Id::OursApi => {
                let mut command = ours(world, "--tcp");
                command.args(["--port", "0"]);
                let (running, addresses) = Running::announced(command, id.name(), &["link", "api"])?;
                return Ok(Self { id, address: addresses[0], api: Some(addresses[1]), running: Some(running) });
            }
            Id::Relay => one(ourselves(&["relay", &upstream])?, id, &["relay"])?,
            Id::LibraryLogOff => one(ourselves(&["host", &upstream, "off"])?, id, &["host"])?,
            Id::LibraryLogOn => one(ourselves(&["host", &upstream, "on"])?, id, &["host"])?,
            Id::OursTcp => one(ours(world, "--tcp"), id, &["link"])?,
            Id::OursHttp => one(ours(world, "--link"), id, &["link"])?,
            Id::OursHttpEvents => {
                let mut command = ours(world, "--link");
                command.arg("--events").arg(world.file("events"));
                one(command, id, &["link"])?
            }
            Id::EnvoyTcp | Id::EnvoyHttp => {
                let binary = world.envoy.as_deref().ok_or_else(|| BenchError::start("envoy", "no binary"))?;
                let (running, tcp, http) = envoy::start(binary, &world.file("envoy"), world.origin)?;
                (running, if id == Id::EnvoyTcp { tcp } else { http })
            }
        };
        Ok(Self { id, address, api: None, running: Some(running) })
    }
}

/// Our binary with one link to the origin.
pub(crate) fn ours(world: &World, flag: &str) -> Command {
    let mut command = Command::new(&world.binary);
    command.arg(flag).arg(format!("bench=127.0.0.1:0->{}", world.origin));
    command
}

fn one(command: Command, id: Id, label: &'static [&'static str]) -> Result<(Running, SocketAddr), BenchError> {
    let (running, addresses) = Running::announced(command, id.name(), label)?;
    Ok((running, addresses[0]))
}
