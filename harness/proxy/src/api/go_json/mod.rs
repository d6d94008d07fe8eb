//! JSON as Go's standard library reads and writes it, because Toxiproxy's clients have only ever met that: keys in any
//! case, unknown keys ignored, only the first value read, `null` for "leave it", and the library's own error texts.
//!
//! Nothing here recurses: a text is checked once with a bounded stack, and then walked in place.

mod decode;
mod raw;
mod scan;
mod write;

pub(crate) use decode::{Decoder, Owner, meant};
pub(crate) use raw::{Kind, Raw};
pub(crate) use write::{float32, float64, quoted};
