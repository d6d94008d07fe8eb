//! Lanes: how many scenarios may run at the same time on one machine.
//!
//! Scenarios wait much more than they compute, so many may overlap; but a timed one that shares its cores with too many
//! others only measures the crowd. A lane is a lock on a file, so that it also holds between the processes of a test
//! run (cargo-nextest starts one for each test) and is given back by the kernel when its holder is killed.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

/// How often a waiting scenario looks for a free lane.
const LOOK: Duration = Duration::from_millis(15);

/// The lanes of a machine.
#[derive(Debug, Clone)]
pub struct Lanes {
    dir: PathBuf,
    timed: usize,
    untimed: usize,
}

/// A place in a lane, given back on drop.
#[derive(Debug)]
pub struct Place {
    _locks: Vec<File>,
}

impl Lanes {
    /// The lanes of this machine: three timed scenarios and three untimed ones for every two cores, since with twice as many
    /// the starting services alone were seen to pause each other for longer than the noise bound. `HARNESS_LANES` sets
    /// `timed,untimed` by hand.
    ///
    /// # Errors
    /// When `HARNESS_LANES` is set to something else than two numbers from 1 to 64.
    pub fn of_this_machine() -> Result<Self, io::Error> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let (timed, untimed) = match std::env::var("HARNESS_LANES") {
            Ok(text) => parse(&text).ok_or_else(|| {
                let problem =
                    format!("HARNESS_LANES is `{text}`; give two numbers from 1 to 64, e.g. HARNESS_LANES=4,6");
                io::Error::new(io::ErrorKind::InvalidInput, problem)
            })?,
            Err(_) => {
                let each = (3 * cores).div_ceil(2);
                (each, each)
            }
        };
        let user = rustix::process::getuid().as_raw();
        Ok(Self { dir: std::env::temp_dir().join(format!("harness-lanes-{user}")), timed, untimed })
    }

    /// Lanes in a folder of their own.
    #[must_use]
    pub fn in_folder(dir: &Path, timed: usize, untimed: usize) -> Self {
        Self { dir: dir.to_owned(), timed: timed.max(1), untimed: untimed.max(1) }
    }

    /// Waits for a place among the timed or the untimed scenarios; `alone`: for every place of both.
    ///
    /// # Errors
    /// When the lock files cannot be made or locked.
    pub async fn enter(&self, timed: bool, alone: bool) -> Result<Place, io::Error> {
        std::fs::create_dir_all(&self.dir)?;
        let (kind, n) = if timed { ("timed", self.timed) } else { ("untimed", self.untimed) };
        if alone {
            return self.enter_all().await;
        }
        loop {
            for i in 0..n {
                if let Some(place) = self.try_place(kind, i)? {
                    return Ok(place);
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Takes place after place in one order, so that two who want all of them do not wait for each other for ever.
    async fn enter_all(&self) -> Result<Place, io::Error> {
        let timed = (0..self.timed).map(|i| ("timed", i));
        let places = timed.chain((0..self.untimed).map(|i| ("untimed", i)));
        let mut all = Vec::with_capacity(self.timed + self.untimed);
        for (kind, i) in places {
            let place = loop {
                match self.try_place(kind, i)? {
                    Some(place) => break place,
                    None => tokio::time::sleep(LOOK).await,
                }
            };
            all.extend(place._locks);
        }
        Ok(Place { _locks: all })
    }

    fn try_place(&self, kind: &str, i: usize) -> Result<Option<Place>, io::Error> {
        let path = self.dir.join(format!("{kind}-{i}.lock"));
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Place { _locks: vec![file] })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn parse(text: &str) -> Option<(usize, usize)> {
    let (timed, untimed) = text.split_once(',')?;
    let number = |t: &str| t.trim().parse().ok().filter(|n| (1..=64).contains(n));
    Some((number(timed)?, number(untimed)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lane holds as many as it has places, and a place given back can be taken again.
    #[tokio::test]
    async fn a_lane_holds_no_more_than_its_places() {
        let dir = std::env::temp_dir().join(format!("lanes-test-{}", std::process::id()));
        let lanes = Lanes::in_folder(&dir, 2, 1);
        let first = lanes.enter(true, false).await.unwrap();
        let _second = lanes.enter(true, false).await.unwrap();
        assert!(lanes.try_place("timed", 0).unwrap().is_none());
        assert!(lanes.try_place("timed", 1).unwrap().is_none());
        let _other_kind = lanes.enter(false, false).await.unwrap();
        drop(first);
        let third = lanes.enter(true, false).await.unwrap();
        drop((third, _second));
        // One that runs alone waits for those of either kind, and then keeps all of them out.
        let mut all = std::pin::pin!(lanes.enter(true, true));
        let waits = std::future::poll_fn(|cx| std::task::Poll::Ready(all.as_mut().poll(cx).is_pending())).await;
        assert!(waits, "an untimed one still runs");
        drop(_other_kind);
        let _all = all.await.unwrap();
        assert!((0..2).all(|i| lanes.try_place("timed", i).unwrap().is_none()));
        assert!(lanes.try_place("untimed", 0).unwrap().is_none());
        std::fs::remove_dir_all(dir).unwrap();
    }

    /// Only two numbers in range are lanes.
    #[test]
    fn settings_are_checked() {
        assert_eq!(parse("4, 6"), Some((4, 6)));
        for bad in ["", "4", "0,1", "4,65", "a,b", "1,2,3"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
