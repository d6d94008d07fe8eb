//! Further deliveries of one request. The record of its attempt is written when the last of them is over, and whoever
//! holds it last writes it: also when a shutdown drops them all.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use evidence::{Attempt, Delivery};

use super::answer::{Answer, Upstream};
use crate::clock::pause;
use crate::h2;
use crate::link::Link;
use crate::sync::locked;

/// A request as it is delivered again.
#[derive(Debug, Clone)]
pub(crate) enum Message {
    /// The bytes of its head and body.
    Http1 { method: String, bytes: Bytes },
    /// What its stream carries.
    Http2(Arc<h2::Whole>),
}

/// The further deliveries of one request.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    deliveries: Mutex<Vec<Delivery>>,
    record: Mutex<Option<Record>>,
}

/// The record of an attempt that is over but for its copies.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) attempt: Attempt,
    pub(super) link: Arc<Link>,
    pub(super) live: Option<u64>,
}

impl Record {
    pub(super) fn write(self) {
        self.link.log.attempt(self.attempt);
        if let Some(live) = self.live {
            self.link.live.leave(live);
        }
    }
}

impl Copies {
    /// Delivers `message` so many times more, each so long behind the one before.
    pub(crate) fn start(link: &Arc<Link>, message: &Message, times: u32, after: Duration) -> Arc<Self> {
        let deliveries = vec![Delivery::default(); usize::try_from(times).unwrap_or(usize::MAX)];
        let copies = Arc::new(Self { deliveries: Mutex::new(deliveries), record: Mutex::default() });
        for (index, nth) in (1..=times).enumerate() {
            let (link, message, copies) = (Arc::clone(link), message.clone(), Arc::clone(&copies));
            link.clone().tasks.spawn(async move {
                pause(after.saturating_mul(nth)).await;
                if let Err(why) = copies.deliver(&link, &message, index).await {
                    copies.note(index, |delivery| delivery.error = Some(why));
                }
            });
        }
        copies
    }

    async fn deliver(&self, link: &Link, message: &Message, index: usize) -> Result<(), String> {
        let (method, bytes) = match message {
            Message::Http1 { method, bytes } => (method, bytes),
            Message::Http2(whole) => {
                return whole.deliver(link, &|delivery| self.note(index, |d| *d = delivery)).await;
            }
        };
        let mut up = Upstream::dial(link).await?;
        let span = up.wire.send(bytes).await.map_err(|e| format!("the upstream broke off: {e}"))?;
        self.note(index, |delivery| delivery.sent = Some(span.last));
        let mut answer = Answer::to(method);
        let limit = link.limits.late_answer_time;
        let drained = tokio::time::timeout(limit, answer.drain(&mut up.tap(), &link.limits)).await;
        self.note(index, |delivery| {
            delivery.status = answer.known_head().map(|head| head.status);
            delivery.answered = answer.whole_at(&up.inbox);
        });
        match drained {
            Ok(drained) => drained.map_err(|failure| failure.why),
            Err(_) => Err(format!("no whole answer within {limit:?}")),
        }
    }

    fn note(&self, index: usize, write: impl FnOnce(&mut Delivery)) {
        if let Some(delivery) = locked(&self.deliveries).get_mut(index) {
            write(delivery);
        }
    }

    /// Leaves the record of the attempt with its copies.
    pub(super) fn leave(&self, record: Record) {
        *locked(&self.record) = Some(record);
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        if let Some(mut record) = locked(&self.record).take() {
            record.attempt.upstream.copies = std::mem::take(&mut *locked(&self.deliveries));
            record.write();
        }
    }
}
