//! The checks of retries, keys and trust against a simulated payment service: the sound one passes each check, every
//! defect is failed by exactly the checks that own it, and evidence that shows nothing is inconclusive.

mod detection;
mod doubts;
mod edges;
mod edges_fresh;
mod edges_law;
mod fresh;
mod judged;
mod law;
mod pages;
mod restarts;
mod scenarios;
mod service;
mod sound;
mod torn;
mod unjoined;
mod words;
mod world;

#[path = "../support/page.rs"]
mod page;
#[path = "../support/mod.rs"]
mod support;
