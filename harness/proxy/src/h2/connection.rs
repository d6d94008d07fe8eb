//! One client connection: takes up its streams, and ends it when a stream asks for that.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use evidence::{ConnectionEnd, End};
use h2::RecvStream;
use h2::server::{Connection, SendResponse};
use http::Request;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use super::door::{Door, Fate, Last, Order};
use super::socket::Socket;
use super::uplink::Uplink;
use super::{limits, stream};
use crate::conn::ConnRecord;
use crate::link::Link;

/// A request whose head came.
pub(super) type Arrival = (Request<RecvStream>, SendResponse<Bytes>);

/// What the streams of one client connection share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) link: Arc<Link>,
    pub(super) conn: u64,
    pub(super) door: Door,
    pub(super) uplink: Uplink,
    /// Who waits until everything that was handed over has been written.
    flushes: mpsc::Sender<oneshot::Sender<()>>,
}

impl Shared {
    /// Waits until everything that was handed over has been written, as far as the client takes it.
    pub(super) async fn flushed(&self) {
        let (done, wait) = oneshot::channel();
        // Errors say that the connection is gone, and there is nothing to wait for.
        if self.flushes.send(done).await.is_ok() {
            let _late = tokio::time::timeout(self.link.limits.linger_time, wait).await;
        }
    }
}

/// Drives one connection to its end.
pub(super) struct Driver<'a> {
    pub(super) link: &'a Arc<Link>,
    pub(super) record: &'a mut ConnRecord,
    pub(super) socket: Socket,
    pub(super) retire: watch::Receiver<u64>,
    /// The highest stream that was taken up.
    pub(super) last_stream: u32,
}

type Http2 = Connection<Socket, Bytes>;

/// What happens next on a connection.
enum Event {
    Arrival(Box<Arrival>),
    /// It has ended, in order or not.
    Over(Option<h2::Error>),
    Order,
    FlushAsked(oneshot::Sender<()>),
    Flushed,
    Retired,
    /// It was retired some time ago.
    Overdue,
    Room(OwnedSemaphorePermit),
}

/// Tells the streams when the driver is dropped early.
struct Abandoned(Arc<Shared>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.door.tell(Fate { end: End::Unfinished, at: self.0.link.clock.now(), why: None });
    }
}

impl Driver<'_> {
    pub(super) async fn run(mut self) {
        let limits = &self.link.limits;
        let handshake = limits::server(limits).handshake::<_, Bytes>(self.socket.clone());
        let http2 = match tokio::time::timeout(limits.head_time, handshake).await {
            Ok(Ok(http2)) => http2,
            failed => {
                let why = match failed {
                    Ok(Err(e)) => e.to_string(),
                    _ => format!("no whole HTTP/2 preface within {:?}", limits.head_time),
                };
                self.remark("malformed-connection", &why);
                return self.close(ConnectionEnd::ByClient).await;
            }
        };
        let (flushes, asked) = mpsc::channel(limits::EXCHANGES);
        let shared = Arc::new(Shared {
            link: Arc::clone(self.link),
            conn: self.record.conn,
            door: Door::default(),
            uplink: Uplink::default(),
            flushes,
        });
        let abandoned = Abandoned(Arc::clone(&shared));
        self.serve(&shared, http2, asked).await;
        drop(abandoned);
    }

    /// Takes up streams until the connection ends.
    async fn serve(&mut self, shared: &Arc<Shared>, mut http2: Http2, mut asked: mpsc::Receiver<oneshot::Sender<()>>) {
        self.socket.guard_end();
        let exchanges = Arc::new(Semaphore::new(limits::EXCHANGES));
        let mut room = None;
        let mut waiting: Vec<oneshot::Sender<()>> = Vec::new();
        let mut retiring = false;
        loop {
            let event = tokio::select! {
                biased;
                _ = shared.door.order.wait() => Event::Order,
                event = next(&mut http2, &self.socket, room.is_some()) => event,
                () = written(&self.socket), if !waiting.is_empty() => Event::Flushed,
                Some(done) = asked.recv() => Event::FlushAsked(done),
                // Errors would say that the engine or the semaphore is gone, which this function keeps alive.
                Ok(()) = self.retire.changed(), if !retiring => Event::Retired,
                () = tokio::time::sleep(self.link.limits.linger_time), if retiring => Event::Overdue,
                Ok(permit) = Arc::clone(&exchanges).acquire_owned(), if room.is_none() => Event::Room(permit),
            };
            match event {
                Event::Arrival(arrival) => self.take_up(shared, arrival, room.take()),
                Event::Room(permit) => room = Some(permit),
                // Looked at only after the framing layer has had its turn to write.
                Event::FlushAsked(done) => waiting.push(done),
                // An error says that the stream does not wait any more.
                Event::Flushed => waiting.drain(..).for_each(|done| done.send(()).unwrap_or_default()),
                Event::Retired => {
                    retiring = true;
                    http2.graceful_shutdown();
                }
                // A client that does not answer the GOAWAY keeps its connection only while it has streams on it.
                Event::Overdue if http2.has_streams() => {}
                Event::Overdue => return self.over(shared, None, true).await,
                Event::Order => return self.carry_out(shared, http2).await,
                Event::Over(error) => return self.over(shared, error, retiring).await,
            }
        }
    }

    fn take_up(&mut self, shared: &Arc<Shared>, arrival: Box<Arrival>, permit: Option<OwnedSemaphorePermit>) {
        let at = self.link.clock.now();
        self.record.requests += 1;
        self.last_stream = arrival.1.stream_id().as_u32();
        let number = self.record.requests;
        let shared = Arc::clone(shared);
        self.link.tasks.spawn(async move {
            stream::serve(shared, *arrival, at, number).await;
            drop(permit);
        });
    }

    /// Ends the connection as a stream has asked: what was handed over goes out first.
    async fn carry_out(&mut self, shared: &Arc<Shared>, mut http2: Http2) {
        let Some(order) = shared.door.order.get() else { return };
        shared.door.shut();
        let at_most = self.link.limits.linger_time;
        let _stuck = tokio::time::timeout(at_most, self.flush_out(shared, &mut http2, order)).await;
        let at = if order.is_reset { self.socket.reset() } else { self.socket.fin().await };
        shared.door.tell(Fate { end: order.end, at, why: order.why.clone() });
        drop(http2);
        self.record.ended(order.connection, Some(at));
        self.socket.clone().linger(at_most).await;
    }

    /// Writes what was handed over, and the GOAWAY that goes last.
    async fn flush_out(&mut self, shared: &Arc<Shared>, http2: &mut Http2, order: &Order) {
        loop {
            tokio::select! {
                biased;
                event = next(http2, &self.socket, true) => match event {
                    // It arrived, and will find the door shut.
                    Event::Arrival(arrival) => self.take_up(shared, arrival, None),
                    _ => break,
                },
                () = written(&self.socket) => break,
            }
        }
        let last = match &order.last {
            Some(Last::GoAway(code, last)) => goaway(code.0, last.unwrap_or(self.last_stream)).to_vec(),
            Some(Last::Bytes(bytes)) => bytes.clone(),
            None => return,
        };
        // An error says that the client is gone.
        let _gone = self.socket.send(&last).await;
    }

    /// The connection has ended by itself.
    async fn over(&mut self, shared: &Shared, error: Option<h2::Error>, retiring: bool) {
        let at = self.socket.ended_at().unwrap_or_else(|| self.link.clock.now());
        shared.door.tell(Fate { end: End::ClientLeft, at, why: None });
        if let Some(e) = error.filter(|e| e.is_library()) {
            self.remark("malformed-connection", &e.to_string());
        }
        self.close(if retiring { ConnectionEnd::CutByFault } else { ConnectionEnd::ByClient }).await;
    }

    async fn close(&mut self, end: ConnectionEnd) {
        let at = self.socket.fin().await;
        self.record.ended(end, Some(self.socket.ended_at().unwrap_or(at)));
        self.socket.clone().linger(self.link.limits.linger_time).await;
    }

    fn remark(&self, code: &'static str, why: &str) {
        let text = format!("link `{}`, connection {}: {why}", self.link.name, self.record.conn);
        self.link.log.remark(self.link.clock.now(), code, text);
    }
}

/// Drives the connection until it has something to say. Without `room` streams stay where they are.
async fn next(http2: &mut Http2, socket: &Socket, room: bool) -> Event {
    let mut look = |cx: &mut Context<'_>| {
        if !room {
            return http2.poll_closed(cx).map(|closed| Event::Over(closed.err()));
        }
        pin!(http2.accept()).poll(cx).map(|next| match next {
            Some(Ok(arrival)) => Event::Arrival(Box::new(arrival)),
            Some(Err(e)) => Event::Over(Some(e)),
            None => Event::Over(None),
        })
    };
    poll_fn(|cx| match look(cx) {
        // Every request before the end was taken up.
        Poll::Pending if room && socket.let_end() => look(cx),
        polled => polled,
    })
    .await
}

/// Waits until the kernel has taken what the framing layer had to write.
async fn written(socket: &Socket) {
    // The framing layer's own write wakes this task when the kernel takes more.
    poll_fn(|_| if socket.is_blocked() { Poll::Pending } else { Poll::Ready(()) }).await;
}

/// The bytes of a GOAWAY frame.
fn goaway(code: u32, last_stream: u32) -> [u8; 17] {
    let mut frame = [0; 17];
    frame[2] = 8; // length of the payload
    frame[3] = 7; // its type
    frame[9..13].copy_from_slice(&(last_stream & (u32::MAX >> 1)).to_be_bytes());
    frame[13..].copy_from_slice(&code.to_be_bytes());
    frame
}
