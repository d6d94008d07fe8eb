//! The probes against real databases and servers: what they read, and what their errors say.

mod breaker;
mod fetch;
mod http_ledger;
mod kit;
mod postgres;
mod sqlite;
