//! HTTP/2 and gRPC over real sockets.

mod grammar;
mod kit;
mod streams;
