//! One direction of a connection. It can be interrupted at any wait and taken up again: everything that is on its way is
//! kept here, nothing in what waits.

use std::io;

use bytes::Bytes;

use super::copy::{self, Passing};
use crate::clock::{FineTimer, monotonic_ns};
use crate::toxics::{Chain, Current, End, Load, Plan, Start};
use crate::wire::{Inbox, Wire};

/// Why a connection stops.
#[derive(Debug)]
pub(super) enum Stop {
    /// Both directions have ended.
    Over,
    /// A side is gone: the one that was read from, or the one that was written to.
    Broken { reading: bool, error: io::Error },
    /// A toxic ends it.
    Struck(End),
}

/// One direction.
#[derive(Debug)]
pub(super) struct OneWay {
    /// The toxics that work on it, if any does.
    chain: Option<Box<Chain>>,
    timer: FineTimer,
    passing: Passing,
    /// What came, and when, after the chain's toxics were changed and before the connection has heard of it.
    late: Option<(Load, u64)>,
    /// Bytes that the receiver had been sent when the first load of the chain's exit became the first.
    mark: Option<u64>,
    /// The end of the stream is being passed on, which with TLS can take a while.
    closing: bool,
    /// It was passed on.
    done: bool,
    /// The end of the stream is not passed on: the whole connection is to end with RST then.
    pub(super) keeps_fin: bool,
}

impl OneWay {
    /// What is in `ahead` was read before and goes first.
    pub(super) fn new(ahead: Inbox) -> Self {
        Self {
            chain: None,
            timer: FineTimer::default(),
            passing: Passing::new(ahead),
            late: None,
            mark: None,
            closing: false,
            done: false,
            keeps_fin: false,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Puts a plan in force. The end, if that ends the connection.
    pub(super) fn apply(&mut self, plan: Plan<'_>, start: Start, to: &Wire) -> Option<End> {
        if self.chain.is_none() && plan.is_empty() {
            return None;
        }
        if let Some(chain) = &mut self.chain {
            let end = chain.apply(plan, start);
            if let Some((load, at)) = self.late.take() {
                chain.feed(load, at);
            }
            return end;
        }
        let mut chain = Box::<Chain>::default();
        let end = chain.apply(plan, start);
        for bytes in self.passing.take(to) {
            chain.feed_all(bytes, start.now);
        }
        if self.passing.has_ended() && !self.closing {
            chain.feed(Load::End(End::Fin), start.now);
        }
        self.chain = Some(chain);
        end
    }

    /// Passes bytes until the end of the stream has been passed on. After that it runs on, for the toxics that can still
    /// strike and a sender that may still reset.
    pub(super) async fn run(&mut self, from: &Wire, to: &Wire, current: Current<'_>) -> Result<(), Stop> {
        loop {
            if self.chain.as_ref().is_some_and(|chain| chain.is_spent()) {
                self.chain = None;
                self.timer = FineTimer::default();
            }
            if self.closing && !self.done {
                self.finish(from, to).await;
                return Ok(());
            }
            match (&mut self.chain, self.done) {
                (None, true) => return Err(copy::reset(from).await),
                (None, false) => {
                    self.passing.run(from, to, current).await?;
                    self.finish(from, to).await;
                    return Ok(());
                }
                (Some(chain), true) => {
                    return tokio::select! {
                        biased;
                        stop = wait_for_strikes(chain, &mut self.timer) => Err(stop),
                        stop = copy::reset(from) => Err(stop),
                    };
                }
                (Some(_), false) => {
                    if self.step(from, to, current).await? {
                        self.finish(from, to).await;
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn finish(&mut self, from: &Wire, to: &Wire) {
        if self.keeps_fin {
            self.done = true;
            return;
        }
        if !self.closing {
            to.fin_like(from);
            self.closing = true;
        }
        to.flushed().await;
        self.done = true;
    }

    /// Moves the chain on by one wait; whether the end of the stream came out of it.
    async fn step(&mut self, from: &Wire, to: &Wire, current: Current<'_>) -> Result<bool, Stop> {
        let Some(chain) = &mut self.chain else { return Ok(false) };
        let turn = chain.step(monotonic_ns());
        if let Some(end) = turn.strike {
            return Err(Stop::Struck(end));
        }
        let mut sends = Bytes::new();
        // Through TLS an interrupted write may have taken all, and have handed a part to the kernel.
        let owes = !to.is_flushed();
        match chain.front() {
            Some(Load::End(End::Fin)) => {
                chain.pop();
                return Ok(true);
            }
            Some(Load::End(end)) => return Err(Stop::Struck(end.clone())),
            Some(Load::Bytes(bytes)) => {
                let sent = to.traffic().sent();
                let gone = usize::try_from(sent - *self.mark.get_or_insert(sent)).unwrap_or(usize::MAX);
                sends = bytes.slice(gone.min(bytes.len())..);
                if sends.is_empty() && to.is_flushed() {
                    chain.pop();
                    self.mark = None;
                    return Ok(false);
                }
            }
            None => {}
        }
        if chain.is_spent() {
            return Ok(false);
        }
        let ended = self.passing.has_ended();
        let reads = !ended && chain.has_room();
        let wakes = turn.wake.is_some();
        tokio::select! {
            biased;
            sent = to.send(&sends), if owes || !sends.is_empty() => {
                sent.map_err(|error| Stop::Broken { reading: false, error })?;
            }
            chunk = self.passing.receive(from), if reads => {
                let chunk = chunk.map_err(|error| Stop::Broken { reading: true, error })?;
                if current.is_old() {
                    self.late = Some((chunk, monotonic_ns()));
                    // Until the change interrupts this.
                    std::future::pending::<()>().await;
                } else {
                    chain.feed(chunk, monotonic_ns());
                }
            }
            () = self.timer.until(turn.wake.unwrap_or(u64::MAX)), if wakes => {}
            stop = copy::reset(from), if ended => return Err(stop),
            // Nothing can happen by itself: a toxic keeps what there is.
            else => std::future::pending().await,
        }
        Ok(false)
    }
}

/// The direction is over, but a toxic on it may still end the connection.
async fn wait_for_strikes(chain: &mut Chain, timer: &mut FineTimer) -> Stop {
    loop {
        let turn = chain.step(monotonic_ns());
        if let Some(end) = turn.strike {
            return Stop::Struck(end);
        }
        if let Some(Load::End(end @ (End::Cut(_) | End::Reset(_)))) = chain.front() {
            return Stop::Struck(end.clone());
        }
        chain.discard();
        match turn.wake {
            Some(wake) => timer.until(wake).await,
            None => std::future::pending().await,
        }
    }
}
