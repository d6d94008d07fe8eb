//! Envoy as a peer, when its binary is there: a TCP proxy and an HTTP router in front of the origin.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::child::Running;
use crate::control;
use crate::error::{BenchError, While};
use crate::machine;

/// The longest that Envoy may take to listen.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How often it is asked.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// Where its binary is: `ENVOY_BIN`, or `envoy` on the `PATH`.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("ENVOY_BIN") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("envoy")).find(|file| file.is_file())
}

/// What it says about its version.
pub(crate) fn version(binary: &Path) -> String {
    let said = Command::new(binary).arg("--version").output().map(|out| out.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    // `envoy  version: COMMIT/1.40.0/Clean/RELEASE/...`, behind the path it was started with.
    let behind = said.split_once("version: ").and_then(|(_, rest)| rest.split('/').nth(1));
    behind.unwrap_or("of unknown version").to_owned()
}

/// An Envoy, and where its TCP and its HTTP listener are. Its files have the name `stem` with endings of their own.
pub(crate) fn start(
    binary: &Path,
    stem: &Path,
    origin: SocketAddr,
) -> Result<(Running, SocketAddr, SocketAddr), BenchError> {
    let config = stem.with_extension("json");
    let admin = stem.with_extension("admin");
    fs::write(&config, bootstrap(origin).to_string()).during("writing Envoy's configuration")?;
    let mut command = Command::new(binary);
    command.arg("-c").arg(&config).arg("--admin-address-path").arg(&admin);
    // As many workers as there are processors; errors only; no shared memory with an earlier process.
    command.args(["--concurrency", &machine::cores().to_string(), "-l", "error", "--disable-hot-restart"]);
    let running = Running::quiet(command, "envoy")?;
    let began = Instant::now();
    while began.elapsed() < START_LIMIT {
        if let Some((tcp, http)) = fs::read_to_string(&admin).ok().and_then(|at| listeners(at.trim())) {
            return Ok((running, tcp, http));
        }
        std::thread::sleep(ASK_EVERY);
    }
    Err(BenchError::start("envoy", format!("no listener within {START_LIMIT:?}")))
}

/// Asks the admin endpoint for the ports that the kernel chose.
fn listeners(admin: &str) -> Option<(SocketAddr, SocketAddr)> {
    let (_, body) = control::call(admin.parse().ok()?, "GET", "/listeners?format=json", "").ok()?;
    let said: Value = serde_json::from_slice(&body).ok()?;
    let at = |name: &str| {
        let listener = said["listener_statuses"].as_array()?.iter().find(|l| l["name"] == name)?;
        let socket = &listener["local_address"]["socket_address"];
        let address: SocketAddr = format!("{}:{}", socket["address"].as_str()?, socket["port_value"]).parse().ok()?;
        // It is listed before its workers accept on it.
        TcpStream::connect(address).ok().map(|_| address)
    };
    Some((at("tcp")?, at("http")?))
}

/// The leanest usual configuration: no access log, no request ids, no added headers, limits that nothing here reaches.
fn bootstrap(origin: SocketAddr) -> Value {
    let socket = |address: SocketAddr| json!({ "socket_address": { "address": address.ip().to_string(), "port_value": address.port() } });
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let listener = |name: &str, filter: Value| json!({ "name": name, "address": socket(any), "filter_chains": [{ "filters": [filter] }] });
    let filters = "type.googleapis.com/envoy.extensions.filters";
    let tcp = json!({ "name": "envoy.filters.network.tcp_proxy", "typed_config": {
        "@type": format!("{filters}.network.tcp_proxy.v3.TcpProxy"), "stat_prefix": "tcp", "cluster": "origin" } });
    let router = json!({ "name": "envoy.filters.http.router", "typed_config": {
        "@type": format!("{filters}.http.router.v3.Router"), "suppress_envoy_headers": true } });
    let http = json!({ "name": "envoy.filters.network.http_connection_manager", "typed_config": {
        "@type": format!("{filters}.network.http_connection_manager.v3.HttpConnectionManager"),
        "stat_prefix": "http", "codec_type": "HTTP1", "generate_request_id": false, "http_filters": [router],
        "route_config": { "virtual_hosts": [{ "name": "all", "domains": ["*"],
            "routes": [{ "match": { "prefix": "/" }, "route": { "cluster": "origin", "timeout": "0s" } }] }] } } });
    let plenty = 1_000_000;
    json!({
        "admin": { "address": socket(any) },
        "static_resources": {
            "listeners": [listener("tcp", tcp), listener("http", http)],
            "clusters": [{
                "name": "origin", "type": "STATIC", "connect_timeout": "5s",
                "circuit_breakers": { "thresholds": [{ "max_connections": plenty, "max_pending_requests": plenty,
                    "max_requests": plenty, "max_retries": plenty }] },
                "load_assignment": { "cluster_name": "origin", "endpoints": [{ "lb_endpoints": [
                    { "endpoint": { "address": socket(origin) } }] }] }
            }]
        }
    })
}
