//! A load under faults that come and go by time.

use std::time::Duration;

use judge::evidence::NoteWeight;
use tokio::time::{Instant, sleep_until};

use super::window::Window;
use super::{Rig, RigError};
use crate::faults::Disturbance;
use crate::load::{Asked, Load};

/// A fault and its time, counted from the begin of the load.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedFault {
    /// What goes wrong.
    pub disturbance: Disturbance,
    /// Where.
    pub link: String,
    /// From when; from zero on it is in force before the first request.
    pub from: Duration,
    /// Until when; `None`: until the load has been answered.
    pub to: Option<Duration>,
}

/// A fault comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    at: Duration,
    comes: bool,
    fault: usize,
}

/// The faults of a timeline, and those in force. Dropping it heals them.
struct Stage<'r> {
    rig: &'r Rig,
    faults: Vec<TimedFault>,
    windows: Vec<Option<Window>>,
    /// Edges that lie ahead, the next one last.
    ahead: Vec<Edge>,
}

impl Rig {
    /// Runs a load while faults come and go, and heals all of them when the load has been answered, also when it fails.
    /// A fault whose time never came spoils the verdict: the load was over too early.
    ///
    /// # Errors
    /// When requests cannot be built or a rule is refused.
    pub async fn timeline(&self, load: Load, faults: Vec<TimedFault>) -> Result<Vec<Asked>, RigError> {
        let mut stage = Stage::new(self, faults);
        stage.pass(Duration::ZERO).await?;
        let begun = Instant::now();
        let mut asking = std::pin::pin!(self.drive(load));
        let asked = loop {
            let Some(next) = stage.ahead.last().map(|edge| edge.at) else { break asking.await };
            tokio::select! {
                biased;
                asked = &mut asking => break asked,
                () = sleep_until(begun + next) => stage.pass(next).await?,
            }
        };
        self.let_stragglers_end().await;
        stage.end(begun.elapsed()).await;
        asked
    }
}

impl<'r> Stage<'r> {
    fn new(rig: &'r Rig, faults: Vec<TimedFault>) -> Self {
        let comes = |(fault, f): (usize, &TimedFault)| Edge { at: f.from, comes: true, fault };
        let goes = |(fault, f): (usize, &TimedFault)| f.to.map(|at| Edge { at, comes: false, fault });
        let indexed = || faults.iter().enumerate();
        let mut ahead: Vec<_> = indexed().map(comes).chain(indexed().filter_map(goes)).collect();
        // At one instant one fault goes before the next one comes.
        ahead.sort_unstable_by(|a, b| b.cmp(a));
        let windows = faults.iter().map(|_| None).collect();
        Self { rig, faults, windows, ahead }
    }

    /// Passes every edge up to that time.
    async fn pass(&mut self, until: Duration) -> Result<(), RigError> {
        while let Some(edge) = self.ahead.pop_if(|edge| edge.at <= until) {
            if !edge.comes {
                if let Some(window) = self.windows[edge.fault].take() {
                    window.heal().await;
                }
                continue;
            }
            let TimedFault { disturbance, link, .. } = &self.faults[edge.fault];
            self.windows[edge.fault] = Some(self.rig.arm_on(link, disturbance, "fault").await?);
        }
        Ok(())
    }

    /// The load is over.
    async fn end(self, after: Duration) {
        for edge in self.ahead.iter().filter(|edge| edge.comes) {
            let text = format!(
                "a fault was to come at {:?}, but the load was over after {after:?}: lengthen the load, or let the fault come \
                 earlier",
                edge.at
            );
            self.rig.tape.note(self.rig.now(), NoteWeight::Spoils, "fault-never-came", text);
        }
        for window in self.windows.into_iter().flatten() {
            window.heal().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Edge;

    /// Proves the order in which edges are passed: by time, and at one instant what goes before what comes.
    #[test]
    fn edges_are_passed_in_order() {
        let edge = |ms, comes| Edge { at: Duration::from_millis(ms), comes, fault: 0 };
        let mut ahead = [edge(2, true), edge(1, true), edge(2, false), edge(0, true)];
        ahead.sort_unstable_by(|a, b| b.cmp(a));
        let passed: Vec<_> = ahead.iter().rev().copied().collect();
        assert_eq!(passed, [edge(0, true), edge(1, true), edge(2, false), edge(2, true)]);
    }
}
