//! The proxy as a program: links and rules from the command line, events into a file, until a signal comes.

mod args;
mod events;

use std::process::ExitCode;

use args::{Args, Asked, HELP};
use chaos_proxy::{Armed, Event, Mode, Proxy, ProxyConfig, Rule, rules_from_json};
use events::Events;
use tokio::signal::unix::{SignalKind, signal};

/// Something outside failed: a port, a file.
const FAILED: u8 = 1;
/// The command line or the rules are wrong.
const USAGE: u8 = 2;

/// Why the program ends early.
struct Failure {
    code: u8,
    text: String,
}

impl Failure {
    fn new(code: u8, text: impl ToString) -> Self {
        Self { code, text: text.to_string() }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match args::parse(std::env::args().skip(1)) {
        Ok(Asked::Help) => {
            print!("{HELP}");
            Ok(())
        }
        Ok(Asked::Version) => {
            println!("chaos-proxy {}", env!("CARGO_PKG_VERSION"));
            Ok(())
        }
        Ok(Asked::Run(args)) => run(args).await,
        Err(text) => Err(Failure::new(USAGE, text)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("chaos-proxy: {}", failure.text);
            ExitCode::from(failure.code)
        }
    }
}

async fn run(args: Args) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::new(FAILED, e);
    // Listened for before anything is announced, so that a signal right after the first line is not lost.
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let rules = read_rules(&args)?;
    let modes: Vec<_> = args.links.iter().map(|l| (l.name.clone(), l.mode, l.upstream.clone())).collect();
    // Without a file nobody reads the log: it then only counts.
    let log_limit = if args.events.is_some() { args.log_limit } else { 0 };
    let config = ProxyConfig::new(args.links).seed(args.seed).log_limit(log_limit);
    let time = config.time;
    let proxy = Proxy::start(config).await.map_err(|e| Failure::new(start_code(&e), e))?;
    let armed = proxy.arm_all(rules).map_err(|e| Failure::new(USAGE, e))?;
    let mut events = match &args.events {
        Some(path) => Some(Events::create(path, time, args.seed).map_err(|e| unwritable(path, &e))?),
        None => None,
    };
    announce(&proxy, &modes)?;
    let log = proxy.log();
    let mut written = log.subscribe();
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            Some(Event::Record(_) | Event::Lagged(_)) = written.recv() => {
                if let (Some(events), Some(path)) = (&mut events, &args.events) {
                    events.take(&log).map_err(|e| unwritable(path, &e))?;
                }
            }
        }
    }
    proxy.shutdown().await;
    if let (Some(events), Some(path)) = (events, &args.events) {
        events.finish(&log).map_err(|e| unwritable(path, &e))?;
    }
    report(armed);
    Ok(())
}

fn read_rules(args: &Args) -> Result<Vec<Rule>, Failure> {
    let Some(path) = &args.rules else { return Ok(Vec::new()) };
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::new(USAGE, format!("cannot read the rules in {}: {e}", path.display())))?;
    rules_from_json(&text).map_err(|e| Failure::new(USAGE, format!("{}: {e}", path.display())))
}

fn start_code(error: &chaos_proxy::ProxyError) -> u8 {
    if matches!(error, chaos_proxy::ProxyError::Listen { .. }) { FAILED } else { USAGE }
}

fn unwritable(path: &std::path::Path, error: &std::io::Error) -> Failure {
    Failure::new(FAILED, format!("cannot write the events to {}: {error}", path.display()))
}

fn announce(proxy: &Proxy, links: &[(String, Mode, Option<String>)]) -> Result<(), Failure> {
    for (name, mode, upstream) in links {
        let address = proxy.link_addr(name).map_err(|e| Failure::new(FAILED, e))?;
        let mode = if *mode == Mode::Http { "http" } else { "tcp" };
        println!("link {name} {mode} {address} -> {}", upstream.as_deref().unwrap_or("(none)"));
    }
    Ok(())
}

fn report(armed: Vec<Armed>) {
    for rule in armed {
        let window = rule.disarm();
        match window.fired {
            0 => eprintln!("chaos-proxy: rule `{}` never struck ({})", window.rule, window.what),
            n => eprintln!("chaos-proxy: rule `{}` struck {n} times ({})", window.rule, window.what),
        }
    }
}
