//! Checks of what a service answers while its dependency cannot be asked.
//!
//! The wire tells what an answer can rest on: during the outage no call succeeds, so that a success then is a kept or an
//! invented one; and between two answers of the dependency nothing gets younger. All checks here compare answers with
//! that; none needs to trust the service's word for where an answer came from.

mod age;
mod fresh;
mod marked;
mod rows;
mod view;

pub use age::age_is_bounded;
pub use fresh::fresh_again;
pub use marked::degraded_is_marked;
pub use rows::confirmed_has_a_row;
