//! A service that is asked for more than its dependency can do.

use judge::evidence::Evidence;

use super::stage::{Try, payment};
use crate::support::{MS, evidence};

/// Calls a second that the dependency can work on.
pub const CAPACITY: f64 = 100.0;

/// `rate` payments a second for `seconds`; every `nth` succeeds, the others are refused after that many attempts.
pub fn played(rate: u64, seconds: u64, nth: u64, attempts: u64) -> Evidence {
    let mut evidence = evidence("overload");
    for i in 0..rate * seconds {
        let sent = MS + i * 1_000 * MS / rate;
        let status = if i % nth == 0 { 201 } else { 503 };
        let tries = if status == 201 { 1 } else { attempts };
        let tries: Vec<_> = (0..tries).map(|k| Try { at: sent + MS + k * MS, took: MS, status }).collect();
        payment(&mut evidence, "overload", sent, &tries);
    }
    evidence
}
