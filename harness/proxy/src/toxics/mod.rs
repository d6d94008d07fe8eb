//! Toxics: faults on the bytes of a TCP link. Toxiproxy's nine with their exact shapes, and our own.

mod board;
mod chain;
mod draw;
mod kind;
mod live;
mod number;
mod parse;
mod spec;
mod witness;

pub(crate) use board::Entry;
pub use board::{Change, MAX_TOXICS, ToxicBoard, ToxicError};
pub(crate) use chain::{Chain, End, Load, MAX_CHUNK, Origin, Plan, Start};
pub use kind::{Share, ToxicKind};
pub(crate) use live::{Current, FEW, Listening};
pub use number::{AttributeError, AttributeValue};
pub use parse::ToxicParseError;
pub use spec::{Direction, Stream, StreamError, Toxic};
