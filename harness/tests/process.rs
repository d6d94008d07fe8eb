//! The `process` placement with real children.

#[path = "process/build.rs"]
mod build;
#[path = "process/ends.rs"]
mod ends;
#[path = "process/helper.rs"]
mod helper;
#[path = "process/orphans.rs"]
mod orphans;
#[path = "process/start.rs"]
mod start;
