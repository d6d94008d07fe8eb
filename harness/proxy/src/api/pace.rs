//! How slow the client of the control plane may be: Toxiproxy's limits of 15, 30 and 60 seconds.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::sync::locked;

/// From the first byte of a request (or from connecting) to the last of its body.
const READ_TIME: Duration = Duration::from_secs(15);
/// How long the client may take nothing of an answer.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// From an answer to the next request.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// What one connection is doing, and since when.
#[derive(Debug)]
pub(super) struct Pace {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    doing: Doing,
    /// Since when the client takes nothing, if it does not.
    stuck: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
enum Doing {
    /// No byte of a request is there; the connection may be closed without loss.
    Waiting { until: Instant },
    /// A request is coming.
    Reading { until: Instant },
    /// It is being carried out or answered.
    Serving,
}

impl Pace {
    pub(super) fn new() -> Self {
        // A client that connects and says nothing is reading as Go counts it.
        let doing = Doing::Waiting { until: Instant::now() + READ_TIME };
        Self { state: Mutex::new(State { doing, stuck: None }) }
    }

    /// The request is there whole.
    pub(super) fn serving(&self) {
        locked(&self.state).doing = Doing::Serving;
    }

    /// The answer is over, or nobody wants it any more.
    pub(super) fn answered(&self) {
        locked(&self.state).doing = Doing::Waiting { until: Instant::now() + IDLE_TIME };
    }

    /// Whether no request is on its way or in progress.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(locked(&self.state).doing, Doing::Waiting { .. })
    }

    /// Waits until the client has been too slow.
    pub(super) async fn too_slow(&self) {
        loop {
            let now = Instant::now();
            let deadline = locked(&self.state).deadline();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return;
            }
            // No limit is shorter than READ_TIME, so looking again that often misses none.
            let again = now + READ_TIME;
            tokio::time::sleep_until(deadline.map_or(again, |deadline| deadline.min(again))).await;
        }
    }

    fn came(&self) {
        let mut state = locked(&self.state);
        if matches!(state.doing, Doing::Waiting { .. }) {
            state.doing = Doing::Reading { until: Instant::now() + READ_TIME };
        }
    }

    fn wrote<T>(&self, outcome: &Poll<T>) {
        let mut state = locked(&self.state);
        match outcome {
            Poll::Pending => _ = state.stuck.get_or_insert_with(Instant::now),
            Poll::Ready(_) => state.stuck = None,
        }
    }
}

impl State {
    fn deadline(&self) -> Option<Instant> {
        let slow = match self.doing {
            Doing::Waiting { until } | Doing::Reading { until } => Some(until),
            Doing::Serving => None,
        };
        let stuck = self.stuck.map(|since| since + WRITE_TIME);
        slow.into_iter().chain(stuck).min()
    }
}

/// A socket that tells its pace.
pub(super) struct Paced {
    stream: TokioIo<TcpStream>,
    pace: Arc<Pace>,
}

impl Paced {
    pub(super) fn new(stream: TcpStream, pace: Arc<Pace>) -> Self {
        Self { stream: TokioIo::new(stream), pace }
    }
}

impl Read for Paced {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.pace.came();
        Poll::Ready(Ok(()))
    }
}

impl Write for Paced {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.pace.wrote(&outcome);
        outcome
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.pace.wrote(&outcome);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds until the client is too slow, rounded up.
    fn left(pace: &Pace) -> Option<u64> {
        let deadline = locked(&pace.state).deadline()?;
        Some(deadline.saturating_duration_since(Instant::now()).as_secs_f64().ceil() as u64)
    }

    // Proves which limit holds at each step of a call.
    #[test]
    fn each_step_has_its_limit() {
        let pace = Pace::new();
        assert!(pace.is_waiting() && left(&pace) == Some(15));
        pace.came();
        assert!(!pace.is_waiting() && left(&pace) == Some(15));
        pace.serving();
        assert_eq!(left(&pace), None, "a handler has its own limit");
        pace.wrote(&Poll::<()>::Pending);
        let stuck = locked(&pace.state).stuck;
        assert_eq!(left(&pace), Some(30));
        pace.wrote(&Poll::<()>::Pending);
        assert_eq!(locked(&pace.state).stuck, stuck, "trying again in vain is no progress");
        pace.wrote(&Poll::Ready(()));
        assert_eq!(left(&pace), None);
        pace.answered();
        assert!(pace.is_waiting() && left(&pace) == Some(60));
    }

    // Proves that a limit that is over is seen at once.
    #[tokio::test]
    async fn an_old_limit_is_over() {
        let pace = Pace::new();
        locked(&pace.state).doing = Doing::Reading { until: Instant::now() };
        pace.too_slow().await;
    }
}
