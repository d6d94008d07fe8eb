//! Progress on stderr: a bar on a terminal, a line per scenario otherwise.

use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use harness::Progress;
use harness::judge::{Finding, Ruling};

use crate::say;

const BAR: usize = 24;

/// Shows which scenarios run and how they ended.
#[derive(Debug)]
pub struct Shown {
    terminal: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// When the scenarios began; what was built before does not count.
    begun: Option<Instant>,
    planned: usize,
    judged: usize,
    running: Vec<String>,
}

impl Shown {
    pub fn on_stderr() -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { terminal, state: Mutex::default() }
    }

    /// Takes the bar away, so that what follows begins on a clean line.
    pub fn clear(&self) {
        if self.terminal {
            say::progress("\r\x1b[K");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut State), line: Option<String>) {
        let mut state = self.lock();
        change(&mut state);
        if self.terminal {
            let done = (BAR * state.judged).checked_div(state.planned).unwrap_or(0);
            let bar = format!("{}{}", "=".repeat(done), " ".repeat(BAR - done));
            let line = line.map(|l| format!("{l}\n")).unwrap_or_default();
            let running = clipped(&state.running.join(" "), 60);
            say::progress(&format!("\r\x1b[K{line}[{bar}] {}/{} {running}", state.judged, state.planned));
        } else if let Some(line) = line {
            say::progress(&format!("{line}\n"));
        }
    }
}

impl Progress for Shown {
    fn building(&self, command: &[String]) {
        let text = format!("building the service: {}\n", command.join(" "));
        say::progress(&text);
    }

    fn planned(&self, scenarios: usize) {
        self.update(|s| (s.begun, s.planned) = (Some(Instant::now()), scenarios), None);
    }

    fn started(&self, scenario: &str) {
        self.update(|s| s.running.push(scenario.to_owned()), None);
    }

    fn judged(&self, scenario: &str, findings: &[Finding]) {
        let worst = findings.iter().map(|f| f.ruling).max().unwrap_or(Ruling::Inconclusive);
        let bad: Vec<_> = findings.iter().filter(|f| f.ruling != Ruling::Pass).map(|f| f.check.as_str()).collect();
        let which = if bad.is_empty() { String::new() } else { format!("  {}", bad.join(" ")) };
        let begun = self.lock().begun;
        let seconds = begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        let again =
            recordings(findings).map_or_else(String::new, |n| format!("  recorded {n} times: the machine paused"));
        let line =
            format!("{:<12} {scenario:<18} {:>2} checks  {seconds:5.1} s{which}{again}", worst.word(), findings.len());
        let change = |s: &mut State| {
            s.judged += 1;
            s.running.retain(|r| r != scenario);
        };
        self.update(change, Some(line));
    }
}

/// How many recordings it took, where one was not enough.
fn recordings(findings: &[Finding]) -> Option<u64> {
    findings.iter().flat_map(|f| &f.facts).find(|fact| fact.name == "recordings").and_then(|fact| fact.value.as_u64())
}

fn clipped(text: &str, width: usize) -> String {
    if text.chars().count() <= width { text.to_owned() } else { text.chars().take(width - 1).chain(['…']).collect() }
}
