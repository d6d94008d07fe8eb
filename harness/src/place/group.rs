//! A child process, everything it starts, and the watchdog that ends all of them when we are gone.
//!
//! The watchdog is a small shell that leads a process group of its own; the child is started *into* that group. The
//! shell waits on a pipe whose other end only we hold. Whatever ends us, also SIGKILL, closes the pipe, and the shell
//! sends SIGKILL to its own group. This needs no unsafe code and no Linux-only call, no pid is ever passed on, and there
//! is no moment in which the child runs without its watchdog. As long as the watchdog is not reaped, nobody else can
//! get the group's number, so a signal to the group can never reach a stranger.
//!
//! Limits: a child that leaves the group (a daemon that calls `setsid`) escapes the watchdog; it still sees its stdin
//! close.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use tokio::sync::watch;

/// How long a dropped group may take to disappear after SIGKILL before we stop waiting for it.
pub(super) const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// `$1` is the maximum lifetime in seconds. The ignored signals are those that we send to the group while the watchdog
/// must stay. The timer and the shell itself are members of the group, so that `kill 0` ends everything.
const WATCHDOG: &str = "trap '' HUP INT QUIT TERM USR1 USR2 TSTP TTIN TTOU
(sleep \"$1\"; kill -KILL 0) &
while read -r _; do :; done
kill -KILL 0";

/// What to do when the child has ended; the status is `None` when the system did not tell it.
pub(super) type OnEnd = Box<dyn FnOnce(Option<ExitStatus>) + Send>;

/// A running child with its group. Dropping it kills the group and waits until the child is reaped.
#[derive(Debug)]
pub(super) struct Group {
    shared: Arc<Shared>,
    exit: watch::Receiver<Option<ExitStatus>>,
    /// The child's stdin: closes with us, which well-behaved services take as the order to end.
    _stdin: Option<ChildStdin>,
    /// Our end of the watchdog's pipe.
    _lifeline: Option<ChildStdin>,
}

#[derive(Debug)]
struct Shared {
    child: Pid,
    watchdog: Pid,
    /// Whether the pids were given back to the system. Signals are sent only under this lock and only before that.
    reaped: Mutex<bool>,
    gone: Condvar,
}

impl Group {
    /// Starts the watchdog and then, in its group, the command; stdin is ours, stdout and stderr the caller's business.
    /// `on_start` is given the child's pid and the group's number while both are certainly the child's, and returns
    /// what to do once the child has ended, before anybody else is told.
    pub(super) fn spawn(
        command: &mut Command,
        max_lifetime: Duration,
        on_start: impl FnOnce(u32, u32) -> OnEnd,
    ) -> io::Result<Self> {
        let mut watchdog = watchdog(max_lifetime)?;
        let leader = i32::try_from(watchdog.id()).map_err(io::Error::other)?;
        let mut child = match command.stdin(Stdio::piped()).process_group(leader).spawn() {
            Ok(child) => child,
            Err(error) => {
                discard(&mut watchdog);
                return Err(error);
            }
        };
        let (stdin, lifeline) = (child.stdin.take(), watchdog.stdin.take());
        let pids = (pid(&child), pid(&watchdog));
        let (Some(child_pid), Some(watchdog_pid)) = pids else {
            discard(&mut child);
            discard(&mut watchdog);
            return Err(io::Error::other("a child has no pid"));
        };
        let shared = Arc::new(Shared {
            child: child_pid,
            watchdog: watchdog_pid,
            reaped: Mutex::new(false),
            gone: Condvar::new(),
        });
        let (tell, exit) = watch::channel(None);
        let keeper = Arc::clone(&shared);
        let on_end = on_start(child.id(), watchdog.id());
        // A thread, not a task: the child must be reaped also when its runtime is blocked or gone. Should the thread
        // not start, both children fall out of the closure unreaped, and closing the lifeline ends them.
        thread::Builder::new()
            .name("child-keeper".to_owned())
            .spawn(move || keeper.keep((child, watchdog), on_end, &tell))?;
        Ok(Self { shared, exit, _stdin: stdin, _lifeline: lifeline })
    }

    pub(super) fn pid(&self) -> u32 {
        self.shared.child.as_raw_nonzero().get().unsigned_abs()
    }

    /// How the child ended, if it has.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Waits for the end of the child.
    pub(super) fn exited(&self) -> impl Future<Output = Option<ExitStatus>> + Send + 'static {
        let mut exit = self.exit.clone();
        async move {
            let found = exit.wait_for(Option::is_some).await;
            // The sender only goes away without a status when the system refused to wait for the child.
            found.ok().and_then(|status| *status)
        }
    }

    /// Sends a signal to the whole group; `false` when the child has already ended.
    pub(super) fn signal(&self, signal: Signal) -> io::Result<bool> {
        let reaped = self.shared.lock();
        if *reaped {
            return Ok(false);
        }
        kill_process_group(self.shared.watchdog, signal)?;
        if signal == Signal::STOP {
            // The watchdog was stopped with the rest, and a stopped watchdog does not see us die.
            kill_process(self.shared.watchdog, Signal::CONT)?;
        }
        Ok(true)
    }

    /// Blocks until the child is reaped; `false` when that takes longer than `patience`.
    pub(super) fn wait_gone(&self, patience: Duration) -> bool {
        let reaped = self.shared.lock();
        let waited = self.shared.gone.wait_timeout_while(reaped, patience, |reaped| !*reaped);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Nothing can be reported from here; the closing lifeline and `sweep` are behind us.
        if matches!(self.signal(Signal::KILL), Ok(true)) {
            self.wait_gone(KILL_PATIENCE);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.reaped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the child's end, ends what it left behind, and gives the pids back.
    fn keep(&self, (mut child, mut watchdog): (Child, Child), on_end: OnEnd, tell: &watch::Sender<Option<ExitStatus>>) {
        wait_without_reaping(self.child);
        let mut reaped = self.lock();
        // Children of the child, the timer and the watchdog. An error means that nobody is left.
        let _ = kill_process_group(self.watchdog, Signal::KILL);
        let status = child.wait().ok();
        let _ = watchdog.wait();
        on_end(status);
        *reaped = true;
        tell.send_replace(status);
        drop(reaped);
        self.gone.notify_all();
    }
}

/// Returns when the child has ended and is a zombie, whose pid nobody else can get.
fn wait_without_reaping(child: Pid) {
    while let Err(Errno::INTR) = waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {}
}

fn watchdog(max_lifetime: Duration) -> io::Result<Child> {
    let seconds = max_lifetime.as_secs().saturating_add(u64::from(max_lifetime.subsec_nanos() > 0));
    let mut command = Command::new("/bin/sh");
    command.args(["-c", WATCHDOG, "harness-watchdog"]).arg(seconds.to_string());
    command.current_dir("/").env_clear().env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    // Without these words the error would seem to be about the child's own program.
    let refused =
        |e: io::Error| io::Error::new(e.kind(), format!("its watchdog needs /bin/sh, which does not start: {e}"));
    command.spawn().map_err(refused)
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}

fn discard(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
