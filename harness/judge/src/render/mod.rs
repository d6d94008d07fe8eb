//! Verdicts for people and for programs.
//!
//! Every renderer is a pure function of the verdict. Text that came from the service under test, or from anywhere
//! else outside, is neutralised: no control character, terminal sequence, direction mark or markup of it survives.
//!
//! ```
//! use judge::render::{Style, terminal};
//! use judge::Verdict;
//!
//! let verdict = Verdict::of("r1", "payments", 7, "process", Vec::new());
//! let text = terminal(&verdict, &Style { color: false, width: 80 });
//! assert!(text.ends_with("INCONCLUSIVE  nothing was judged  (payments, run r1, seed 7, process)\n"));
//! ```

mod explain;
mod finding;
mod json;
mod junit;
mod markdown;
mod terminal;
mod text;

pub use explain::explain;
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use terminal::terminal;

/// How a terminal report looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether rulings are coloured by ANSI sequences; off for files and pipes.
    pub color: bool,
    /// Columns to wrap at; below 40 it is taken as 40.
    pub width: usize,
}

impl Default for Style {
    /// Plain, 100 columns: what a log wants.
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}
