//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use chaos_proxy::{DEFAULT_LOG_LIMIT, LinkConfig};

/// What `--help` prints.
pub(crate) const HELP: &str = "\
chaos-proxy: makes faults at exact moments of an exchange, and records every attempt

Usage: chaos-proxy --link 'NAME=LISTEN->UPSTREAM' [options]

Links (at least one; each flag may be repeated)
  --link 'NAME=LISTEN->UPSTREAM'   an HTTP/1.1 link, e.g. 'bank=127.0.0.1:0->127.0.0.1:9000'
  --tcp  'NAME=LISTEN->UPSTREAM'   a link that passes bytes
                                   Port 0 lets the kernel choose; the line `link NAME ...` on standard output says
                                   what it chose. Quote the arrow, or write a comma for it: > redirects in a shell.

Options
  --rules FILE        arm the rules of this JSON file before the links are announced
  --events FILE       write the event log there, one JSON record a line; complete after SIGTERM or SIGINT
  --key-header NAME   header field with the idempotency key (default: Idempotency-Key)
  --seed N            seed of every random decision (default: 0)
  --log-limit N       records that may wait to be written before new ones are dropped (default: 250000)
  --help, --version

Exit codes: 0 ended by a signal; 1 a port, file or the log failed; 2 the command line or the rules are wrong.
";

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    Help,
    Version,
    Run(Args),
}

/// A run.
#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) links: Vec<LinkConfig>,
    pub(crate) rules: Option<PathBuf>,
    pub(crate) events: Option<PathBuf>,
    pub(crate) seed: u64,
    pub(crate) log_limit: usize,
}

/// Reads the command line, without the program's name. An error says what is wrong and what would do.
pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Asked, String> {
    let mut args = Args { links: Vec::new(), rules: None, events: None, seed: 0, log_limit: DEFAULT_LOG_LIMIT };
    let mut key_header = "Idempotency-Key".to_owned();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let (flag, joined) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), Some(value.to_owned())),
            _ => (word, None),
        };
        let mut value = || joined.clone().or_else(|| words.next()).ok_or(format!("{flag} needs a value"));
        match flag.as_str() {
            "--help" | "-h" => return Ok(Asked::Help),
            "--version" | "-V" => return Ok(Asked::Version),
            "--link" => args.links.push(link(&value()?, LinkConfig::http)?),
            "--tcp" => args.links.push(link(&value()?, LinkConfig::tcp)?),
            "--rules" => args.rules = Some(value()?.into()),
            "--events" => args.events = Some(value()?.into()),
            "--key-header" => key_header = value()?,
            "--seed" => args.seed = number(&flag, &value()?)?,
            "--log-limit" => args.log_limit = number(&flag, &value()?)?,
            _ => return Err(format!("unknown argument `{flag}`; --help lists what there is")),
        }
    }
    if args.links.is_empty() {
        return Err("no link given; write --link 'NAME=LISTEN->UPSTREAM'".to_owned());
    }
    args.links = args.links.into_iter().map(|l| l.key_header(key_header.clone())).collect();
    Ok(Asked::Run(args))
}

fn link(text: &str, kind: impl Fn(String) -> LinkConfig) -> Result<LinkConfig, String> {
    let wrong = |what: &str| {
        format!("`{text}`: {what}; write 'NAME=LISTEN->UPSTREAM' in quotes, e.g. 'bank=127.0.0.1:0->127.0.0.1:9000'")
    };
    let (name, rest) = text.split_once('=').ok_or_else(|| wrong("no name"))?;
    let parts = rest.split_once("->").or_else(|| rest.split_once(','));
    let (listen, upstream) = parts.ok_or_else(|| wrong("no upstream"))?;
    let address: SocketAddr = listen.trim().parse().map_err(|_| wrong("the listening address is not IP:PORT"))?;
    Ok(kind(name.trim().to_owned()).listen(address).upstream(upstream.trim()))
}

fn number<N: std::str::FromStr>(flag: &str, text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{flag} needs a whole number that is not negative, not `{text}`"))
}
