//! HTTP/2 and gRPC over real sockets.

mod changed;
mod crowds;
mod ends;
mod faults;
mod grammar;
mod grpc;
mod kit;
mod streams;
