//! What a pull request must pass. The cheap steps come first; the suites come last, so that a log ends with
//! the summary of the test runner. The README's first command comes right before them: everything it runs is built by then.

use std::time::Instant;

use crate::step::{Step, done};
use crate::{Failure, clients, images, tidy};

/// Everything, stopping at the first failure.
pub fn run() -> Result<(), Failure> {
    Step::cargo("format", &["fmt", "--all", "--check"]).run()?;
    let lints = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings", "-D", "clippy::too_many_lines"];
    Step::cargo("clippy", &lints).env("CLIPPY_CONF_DIR", "ci").run()?;
    let start = Instant::now();
    tidy::run()?;
    done("tidy", start);
    // Libraries only: the binary `harness` and the players in `suites` would overwrite the pages of their libraries.
    let documentation = ["doc", "--workspace", "--lib", "--no-deps"];
    Step::cargo("documentation", &documentation).env("RUSTDOCFLAGS", "-D warnings").run()?;
    Step::cargo("tests", &["test", "--workspace", "--exclude", "suites"]).run()?;
    clients::run()?;
    images::proxy_where_possible()?;
    battery().run()?;
    suites().run()
}

/// The reference service against its contract, by the first command the README tells everybody: only code 0 will do.
fn battery() -> Step {
    Step::cargo("battery", &["run", "-p", "harness-cli", "--", "verify", "fixtures/payments/contract.toml"])
}

/// The suites, by the command the README tells everybody.
pub fn suites() -> Step {
    Step::cargo("suites", &["test", "-p", "suites"]).last()
}
