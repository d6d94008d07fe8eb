//! What comes between the swap of the sets and the moment when the connection hears of it.

use std::sync::Arc;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::direction::OneWay;
use crate::clock::{Clock, monotonic_ns};
use crate::toxics::{Chain, Current, Direction, Listening, Origin, Start, Toxic, ToxicBoard, ToxicKind};
use crate::wire::{Inbox, Wire};

/// One direction of a connection, its ends, and its board.
struct Bench {
    board: Arc<ToxicBoard>,
    listening: Listening,
    way: OneWay,
    from: Wire,
    to: Wire,
    sender: TcpStream,
    _receiver: TcpStream,
}

async fn pair() -> (Wire, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let peer = TcpStream::connect(listener.local_addr().expect("addr")).await.expect("connect");
    let (stream, _) = listener.accept().await.expect("accept");
    (Wire::new(stream, Clock::new(Clock::base_now()), Arc::default()), peer)
}

fn toxic(kind: ToxicKind, name: &str) -> Toxic {
    Toxic::new(kind, Direction::Upstream).named(name)
}

const PASSES: ToxicKind = ToxicKind::Latency { latency: 0, jitter: 0 };

impl Bench {
    async fn with(toxics: impl IntoIterator<Item = Toxic>) -> Self {
        let board = Arc::new(ToxicBoard::new(1, false, toxics).expect("board"));
        let listening = board.enter();
        let ((from, sender), (to, receiver)) = (pair().await, pair().await);
        let way = OneWay::new(Inbox::default());
        let mut bench = Self { board, listening, way, from, to, sender, _receiver: receiver };
        bench.hear();
        bench
    }

    /// Puts the set in force on the connection.
    fn hear(&mut self) {
        let set = self.listening.set();
        let plan = Chain::plan(Origin { direction: Direction::Upstream, conn: 0 }, &self.board, &set);
        let start = Start { now: monotonic_ns(), fresh: false, quirks: false };
        assert!(self.way.apply(plan, start, &self.to).is_none());
        self.listening.runs(set.epoch);
    }

    /// Runs until `holds`, which is asked after each poll. The direction may end before.
    async fn until(&mut self, holds: impl Fn(&Wire, &Wire) -> bool) {
        let current: Current<'_> = self.listening.current();
        tokio::select! {
            biased;
            end = self.way.run(&self.from, &self.to, current) => end.expect("it ends well"),
            () = async { while !holds(&self.from, &self.to) { tokio::task::yield_now().await } } => {}
        }
    }
}

// Proves that a byte that comes after the swap of the sets meets the new one, though the connection has not yet heard of
// it, whether it ran toxics before or none: it is neither passed on nor put into the old chain, and not lost either.
#[tokio::test]
async fn a_byte_after_the_swap_meets_the_new_set() {
    for before in [vec![], vec![toxic(PASSES, "old")]] {
        let mut bench = Bench::with(before).await;
        bench.board.add(toxic(ToxicKind::Cut, "new")).expect("added");
        bench.sender.write_all(b"x").await.expect("send");
        bench.until(|from, _| from.traffic().received() == 1).await;
        assert_eq!(bench.to.traffic().sent(), 0, "it waits");
        bench.hear();
        bench.sender.write_all(b"y").await.expect("send");
        bench.until(|from, _| from.traffic().received() == 2).await;
        assert_eq!(bench.to.traffic().sent(), 0, "the cut has both");
        bench
            .board
            .update("new", |toxic| -> Result<(), crate::toxics::ToxicError> {
                toxic.kind = PASSES;
                Ok(())
            })
            .expect("updated");
        bench.sender.write_all(b"z").await.expect("send");
        bench.until(|from, _| from.traffic().received() == 3).await;
        assert_eq!(bench.to.traffic().sent(), 0, "it waits for the update");
        bench.hear();
        bench.until(|_, to| to.traffic().sent() == 1).await;
    }
}

// Proves the same of the end of the stream.
#[tokio::test]
async fn an_end_after_the_swap_meets_the_new_set() {
    for before in [vec![], vec![toxic(PASSES, "old")]] {
        let mut bench = Bench::with(before).await;
        bench.board.add(toxic(ToxicKind::Cut, "new")).expect("added");
        bench.sender.shutdown().await.expect("close");
        for _ in 0..2 {
            let has_ended = std::cell::Cell::new(0);
            // Nothing else says that the end was read: enough turns for the runtime to have told of it.
            bench.until(|_, _| has_ended.replace(has_ended.get() + 1) > 500).await;
            assert!(!bench.way.is_done(), "it waits, and then the cut has it");
            bench.hear();
        }
        bench.board.clear();
        bench.hear();
        bench.until(|_, _| false).await;
        assert!(bench.way.is_done());
    }
}
