//! Tests of the proxy from outside, over real sockets. One binary, so that it is linked once.

mod abuse;
mod api;
mod departure;
mod effects;
mod evidence;
mod expectations;
mod framing;
mod grammar;
mod h2;
mod holds;
mod kit;
mod lifecycle;
mod links;
mod phases;
mod program;
mod reply_lost;
mod rules_api;
mod schedules;
mod scopes;
mod tcp;
mod tls;
mod toxics;
