//! Client load: who asks what, and when.
//!
//! These are the small loads of correctness scenarios (a handful to some hundred requests). What they promise is
//! order and overlap, not rates: a burst starts behind a barrier, waves keep a number in flight, a sequence waits for
//! each answer.

mod client;
mod order;
mod place;
mod plan;
mod spelling;
mod target;

pub use client::{Client, ClientError, MAX_REPLY_BYTES, RequestSpec};
pub use order::{Order, OrderSource, fnv1a};
pub(crate) use plan::Count;
pub use plan::{Asked, Load, Orders, Shape};
pub use spelling::respell;
pub use target::{Replica, Target};
