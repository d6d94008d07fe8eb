//! Checks of repeated keys and single effects.
//!
//! Effects are counted in two books that do not know of each other, the service's ledger and the bank's own journal, and
//! compared with what the clients were told. All checks here count: none can fail a correct service by chance, and a
//! pause of the machine changes nothing.

mod books;
mod crash;
mod effect;
mod refusal;
mod replay;
mod twins;

pub use crash::survives_crash;
pub use effect::exactly_one_effect;
pub use refusal::{mismatch_is_rejected, missing_key_is_rejected};
pub use replay::replay_is_faithful;
pub use twins::one_of_many_runs;
