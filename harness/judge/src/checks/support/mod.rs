//! What the checks of retries, keys and trust share: the wire seen request by request, evidence lines, one way to rule.

mod case;
mod doubt;
mod lines;
mod request;
mod strays;
mod timed;

pub(super) use case::{Case, Tally, capped};
pub(super) use doubt::{QUIETER, STANDSTILL, pause, paused, standstill, unfired};
pub(super) use lines::{attempt_line, charge_line, digest, ms, outcome_line, outcome_words, row_line};
pub(super) use request::{Request, caused, failed, failure, requests, succeeded};
pub(super) use strays::{note_blind, note_unjoined, strays, strays_among, unjoined};
pub(super) use timed::{AT_ONCE, EARLY, Late};
