//! The command line of the bench.

use std::path::PathBuf;

use crate::error::BenchError;
use crate::measures::NAMES;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
cargo bench -p chaos-proxy -- [options]

  --quick         fewer and shorter rounds: about a minute
  --smoke         a handful of requests; checks that bytes come through whole, says nothing about speed
  --only NAME     one measure; may be repeated
  --rounds N      rounds of the interleaved run
  --seed N        seed of the order in which the contenders take turns (default: 7)
  --json FILE     every round's figures as JSON
  --binary FILE   a chaos-proxy to measure instead of the one cargo built, e.g. the image's

Envoy takes part when ENVOY_BIN names its binary, or when `envoy` is on the PATH.
";

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Full,
    Quick,
    Smoke,
}

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    Help,
    Run(Options),
}

/// A run.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) size: Size,
    pub(crate) only: Vec<String>,
    pub(crate) rounds: Option<usize>,
    pub(crate) seed: u64,
    pub(crate) json: Option<PathBuf>,
    pub(crate) binary: PathBuf,
}

impl Options {
    /// Whether a measure is asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|n| n == name)
    }
}

/// Reads the command line. Cargo says `--bench` when it benches; without it (`cargo test --benches`) this is a smoke test,
/// because the proxy beside it is then built for debugging.
pub(crate) fn parse(words: Vec<String>) -> Result<Asked, BenchError> {
    let mut options = Options {
        size: Size::Smoke,
        only: Vec::new(),
        rounds: None,
        seed: 7,
        json: None,
        binary: env!("CARGO_BIN_EXE_chaos-proxy").into(),
    };
    let (mut benches, mut size) = (false, Size::Full);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| BenchError::Usage(format!("{word} needs a value")));
        match word.as_str() {
            "--help" | "-h" => return Ok(Asked::Help),
            "--bench" => benches = true,
            "--quick" => size = Size::Quick,
            "--smoke" => size = Size::Smoke,
            "--only" => options.only.push(measure(value()?)?),
            "--rounds" => options.rounds = Some(number(&word, &value()?)?),
            "--seed" => options.seed = number(&word, &value()?)?,
            "--json" => options.json = Some(value()?.into()),
            "--binary" => options.binary = value()?.into(),
            _ => return Err(BenchError::Usage(format!("unknown argument `{word}`; --help lists what there is"))),
        }
    }
    if benches {
        options.size = size;
    }
    Ok(Asked::Run(options))
}

fn measure(name: String) -> Result<String, BenchError> {
    if NAMES.contains(&name.as_str()) {
        return Ok(name);
    }
    Err(BenchError::Usage(format!("no measure is called `{name}`; there are: {}", NAMES.join(", "))))
}

fn number<N: std::str::FromStr>(flag: &str, text: &str) -> Result<N, BenchError> {
    text.parse().map_err(|_| BenchError::Usage(format!("{flag} needs a whole number, not `{text}`")))
}
