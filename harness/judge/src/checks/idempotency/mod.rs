//! Checks of repeated keys and single effects.
//!
//! Effects are counted in two books that do not know of each other, the service's ledger and the bank's own journal, and
//! compared with what the clients were told. All checks here count: none can fail a correct service by chance, and a
//! pause of the machine changes nothing.

mod books;
mod crash;
mod effect;
mod expiry;
mod lease;
mod memo;
mod owner;
mod pending;
mod refusal;
mod replay;
mod scope;
mod spelling;
mod twins;

pub(super) use books::Books;
pub use crash::survives_crash;
pub use effect::exactly_one_effect;
pub use expiry::key_expires_as_declared;
pub use memo::failures_are_remembered;
pub use pending::conflict_is_pending;
pub(super) use refusal::calls_during;
pub use refusal::{mismatch_is_rejected, missing_key_is_rejected};
pub use replay::replay_is_faithful;
pub use scope::key_belongs_to_its_owner;
pub use twins::one_of_many_runs;
