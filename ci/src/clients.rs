//! Registry clients of Toxiproxy, run against our proxy: what they send, what they can read, and what it does.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::Failure;
use crate::step::{Step, cargo};
use crate::workspace::Workspace;

const RUST: &str = "harness/proxy/clients/rust/Cargo.toml";
const PYTHON: &str = "harness/proxy/clients/python";
/// Tells the clients where the server is.
const ADDRESS: &str = "TOXIPROXY_ADDR";

/// Builds the proxy and the clients, runs the clients against it, and prints how many checks passed.
pub fn run() -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    let scratch = workspace.target.join("clients");
    let scratch_text = scratch.to_string_lossy().into_owned();
    // With the features of the whole tree, as the tests before have built it.
    Step::cargo("proxy", &["build", "--locked", "--workspace", "--bin", "chaos-proxy"]).run()?;
    let build = ["build", "--locked", "--manifest-path", RUST];
    Step::cargo("rust clients", &build).env("CARGO_TARGET_DIR", &scratch_text).run()?;
    let python = python(&workspace.root, &scratch)?;
    let server = Server::start(&workspace.target.join("debug/chaos-proxy"))?;
    let script = workspace.root.join(PYTHON).join("conformance.py").to_string_lossy().into_owned();
    let rust = ["run", "--quiet", "--locked", "--manifest-path", RUST];
    let mut first = Command::new(cargo());
    first.args(rust).env("CARGO_TARGET_DIR", &scratch_text).current_dir(&workspace.root);
    let mut second = Command::new(python);
    second.arg(script);
    let mut passed = 0;
    for (name, mut command) in [("rust", first), ("python", second)] {
        passed += checks(name, command.env(ADDRESS, &server.address))?;
    }
    println!("{passed} client checks passed");
    Ok(())
}

/// A Python of its own with the client in it, made once and kept with what cargo builds.
fn python(root: &Path, scratch: &Path) -> Result<String, Failure> {
    let venv = scratch.join("venv");
    let program = venv.join("bin/python").to_string_lossy().into_owned();
    let requirements = root.join(PYTHON).join("requirements.txt").to_string_lossy().into_owned();
    let advice = |failure| match failure {
        Failure::Red(what) => Failure::Tool(format!("{what}\nthe Python client needs python3 with venv and pip")),
        other => other,
    };
    Step::program("python", "python3", &["-m", "venv", &venv.to_string_lossy()]).run().map_err(advice)?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", &requirements];
    Step::program("python client", &program, &install).run().map_err(advice)?;
    Ok(program)
}

/// Runs one set of clients; how many checks its last line counts.
fn checks(name: &str, command: &mut Command) -> Result<u32, Failure> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| Failure::Tool(format!("cannot run the {name} clients: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    if !output.status.success() {
        return Err(Failure::Red(format!("the {name} clients do not get along with chaos-proxy ({})", output.status)));
    }
    counted(&text).ok_or_else(|| Failure::Red(format!("the {name} clients counted no checks")))
}

/// The number in `NAME: N client checks passed`; none is a failure too.
fn counted(text: &str) -> Option<u32> {
    let line = text.lines().last()?.strip_suffix(" client checks passed")?;
    line.rsplit(' ').next()?.parse().ok().filter(|&n| n > 0)
}

/// A running proxy on a free port; ended when it is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(program: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(program);
        command.args(["--host", "127.0.0.1", "--port", "0"]).stdin(Stdio::null()).stdout(Stdio::piped());
        let failed = |error| Failure::Tool(format!("cannot run {}: {error}", program.display()));
        let mut child = command.spawn().map_err(failed)?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or_else(|| Failure::Tool("chaos-proxy has no output".to_owned()))?;
        // On an error the line stays empty, and the server is ended below.
        let _read = BufReader::new(stdout).read_line(&mut line);
        let address = line.trim_end().strip_prefix("api http://").unwrap_or_default().to_owned();
        let server = Self { child, address };
        if server.address.is_empty() {
            return Err(Failure::Red(format!("chaos-proxy did not say where its API is but `{}`", line.trim_end())));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended by itself when this fails.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that only a last line that counts at least one check is a success.
    #[test]
    fn the_last_line_counts() {
        assert_eq!(counted("warning\nrust: 12 client checks passed\n"), Some(12));
        for wrong in ["", "rust: 0 client checks passed", "rust: 3 client checks passed\nthen this", "none passed"] {
            assert_eq!(counted(wrong), None, "{wrong}");
        }
    }
}
