//! Abuse: whatever a peer does, nothing panics, every attempt has one record, and tasks, descriptors and memory return
//! to their floor.

mod churn;
mod clients;
mod crowd;
mod floods;
mod heads;
mod kit;
mod plane;
mod processes;
mod readers;
mod secure;
mod streams;
mod upstreams;
