//! Runs two registry clients of Toxiproxy against the server at TOXIPROXY_ADDR (`host:port`), and checks what they say
//! and what it does to connections. The first failure panics; the last line says how many checks passed.

mod checks;
mod echo;
mod noxious;
mod toxiproxy_rust;

fn main() {
    let server = std::env::var("TOXIPROXY_ADDR").expect("TOXIPROXY_ADDR is the host:port of a server");
    let upstream = echo::start();
    let mut checks = checks::Checks::default();
    toxiproxy_rust::run(&server, upstream, &mut checks);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    runtime.block_on(noxious::run(&server, upstream, &mut checks));
    println!("rust: {} client checks passed", checks.passed);
}
