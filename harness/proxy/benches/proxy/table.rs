//! The table: each contender's median and range over the rounds, and beside ours the targets.

use std::fmt::Write;

use crate::contenders::Id;
use crate::samples::Samples;
use crate::stats::median;
use crate::targets::{Need, Of, ROWS, Row, TARGETS, Target};

/// The cells of one line.
type Line = [String; 7];

const HEAD: [&str; 7] = ["measure", "contender", "median [range]", "CPU per unit", "ratio", "target", ""];

/// Draws the table as Markdown.
pub(crate) fn draw(samples: &Samples) -> String {
    let mut lines: Vec<Line> = vec![HEAD.map(str::to_owned)];
    for row in ROWS {
        let mut name = format!("{} ({})", row.name, row.unit);
        for id in Id::ALL {
            let found = contender(samples, row, id);
            for mut line in found {
                line[0] = std::mem::take(&mut name);
                lines.push(line);
            }
        }
    }
    let mut widths = [0; 7];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for (n, line) in lines.iter().enumerate() {
        let cells: Vec<_> = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        // Writing to a string does not fail.
        let _ok = writeln!(text, "| {} |", cells.join(" | "));
        if n == 0 {
            let rule: Vec<_> = widths.iter().map(|width| "-".repeat(*width)).collect();
            let _ok = writeln!(text, "| {} |", rule.join(" | "));
        }
    }
    text
}

/// The lines of one contender in one row: its figures, and one more for each further target.
fn contender(samples: &Samples, row: &Row, id: Id) -> Vec<Line> {
    let Some(values) = samples.values(row.name, id, row.is_added) else { return Vec::new() };
    let cpu = samples.of(row.name, id).map_or(&[][..], |series| &series.cpu);
    let is_baseline = row.is_added && id == Id::Direct;
    let name = if is_baseline { "direct (whole)" } else { id.name() };
    let cpu = if cpu.is_empty() { String::new() } else { format!("{} {}", short(median(cpu)), row.cpu_unit) };
    let mut lines: Vec<Line> = vec![Default::default()];
    lines[0][1] = name.to_owned();
    lines[0][2] = spread(&values);
    lines[0][3] = cpu;
    let judged = TARGETS.iter().filter(|t| t.row == row.name && t.who == id).filter_map(|t| judge(samples, row, t));
    for (n, [ratio, target, verdict]) in judged.enumerate() {
        if n == lines.len() {
            lines.push(Default::default());
        }
        lines[n][4] = ratio;
        lines[n][5] = target;
        lines[n][6] = verdict.to_owned();
    }
    lines
}

/// Ratio, target and verdict; nothing when the contender to compare with is not there.
fn judge(samples: &Samples, row: &Row, target: &Target) -> Option<[String; 3]> {
    let ours = figures(samples, row, target.who, target.of)?;
    let (ratio, what, is_met) = match target.need {
        Need::Below(limit) => {
            let middle = median(&ours);
            (middle / limit, format!("<= {} {}", short(limit), row.unit), middle <= limit)
        }
        Need::UpTo(times, other) => {
            let ratio = ratio(row, &ours, &figures(samples, row, other, target.of)?);
            (ratio, format!("<= {times:.2} x {}", other.name()), ratio <= times)
        }
        Need::NoLess(times, other) => {
            let ratio = ratio(row, &ours, &figures(samples, row, other, target.of)?);
            (ratio, format!(">= {times:.2} x {}", other.name()), ratio >= times)
        }
    };
    let what = if target.of == Of::Cpu { format!("CPU {what}") } else { what };
    let verdict = match is_met {
        // What a hop adds was lost in what else the machine did.
        _ if !ratio.is_finite() || ratio <= 0.0 => "unclear",
        true => "met",
        false => "MISSED",
    };
    Some([format!("{ratio:.2}"), what, verdict.to_owned()])
}

fn figures(samples: &Samples, row: &Row, id: Id, of: Of) -> Option<Vec<f64>> {
    match of {
        Of::Value => samples.values(row.name, id, row.is_added),
        Of::Cpu => samples.of(row.name, id).map(|series| series.cpu.clone()).filter(|cpu| !cpu.is_empty()),
    }
}

/// The median of the rounds' ratios: both of a pair were measured within the same second or two. What a hop adds is a
/// small difference of large figures, which in one round may be anything: there it is the ratio of the medians.
fn ratio(row: &Row, ours: &[f64], theirs: &[f64]) -> f64 {
    if row.is_added {
        let (ours, theirs) = (median(ours), median(theirs));
        return if ours > 0.0 && theirs > 0.0 { ours / theirs } else { f64::NAN };
    }
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a / b).collect();
    median(&ratios)
}

fn spread(values: &[f64]) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{} [{} .. {}]", short(median(values)), short(low), short(high))
}

/// Three digits that mean something.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
