//! Fuzz target; what it claims is in `claims.rs`.
#![no_main]

#[path = "../claims.rs"]
mod claims;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    claims::run("verdicts", bytes);
});
