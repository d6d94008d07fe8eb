//! A process that embeds the library, as the harness does: one HTTP link, with the event log off, or on and drained.

use std::time::Duration;

use chaos_proxy::{LinkConfig, Proxy, ProxyConfig};

use crate::child::end_with_the_bench;
use crate::error::{BenchError, While};

/// How often the log is drained.
const DRAIN_EVERY: Duration = Duration::from_millis(20);

/// Proxies to the upstream that the command line names: `UPSTREAM off`, or `UPSTREAM on`.
pub(crate) fn main(words: &[String]) -> Result<(), BenchError> {
    let [upstream, log] = words else {
        return Err(BenchError::Usage("host: needs the upstream's address, and `on` or `off`".to_owned()));
    };
    end_with_the_bench();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().during("starting the host's runtime")?;
    runtime.block_on(serve(upstream, log == "on"))
}

async fn serve(upstream: &str, logs: bool) -> Result<(), BenchError> {
    let link = LinkConfig::http("bench").upstream(upstream);
    let mut config = ProxyConfig::new([link]);
    if !logs {
        config = config.log_limit(0);
    }
    let proxy = Proxy::start(config).await.map_err(|e| BenchError::start("the library's proxy", e))?;
    let address = proxy.link_addr("bench").map_err(|e| BenchError::start("the library's link", e))?;
    println!("host {address}");
    let log = proxy.log();
    loop {
        tokio::time::sleep(DRAIN_EVERY).await;
        if logs {
            drop(log.drain());
        }
    }
}
