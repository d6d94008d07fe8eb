//! Tests of the proxy from outside, over real sockets. One binary, so that it is linked once.

mod api;
mod departure;
mod evidence;
mod framing;
mod grammar;
mod h2;
mod holds;
mod kit;
mod lifecycle;
mod links;
mod phases;
mod program;
mod schedules;
mod tcp;
mod toxics;
