//! The control plane from outside, over raw sockets.

mod kit;
mod limits;
mod own;
mod program;
mod semantics;
mod stalled;
mod wire;
