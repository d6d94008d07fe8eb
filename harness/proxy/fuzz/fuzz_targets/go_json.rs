//! Fuzz target; what it claims is in `src/fuzzing` of chaos-proxy.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    chaos_proxy::fuzzing::run("go_json", bytes);
});
