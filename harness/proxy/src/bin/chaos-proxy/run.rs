//! One run of the proxy, from its start to a signal.

use std::io::Write;
use std::path::Path;

use chaos_proxy::{
    ApiOptions, ApiServer, Event, Finding, Journal, Level, Mode, OtlpConfig, Proxy, ProxyConfig, ProxyError, Rule,
    RuleReport, populate, rules_from_json,
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::{Args, Role};
use crate::events::Events;
use crate::{FAILED, Failure, USAGE, logging, memory, reach};

/// The signals that end the program.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Self { terminate, interrupt })
    }

    async fn come(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Runs until a signal comes.
pub(crate) async fn run(role: Role, args: Args) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::new(FAILED, e);
    // Listened for before anything is announced, so that a signal right after the first line is not lost.
    let mut signals = Signals::listen().map_err(failed)?;
    let journal = logging::journal(role, std::env::var("LOG_LEVEL").ok().as_deref()).map_err(failed)?;
    let rules = read_rules(&args)?;
    // With neither a file nor an API nobody reads the log: it then only counts.
    let log_limit = if args.events.is_some() || args.api.is_some() { args.log_limit } else { 0 };
    let config = ProxyConfig::new(args.links.clone()).seed(args.seed).log_limit(log_limit);
    let otlp = collector(&args, &journal)?;
    let config = config.toxiproxy_quirks(args.quirks).log_bytes(args.log_bytes).otlp(otlp);
    let time = config.time;
    let proxy = Proxy::start(config).await.map_err(|e| Failure::new(start_code(&e), e))?;
    let armed = proxy.arm_all(rules).map_err(|e| Failure::new(USAGE, e))?;
    let events = args.events.as_deref();
    let events = match events {
        Some(path) => Some((Events::create(path, time, args.seed).map_err(|e| unwritable(path, &e))?, path)),
        None => None,
    };
    if let Some(path) = &args.config {
        configure(role, &proxy, path, &journal).await;
    }
    if let Some(path) = &args.ca_out {
        write_ca(&proxy, path)?;
    }
    let api = serve_api(&proxy, &args, &journal).await?;
    announce(role, &proxy, api.as_ref(), &journal);
    let events = tokio::select! {
        events = record(&proxy, events, &mut signals) => events?,
        never = memory::watch(&proxy) => match never {},
    };
    journal.log(Level::Info, "Shutdown started", &[]);
    // Before the API is gone, and the rules that it keeps.
    let reports = proxy.rule_reports();
    let log = proxy.log();
    // Together: streams of events end with the log, and calls in flight are answered meanwhile.
    let (answered, ()) = tokio::join!(end_api(api), proxy.shutdown());
    if !answered {
        journal.log(Level::Warn, "some calls of the API were still in flight after 30 s", &[]);
    }
    if let Some((events, path)) = events {
        events.finish(&log).map_err(|e| unwritable(path, &e))?;
    }
    drop(armed);
    report(&reports);
    journal.flush();
    Ok(())
}

/// Writes events as they come, until a signal does.
async fn record<'a>(
    proxy: &Proxy,
    mut events: Option<(Events, &'a Path)>,
    signals: &mut Signals,
) -> Result<Option<(Events, &'a Path)>, Failure> {
    let Some((file, path)) = &mut events else {
        signals.come().await;
        return Ok(None);
    };
    let log = proxy.log();
    let mut written = log.subscribe();
    loop {
        tokio::select! {
            () = signals.come() => return Ok(events),
            Some(Event::Record(_) | Event::Lagged(_)) = written.recv() => {
                file.take(&log).map_err(|e| unwritable(path, &e))?;
            }
        }
    }
}

/// Before the links are announced: whoever has read where they listen finds whom to trust.
fn write_ca(proxy: &Proxy, path: &Path) -> Result<(), Failure> {
    let pem = proxy.ca_pem().map_err(|e| Failure::new(FAILED, e))?;
    std::fs::write(path, pem)
        .map_err(|e| Failure::new(FAILED, format!("cannot write the CA's certificate to {}: {e}", path.display())))
}

async fn end_api(api: Option<ApiServer>) -> bool {
    match api {
        Some(api) => api.shutdown().await,
        None => true,
    }
}

/// Where spans go. A wrong flag ends the program; what stands in the environment may be meant for others.
fn collector(args: &Args, journal: &Journal) -> Result<Option<OtlpConfig>, Failure> {
    match OtlpConfig::from_env(args.otlp.as_deref(), |name| std::env::var(name).ok()) {
        Ok(config) => Ok(config),
        Err(e) if args.otlp.is_some() => Err(Failure::new(USAGE, e)),
        Err(e) => {
            journal.log(Level::Warn, format!("faults are not exported: {e}"), &[]);
            eprintln!("chaos-proxy: faults are not exported: {e}");
            Ok(None)
        }
    }
}

async fn serve_api(proxy: &Proxy, args: &Args, journal: &Journal) -> Result<Option<ApiServer>, Failure> {
    let Some(address) = &args.api else { return Ok(None) };
    let (proxy_metrics, runtime_metrics) = (args.proxy_metrics, args.runtime_metrics);
    let key_header = Some(args.key_header.clone());
    let options = ApiOptions { proxy_metrics, runtime_metrics, key_header, journal: journal.clone() };
    let server = ApiServer::start(proxy, address, options).await.map_err(|e| {
        journal.log(Level::Error, e.to_string(), &[]);
        journal.flush();
        Failure::new(FAILED, e)
    })?;
    Ok(Some(server))
}

/// A file that is missing or wrong is told and otherwise passed over, as Toxiproxy does.
async fn configure(role: Role, proxy: &Proxy, path: &Path, journal: &Journal) {
    let file = ("config", path.display().to_string().into());
    let outcome = match tokio::fs::read(path).await {
        Ok(json) => populate(proxy, &json).await.map_err(|e| format!("Failed to populate proxies from file: {e}")),
        Err(e) => Err(format!("Error reading config file: {e}")),
    };
    match outcome {
        Ok(links) => {
            journal.log(Level::Info, "Populated proxies from file", &[file, ("proxies", links.len().into())]);
        }
        Err(text) => {
            journal.log(Level::Error, &text, &[file]);
            if role == Role::ChaosProxy {
                eprintln!("chaos-proxy: {}: {text}", path.display());
            }
        }
    }
}

fn read_rules(args: &Args) -> Result<Vec<Rule>, Failure> {
    let Some(path) = &args.rules else { return Ok(Vec::new()) };
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::new(USAGE, format!("cannot read the rules in {}: {e}", path.display())))?;
    rules_from_json(&text).map_err(|e| Failure::new(USAGE, format!("{}: {e}", path.display())))
}

fn start_code(error: &ProxyError) -> u8 {
    if matches!(error, ProxyError::Listen { .. }) { FAILED } else { USAGE }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(FAILED, format!("cannot write the events to {}: {error}", path.display()))
}

/// Says where everything is reached: as lines of ours, or in the log when it takes Toxiproxy's place.
fn announce(role: Role, proxy: &Proxy, api: Option<&ApiServer>, journal: &Journal) {
    for link in proxy.links() {
        if role == Role::ChaosProxy {
            let mode = if link.mode == Mode::Http { "http" } else { "tcp" };
            let upstream = link.upstream.as_deref().unwrap_or("(none)");
            say(&format!("link {} {mode} {} -> {upstream}", link.name, link.listen));
        }
        if link.enabled {
            journal.started(&link);
        }
    }
    let Some(api) = api else { return };
    let reachable = reach::reachable(api.address());
    for address in &reachable {
        if role == Role::ChaosProxy {
            say(&format!("api http://{address}"));
        }
    }
    let fields = [("address", api.address().to_string().into()), ("reachable", reachable.into())];
    journal.log(Level::Info, "Starting Toxiproxy HTTP server", &fields);
}

/// A line on standard output. Whoever has closed it does not want to know.
fn say(line: &str) {
    let mut out = std::io::stdout();
    let _closed = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Says what became of each rule: one that was armed and never struck did not test what it was meant to.
fn report(rules: &[RuleReport]) {
    for report in rules {
        let (rule, what) = (&report.rule.id, &report.window.what);
        match report.fired {
            _ if report.rule.faults().next().is_none() => {}
            0 => eprintln!("chaos-proxy: rule `{rule}` never struck ({what})"),
            n => eprintln!("chaos-proxy: rule `{rule}` struck {n} times ({what})"),
        }
        for Finding { expected, wanted, seen, met } in &report.expect {
            let met = if *met { "met" } else { "not met" };
            eprintln!("chaos-proxy: rule `{rule}`: {expected} {wanted} is {met}: {seen}");
        }
    }
}
