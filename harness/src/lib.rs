//! TBD

pub mod collector;
pub mod probe;
