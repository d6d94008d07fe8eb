//! The control plane from outside, over raw sockets.

pub mod kit;
mod limits;
mod own;
mod program;
mod semantics;
mod stalled;
mod wire;
