//! A table of the reference with what was seen here beside it.

use std::fmt;

use crate::agree::{self, Reference};

/// What was seen and what was printed.
#[derive(Debug, Clone)]
pub enum Cell {
    /// The reference has nothing to compare with.
    Alone(String),
    /// A count of runs beside a printed share.
    Share { count: u64, runs: u64, reference: Reference },
    /// A count of runs beside the probability that is known exactly.
    Exact { count: u64, runs: u64, p: f64 },
    /// A mean over runs beside a printed mean of `runs` runs; `half` a unit of its last digit.
    Mean { values: Vec<f64>, printed: f64, half: f64, runs: u64 },
    /// A number without chance beside the printed one, likewise.
    Number { ours: f64, printed: f64, half: f64 },
}

impl Cell {
    /// A count beside a share as the reference's tables print it.
    pub fn share(count: u64, runs: u64, printed: f64, their_runs: u64) -> Cell {
        Cell::Share { count, runs, reference: Reference::table(printed, their_runs) }
    }

    /// A number beside one that was printed with `decimals` decimals.
    pub fn number(ours: f64, printed: f64, decimals: i32) -> Cell {
        Cell::Number { ours, printed, half: 0.5 * 10f64.powi(-decimals) }
    }

    /// Whether chance explains the difference.
    pub fn agrees(&self) -> bool {
        match self {
            Cell::Alone(_) => true,
            Cell::Share { count, runs, reference } => agree::shares(*count, *runs, *reference),
            Cell::Exact { count, runs, p } => agree::probability(*count, *runs, *p),
            Cell::Mean { values, printed, half, runs } => agree::means(values, *printed, *half, *runs),
            // A hair for numbers that lie on the edge of rounding.
            Cell::Number { ours, printed, half } => (ours - printed).abs() <= half * 1.0001,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Alone(text) => f.write_str(text)?,
            Cell::Share { count, runs, reference } => write!(f, "{} ({})", share(*count, *runs), reference.share)?,
            Cell::Exact { count, runs, p } => write!(f, "{} ({p:.2e})", share(*count, *runs))?,
            Cell::Mean { values, printed, half, .. } => {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                write!(f, "{mean:.0$} ({printed})", decimals(*half))?;
            }
            Cell::Number { ours, printed, half } => write!(f, "{ours:.0$} ({printed})", decimals(*half))?,
        }
        f.write_str(if self.agrees() { "" } else { " !" })
    }
}

/// Decimals of a number whose last digit is twice `half`.
fn decimals(half: f64) -> usize {
    (0.5 / half).log10().ceil().max(0.0) as usize
}

/// A share as the reference prints it; rarer ones with their count.
fn share(count: u64, runs: u64) -> String {
    let share = count as f64 / runs as f64;
    match count {
        0 => "0".to_owned(),
        n if n == runs => "1".to_owned(),
        _ if share < 0.0001 => format!("{share:.1e}"),
        _ if !(0.01..=0.99).contains(&share) => format!("{share:.4}"),
        _ => format!("{share:.3}"),
    }
}

/// One table.
#[derive(Debug)]
pub struct Section {
    pub title: String,
    /// Heading of the rows, then of each column.
    pub head: Vec<String>,
    pub rows: Vec<(String, Vec<Cell>)>,
}

impl Section {
    pub fn new(title: String, head: impl IntoIterator<Item = impl Into<String>>) -> Section {
        Section { title, head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub fn row(&mut self, name: impl fmt::Display, cells: Vec<Cell>) {
        self.rows.push((name.to_string(), cells));
    }

    /// Where chance does not explain the difference: row, column and both numbers.
    pub fn strangers(&self) -> Vec<String> {
        let named = |(row, cells): &(String, Vec<Cell>)| {
            let cells = self.head[1..].iter().zip(cells).filter(|(_, cell)| !cell.agrees());
            cells.map(|(column, cell)| format!("{row}, {column}: {cell}")).collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(named).collect()
    }

    /// Fails a test with every cell that disagrees.
    #[cfg(test)]
    #[track_caller]
    pub fn assert_agrees(&self) {
        assert!(self.rows.iter().any(|(_, cells)| !cells.is_empty()), "{}: nothing was compared", self.title);
        assert!(self.strangers().is_empty(), "{}\n{}", self.title, self.strangers().join("\n"));
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## {}\n", self.title)?;
        writeln!(f, "| {} |", self.head.join(" | "))?;
        writeln!(f, "|{}", "---|".repeat(self.head.len()))?;
        for (name, cells) in &self.rows {
            let cells: Vec<String> = cells.iter().map(ToString::to_string).collect();
            writeln!(f, "| {name} | {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}
