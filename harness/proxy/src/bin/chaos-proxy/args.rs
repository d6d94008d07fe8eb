//! The command line of the proxy.

use std::net::SocketAddr;
use std::path::PathBuf;

use chaos_proxy::{DEFAULT_KEY_HEADER, DEFAULT_LOG_BYTES, DEFAULT_LOG_LIMIT, LinkConfig};

use crate::flags::{Flag, Words};

/// Where Toxiproxy's clients look for it.
const DEFAULT_HOST: &str = "localhost";
const DEFAULT_PORT: &str = "8474";

/// As what the program was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// By its own name: links from the command line, an API when it is asked for.
    ChaosProxy,
    /// As `toxiproxy` or `toxiproxy-server`: the API always, and output as Toxiproxy's.
    Toxiproxy,
}

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    Help,
    Version,
    Run(Box<Args>),
}

/// A run.
#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) links: Vec<LinkConfig>,
    /// Of the links above, and of those that calls of the API create.
    pub(crate) key_header: String,
    pub(crate) rules: Option<PathBuf>,
    pub(crate) events: Option<PathBuf>,
    /// Where the CA's certificate goes.
    pub(crate) ca_out: Option<PathBuf>,
    pub(crate) seed: u64,
    pub(crate) log_limit: usize,
    pub(crate) log_bytes: usize,
    /// `host:port` of the control plane, if there is one.
    pub(crate) api: Option<String>,
    /// A Toxiproxy configuration file.
    pub(crate) config: Option<PathBuf>,
    pub(crate) proxy_metrics: bool,
    pub(crate) runtime_metrics: bool,
    pub(crate) quirks: bool,
    /// Base URL of a collector.
    pub(crate) otlp: Option<String>,
}

/// Flags while they are read.
struct Reading {
    args: Args,
    key_header: String,
    host: Option<String>,
    port: Option<String>,
}

/// Reads the command line, without the program's name. An error says what is wrong and what would do.
pub(crate) fn parse(role: Role, words: impl IntoIterator<Item = String>) -> Result<Asked, String> {
    let mut words = Words::new(words);
    let mut reading = Reading::new();
    while let Some(flag) = words.flag() {
        match flag.name.as_str() {
            "help" | "h" => return Ok(Asked::Help),
            "version" | "V" if flag.is_on()? => return Ok(Asked::Version),
            "version" | "V" => {}
            _ => reading.take(role, &flag, &mut words)?,
        }
    }
    match words.word() {
        Some(stranger) => Err(format!("unknown argument `{stranger}`; --help lists what there is")),
        None => reading.finish(role).map(|args| Asked::Run(Box::new(args))),
    }
}

impl Reading {
    fn new() -> Self {
        let args = Args {
            links: Vec::new(),
            key_header: String::new(),
            rules: None,
            events: None,
            ca_out: None,
            seed: 0,
            log_limit: DEFAULT_LOG_LIMIT,
            log_bytes: DEFAULT_LOG_BYTES,
            api: None,
            config: None,
            proxy_metrics: false,
            runtime_metrics: false,
            quirks: false,
            otlp: None,
        };
        Self { args, key_header: DEFAULT_KEY_HEADER.to_owned(), host: None, port: None }
    }

    fn take(&mut self, role: Role, flag: &Flag, words: &mut Words) -> Result<(), String> {
        let args = &mut self.args;
        match flag.name.as_str() {
            "link" => args.links.push(link(&words.value(flag)?, LinkConfig::http)?),
            "tcp" => args.links.push(link(&words.value(flag)?, LinkConfig::tcp)?),
            "rules" => args.rules = Some(words.value(flag)?.into()),
            "ca-out" => args.ca_out = Some(words.value(flag)?.into()),
            "events" => args.events = Some(words.value(flag)?.into()),
            "key-header" => self.key_header = words.value(flag)?,
            "seed" => args.seed = seed(role, &flag.written, &words.value(flag)?)?,
            "log-limit" => args.log_limit = number(&flag.written, &words.value(flag)?)?,
            "log-bytes" => args.log_bytes = number(&flag.written, &words.value(flag)?)?,
            "host" => self.host = Some(words.value(flag)?),
            "port" => self.port = Some(words.value(flag)?),
            "config" => args.config = Some(words.value(flag)?.into()),
            "proxy-metrics" => args.proxy_metrics = flag.is_on()?,
            "runtime-metrics" => args.runtime_metrics = flag.is_on()?,
            "otlp" => args.otlp = Some(words.value(flag)?),
            "toxiproxy-quirks" => args.quirks = flag.is_on()?,
            _ => return Err(format!("unknown argument `{}`; --help lists what there is", flag.written)),
        }
        Ok(())
    }

    /// There is an API when the program is called as Toxiproxy, or anything is said that only an API can use.
    fn finish(self, role: Role) -> Result<Args, String> {
        let Self { mut args, key_header, host, port } = self;
        let asked = host.is_some() || port.is_some() || args.config.is_some() || args.proxy_metrics;
        if role == Role::Toxiproxy || asked || args.runtime_metrics {
            let (host, port) = (host.as_deref().unwrap_or(DEFAULT_HOST), port.as_deref().unwrap_or(DEFAULT_PORT));
            args.api = Some(joined(host, port));
        } else if args.links.is_empty() {
            return Err("no link given; write --link 'NAME=LISTEN->UPSTREAM', or --port 8474 for an API".to_owned());
        }
        args.links = args.links.into_iter().map(|l| l.key_header(key_header.clone())).collect();
        args.key_header = key_header;
        Ok(args)
    }
}

/// A host that is an IPv6 address gets its brackets.
fn joined(host: &str, port: &str) -> String {
    let bare = host.contains(':') && !host.starts_with('[');
    if bare { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn link(text: &str, kind: impl Fn(String) -> LinkConfig) -> Result<LinkConfig, String> {
    let wrong = |what: &str| {
        format!("`{text}`: {what}; write 'NAME=LISTEN->UPSTREAM' in quotes, e.g. 'bank=127.0.0.1:0->127.0.0.1:9000'")
    };
    let (name, rest) = text.split_once('=').ok_or_else(|| wrong("no name"))?;
    let parts = rest.split_once("->").or_else(|| rest.split_once(','));
    let (listen, upstream) = parts.ok_or_else(|| wrong("no upstream"))?;
    let listen = listen.trim();
    let bare = listen.strip_prefix("https://").or_else(|| listen.strip_prefix("http://")).unwrap_or(listen);
    let _ip_and_port: SocketAddr = bare.parse().map_err(|_| wrong("the listening address is not IP:PORT"))?;
    Ok(kind(name.trim().to_owned()).listen(listen).upstream(upstream.trim()))
}

/// Toxiproxy's seed may be negative; its bits count.
fn seed(role: Role, flag: &str, text: &str) -> Result<u64, String> {
    match text.parse::<i64>() {
        Ok(signed) if role == Role::Toxiproxy => Ok(signed.cast_unsigned()),
        _ => number(flag, text),
    }
}

fn number<N: std::str::FromStr>(flag: &str, text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{flag} needs a whole number that is not negative, not `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(role: Role, line: &str) -> Result<Args, String> {
        match parse(role, line.split_whitespace().map(str::to_owned))? {
            Asked::Run(args) => Ok(*args),
            other => Err(format!("{other:?}")),
        }
    }

    // Proves when there is an API and where, in the spellings that images and container modules use.
    #[test]
    fn an_api_is_asked_for_in_many_ways() {
        let api = |role, line| run(role, line).map(|args| args.api);
        assert_eq!(api(Role::Toxiproxy, ""), Ok(Some("localhost:8474".into())));
        assert_eq!(api(Role::Toxiproxy, "-host=0.0.0.0"), Ok(Some("0.0.0.0:8474".into())));
        assert_eq!(api(Role::ChaosProxy, "--host :: -port 1"), Ok(Some("[::]:1".into())));
        assert_eq!(api(Role::ChaosProxy, "-config f.json"), Ok(Some("localhost:8474".into())));
        assert_eq!(api(Role::ChaosProxy, "--link a=127.0.0.1:0->h:1"), Ok(None));
        assert!(api(Role::ChaosProxy, "").is_err_and(|e| e.contains("no link given")));
        assert!(api(Role::Toxiproxy, "stranger").is_err_and(|e| e.contains("`stranger`")));
    }

    // Proves switches, the seed in both roles, and that the last of two flags counts.
    #[test]
    fn switches_and_seeds() {
        let args =
            run(Role::Toxiproxy, "-proxy-metrics -runtime-metrics=false -seed -1 --toxiproxy-quirks -port 1 -port=2");
        let args = args.expect("args");
        assert_eq!((args.proxy_metrics, args.runtime_metrics, args.quirks), (true, false, true));
        assert_eq!((args.seed, args.api.as_deref()), (u64::MAX, Some("localhost:2")));
        assert!(run(Role::ChaosProxy, "-port 1 -seed -1").is_err_and(|e| e.starts_with("-seed needs")));
        assert!(matches!(parse(Role::Toxiproxy, ["-version".to_owned()]), Ok(Asked::Version)));
        assert!(matches!(parse(Role::Toxiproxy, ["-h".to_owned()]), Ok(Asked::Help)));
    }
}
