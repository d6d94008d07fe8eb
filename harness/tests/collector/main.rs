//! The OTLP collector over real sockets: what exporters send, what floods and garbage do, when spans are complete.

mod chaos;
mod garbage;
mod grpc;
mod http;
mod json;
mod kit;
mod limits;
mod settle;
