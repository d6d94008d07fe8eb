//! A stream of bytes moved from socket to socket inside the kernel, through a pipe. Only streams are worth the pipe: a
//! connection takes one when a read has filled its buffer, and lends it back as soon as nothing is there to be moved.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Mutex;

use bytes::Bytes;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::sync::locked;
use crate::traffic::Traffic;

/// What a pipe is asked to hold.
const PIPE_BYTES: usize = 512 << 10;
/// A move of less than this is no stream any more.
const STREAM_BYTES: usize = 16 << 10;
/// Pipes that are kept for the next who needs one.
const SPARE_PIPES: usize = 32;

static SPARE: Mutex<Vec<Ends>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Ends {
    exit: OwnedFd,
    entry: OwnedFd,
}

/// A direction's use of the kernel's own path.
#[derive(Debug, Default)]
pub(super) struct Stream {
    on: bool,
    /// The kernel does not want to.
    refused: bool,
    pipe: Option<Ends>,
    /// Bytes in the pipe.
    level: usize,
}

impl Stream {
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Hears whether a read filled its buffer.
    pub(super) fn saw(&mut self, filled: bool) {
        self.on = filled && !self.refused;
    }

    /// Moves what is there into the empty pipe; whether the sender has closed.
    pub(super) async fn fill(&mut self, from: &TcpStream, traffic: &Traffic) -> io::Result<bool> {
        from.readable().await?;
        let pipe = match self.pipe.take().map_or_else(Ends::take, Ok) {
            Ok(pipe) => self.pipe.insert(pipe),
            Err(_) => {
                self.refuse();
                return Ok(false);
            }
        };
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        let moved = from.try_io(Interest::READABLE, || Ok(splice(from, None, &pipe.entry, None, PIPE_BYTES, flags)?));
        match moved {
            Ok(n) => {
                self.level = n;
                traffic.came(n as u64);
                self.on = n >= STREAM_BYTES;
                Ok(n == 0)
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                self.lend();
                Ok(false)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(e) if e.kind() == io::ErrorKind::InvalidInput => {
                self.refuse();
                Ok(false)
            }
            Err(e) => Err(e),
        }
    }

    /// Empties the pipe.
    pub(super) async fn flush(&mut self, to: &TcpStream, traffic: &Traffic) -> io::Result<()> {
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        while self.level > 0 {
            let Some(pipe) = &self.pipe else { break };
            let level = self.level;
            let moved = to.try_io(Interest::WRITABLE, || Ok(splice(&pipe.exit, None, to, None, level, flags)?));
            match moved {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => {
                    self.level -= n;
                    traffic.went(n as u64);
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => to.writable().await?,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        if !self.on {
            self.lend();
        }
        Ok(())
    }

    /// Takes what is in the pipe out of it.
    pub(super) fn take(&mut self) -> Bytes {
        let mut taken = vec![0; self.level];
        let mut filled = 0;
        while let Some(pipe) = &self.pipe
            && filled < taken.len()
        {
            match rustix::io::read(&pipe.exit, &mut taken[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
        taken.truncate(filled);
        self.level -= filled;
        self.on = false;
        self.lend();
        taken.into()
    }

    fn refuse(&mut self) {
        self.on = false;
        self.refused = true;
        self.lend();
    }

    /// Gives an empty pipe back.
    fn lend(&mut self) {
        let Some(pipe) = self.pipe.take() else { return };
        let mut spare = locked(&SPARE);
        if self.level == 0 && spare.len() < SPARE_PIPES {
            spare.push(pipe);
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.lend();
    }
}

impl Ends {
    fn take() -> io::Result<Self> {
        if let Some(spare) = locked(&SPARE).pop() {
            return Ok(spare);
        }
        let (exit, entry) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC)?;
        // A smaller pipe only costs more calls.
        let _smaller = fcntl_setpipe_size(&entry, PIPE_BYTES);
        Ok(Self { exit, entry })
    }
}
