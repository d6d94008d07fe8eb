//! Checks of time limits towards the client.
//!
//! The witness is the load driver: it knows when it asked and when it was answered. The proxy shows that the dependency
//! really hung.

mod holds;

pub use holds::answers_in_time;
