//! Links that pass bytes: each half of a connection ends on its own, a RST on one side is a RST on the other, and toxics
//! work on each direction.
//!
//! A connection is one task. It runs both directions, and whatever they wait for they wait together with a change of the
//! toxics: a change interrupts them, is put in force on both, and is reported as such. So no peer that reads nothing or
//! sends nothing can delay one.

mod copy;
mod direction;
#[cfg(test)]
mod late_tests;
#[cfg(target_os = "linux")]
mod splice;

use std::io;
use std::sync::Arc;

use evidence::{ConnectionEnd, Struck};

use crate::clock::monotonic_ns;
use crate::conn::{Client, ConnRecord};
use crate::link::Link;
use crate::tls;
use crate::toxics::{Chain, Current, Direction, End, Entry, Listening, Origin, Start, ToxicKind};
use crate::traffic::Traffic;
use crate::wire::{Inbox, Wire};
use direction::{OneWay, Stop};

/// Passes bytes between a client and a freshly dialled upstream until both halves have ended.
pub(crate) async fn serve(link: &Link, record: &mut ConnRecord, client: Client) {
    let conn = link.toxics.next_conn();
    let protocol = client.wire.alpn();
    let traffic = Traffic::within(&link.flow.upstream);
    let upstream = match Box::pin(tls::connect(link, traffic, protocol.as_deref())).await {
        Ok((wire, _)) => wire,
        Err(why) => {
            let text = format!("link `{}`, connection {}: {why}", link.name, record.conn);
            link.log.remark(link.clock.now(), "dial-failed", text);
            // A refused dial is passed on as the nearest thing that an accepted connection can show.
            record.ended(ConnectionEnd::ByUpstream, Some(client.wire.reset()));
            return;
        }
    };
    let mut pair = Pair::new(client, Client { wire: upstream, inbox: Inbox::default() });
    let stop = pair.run(&mut Toxics::new(link.toxics.enter(), conn)).await;
    Box::pin(pair.end(stop, link, record)).await;
}

/// Passes bytes both ways, without toxics; what is already in the inboxes goes first. Says which side ended first.
pub(crate) async fn relay(client: Client, upstream: Client) -> ConnectionEnd {
    let mut pair = Pair::new(client, upstream);
    let stop = loop {
        if let Some(stop) = pair.advance(Current::FREE).await {
            break stop;
        }
    };
    pair.pass_on(stop)
}

/// Both sides of a connection.
struct Pair {
    client: Wire,
    upstream: Wire,
    up: OneWay,
    down: OneWay,
    first: Option<ConnectionEnd>,
    /// Toxiproxy's oddity: every end of this connection is a RST.
    resets: bool,
}

/// What a connection knows of its link's toxics.
struct Toxics {
    listening: Listening,
    conn: u64,
}

impl Toxics {
    fn new(listening: Listening, conn: u64) -> Self {
        Self { listening, conn }
    }
}

impl Pair {
    fn new(client: Client, upstream: Client) -> Self {
        Self {
            client: client.wire,
            upstream: upstream.wire,
            up: OneWay::new(client.inbox),
            down: OneWay::new(upstream.inbox),
            first: None,
            resets: false,
        }
    }

    /// Runs to the end of the connection.
    async fn run(&mut self, toxics: &mut Toxics) -> Stop {
        let mut fresh = true;
        loop {
            if let Some(end) = self.apply(toxics, fresh) {
                return Stop::Struck(end);
            }
            fresh = false;
            loop {
                let stop = tokio::select! {
                    biased;
                    () = toxics.listening.changed() => break,
                    stop = self.advance(toxics.listening.current()) => stop,
                };
                if let Some(stop) = stop {
                    return stop;
                }
            }
        }
    }

    /// Runs until one direction has ended, which is nothing yet, or the connection has.
    async fn advance(&mut self, current: Current<'_>) -> Option<Stop> {
        let resets = self.resets;
        let (ended, result) = {
            let up = self.up.run(&self.client, &self.upstream, current);
            let down = self.down.run(&self.upstream, &self.client, current);
            tokio::select! {
                biased;
                result = up => (ConnectionEnd::ByClient, result),
                result = down => (ConnectionEnd::ByUpstream, result),
            }
        };
        let other = match ended {
            ConnectionEnd::ByClient => ConnectionEnd::ByUpstream,
            _ => ConnectionEnd::ByClient,
        };
        match result {
            Ok(()) => self.first.get_or_insert(ended),
            Err(Stop::Broken { reading: false, .. }) => self.first.get_or_insert(other),
            Err(Stop::Broken { .. }) => self.first.get_or_insert(ended),
            Err(_) => return result.err(),
        };
        match result {
            Ok(()) if resets => Some(Stop::Over),
            Ok(()) if self.up.is_done() && self.down.is_done() => Some(Stop::Over),
            Ok(()) => None,
            Err(stop) => Some(stop),
        }
    }

    /// Puts the set in force on both directions, and says so.
    fn apply(&mut self, toxics: &mut Toxics, fresh: bool) -> Option<End> {
        let set = toxics.listening.set();
        let board = toxics.listening.board();
        let start = Start { now: monotonic_ns(), fresh, quirks: board.has_quirks() };
        let is_reset = |entry: &Arc<Entry>| matches!(entry.toxic.kind, ToxicKind::ResetPeer { .. });
        if fresh && start.quirks && set.entries.iter().any(is_reset) {
            self.resets = true;
            self.up.keeps_fin = true;
            self.down.keeps_fin = true;
        }
        let mut end = None;
        let ways = [
            (&mut self.up, Direction::Upstream, &self.upstream),
            (&mut self.down, Direction::Downstream, &self.client),
        ];
        for (way, direction, to) in ways {
            let origin = Origin { direction, conn: toxics.conn };
            let plan = Chain::plan(origin, board, &set);
            end = way.apply(plan, start, to).or(end);
        }
        toxics.listening.runs(set.epoch);
        end
    }

    /// Ends both sides as the connection ended, and writes that down.
    async fn end(self, stop: Stop, link: &Link, record: &mut ConnRecord) {
        let (entry, resets) = match stop {
            Stop::Struck(End::Reset(entry)) => (entry, true),
            Stop::Struck(End::Cut(entry)) => (entry, self.resets),
            stop => return record.ended(self.pass_on(stop), None),
        };
        record.fault = Some(struck(&entry));
        if resets {
            record.ended(ConnectionEnd::ResetByFault, Some(self.client.reset()));
            self.upstream.reset();
            return;
        }
        record.ended(ConnectionEnd::CutByFault, Some(self.client.fin()));
        self.upstream.fin();
        let linger = link.limits.linger_time;
        tokio::join!(self.client.linger(linger), self.upstream.linger(linger));
    }

    /// Ends both sides as one of them ended by itself; says which.
    fn pass_on(self, stop: Stop) -> ConnectionEnd {
        let gone = |e: &io::Error| matches!(e.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe);
        if self.resets || matches!(&stop, Stop::Broken { error, .. } if gone(error)) {
            self.client.reset();
            self.upstream.reset();
        }
        self.first.unwrap_or(ConnectionEnd::ByClient)
    }
}

/// The toxic that ended a connection, in the words of the log: direction and type.
fn struck(entry: &Entry) -> Struck {
    let direction = match entry.toxic.direction() {
        Direction::Upstream => "upstream",
        Direction::Downstream => "downstream",
    };
    Struck {
        rule: entry.toxic.name.clone(),
        what: format!("{direction}/{}", entry.toxic.kind.type_name()),
        delay_requested_ns: None,
        delay_injected_ns: None,
        held: None,
        released: None,
        epoch: entry.version,
    }
}
