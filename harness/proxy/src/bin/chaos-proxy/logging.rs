//! The program's log, as `LOG_LEVEL` asks for it.

use chaos_proxy::{Journal, Level, TOXIPROXY_VERSION};

use crate::args::Role;

/// JSON lines on standard output. Toxiproxy logs everything unless told otherwise; by our own name we log when asked.
pub(crate) fn journal(role: Role, level: Option<&str>) -> std::io::Result<Journal> {
    let start = |least| Journal::start(least, TOXIPROXY_VERSION, std::io::stdout());
    match level {
        None if role == Role::ChaosProxy => Ok(Journal::default()),
        None | Some("") => start(Level::Trace),
        Some("disabled") => Ok(Journal::default()),
        Some(text) => match text.parse::<Level>() {
            Ok(least) => start(least),
            Err(why) => {
                let journal = start(Level::Trace)?;
                journal.log(Level::Error, format!("unknown LOG_LEVEL value: {why}"), &[]);
                Ok(journal)
            }
        },
    }
}
