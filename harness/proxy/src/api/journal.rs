//! The program's own log: JSON lines as Toxiproxy writes them. Writing them never holds the control plane up.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::core::LinkStatus;

/// Lines that may wait to be written; further ones are dropped, and a line says how many.
const WAITING_LINES: usize = 4096;
/// How long the last lines may take to be written.
const FLUSH_TIME: Duration = Duration::from_secs(1);
/// Docker puts it into every container.
const CONTAINER_MARK: &str = "/.dockerenv";

/// How important a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Every step.
    Trace,
    /// Details.
    Debug,
    /// What happens.
    Info,
    /// What may be wrong.
    Warn,
    /// What failed.
    Error,
    /// What ends the program.
    Fatal,
    /// What should not be possible.
    Panic,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
            Self::Fatal => "fatal",
            Self::Panic => "panic",
        }
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Trace, Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Fatal, Self::Panic];
        let found = all.into_iter().find(|level| level.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| {
            format!("`{text}` is not a log level; write trace, debug, info, warn, error, fatal or panic")
        })
    }
}

/// Where lines go; nowhere by default. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Journal(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    least: Level,
    version: String,
    lines: SyncSender<Line>,
    dropped: AtomicU64,
}

enum Line {
    Text(String),
    /// Answered when everything before it is written.
    Flush(SyncSender<()>),
}

impl Journal {
    /// Lines of at least this level go to `out`, each with the version. A thread writes them.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(least: Level, version: &str, out: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (lines, waiting) = sync_channel(WAITING_LINES);
        std::thread::Builder::new().name("journal".to_owned()).spawn(move || write_all(&waiting, out))?;
        let shared = Shared { least, version: version.to_owned(), lines, dropped: AtomicU64::new(0) };
        Ok(Self(Some(Arc::new(shared))))
    }

    /// Writes a line with fields of its own.
    pub fn log(&self, level: Level, message: impl AsRef<str>, fields: &[(&str, Value)]) {
        let Some(shared) = self.0.as_ref().filter(|shared| level >= shared.least) else { return };
        let mut line = format!("{{\"level\":\"{}\",\"version\":{}", level.name(), Value::from(shared.version.as_str()));
        for (name, value) in fields {
            line += &format!(",{}:{value}", Value::from(*name));
        }
        let dropped = shared.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            line += &format!(",\"dropped_lines\":{dropped}");
        }
        let (time, message) = (timestamp(SystemTime::now()), Value::from(message.as_ref()));
        line += &format!(",\"time\":\"{time}\",\"message\":{message}}}");
        if let Err(TrySendError::Full(_)) = shared.lines.try_send(Line::Text(line)) {
            shared.dropped.fetch_add(dropped + 1, Ordering::Relaxed);
        }
    }

    /// Says that a link accepts connections, and where. One that only its own container can reach is warned about: it
    /// is the commonest reason why a proxy in a container "does not work".
    pub fn started(&self, link: &LinkStatus) {
        let LinkStatus { name, listen, upstream, .. } = link;
        let upstream = upstream.as_deref().unwrap_or("(none)");
        let fields = [("name", name.as_str().into()), ("proxy", listen.as_str().into()), ("upstream", upstream.into())];
        self.log(Level::Info, "Started proxy", &fields);
        let is_loopback = listen.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_loopback());
        if is_loopback && Path::new(CONTAINER_MARK).exists() {
            let text = "only this container can reach it: to be reached from others, let it listen on 0.0.0.0";
            self.log(Level::Warn, text, &fields[..2]);
        }
    }

    pub(crate) fn warn(&self, message: impl AsRef<str>) {
        self.log(Level::Warn, message, &[]);
    }

    pub(crate) fn error(&self, message: impl AsRef<str>) {
        self.log(Level::Error, message, &[]);
    }

    /// Waits until what was logged is written, for a second at most.
    pub fn flush(&self) {
        let Some(shared) = &self.0 else { return };
        let (done, written) = sync_channel(1);
        if shared.lines.try_send(Line::Flush(done)).is_ok() {
            // A reader that takes nothing for so long is not waited for.
            let _late = written.recv_timeout(FLUSH_TIME);
        }
    }
}

fn write_all(waiting: &Receiver<Line>, mut out: impl Write) {
    while let Ok(line) = waiting.recv() {
        match line {
            Line::Text(text) => {
                if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
                    return;
                }
            }
            // Whoever asked may have given up.
            Line::Flush(done) => _ = done.try_send(()),
        }
    }
}

/// The moment as `2026-11-30T04:07:15Z`.
fn timestamp(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// The date that is `days` after 1970-01-01. Counted in years that begin in March, so that the leap day is the last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            crate::sync::locked(&self.0).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    // Proves the order of the fields, that a level hides what is below it, and that a flush waits for the lines.
    #[test]
    fn lines_are_json_in_order() {
        let sink = Sink::default();
        let journal = Journal::start(Level::Info, "1.2.3", sink.clone()).expect("thread");
        journal.log(Level::Debug, "hidden", &[]);
        journal.log(Level::Info, "shown", &[("proxy", "a".into())]);
        journal.flush();
        let text = String::from_utf8(crate::sync::locked(&sink.0).clone()).expect("text");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.starts_with(r#"{"level":"info","version":"1.2.3","proxy":"a","time":""#), "{text}");
        let line: Value = serde_json::from_str(&text).expect("json");
        assert_eq!((&line["level"], &line["proxy"], &line["message"]), (&"info".into(), &"a".into(), &"shown".into()));
        assert_eq!(line["time"].as_str().map(str::len), Some(20));
    }

    // Proves dates around leap days and the turn of a century.
    #[test]
    fn dates_are_right() {
        for (days, date) in
            [(0, (1970, 1, 1)), (11_016, (2000, 2, 29)), (11_017, (2000, 3, 1)), (20_787, (2026, 11, 30))]
        {
            assert_eq!(civil(days), date);
        }
        assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(1_796_011_635)), "2026-11-30T04:07:15Z");
    }

    // Proves that the seven names are read in any case and another is refused with all of them.
    #[test]
    fn levels_are_read() {
        assert_eq!("WARN".parse(), Ok(Level::Warn));
        assert!("loud".parse::<Level>().is_err_and(|e| e.contains("trace") && e.contains("panic")));
    }
}
