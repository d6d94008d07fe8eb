//! One step: a command, its heading and its seconds.

use std::ffi::OsString;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use crate::Failure;

/// The cargo that runs us, or the one on the path.
pub fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// A command that must succeed.
pub struct Step {
    name: &'static str,
    program: OsString,
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
    /// Nothing is printed after the last step, so that a log ends with the summary of the test runner.
    last: bool,
}

impl Step {
    /// A cargo command.
    pub fn cargo(name: &'static str, arguments: &[&str]) -> Self {
        Self::program(name, cargo(), arguments)
    }

    /// Any command.
    pub fn program(name: &'static str, program: impl Into<OsString>, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&it| it.to_owned()).collect();
        Self { name, program: program.into(), arguments, environment: Vec::new(), last: false }
    }

    /// Sets a variable for this command.
    pub fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Marks the step whose output ends the log.
    pub fn last(mut self) -> Self {
        self.last = true;
        self
    }

    /// The command as a person would type it.
    pub fn line(&self) -> String {
        let quote = |value: &str| if value.contains(' ') { format!("\"{value}\"") } else { value.to_owned() };
        let environment = self.environment.iter().map(|(name, value)| format!("{name}={}", quote(value)));
        let program = std::path::Path::new(&self.program).file_name().map(|it| it.to_string_lossy().into_owned());
        let arguments = self.arguments.iter().map(|it| quote(it));
        environment.chain(program).chain(arguments).collect::<Vec<_>>().join(" ")
    }

    /// Runs the command with our own input and output.
    pub fn run(&self) -> Result<(), Failure> {
        eprintln!("== {}: {}", self.name, self.line());
        let start = Instant::now();
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        let status = command.status().map_err(|error| missing(&self.program, &error))?;
        if !status.success() {
            return Err(Failure::Red(format!("{} failed ({status}); run it alone: {}", self.name, self.line())));
        }
        if !self.last {
            done(self.name, start);
        }
        Ok(())
    }
}

/// Reports the end of a step.
pub fn done(name: &str, start: Instant) {
    eprintln!("== {name}: {:.1} s", start.elapsed().as_secs_f64());
}

/// Runs a command for its output.
pub fn output(program: impl Into<OsString>, arguments: &[&str]) -> Result<String, Failure> {
    let program = program.into();
    let output = Command::new(&program).args(arguments).output().map_err(|error| missing(&program, &error))?;
    let line = || format!("{} {}", program.to_string_lossy(), arguments.join(" "));
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::Tool(format!("{} failed ({}): {}", line(), output.status, message.trim_end())));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Failure::Tool(format!("{} printed something that is not UTF-8", line())))
}

/// Runs `from | into`, and waits for both.
pub fn pipe(mut from: Command, mut into: Command) -> Result<(ExitStatus, ExitStatus), Failure> {
    let failed = |command: &Command, error| missing(&command.get_program().to_owned(), &error);
    let mut writer = from.stdout(Stdio::piped()).spawn().map_err(|error| failed(&from, error))?;
    let end = writer.stdout.take().map_or_else(Stdio::null, Stdio::from);
    let read = into.stdin(end).status().map_err(|error| failed(&into, error));
    // It holds our copy of the end that is read from. While there is one, a writer whose reader has left early is not told,
    // and waits for ever when it has more to say than a pipe holds.
    drop(into);
    let written = writer.wait().map_err(|error| failed(&from, error))?;
    Ok((written, read?))
}

fn missing(program: &OsString, error: &std::io::Error) -> Failure {
    let program = program.to_string_lossy();
    Failure::Tool(format!("cannot run {program}: {error}; install it or put it on the PATH"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a failed command is red with its line, and a missing one is a broken tool with its name.
    #[test]
    fn failures_say_what_to_run() {
        assert_eq!(Step::program("true", "true", &[]).run(), Ok(()));
        let red = Step::program("no", "false", &["a b"]).env("X", "1").run();
        assert!(matches!(red, Err(Failure::Red(what)) if what.contains("X=1 false \"a b\"")));
        let missing = Step::program("gone", "no-such-program", &[]).run();
        assert!(matches!(missing, Err(Failure::Tool(what)) if what.contains("no-such-program")));
        assert!(matches!(output("false", &[]), Err(Failure::Tool(_))));
        assert_eq!(output("printf", &["x"]), Ok("x".to_owned()));
    }

    /// Proves that a reader which leaves early does not hold up a writer that has more than a pipe's 64 KiB to say, and that
    /// a reader which is not there does not either: with an end of the pipe kept here this would never return.
    #[test]
    fn a_pipe_ends_with_its_reader() {
        let zeros = || {
            let mut head = Command::new("head");
            head.args(["-c", "1000000", "/dev/zero"]);
            head
        };
        let (written, read) = pipe(zeros(), Command::new("true")).expect("both run");
        assert!(!written.success() && read.success(), "{written}, {read}");
        let gone = pipe(zeros(), Command::new("no-such-program"));
        assert!(matches!(gone, Err(Failure::Tool(what)) if what.contains("no-such-program")));
        let mut all = Command::new("cat");
        all.stdout(Stdio::null());
        let (written, read) = pipe(zeros(), all).expect("both run");
        assert!(written.success() && read.success());
    }
}
