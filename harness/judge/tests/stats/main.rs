//! Acceptance of the statistics: against tables made with scipy, and by counting verdicts over seeded fleets.

mod capped;
mod counts;
#[path = "../acceptance/laws.rs"]
mod laws;
mod noise;
mod peak;
mod power;
mod properties;
mod reference;
mod report;
mod restart;

use laws::{declared, full};
