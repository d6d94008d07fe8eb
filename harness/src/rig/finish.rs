//! The end of a scenario: everybody stops, the rest is written down, the evidence is sealed.

use std::collections::HashSet;
use std::time::Duration;

use judge::evidence::{Evidence, LedgerRow, NoteWeight, Record};

use super::{Rig, RigError, bank, service};
use crate::aside::aside;
use crate::collector::SettleRule;
use crate::placement::Placement;
use crate::probe::{LedgerProbe, ProbeLimits};

/// How long attempts may take to end after the last step.
const LAST_ATTEMPTS: Duration = Duration::from_secs(3);
/// How long the spans of a stack that runs on may take: exporters send every five seconds where nobody has set it.
const SPANS_OF_A_STACK: Duration = Duration::from_secs(8);
/// How long the last spans may take to arrive after the service was told to stop and flush.
const LAST_SPANS: Duration = Duration::from_secs(2);

impl Rig {
    /// Stops all players and seals the evidence. What went wrong on the way is in the evidence as a note where the
    /// verdict can live with it.
    ///
    /// # Errors
    /// When the ledger cannot be read, the service cannot be stopped, or the disk refuses.
    pub async fn finish(mut self) -> Result<Evidence, RigError> {
        if let Err(why) = self.wire.settle(LAST_ATTEMPTS).await {
            self.tape.note(self.now(), NoteWeight::Info, "stragglers", why);
        }
        // No later: nothing is measured from here on, and what the end of a scenario costs is no noise in it.
        if let Some(canaries) = self.canaries.take() {
            canaries.stop(&self.tape).await;
        }
        self.note_crash().await;
        self.read_ledger("final").await?;
        self.stop_players().await?;
        self.collect_spans().await;
        let Rig { clock, tape, banks, wire, mut collector, pump, .. } = self;
        collector.shutdown().await;
        // What a stack that is gone cannot say any more spoils the verdict; what was seen before is kept.
        if let Err(error) = wire.close().await {
            tape.note(clock.now(), NoteWeight::Spoils, "proxy-gone", error.to_string());
        }
        let dropped = pump.stop().await;
        if dropped > 0 {
            let text = format!("the proxy's event log was full: {dropped} records were dropped; use smaller loads");
            tape.note(clock.now(), NoteWeight::Spoils, "proxy-log-overflow", text);
        }
        let several = banks.len() > 1;
        for (link, bank) in banks {
            let (journal, rows) = bank.close().await.unwrap_or_else(|error| {
                tape.note(clock.now(), NoteWeight::Spoils, "bank-gone", error.to_string());
                (Vec::new(), 0)
            });
            if rows > 0 {
                let text = format!("the bank's journal was full: {rows} rows were dropped; use smaller loads");
                tape.note(clock.now(), NoteWeight::Spoils, "bank-journal-overflow", text);
            }
            let link = several.then_some(link);
            let entries = journal.iter().filter_map(|row| bank::entry(row, &clock.base(), link.as_deref()));
            entries.for_each(|entry| tape.append(Record::Bank(entry)));
        }
        Ok(aside(move || tape.seal()).await?)
    }

    /// Reads the ledger, if the contract says where it is. A ledger that cannot be read, e.g. because the service that
    /// shows it has crashed, leaves a note: checks that need it are then inconclusive, and the others still judge.
    ///
    /// # Errors
    /// When the contract's texts cannot be filled in.
    pub async fn read_ledger(&self, step: &str) -> Result<(), RigError> {
        let Some(probe) = self.ledger()? else { return Ok(()) };
        match probe.read(step, &self.clock.base(), &ProbeLimits::default()).await {
            Ok(mut probed) => {
                probed.reading.rows.retain(|row| !self.before.contains(row));
                self.tape.append(Record::Ledger(probed.reading));
                probed.notes.into_iter().for_each(|note| self.tape.append(Record::Note(note)));
            }
            Err(error) => {
                let text = format!("the ledger could not be read: {error}");
                self.tape.note(self.now(), NoteWeight::Info, "ledger-unreadable", text);
            }
        }
        Ok(())
    }

    fn ledger(&self) -> Result<Option<LedgerProbe>, RigError> {
        let attached = || self.contract().attach.as_ref().and_then(|a| a.ledger.as_ref());
        let ledger = match self.spec.placement {
            Placement::Process => None,
            Placement::Attach => attached(),
        };
        service::ledger_probe(self.contract(), ledger.or(self.contract().ledger.as_ref()), &self.vars)
    }

    /// The rows that a ledger has before the first step. Only one that lives longer than a scenario has any.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) async fn rows_of_others(&self) -> Result<HashSet<LedgerRow>, RigError> {
        let Some(probe) = self.ledger()?.filter(|_| self.spec.placement == Placement::Attach) else {
            return Ok(HashSet::new());
        };
        let read = probe.read("before", &self.clock.base(), &ProbeLimits::default()).await?;
        Ok(read.reading.rows.into_iter().collect())
    }

    /// Notes that a process ended by itself while it should have been up.
    async fn note_crash(&self) {
        for (called, process) in self.players.lock().await.expected() {
            let Some(status) = process.status() else { continue };
            let last = process.log().tail(3).join(" | ");
            let text = format!("{called} ended by itself during the scenario ({status}); its last lines: {last}");
            self.tape.note(self.now(), NoteWeight::Info, "service-crashed", text);
        }
    }

    async fn stop_players(&self) -> Result<(), RigError> {
        let players = self.players.lock().await.take();
        for (called, process) in players {
            let log = process.log().clone();
            let stopped = process.stop().await?;
            if stopped.forced {
                let text = format!("{called} did not end within {:?} of SIGTERM and was killed", stopped.took);
                self.tape.note(self.now(), NoteWeight::Info, "service-killed", text);
            }
            if let Some(why) = log.incomplete() {
                self.tape.note(self.now(), NoteWeight::Info, "service-log", why);
            }
        }
        Ok(())
    }

    /// Waits for the last spans and writes all of them down. A killed service takes its last spans with it, so nothing
    /// is expected of one that was.
    async fn collect_spans(&self) {
        if self.contract().telemetry.spans && !self.players.lock().await.killed {
            let answered = |e: &Evidence| -> Vec<_> {
                e.outcomes.iter().filter(|o| o.status().is_some()).map(|o| o.context).collect()
            };
            // A process that was told to stop has flushed; one that runs on sends when its exporter likes.
            let deadline = if self.spec.placement == Placement::Attach { SPANS_OF_A_STACK } else { LAST_SPANS };
            let rule = SettleRule::new(self.tape.read(answered)).deadline(deadline);
            self.collector.settle(&rule).await;
        }
        let asked: HashSet<_> = self.tape.read(|e| e.outcomes.iter().map(|o| o.context.trace).collect());
        for span in self.collector.spans() {
            // A stack goes on telling of earlier scenarios.
            if self.spec.placement == Placement::Process || asked.contains(&span.trace) {
                self.tape.append(Record::Span(span));
            }
        }
        for note in self.collector.notes() {
            self.tape.append(Record::Note(note));
        }
    }
}
