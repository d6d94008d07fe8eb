//! Writing that cannot panic: results on stdout, everything else on stderr.

use std::io::{ErrorKind, Write};

use crate::exit::Exit;

/// Writes to stderr as it is. What cannot be written there is not worth failing a run for.
pub fn progress(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Writes a line to stderr.
pub fn line(text: &str) {
    progress(&format!("{text}\n"));
}

/// Writes a result to stdout; returns `exit`, or the rig's code when the result is lost. A reader that goes away early
/// (`| head`) is no failure of ours.
pub fn result(text: &str, exit: Exit) -> Exit {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            line(&format!("error: cannot write the result to stdout: {error}"));
            Exit::Rig
        }
        _ => exit,
    }
}
