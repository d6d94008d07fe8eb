//! The tool's command line: flags stand before what they apply to.

use serde_json::{Map, Value};

use crate::flags::{Flag, Words};

/// Where the server is unless said otherwise.
const DEFAULT_URL: &str = "http://localhost:8474";

pub(super) const HELP: &str = "\
toxiproxy-cli: creates proxies and toxics, and shows them

Examples
  toxiproxy-cli create -l 127.0.0.1:7001 -u 127.0.0.1:5432 db
  toxiproxy-cli toxic add -t latency -a latency=100 -a jitter=50 db
  toxiproxy-cli toxic update -n latency_downstream -a jitter=25 db
  toxiproxy-cli inspect db

Usage: toxiproxy-cli [--host URL] COMMAND [flags] [NAME]     (flags come before the name)

Commands
  list (l, li, ls)                        all proxies
  inspect (i, ins) PROXY                  the toxics of one
  create (c, new) -l ADDR -u ADDR PROXY   a new proxy: --listen, --upstream
  toggle (tog) PROXY                      disables it, or enables it again
  delete (d) PROXY                        removes it
  toxic (t) add (a) -t TYPE [-n NAME] [--toxicity F] [-u|-d] [-a KEY=VALUE]... PROXY
  toxic (t) update (u) -n NAME [--toxicity F] [-a KEY=VALUE]... PROXY
  toxic (t) remove (r, delete, d) -n NAME PROXY

Toxics: latency (latency, jitter: ms), bandwidth (rate: kB/s), slow_close (delay: ms), timeout (timeout: ms),
reset_peer (timeout: ms), slicer (average_size, size_variation: bytes; delay: microseconds), limit_data (bytes),
packet_loss (loss_rate, correlation: 0 to 1), noop

Flags
  --host, -h URL       the server (default: http://localhost:8474, or TOXIPROXY_URL)
  --toxiproxy-quirks   an update without --toxicity sets it to 1, as Toxiproxy's tool does; ours leaves it as it is
  --help, --version
";

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Asked {
    Help(&'static str),
    Version,
    Run { url: String, command: Command },
}

/// One command.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    List,
    Inspect { proxy: String },
    Create { proxy: String, listen: String, upstream: String },
    Toggle { proxy: String },
    Delete { proxy: String },
    AddToxic { proxy: String, toxic: ToxicWords },
    UpdateToxic { proxy: String, toxic: ToxicWords },
    RemoveToxic { proxy: String, name: String },
}

/// The flags of a toxic.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ToxicWords {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) stream: &'static str,
    pub(super) toxicity: Option<f64>,
    pub(super) attributes: Map<String, Value>,
}

/// Reads the command line, without the program's name.
pub(super) fn parse(words: Vec<String>, environment: Option<String>) -> Result<Asked, String> {
    let mut words = Words::new(words);
    let mut url = environment.filter(|url| !url.is_empty()).unwrap_or_else(|| DEFAULT_URL.to_owned());
    let mut quirks = false;
    while let Some(flag) = words.flag() {
        match flag.name.as_str() {
            "host" | "h" => url = words.value(&flag)?,
            "toxiproxy-quirks" => quirks = flag.is_on()?,
            "help" => return Ok(Asked::Help(HELP)),
            "version" | "v" => return Ok(Asked::Version),
            _ => return Err(unknown(&flag)),
        }
    }
    let command = match words.word().as_deref() {
        None | Some("help") => return Ok(Asked::Help(HELP)),
        Some("list" | "l" | "li" | "ls") => Command::List,
        Some("inspect" | "i" | "ins") => Command::Inspect { proxy: name(&mut words)? },
        Some("create" | "c" | "new") => create(&mut words)?,
        Some("toggle" | "tog") => Command::Toggle { proxy: name(&mut words)? },
        Some("delete" | "d") => Command::Delete { proxy: name(&mut words)? },
        Some("toxic" | "t") => match words.word().as_deref() {
            None | Some("help") => return Ok(Asked::Help(HELP)),
            Some("add" | "a") => add(&mut words)?,
            Some("update" | "u") => update(&mut words, quirks)?,
            Some("remove" | "r" | "delete" | "d") => remove(&mut words)?,
            Some(other) => return Err(format!("`toxic {other}` is no command; there are add, update and remove")),
        },
        Some(other) => return Err(format!("`{other}` is no command; --help lists what there is")),
    };
    match words.word() {
        None => Ok(Asked::Run { url, command }),
        Some(stranger) => Err(format!("`{stranger}` is one word too many; flags come before the name")),
    }
}

fn create(words: &mut Words) -> Result<Command, String> {
    let (mut listen, mut upstream) = (String::new(), String::new());
    while let Some(flag) = words.flag() {
        match flag.name.as_str() {
            "listen" | "l" => listen = words.value(&flag)?,
            "upstream" | "u" => upstream = words.value(&flag)?,
            _ => return Err(unknown(&flag)),
        }
    }
    let proxy = name(words)?;
    Ok(Command::Create { proxy, listen: needed("listen", listen)?, upstream: needed("upstream", upstream)? })
}

fn add(words: &mut Words) -> Result<Command, String> {
    let mut toxic = ToxicWords { stream: "downstream", ..ToxicWords::default() };
    let (mut up, mut down) = (false, false);
    while let Some(flag) = words.flag() {
        match flag.name.as_str() {
            "upstream" | "u" => up = flag.is_on()?,
            "downstream" | "d" => down = flag.is_on()?,
            "type" | "t" => toxic.type_name = words.value(&flag)?,
            _ => common(&mut toxic, &flag, words)?,
        }
    }
    let proxy = name(words)?;
    needed("type", toxic.type_name.clone())?;
    match (up, down) {
        (true, true) => return Err("only one can be: upstream or downstream".to_owned()),
        (true, false) => toxic.stream = "upstream",
        (false, _) => {}
    }
    Ok(Command::AddToxic { proxy, toxic })
}

fn update(words: &mut Words, quirks: bool) -> Result<Command, String> {
    let mut toxic = ToxicWords::default();
    while let Some(flag) = words.flag() {
        common(&mut toxic, &flag, words)?;
    }
    let proxy = name(words)?;
    needed("toxicName", toxic.name.clone())?;
    if quirks {
        toxic.toxicity.get_or_insert(1.0);
    }
    Ok(Command::UpdateToxic { proxy, toxic })
}

fn remove(words: &mut Words) -> Result<Command, String> {
    let mut toxic = ToxicWords::default();
    while let Some(flag) = words.flag() {
        match flag.name.as_str() {
            "toxicName" | "n" => toxic.name = words.value(&flag)?,
            _ => return Err(unknown(&flag)),
        }
    }
    Ok(Command::RemoveToxic { proxy: name(words)?, name: needed("toxicName", toxic.name)? })
}

fn common(toxic: &mut ToxicWords, flag: &Flag, words: &mut Words) -> Result<(), String> {
    match flag.name.as_str() {
        "toxicName" | "n" => toxic.name = words.value(flag)?,
        "toxicity" | "tox" => toxic.toxicity = toxicity(&words.value(flag)?)?,
        "attribute" | "a" => attributes(&words.value(flag)?, &mut toxic.attributes)?,
        _ => return Err(unknown(flag)),
    }
    Ok(())
}

fn toxicity(text: &str) -> Result<Option<f64>, String> {
    match text.parse::<f64>() {
        Ok(toxicity) if (0.0..=1.0).contains(&toxicity) => Ok(Some(toxicity)),
        _ if text.is_empty() => Ok(None),
        _ => Err("toxicity should be a float between 0 and 1".to_owned()),
    }
}

/// One or several `key=value` with commas between them; what is no number is sent as a text.
fn attributes(text: &str, into: &mut Map<String, Value>) -> Result<(), String> {
    for pair in text.split(',') {
        let (key, value) = pair.split_once('=').ok_or_else(|| format!("`{pair}` is no attribute; write key=value"))?;
        let number = value.parse::<i64>().map(Value::from).ok();
        let number = number.or_else(|| value.parse::<f64>().ok().filter(|x| x.is_finite()).map(whole));
        into.insert(key.to_owned(), number.unwrap_or_else(|| value.into()));
    }
    Ok(())
}

/// `1e3` and `5.0` are whole numbers, and sent as such.
fn whole(x: f64) -> Value {
    let is_whole = x.fract() == 0.0 && x.abs() < 9.0e15;
    if is_whole { Value::from(x as i64) } else { Value::from(x) }
}

fn name(words: &mut Words) -> Result<String, String> {
    if let Some(flag) = words.flag() {
        return Err(unknown(&flag));
    }
    words.word().filter(|name| !name.is_empty()).ok_or_else(|| "the name of the proxy is missing".to_owned())
}

fn needed(flag: &str, value: String) -> Result<String, String> {
    if value.is_empty() { Err(format!("the argument `{flag}` is required")) } else { Ok(value) }
}

fn unknown(flag: &Flag) -> String {
    format!("unknown flag `{}`; --help lists what there is", flag.written)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(line: &str) -> Result<Asked, String> {
        parse(line.split_whitespace().map(str::to_owned).collect(), None)
    }

    fn command(line: &str) -> Command {
        match asked(line) {
            Ok(Asked::Run { command, .. }) => command,
            other => panic!("{line}: {other:?}"),
        }
    }

    // Proves that each command is found under each of its names.
    #[test]
    fn commands_have_aliases() {
        let p = || "p".to_owned();
        for line in ["list", "l", "li", "ls"] {
            assert_eq!(command(line), Command::List);
        }
        for line in ["inspect p", "i p", "ins p"] {
            assert_eq!(command(line), Command::Inspect { proxy: p() });
        }
        let create = || Command::Create { proxy: p(), listen: "l:1".into(), upstream: "u:2".into() };
        for line in ["create -l l:1 -u u:2 p", "c --listen=l:1 -upstream u:2 p", "new -l=l:1 --upstream=u:2 p"] {
            assert_eq!(command(line), create());
        }
        for line in ["toggle p", "tog p"] {
            assert_eq!(command(line), Command::Toggle { proxy: p() });
        }
        for line in ["delete p", "d p"] {
            assert_eq!(command(line), Command::Delete { proxy: p() });
        }
        for line in ["toxic remove -n t p", "t r -n t p", "t delete --toxicName=t p", "t d -n t p"] {
            assert_eq!(command(line), Command::RemoveToxic { proxy: p(), name: "t".into() });
        }
    }

    // Proves what becomes of a toxic's flags, and that an update leaves the toxicity alone unless told otherwise.
    #[test]
    fn toxics_are_read() {
        let Command::AddToxic { toxic, .. } =
            command("t a -t latency -n x --tox 0.5 -u -a latency=1e2,jitter=5 -a k=v p")
        else {
            panic!("add")
        };
        assert_eq!((toxic.name.as_str(), toxic.stream, toxic.toxicity), ("x", "upstream", Some(0.5)));
        assert_eq!(Value::Object(toxic.attributes), json!({ "latency": 100, "jitter": 5, "k": "v" }));
        let toxicity = |line| match command(line) {
            Command::UpdateToxic { toxic, .. } => toxic.toxicity,
            other => panic!("{other:?}"),
        };
        assert_eq!(toxicity("toxic update -n x -a jitter=1 p"), None);
        assert_eq!(toxicity("--toxiproxy-quirks toxic update -n x -a jitter=1 p"), Some(1.0));
        assert_eq!(toxicity("t u -n x --toxicity 0 p"), Some(0.0));
    }

    // Proves that wrong lines are refused with what would do, and where the server's address comes from.
    #[test]
    fn wrong_lines_are_refused() {
        for (line, words) in [
            ("frobnicate", "is no command"),
            ("toxic frobnicate", "add, update and remove"),
            ("inspect", "name of the proxy is missing"),
            ("create -u u:1 p", "`listen` is required"),
            ("toxic add p", "`type` is required"),
            ("toxic add -t noop -u -d p", "only one"),
            ("toxic add -t noop --tox 2 p", "between 0 and 1"),
            ("toxic add -t noop -a latency p", "key=value"),
            ("inspect p -x", "one word too many"),
            ("--nope list", "unknown flag `--nope`"),
        ] {
            assert!(asked(line).is_err_and(|e| e.contains(words)), "{line}");
        }
        let url = |line: &str, environment: Option<&str>| {
            let words = line.split_whitespace().map(str::to_owned).collect();
            match parse(words, environment.map(str::to_owned)) {
                Ok(Asked::Run { url, .. }) => url,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(url("ls", None), DEFAULT_URL);
        assert_eq!(url("ls", Some("http://e:1")), "http://e:1");
        assert_eq!(url("-h f:2 ls", Some("http://e:1")), "f:2");
    }
}
