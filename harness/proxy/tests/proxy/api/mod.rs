//! The control plane from outside, over raw sockets.

mod kit;
mod wire;
