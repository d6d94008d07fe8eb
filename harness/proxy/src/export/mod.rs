//! Faults as OpenTelemetry spans: each window in which one was in force, and each request that one struck, under the
//! trace of its caller. A reader of the log like any other: whatever happens to the export, the proxy goes on.
//!
//! OTLP over HTTP in its JSON encoding: every collector takes it, and it needs no generated code.

mod config;
mod ids;
mod json;
mod post;
mod queue;
mod spans;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;

pub use config::{OtlpConfig, OtlpError};
pub use queue::OtlpStats;

use crate::clock::Clock;
use crate::log::{Log, Subscription};
use post::Collector;
use queue::Queue;
use spans::Spans;

/// How long the export may take to send what is left when the proxy stops.
pub const OTLP_FLUSH_TIME: Duration = Duration::from_secs(5);

/// A running export. Dropping it ends it at once.
#[derive(Debug)]
pub(crate) struct Export {
    queue: Arc<Queue>,
    reading: JoinHandle<()>,
    sending: JoinHandle<()>,
}

impl Export {
    /// Begins to export what is written into the log from now on.
    pub(crate) fn start(config: &OtlpConfig, log: &Log, clock: Clock, seed: u64) -> Result<Self, OtlpError> {
        let collector = Collector::of(config)?;
        let queue = Arc::new(Queue::default());
        let spans = Spans::new(clock.base(), seed);
        let reading = tokio::spawn(read(log.subscribe(), spans, Arc::clone(&queue)));
        let resource = json::resource(&config.service);
        let sending = tokio::spawn(post::send_all(collector, resource, Arc::clone(&queue), log.clone(), clock));
        Ok(Self { queue, reading, sending })
    }

    /// Waits until everything is sent, the log having been closed; for [`OTLP_FLUSH_TIME`] at most.
    pub(crate) async fn finish(&self) {
        if !self.queue.emptied(OTLP_FLUSH_TIME).await {
            self.queue.give_up();
        }
        self.abort();
    }

    pub(crate) fn abort(&self) {
        self.reading.abort();
        self.sending.abort();
    }

    pub(crate) fn stats(&self) -> OtlpStats {
        self.queue.stats()
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.abort();
    }
}

/// Turns records into spans. It never waits for the collector, so that it keeps up with the log.
async fn read(mut live: Subscription, mut spans: Spans, queue: Arc<Queue>) {
    loop {
        match live.next().await {
            Ok(entry) => {
                if let Some(span) = spans.of(&entry.record) {
                    queue.push(span);
                }
            }
            Err(RecvError::Lagged(records)) => queue.lost(records),
            Err(RecvError::Closed) => break,
        }
    }
    queue.close();
}
