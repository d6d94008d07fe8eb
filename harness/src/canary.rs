//! The canary: how much later than due the harness itself was served while a scenario ran.
//!
//! A gap between two attempts is only as good as the machine on which it was measured. During a scenario a few tasks
//! sleep for known times and then send a few bytes through a loopback address and back; the rig puts a TCP link of the
//! chaos proxy in between, so that an echo takes the way of the traffic: timer, scheduler, proxy, loopback. The
//! *overshoot* is what it took beyond the requested sleep. When the largest one exceeds the declared noise bound, verdicts
//! about timing are inconclusive, and say so.
//!
//! Nothing is subtracted from the overshoot. Tokio's timer wakes on whole milliseconds and never early, so that a quiet
//! machine shows one to two milliseconds here. That is also what the proxy's delays and the load driver's schedule
//! suffer, and so belongs to the noise.

mod disk;
mod echo;
mod histogram;
mod quiet;
mod waits;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use judge::evidence::{At, Canary as Reading};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

pub use disk::DiskCanary;
pub use echo::EchoServer;
use histogram::Histogram;
pub use quiet::quiet_moment;
pub use waits::WaitCanary;

use crate::clock::Clock;

/// The sleeps, in milliseconds, taken in turn: about 60 echoes a second and task. Coprime lengths keep the tasks from
/// marching in step with one another and with a periodic disturbance.
const SLEEPS_MS: [u64; 6] = [5, 20, 11, 19, 17, 20];
/// More tasks would themselves be the disturbance.
const MAX_TASKS: usize = 16;
/// How long connecting may take before the canary is given up.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// A running canary. Dropping it ends its tasks without a reading.
#[derive(Debug)]
pub struct Canary {
    clock: Clock,
    states: Vec<Arc<Mutex<State>>>,
    tasks: JoinSet<()>,
}

#[derive(Debug, Default)]
struct State {
    overshoots: Histogram,
    max_ns: u64,
    worst_at: At,
    /// When the echo that is under way was due; stays when the connection breaks.
    due: Option<At>,
}

impl Canary {
    /// Starts `tasks` tasks (two are enough; at most 16) that echo through `addr`.
    ///
    /// # Errors
    /// When `addr` does not accept.
    pub async fn start(addr: SocketAddr, clock: Clock, tasks: usize) -> io::Result<Self> {
        let mut canary = Self { clock, states: Vec::new(), tasks: JoinSet::new() };
        for phase in 0..tasks.clamp(1, MAX_TASKS) {
            let connect = timeout(CONNECT_WITHIN, TcpStream::connect(addr)).await;
            let stream = connect.map_err(|_| io::Error::from(io::ErrorKind::TimedOut)).flatten()?;
            stream.set_nodelay(true)?;
            let state = Arc::new(Mutex::new(State::default()));
            canary.states.push(Arc::clone(&state));
            canary.tasks.spawn(sing(stream, clock, state, phase));
        }
        Ok(canary)
    }

    /// Ends the tasks and returns what they measured. An echo that did not come back, be it that a pause is going on or
    /// that the connection broke, counts with its lateness up to now: nobody can tell what went unseen since.
    pub async fn stop(mut self) -> Reading {
        let now = self.clock.now();
        self.tasks.shutdown().await;
        let mut total = State::default();
        for state in &self.states {
            let mut state = lock(state);
            if let Some(due) = state.due.take().filter(|due| *due < now) {
                state.note(due, now);
            }
            total.overshoots.add(&state.overshoots);
            if state.max_ns >= total.max_ns {
                (total.max_ns, total.worst_at) = (state.max_ns, state.worst_at);
            }
        }
        Reading {
            process: None,
            samples: total.overshoots.count(),
            max_ns: total.max_ns,
            p99_ns: total.overshoots.quantile(0.99).min(total.max_ns),
            worst_at: total.worst_at,
        }
    }
}

impl State {
    fn note(&mut self, due: At, now: At) {
        let overshoot = now.0.saturating_sub(due.0);
        self.overshoots.put(overshoot);
        if overshoot >= self.max_ns {
            (self.max_ns, self.worst_at) = (overshoot, due);
        }
    }
}

async fn sing(mut stream: TcpStream, clock: Clock, state: Arc<Mutex<State>>, phase: usize) {
    for turn in phase.. {
        let requested = Duration::from_millis(SLEEPS_MS[turn % SLEEPS_MS.len()]);
        let due = clock.now() + requested;
        lock(&state).due = Some(due);
        sleep(requested).await;
        if echo(&mut stream, turn as u64).await.is_err() {
            return;
        }
        let now = clock.now();
        let mut state = lock(&state);
        state.due = None;
        state.note(due, now);
    }
}

async fn echo(stream: &mut TcpStream, number: u64) -> io::Result<()> {
    let sent = number.to_be_bytes();
    stream.write_all(&sent).await?;
    let mut back = [0; 8];
    stream.read_exact(&mut back).await?;
    if back == sent { Ok(()) } else { Err(io::Error::other("other bytes came back than were sent")) }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
