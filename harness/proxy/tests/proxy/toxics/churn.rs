//! Streams under changing toxics: not a byte is lost, doubled or moved.

use chaos_proxy::{Direction, Toxic, ToxicKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Lab, latency};
use crate::kit::{PATIENCE, soon};

/// The byte at a position of the stream; its period is prime, so that no misplaced block looks right.
fn at(position: usize) -> u8 {
    (position % 251) as u8
}

// Proves that a stream arrives whole and in order while toxics that keep bytes come and go on it, which moves it between
// the kernel's path, the buffer's path and the chain all the time.
#[tokio::test]
async fn a_stream_survives_changes() {
    const TOTAL: usize = 24 << 20;
    let lab = Lab::new().await;
    let (client, upstream) = lab.pair().await;
    let (mut client, mut upstream) = (client.0, upstream.0);
    let writer = tokio::spawn(async move {
        let bytes: Vec<u8> = (0..TOTAL).map(at).collect();
        upstream.write_all(&bytes).await.expect("write");
        upstream.shutdown().await.expect("close");
    });
    let reader = tokio::spawn(async move {
        let mut room = vec![0; 100_000];
        let mut position = 0;
        loop {
            let n = client.read(&mut room).await.expect("read");
            if n == 0 {
                return position;
            }
            assert!(room[..n].iter().enumerate().all(|(i, byte)| *byte == at(position + i)), "at {position}");
            position += n;
        }
    });
    let kinds = [
        ToxicKind::Noop,
        latency(2),
        ToxicKind::Slicer { average_size: 9_000, size_variation: 100, delay: 1 },
        ToxicKind::Bandwidth { rate: 50_000 },
        ToxicKind::LimitData { bytes: i64::MAX },
        ToxicKind::SlowClose { delay: 1 },
    ];
    let mut changes = 0;
    while !reader.is_finished() {
        for (i, kind) in kinds.iter().enumerate() {
            let name = format!("t{i}");
            lab.board.add(Toxic::new(kind.clone(), Direction::Downstream).named(&name)).expect("added");
            tokio::time::sleep(std::time::Duration::from_micros(700)).await;
            if i % 2 == 0 {
                let change = lab.board.remove(&name).expect("removed");
                assert!(lab.board.settled(change.epoch, PATIENCE).await);
            }
        }
        changes += 1;
        lab.board.clear();
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    soon(writer).await.expect("written");
    assert_eq!(soon(reader).await.expect("read"), TOTAL);
    assert!(changes > 0);
}
