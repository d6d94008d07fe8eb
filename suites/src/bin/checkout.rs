//! The front service before the reference service, built with every run of the suites.

fn main() -> std::process::ExitCode {
    payments::checkout()
}
