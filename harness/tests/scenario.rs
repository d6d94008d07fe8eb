//! Scenario files: what is read, what is refused, and that the schema for editors says the same.

#[path = "scenario/errors.rs"]
mod errors;
#[path = "scenario/schema.rs"]
mod schema;

use std::path::PathBuf;

/// The folder of the scenario files.
fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/scenarios"))
}

/// A scenario that is as short as one can be.
const SHORT: &str = r#"version = 1
name = "short"
contract = "../payments/contract.toml"
checks = ["I1"]
[load]
payments = 3
[[variants]]
name = "sound"
"#;
