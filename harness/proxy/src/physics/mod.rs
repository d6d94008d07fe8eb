//! The arithmetic of time: how long delays are.

mod distribution;
mod normal;

pub use distribution::{Distribution, DistributionError, MAX_DELAY_MS, MAX_TABLE_POINTS};
