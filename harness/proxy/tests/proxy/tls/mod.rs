//! TLS on either side of a link, against clients and upstreams of their own TLS.

mod config;
mod ends;
mod faults;
mod kit;
mod odd;
mod paths;
mod trust;
