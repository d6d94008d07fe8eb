//! Chains in made-up time: exact moments, counts and sizes, without a clock or a socket.

use super::*;
use crate::physics::Distribution;
use crate::toxics::{Share, Toxic};

const MS: u64 = 1_000_000;
const ORIGIN: Origin = Origin { direction: Direction::Downstream, conn: 0 };

/// A board and the chain of one downstream direction under it.
struct Bench {
    board: ToxicBoard,
    chain: Chain,
    now: u64,
    quirks: bool,
    /// What came out: when, and how many bytes.
    out: Vec<(u64, usize)>,
    ends: Vec<(u64, String)>,
}

impl Bench {
    fn new(kinds: impl IntoIterator<Item = ToxicKind>) -> Self {
        Self::with(false, kinds)
    }

    fn with(quirks: bool, kinds: impl IntoIterator<Item = ToxicKind>) -> Self {
        let named = |(i, kind)| Toxic::new(kind, Direction::Downstream).named(format!("t{i}"));
        let board = ToxicBoard::new(3, quirks, kinds.into_iter().enumerate().map(named)).expect("board");
        let chain = Chain::default();
        let mut bench = Self { board, chain, now: 0, quirks, out: Vec::new(), ends: Vec::new() };
        bench.apply(true);
        bench
    }

    fn apply(&mut self, fresh: bool) {
        let set = self.board.current();
        let plan = Chain::plan(ORIGIN, &self.board, &set);
        let end = self.chain.apply(plan, Start { now: self.now, fresh, quirks: self.quirks });
        self.ended(end);
    }

    fn ended(&mut self, end: Option<End>) {
        let text = match end {
            None => return,
            Some(End::Fin) => "fin".to_owned(),
            Some(End::Cut(entry)) => format!("cut {}", entry.toxic.name),
            Some(End::Reset(entry)) => format!("reset {}", entry.toxic.name),
        };
        self.ends.push((self.now, text));
    }

    fn feed(&mut self, n: usize) {
        assert!(self.chain.has_room(), "no room at {}", self.now);
        self.chain.feed(Load::Bytes(Bytes::from(vec![0; n])), self.now);
        self.step();
    }

    fn fin(&mut self) {
        self.chain.feed(Load::End(End::Fin), self.now);
        self.step();
    }

    /// Steps and takes everything that comes out now; says when to step again.
    fn step(&mut self) -> Option<u64> {
        loop {
            let turn = self.chain.step(self.now);
            if turn.strike.is_some() {
                self.ended(turn.strike);
                return None;
            }
            match self.chain.pop() {
                Some(Load::Bytes(bytes)) => self.out.push((self.now, bytes.len())),
                Some(Load::End(end)) => self.ended(Some(end)),
                None => return turn.wake,
            }
        }
    }

    /// Runs until `until`, waking exactly when asked.
    fn run(&mut self, until: u64) {
        while let Some(wake) = self.step().filter(|wake| *wake <= until) {
            assert!(wake > self.now, "a wake in the past");
            self.now = wake;
        }
        self.now = until;
    }

    fn bytes(&self) -> usize {
        self.out.iter().map(|(_, n)| n).sum()
    }
}

fn latency(latency: i64) -> ToxicKind {
    ToxicKind::Latency { latency, jitter: 0 }
}

// Proves that latency is pipelined (ten chunks 20 ms apart under 200 ms leave 20 ms apart), keeps order, adds up over two
// toxics, and that the FIN waits behind the data but no longer.
#[test]
fn latency_is_pipelined_and_adds_up() {
    let mut bench = Bench::new([latency(150), latency(50)]);
    for i in 0..10 {
        bench.run(i * 20 * MS);
        bench.feed(10);
    }
    bench.fin();
    bench.run(1_000 * MS);
    let expected: Vec<_> = (0..10).map(|i| ((i * 20 + 200) * MS, 10)).collect();
    assert_eq!(bench.out, expected);
    assert_eq!(bench.ends, [(380 * MS, "fin".to_owned())]);
}

// Proves that 1,024 chunks of 32 KiB go through 100 ms of latency in 100 ms, and that the next finds no room.
#[test]
fn a_delay_holds_a_thousand_chunks() {
    let mut bench = Bench::new([latency(100)]);
    for _ in 0..1_024 {
        bench.feed(MAX_CHUNK);
    }
    assert!(!bench.chain.has_room());
    bench.run(100 * MS);
    assert_eq!((bench.bytes(), bench.out[0].0), (32 << 20, 100 * MS));
}

// Proves that jitter fills U[-jitter, +jitter), that sums below zero pass at once, that chunks keep their order, and that
// draws are the same again for the same seed.
#[test]
fn jitter_is_bounded_and_repeats() {
    let run = || {
        let mut bench = Bench::new([ToxicKind::Latency { latency: 10, jitter: 50 }]);
        for i in 0..200 {
            bench.run(i * 1_000 * MS);
            bench.feed(1);
        }
        bench.run(300_000 * MS);
        bench.out.iter().enumerate().map(|(i, (at, _))| at - i as u64 * 1_000 * MS).collect::<Vec<_>>()
    };
    let spans = run();
    assert!(spans.iter().all(|s| *s < 60 * MS));
    let at_once = spans.iter().filter(|s| **s == 0).count();
    // P(sum <= 0) = 0.4; six standard deviations of 200 fixed draws.
    assert!(at_once.abs_diff(80) < 42, "{at_once}");
    assert_eq!(spans, run());
    let mut close = Bench::new([ToxicKind::Latency { latency: 100, jitter: 100 }]);
    for size in 1..=50 {
        close.feed(size);
    }
    close.run(1_000 * MS);
    assert_eq!(close.out.iter().map(|(_, n)| *n).collect::<Vec<_>>(), (1..=50).collect::<Vec<_>>());
}

// Proves that a removed or changed latency lets everything go at once, in order, and that bytes behind it still wait
// where another toxic wants them to.
#[test]
fn removing_and_changing_let_go() {
    for change in [true, false] {
        let mut bench = Bench::new([latency(3_000)]);
        bench.feed(1);
        bench.feed(2);
        bench.fin();
        bench.run(10 * MS);
        assert!(bench.out.is_empty());
        if change {
            bench.board.update::<crate::toxics::ToxicError>("t0", |_| Ok(())).expect("updated");
        } else {
            bench.board.remove("t0").expect("removed");
        }
        bench.apply(false);
        bench.run(10 * MS);
        assert_eq!(bench.out, [(10 * MS, 1), (10 * MS, 2)]);
        assert_eq!(bench.ends, [(10 * MS, "fin".to_owned())]);
    }
    let mut both = Bench::new([latency(100), latency(200)]);
    both.feed(1);
    both.board.remove("t0").expect("removed");
    both.apply(false);
    both.feed(2);
    both.run(1_000 * MS);
    assert_eq!(both.out, [(200 * MS, 1), (200 * MS, 2)]);
}

// Proves the rates to the nanosecond: slices of 100 ms, a rest in its share, nothing saved up while idle.
#[test]
fn bandwidth_is_exact() {
    let mut bench = Bench::new([ToxicKind::Bandwidth { rate: 10 }]);
    bench.feed(2_500);
    bench.run(250 * MS);
    assert_eq!(bench.out, [(100 * MS, 1_000), (200 * MS, 1_000), (250 * MS, 500)]);
    bench.run(5_000 * MS);
    bench.feed(100);
    bench.fin();
    bench.run(6_000 * MS);
    assert_eq!(bench.out.last(), Some(&(5_010 * MS, 100)));
    assert_eq!(bench.ends, [(5_010 * MS, "fin".to_owned())]);
}

// Proves that a rate of nothing stalls for ever and that changing it lets go what was stalled.
#[test]
fn no_bandwidth_stalls() {
    let mut bench = Bench::new([ToxicKind::Bandwidth { rate: 0 }]);
    bench.feed(7);
    bench.run(86_400_000 * MS);
    assert!(bench.out.is_empty() && !bench.chain.has_room());
    bench.board.remove("t0").expect("removed");
    bench.apply(false);
    bench.step();
    assert_eq!(bench.bytes(), 7);
}

// Proves that connections share a line: two chains under one throttle of 1000 bytes a second need two seconds for 1000
// bytes each, and one each with a line of their own.
#[test]
fn a_shared_throttle_is_shared() {
    for (per, seconds) in [(Share::Link, 2), (Share::Connection, 1)] {
        let toxic = Toxic::new(ToxicKind::Throttle { bytes_per_s: 1_000, per }, Direction::Downstream);
        let board = ToxicBoard::new(1, false, [toxic]).expect("board");
        let set = board.current();
        let mut chains: Vec<_> = (0..2)
            .map(|conn| {
                let origin = Origin { direction: Direction::Downstream, conn };
                let mut chain = Chain::default();
                chain.apply(Chain::plan(origin, &board, &set), Start { now: 0, fresh: true, quirks: false });
                chain.feed(Load::Bytes(Bytes::from(vec![0; 1_000])), 0);
                chain
            })
            .collect();
        let (mut now, mut passed) = (0, [0; 2]);
        loop {
            let mut wakes = Vec::new();
            for (chain, passed) in chains.iter_mut().zip(&mut passed) {
                wakes.extend(chain.step(now).wake);
                while let Some(Load::Bytes(bytes)) = chain.pop() {
                    *passed += bytes.len();
                    wakes.extend(chain.step(now).wake);
                }
            }
            match wakes.into_iter().min() {
                Some(wake) => now = wake,
                None => break,
            }
            let apart = passed[0].abs_diff(passed[1]);
            assert!(apart <= 20, "they take turns: {passed:?}");
        }
        assert_eq!((now, passed), (seconds * 1_000 * MS, [1_000; 2]));
    }
}

// Proves that a slicer keeps every byte and every bound on sizes, with its pause in microseconds after each piece.
#[test]
fn slices_sum_up() {
    let mut bench = Bench::new([ToxicKind::Slicer { average_size: 64, size_variation: 16, delay: 10 }]);
    bench.feed(MAX_CHUNK);
    bench.run(1_000 * MS);
    assert_eq!(bench.bytes(), MAX_CHUNK);
    assert!(bench.out.iter().all(|(_, n)| (1..=80).contains(n)));
    assert!(bench.out.windows(2).all(|w| w[1].0 - w[0].0 == 10_000));
    let mut bytes = Bench::new([ToxicKind::Slicer { average_size: 0, size_variation: 0, delay: 0 }]);
    bytes.feed(100);
    assert_eq!(bytes.out, vec![(0, 1); 100]);
    let mut wild = Bench::new([ToxicKind::Slicer { average_size: 1, size_variation: 1_000, delay: -5 }]);
    wild.feed(5_000);
    assert_eq!(wild.bytes(), 5_000);
}

// Proves that exactly so many bytes pass, that the end follows them, that nothing passes after it, and that an update
// does not begin the count anew.
#[test]
fn limits_are_exact() {
    let cut = |bench: &Bench| bench.ends == [(0, "cut t0".to_owned())];
    let mut bench = Bench::new([ToxicKind::LimitData { bytes: 100 }]);
    bench.feed(60);
    assert!(bench.ends.is_empty());
    bench
        .board
        .update::<crate::toxics::ToxicError>("t0", |toxic| {
            toxic.kind = ToxicKind::LimitData { bytes: 90 };
            Ok(())
        })
        .expect("updated");
    bench.apply(false);
    bench.feed(60);
    bench.feed(60);
    assert_eq!(bench.out, [(0, 60), (0, 30)]);
    assert!(cut(&bench));
    let mut none = Bench::new([ToxicKind::LimitData { bytes: 0 }]);
    none.run(5_000);
    assert!(none.ends.is_empty(), "idle connections stay open");
    none.feed(1);
    assert_eq!((none.bytes(), none.ends.len()), (0, 1));
    let mut reset = Bench::new([ToxicKind::Reset { after_bytes: 5 }]);
    reset.feed(9);
    assert_eq!((reset.bytes(), reset.ends), (5, vec![(0, "reset t0".to_owned())]));
}

// Proves the clocks that end connections: fixed ones run from the start, data or not; Toxiproxy's oddities run from the
// last or the first chunk, and know what was there before the connection.
#[test]
fn clocks_that_end_connections() {
    let at = |quirks, kind: ToxicKind, late: bool| {
        let mut bench = if late { Bench::with(quirks, []) } else { Bench::with(quirks, [kind.clone()]) };
        if late {
            bench.board.add(Toxic::new(kind, Direction::Downstream).named("t0")).expect("added");
            bench.apply(false);
        }
        for _ in 0..5 {
            if bench.ends.is_empty() {
                bench.feed(1);
                bench.run(bench.now + 200 * MS);
            }
        }
        if bench.ends.is_empty() {
            bench.run(10_000 * MS);
        }
        assert_eq!(bench.bytes(), 0, "everything is dropped");
        bench.ends.pop()
    };
    let ends = |ms: u64, text: &str| Some((ms * MS, format!("{text} t0")));
    let timeout = || ToxicKind::Timeout { timeout: 400 };
    assert_eq!(at(false, timeout(), false), ends(400, "cut"));
    assert_eq!(at(true, timeout(), false), ends(1_200, "cut"));
    assert_eq!(at(false, ToxicKind::Timeout { timeout: 0 }, false), None);
    let reset = || ToxicKind::ResetPeer { timeout: 300 };
    assert_eq!(at(false, reset(), true), ends(300, "reset"));
    assert_eq!(at(true, reset(), false), ends(300, "reset"));
    assert_eq!(at(true, reset(), true), ends(300, "cut"));
    let idle = |quirks| {
        let mut bench = Bench::with(quirks, [reset()]);
        bench.run(1_000 * MS);
        bench.ends.pop()
    };
    assert_eq!((idle(false), idle(true)), (ends(300, "reset"), None));
    let mut removed = Bench::new([timeout()]);
    removed.run(MS);
    removed.board.remove("t0").expect("removed");
    removed.apply(false);
    assert_eq!(removed.ends.pop(), ends(1, "cut"));
}

// Proves that a slow close delays the FIN alone, that a cut swallows bytes and makes up for the FIN when it is removed,
// and that losses are drawn per chunk: none, all, and a share within six standard deviations of fixed draws.
#[test]
fn fins_and_losses() {
    let mut slow = Bench::new([ToxicKind::SlowClose { delay: 50 }]);
    slow.feed(3);
    slow.fin();
    slow.run(100 * MS);
    assert_eq!((slow.out, slow.ends), (vec![(0, 3)], vec![(50 * MS, "fin".to_owned())]));

    let mut cut = Bench::new([ToxicKind::Cut]);
    cut.feed(3);
    cut.fin();
    cut.run(100 * MS);
    assert_eq!((cut.bytes(), cut.ends.len()), (0, 0));
    cut.board.remove("t0").expect("removed");
    cut.apply(false);
    cut.step();
    assert_eq!((cut.bytes(), cut.ends), (0, vec![(100 * MS, "fin".to_owned())]));

    let passed = |loss_rate, correlation| {
        let mut bench = Bench::new([ToxicKind::PacketLoss { loss_rate, correlation }]);
        (0..1_000).for_each(|_| bench.feed(1));
        bench.bytes()
    };
    assert_eq!((passed(0.0, 0.0), passed(1.0, 0.0)), (1_000, 0));
    assert!(passed(0.3, 0.0).abs_diff(700) < 87, "{}", passed(0.3, 0.0));
    // With certainty after a drop nothing passes any more once one is lost.
    assert!(passed(0.3, 0.7) < 50);
}

// Proves that a drawn delay is the distribution's, and that no toxic at all is no stage.
#[test]
fn delays_are_drawn() {
    let mut bench = Bench::new([ToxicKind::Delay { distribution: Distribution::Ms(2.5) }]);
    bench.feed(4);
    bench.run(10 * MS);
    assert_eq!(bench.out, [(2_500_000, 4)]);
    let noop = Bench::new([ToxicKind::Noop]);
    assert!(noop.chain.is_spent());
}

// Proves that a connection draws a toxic once: adding, changing and removing neighbours leaves it as it was, and an
// update too; with Toxiproxy's oddities they draw again.
#[test]
fn toxicity_is_drawn_once() {
    let noop = |name: &str| Toxic::new(latency(1), Direction::Upstream).named(name).toxicity(0.5);
    let struck = |board: &ToxicBoard| -> Vec<bool> {
        let set = board.current();
        let of = |conn| Chain::plan(Origin { direction: Direction::Upstream, conn }, board, &set);
        (0..40).map(|conn| of(conn).struck.iter().any(|(e, _)| e.toxic.name == "x")).collect()
    };
    for quirks in [false, true] {
        let board = ToxicBoard::new(5, quirks, [noop("x")]).expect("board");
        let mut seen = vec![struck(&board)];
        board.add(noop("y")).expect("added");
        seen.push(struck(&board));
        board.remove("y").expect("removed");
        seen.push(struck(&board));
        board.update::<crate::toxics::ToxicError>("x", |_| Ok(())).expect("updated");
        seen.push(struck(&board));
        let changed = |w: &[Vec<bool>]| w[0].iter().zip(&w[1]).filter(|(a, b)| a != b).count();
        let changes: Vec<_> = seen.windows(2).map(changed).collect();
        if quirks {
            assert!(changes.iter().all(|n| (1..40).contains(n)), "{changes:?}");
        } else {
            assert_eq!(changes, [0, 0, 0]);
        }
        assert!((5..35).contains(&seen[0].iter().filter(|s| **s).count()));
    }
}
