//! The smoke run: every contender carries every measure once, and the bytes are whole. Time says nothing in it.

use crate::contenders::World;
use crate::error::BenchError;
use crate::measures::Measure;
use crate::samples::Samples;
use crate::targets::ROWS;

/// Every measure that ran must have left a figure of every contender that could take part, and no figure may be something
/// that no work produces.
pub(crate) fn check(samples: &Samples, measures: &[&Measure], world: &World) -> Result<(), BenchError> {
    for measure in measures {
        for id in measure.who.iter().copied().filter(|id| world.has(*id)) {
            let figures: Vec<f64> =
                ROWS.iter().filter_map(|row| samples.of(row.name, id)).flat_map(|s| s.values.iter().copied()).collect();
            if figures.is_empty() || figures.iter().any(|v| !v.is_finite() || *v < 0.0) {
                return Err(BenchError::Wrong {
                    through: id.name().to_owned(),
                    expected: format!("figures of `{}`", measure.name),
                    got: format!("{figures:?}"),
                });
            }
        }
    }
    Ok(())
}
