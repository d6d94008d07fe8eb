//! Driving the service: loads, disturbances, holds.

use std::time::Duration;

use judge::evidence::{At, NoteWeight, Record, Step};

use super::{Rig, RigError};
use crate::faults::{Disturbance, Fault};
use crate::load::{Asked, Count, Load, Order, Orders};

/// How often a condition is looked at that no channel announces.
const LOOK: Duration = Duration::from_millis(1);
/// How long attempts may take to end after the load that caused them.
const STRAGGLERS: Duration = Duration::from_secs(2);
/// How long the calls of [`Rig::hold_replies`] may take to be held.
const ALL_HELD: Duration = Duration::from_secs(10);
/// How long the callers of [`Rig::hang_while`] may take to hang.
const ALL_HANG: Duration = Duration::from_secs(1);

impl Rig {
    /// Runs a load to its end and records it as a step.
    ///
    /// # Errors
    /// When requests cannot be built. Failed exchanges are outcomes.
    pub async fn drive(&self, load: Load) -> Result<Vec<Asked>, RigError> {
        let (name, planned, from) = (load.step.clone(), load.planned() as u64, self.now());
        let link = self.contract().link_of(load.target.route.as_deref());
        let arrivals: &Count<'_> = &|| Box::pin(async { self.wire.arrivals(link).await.unwrap_or(0) });
        let asked = load.run(&self.client, arrivals).await?;
        self.step(name, from, planned.min(asked.len() as u64));
        self.pump.read_breaker().await;
        Ok(asked)
    }

    /// Applies a fault, runs the body, and always heals: also when the body fails or panics. Both edges are recorded.
    ///
    /// # Errors
    /// Those of the body, or when the rule is refused.
    pub async fn during<T>(
        &self,
        disturbance: impl Into<Disturbance>,
        body: impl AsyncFnOnce(&Rig) -> Result<T, RigError>,
    ) -> Result<T, RigError> {
        let disturbance = disturbance.into();
        self.known_link(disturbance.link())?;
        let window = self.arm(&disturbance, "fault").await?;
        let done = body(self).await;
        self.let_stragglers_end().await;
        window.heal().await;
        done
    }

    /// Runs a load whose calls to the dependency are held before they are forwarded, until every caller is either held
    /// or answered (at most two seconds, and less than the service's own attempt timeout); then lets them go.
    ///
    /// # Errors
    /// When requests cannot be built or the rule is refused.
    pub async fn hold_while(&self, load: Load) -> Result<Vec<Asked>, RigError> {
        let limit = self.hold_limit();
        let window = self.arm_hold(limit).await?;
        let (callers, before) = (load.planned() as u64, self.client.answered());
        let gate = async {
            let opened = self.now();
            let mut first_held = None;
            loop {
                let held = window.held().await? as u64;
                let answered = self.client.answered() - before;
                if held > 0 {
                    first_held.get_or_insert(self.now());
                }
                let waited = self.now().since(first_held.unwrap_or(opened));
                if held + answered >= callers || waited >= limit {
                    break;
                }
                tokio::time::sleep(LOOK).await;
            }
            window.heal().await;
            Ok(())
        };
        let (asked, gate): (_, Result<(), RigError>) = tokio::join!(self.drive(load), gate);
        self.let_stragglers_end().await;
        gate.and(asked)
    }

    /// Runs a load whose answers from the dependency are held, waits until `held` of them are, does `then` (e.g. kills
    /// the service), and lets the rest go.
    ///
    /// # Errors
    /// Those of `then`, or when requests cannot be built.
    pub async fn hold_replies(
        &self,
        load: Load,
        held: usize,
        then: impl AsyncFnOnce(&Rig) -> Result<(), RigError>,
    ) -> Result<Vec<Asked>, RigError> {
        let window = self.arm(&Fault::HoldReply.always().planned(held), "fault").await?;
        let strike = async {
            self.until(ALL_HELD, || async { Ok(window.held().await? >= held) }).await?;
            then(self).await
        };
        let (asked, done) = tokio::join!(self.drive(load), strike);
        window.heal().await;
        self.let_stragglers_end().await;
        done.and(asked)
    }

    /// Runs a load whose calls to the main dependency hang, does `then` while they do, and lets them go. Before `then`
    /// every caller hangs, was turned away, or has waited for a second, e.g. in a queue of the service.
    ///
    /// # Errors
    /// Those of `then`, or when requests cannot be built.
    pub async fn hang_while(
        &self,
        load: Load,
        then: impl AsyncFnOnce(&Rig) -> Result<(), RigError>,
    ) -> Result<Vec<Asked>, RigError> {
        let window = self.arm(&Fault::Hold.always().planned(1), "fault").await?;
        let (callers, before) = (load.planned(), self.client.answered());
        let strike = async {
            self.until_held_or_answered(ALL_HANG, &window, callers, before).await?;
            let done = then(self).await;
            window.heal().await;
            done
        };
        let (asked, done) = tokio::join!(self.drive(load), strike);
        self.let_stragglers_end().await;
        done.and(asked)
    }

    /// Sends fresh orders one after another, a pause between them, as long as they can be sent before `end`.
    ///
    /// # Errors
    /// When requests cannot be built.
    pub async fn pace(&self, step: &str, end: At, pause: Duration) -> Result<(), RigError> {
        let (from, mut sent) = (self.now(), 0);
        while self.now() < end {
            self.client.ask(step, &self.fresh_order()).await?;
            sent += 1;
            tokio::time::sleep(pause).await;
        }
        self.step(step.to_owned(), from, sent);
        self.pump.read_breaker().await;
        Ok(())
    }

    /// Watches for so long, as a step of its own: what does not happen then, nobody does any more.
    pub async fn watch(&self, step: &str, time: Duration) {
        let from = self.now();
        self.wait_until(from + time).await;
        self.step(step.to_owned(), from, 0);
    }

    /// Reads the confirmations of these orders again and again, a pause after each round, as long as a round can begin
    /// before `end`; at least one round. Orders for which the service gave no identity are left out.
    ///
    /// # Errors
    /// When requests cannot be built.
    pub async fn read_until(&self, step: &str, orders: &[Order], end: At, pause: Duration) -> Result<(), RigError> {
        let (from, mut sent) = (self.now(), 0);
        loop {
            for order in orders {
                sent += u64::from(self.client.read(step, order).await?.is_some());
            }
            if self.now() + pause >= end {
                break;
            }
            tokio::time::sleep(pause).await;
        }
        self.step(step.to_owned(), from, sent);
        Ok(())
    }

    /// The failure instant of the last attempt that reached the proxy: what opened the breaker, if it is open.
    #[must_use]
    pub async fn last_failure(&self) -> At {
        self.pump.drain().await;
        let link = self.link();
        self.tape.read(|evidence| {
            let attempts = evidence.attempts.iter().filter(|a| a.link == link).map(|a| a.reply.ended);
            let refused = evidence.connections.iter().filter(|c| c.link == link && c.fault.is_some());
            attempts.chain(refused.map(|c| c.closed)).max().unwrap_or_default()
        })
    }

    fn known_link(&self, link: Option<&str>) -> Result<(), RigError> {
        let Some(name) = link.filter(|name| !self.contract().links.contains_key(*name)) else { return Ok(()) };
        let known = self.contract().links.keys().cloned().collect::<Vec<_>>().join(", ");
        Err(RigError::NoLink { name: name.to_owned(), known })
    }

    pub(super) async fn let_stragglers_end(&self) {
        if let Err(why) = self.wire.settle(STRAGGLERS).await {
            self.tape.note(self.now(), NoteWeight::Info, "stragglers", why);
        }
    }

    fn step(&self, name: String, from: At, planned: u64) {
        self.tape.append(Record::Step(Step { name, from, to: self.now(), planned }));
    }
}

impl Load {
    /// The same load, all at once behind a barrier.
    #[must_use]
    pub fn at_once(mut self) -> Self {
        self.shape = crate::load::Shape::Burst;
        self
    }

    /// Whether it asks for anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(&self.orders, Orders::Given(orders) if orders.is_empty()) || self.planned() == 0
    }
}
