//! The suites of the reference service. One program, so that all scenarios overlap: they wait far more than they
//! compute, and the harness's lanes keep the timed ones apart.

mod attach;
mod breaker;
mod degradation;
mod detection;
mod idempotency;
mod python;
mod retry;
mod scenario_files;
mod service;
mod storm;
mod topology;
