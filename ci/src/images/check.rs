//! Runs the proxy's image as people run Toxiproxy's: a configuration file copied in, a network between containers, the
//! command line tool out of the same image.

use std::fs;
use std::time::{Duration, Instant};

use crate::Failure;
use crate::step::{done, output};

/// Far beyond what a container needs to start.
const PATIENCE: Duration = Duration::from_secs(30);
/// A configuration file as Toxiproxy's documentation has it: the API of another container is the upstream.
const CONFIG: &str = r#"[{"name":"up","listen":"0.0.0.0:8666","upstream":"UPSTREAM:8474","enabled":true}]"#;

/// The containers and the network of one check; removed when it is dropped.
struct Stage<'a> {
    image: &'a str,
    network: String,
    upstream: String,
    proxy: String,
}

/// Checks the image.
pub fn run(image: &str) -> Result<(), Failure> {
    let start = Instant::now();
    let name = |part: &str| format!("ci-{}-{part}", std::process::id());
    let stage = Stage { image, network: name("network"), upstream: name("upstream"), proxy: name("proxy") };
    docker(&["network", "create", &stage.network])?;
    // The default arguments serve the API on every address.
    docker(&["run", "--detach", "--name", &stage.upstream, "--network", &stage.network, image])?;
    let (network, proxy) = (&stage.network, &stage.proxy);
    let arguments = ["-host=0.0.0.0", "-config=/config.json"];
    docker(&[&["create", "--name", proxy, "--network", network, image][..], &arguments].concat())?;
    stage.copy_config()?;
    docker(&["start", proxy])?;
    stage.behaves()?;
    done("image check", start);
    Ok(())
}

impl Stage<'_> {
    fn copy_config(&self) -> Result<(), Failure> {
        let file = std::env::temp_dir().join(format!("{}.json", self.proxy));
        let failed = |error| Failure::Tool(format!("cannot write {}: {error}", file.display()));
        fs::write(&file, CONFIG.replace("UPSTREAM", &self.upstream)).map_err(failed)?;
        let copied = docker(&["cp", &file.to_string_lossy(), &format!("{}:/config.json", self.proxy)]);
        fs::remove_file(&file).map_err(failed)?;
        copied.map(drop)
    }

    /// The tool of the image, in a container of its own, against a host and port of the network.
    fn tool(&self, at: &str, arguments: &[&str]) -> Result<String, Failure> {
        let url = format!("http://{at}");
        let run = ["run", "--rm", "--network", &self.network, "--entrypoint", "/toxiproxy-cli", self.image, "-h", &url];
        docker(&[&run[..], arguments].concat())
    }

    fn behaves(&self) -> Result<(), Failure> {
        let (api, upstream) = (format!("{}:8474", self.proxy), format!("{}:8474", self.upstream));
        let through = format!("{}:8666", self.proxy);
        self.ready(&api)?;
        self.ready(&upstream)?;
        expect(
            "the configured proxy",
            &self.tool(&api, &["list"])?,
            &format!("up\t0.0.0.0:8666\t{upstream}\tenabled\t0\n"),
        )?;
        // What is created through the proxy is there behind it.
        self.tool(&through, &["create", "-l", "127.0.0.1:0", "-u", "nowhere:1", "made-through"])?;
        let behind = self.tool(&upstream, &["list"])?;
        expect("traffic between containers", behind.split('\t').next().unwrap_or_default(), "made-through")?;
        self.tool(&api, &["toxic", "add", "-t", "latency", "-a", "latency=1", "up"])?;
        self.tool(&through, &["list"])?;
        expect("a toggle", &self.tool(&api, &["toggle", "up"])?, "Proxy up is now disabled\n")?;
        if self.tool(&through, &["list"]).is_ok() {
            return Err(Failure::Red("the image: a disabled proxy still passes traffic".to_owned()));
        }
        docker(&["stop", &self.proxy])?;
        let code = docker(&["inspect", "--format", "{{.State.ExitCode}}", &self.proxy])?;
        expect("the exit code after a stop", code.trim(), "0")
    }

    /// Waits until an API answers.
    fn ready(&self, at: &str) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.tool(at, &["list"]) {
                Ok(_) => return Ok(()),
                Err(failure) if Instant::now() > deadline => return Err(failure),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // What was never made cannot be removed; nothing else depends on it.
        let _containers = docker(&["rm", "--force", &self.proxy, &self.upstream]);
        let _network = docker(&["network", "rm", &self.network]);
    }
}

fn docker(arguments: &[&str]) -> Result<String, Failure> {
    output("docker", arguments)
}

fn expect(what: &str, got: &str, expected: &str) -> Result<(), Failure> {
    if got == expected {
        return Ok(());
    }
    Err(Failure::Red(format!("the image: {what} is {got:?}, not {expected:?}")))
}
