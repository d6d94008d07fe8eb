//! Acceptance of the statistics: the sections of the reference simulator counted over seeded fleets, each figure beside the
//! one that the simulator printed.
//!
//! A cell fails when chance explains the difference less than once in a million (two-sided, exact binomial for counts,
//! Student's law for means). Here the runs are few, so that a test takes a second; `examples/error_rates` makes the same
//! tables, of these files, with as many runs as the simulator.

mod agree;
mod count;
mod incident;
mod laws;
mod matrix;
mod naive;
mod noise;
mod restart;
mod section;
mod table;
mod tails;
