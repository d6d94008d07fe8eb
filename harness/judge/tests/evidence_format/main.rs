//! The evidence format as it is documented, and as it was.

mod page;
mod samples;
mod shapes;
mod versions;
