//! Where the service under test runs. This build has the `process` placement: a child process on loopback.
//!
//! ```no_run
//! # async fn example() -> Result<(), harness::place::PlaceError> {
//! use harness::place::{Builder, Process, ProcessSpec, Ready, ReservedPort};
//!
//! let port = ReservedPort::pick()?;
//! let address = format!("127.0.0.1:{}", port.number());
//! let spec = ProcessSpec::new("payments", ["target/debug/payments"], Ready::url(format!("http://{address}/ready")))
//!     .env("PAYMENTS_LISTEN", &address)
//!     .log_path("runs/example/service.log");
//! let service = Process::start(spec, &Builder::default(), Some(port)).await?;
//! service.pause()?;
//! service.resume()?;
//! service.stop().await?;
//! # Ok(())
//! # }
//! ```
//!
//! A child ends with the harness, whatever ends the harness: see [`Process`] for how.

mod announce;
mod build;
mod command;
mod error;
mod group;
mod log;
mod port;
mod process;
mod ready;
mod spec;
pub mod template;

pub use build::Builder;
pub use error::{LogExcerpt, PlaceError};
pub use log::ServiceLog;
pub use port::ReservedPort;
pub use process::{Process, Stopped};
pub use spec::{Inherit, ProcessSpec, Ready};
