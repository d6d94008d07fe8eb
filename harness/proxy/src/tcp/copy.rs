//! Bytes that no toxic works on: read and written through a buffer that the thread's connections share, and moved inside
//! the kernel once there is a stream of them.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use bytes::{Buf, Bytes};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::Interest;
use tokio::net::TcpStream;

use super::direction::Stop;
#[cfg(target_os = "linux")]
use super::splice::Stream;
use crate::toxics::{Current, End, Load, MAX_CHUNK};
use crate::wire::{Inbox, Wire};

/// Room for one read. A read that fills it is a stream.
const COPY_BYTES: usize = 64 << 10;
/// Reads in a row after which the task lets others go first.
const TURNS: u32 = 16;
/// How long a sender that has closed its half may be silent until it is asked whether it is still there.
const ASK_AFTER: Duration = Duration::from_secs(60);

thread_local! {
    /// Never borrowed across a wait, so an idle connection holds no buffer.
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; COPY_BYTES]);
}

/// What passes without a toxic.
#[derive(Debug, Default)]
pub(super) struct Passing {
    /// What was read and could not be written yet.
    held: Bytes,
    /// Bytes that the receiver had been sent when `held` began to be written through TLS, which may take a part of it in
    /// a wait that is interrupted.
    mark: Option<u64>,
    /// Room for reads through TLS.
    inbox: Inbox,
    /// The sender has closed.
    ended: bool,
    /// Reads since the task last let others go first.
    turns: u32,
    #[cfg(target_os = "linux")]
    stream: Stream,
}

impl Passing {
    /// What is in `ahead` was read before and goes first.
    pub(super) fn new(mut ahead: Inbox) -> Self {
        Self { held: ahead.take(ahead.len()), ..Self::default() }
    }

    /// Whether the sender has closed.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Takes what was read and not written.
    pub(super) fn take(&mut self, to: &Wire) -> Vec<Bytes> {
        self.settle(to);
        let held = std::mem::take(&mut self.held);
        #[cfg(target_os = "linux")]
        let on_its_way = [held, self.stream.take()];
        #[cfg(not(target_os = "linux"))]
        let on_its_way = [held];
        on_its_way.into_iter().filter(|bytes| !bytes.is_empty()).collect()
    }

    /// The next chunk for a chain.
    pub(super) async fn receive(&mut self, from: &Wire) -> io::Result<Load> {
        let bytes = match from.plain() {
            Some(socket) => loop {
                socket.readable().await?;
                let read = SCRATCH.with_borrow_mut(|room| {
                    let room = &mut room[..MAX_CHUNK];
                    read(socket, room).map(|n| n.map(|n| Bytes::copy_from_slice(&room[..n])))
                })?;
                if let Some(bytes) = read {
                    from.traffic().came(bytes.len() as u64);
                    break bytes;
                }
            },
            None => {
                from.fill(&mut self.inbox).await?;
                let bytes = Bytes::copy_from_slice(self.inbox.bytes());
                self.inbox.clear();
                self.inbox.shrink();
                bytes
            }
        };
        if bytes.is_empty() {
            self.ended = true;
            return Ok(Load::End(End::Fin));
        }
        Ok(Load::Bytes(bytes))
    }

    /// Passes bytes until the sender has closed and all is written.
    pub(super) async fn run(&mut self, from: &Wire, to: &Wire, current: Current<'_>) -> Result<(), Stop> {
        loop {
            self.flush(to).await.map_err(writing)?;
            if self.ended {
                return Ok(());
            }
            self.turns += 1;
            if self.turns >= TURNS {
                self.turns = 0;
                tokio::task::yield_now().await;
            }
            match (from.plain(), to.plain()) {
                (Some(source), Some(sink)) => self.pass((source, sink), from, to, current).await?,
                _ => {
                    if let Load::Bytes(bytes) = self.receive(from).await.map_err(reading)? {
                        self.held = bytes;
                    }
                }
            }
            if current.is_old() {
                // A toxic has come. What is held is its, and so is the end, as soon as the change interrupts this.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Writes what is held.
    async fn flush(&mut self, to: &Wire) -> io::Result<()> {
        self.settle(to);
        if !self.held.is_empty() || !to.is_flushed() {
            self.mark = Some(to.traffic().sent());
            to.send(&self.held).await?;
            self.held = Bytes::new();
            self.mark = None;
        }
        #[cfg(target_os = "linux")]
        if let Some(socket) = to.plain() {
            self.stream.flush(socket, to.traffic()).await?;
        }
        Ok(())
    }

    /// Forgets what an interrupted write has got rid of.
    fn settle(&mut self, to: &Wire) {
        if let Some(mark) = self.mark.take() {
            let gone = usize::try_from(to.traffic().sent() - mark).unwrap_or(usize::MAX);
            self.held.advance(gone.min(self.held.len()));
        }
    }

    /// Reads once, and writes as much of it as goes at once.
    async fn pass(
        &mut self,
        (source, sink): (&TcpStream, &TcpStream),
        from: &Wire,
        to: &Wire,
        current: Current<'_>,
    ) -> Result<(), Stop> {
        #[cfg(target_os = "linux")]
        if self.stream.is_on() {
            self.ended = self.stream.fill(source, from.traffic()).await.map_err(reading)?;
            return Ok(());
        }
        source.readable().await.map_err(reading)?;
        SCRATCH.with_borrow_mut(|room| {
            let Some(n) = read(source, room).map_err(reading)? else { return Ok(()) };
            from.traffic().came(n as u64);
            self.ended = n == 0;
            #[cfg(target_os = "linux")]
            self.stream.saw(n == room.len());
            let sent = match (!current.is_old()).then(|| sink.try_write(&room[..n])) {
                None => 0,
                Some(Ok(sent)) => sent,
                Some(Err(e)) if e.kind() == io::ErrorKind::WouldBlock => 0,
                Some(Err(e)) => return Err(writing(e)),
            };
            to.traffic().went(sent as u64);
            if sent < n {
                self.held = Bytes::copy_from_slice(&room[sent..n]);
            }
            Ok(())
        })
    }
}

/// Reads what is there; `None` when nothing is. A read that leaves room has taken all there was, and says so to the
/// runtime, which saves the call that would find nothing.
fn read(socket: &TcpStream, room: &mut [u8]) -> io::Result<Option<usize>> {
    let mut got = None;
    let result = socket.try_io(Interest::READABLE, || {
        let n = rustix::io::read(socket, &mut *room)?;
        got = Some(n);
        if n > 0 && n < room.len() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
    });
    match (got, result) {
        (Some(n), _) => Ok(Some(n)),
        (None, Err(e)) if !matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Err(e),
        (None, _) => Ok(None),
    }
}

/// Waits until a sender that has closed its half resets. One that leaves without a word is asked now and then.
pub(super) async fn reset(from: &Wire) -> Stop {
    let Some(socket) = from.plain() else { return std::future::pending().await };
    // Where it cannot be asked, it is only seen when something is sent to it.
    let _unasked = SockRef::from(socket).set_tcp_keepalive(&TcpKeepalive::new().with_time(ASK_AFTER));
    let ready = socket.ready(Interest::ERROR).await;
    let error = ready.err().or_else(|| socket.take_error().ok().flatten());
    reading(error.unwrap_or_else(|| io::ErrorKind::ConnectionReset.into()))
}

fn reading(error: io::Error) -> Stop {
    Stop::Broken { reading: true, error }
}

fn writing(error: io::Error) -> Stop {
    Stop::Broken { reading: false, error }
}
