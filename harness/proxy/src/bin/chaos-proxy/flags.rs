//! Command lines as Go programs read them: one dash or two, `-name value` or `-name=value`, switches without a value.

/// The words of a command line that are not read yet.
#[derive(Debug)]
pub(crate) struct Words {
    rest: std::collections::VecDeque<String>,
}

/// One flag.
#[derive(Debug)]
pub(crate) struct Flag {
    /// As it was written, for refusals.
    pub(crate) written: String,
    /// Without dashes and value.
    pub(crate) name: String,
    value: Option<String>,
}

impl Words {
    pub(crate) fn new(words: impl IntoIterator<Item = String>) -> Self {
        Self { rest: words.into_iter().collect() }
    }

    /// The next flag; `None` before a word that is none, behind `--`, and at the end.
    pub(crate) fn flag(&mut self) -> Option<Flag> {
        let word = self.rest.front()?;
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
        if name.is_empty() {
            if word == "--" {
                self.rest.pop_front();
            }
            return None;
        }
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (name.to_owned(), None),
        };
        let word = self.rest.pop_front()?;
        let written = word.split('=').next().unwrap_or_default().to_owned();
        Some(Flag { written, name, value })
    }

    /// The next word that is no flag.
    pub(crate) fn word(&mut self) -> Option<String> {
        self.rest.pop_front()
    }

    /// The value of a flag that needs one.
    pub(crate) fn value(&mut self, flag: &Flag) -> Result<String, String> {
        let value = flag.value.clone().or_else(|| self.rest.pop_front());
        value.ok_or_else(|| format!("{} needs a value", flag.written))
    }
}

impl Flag {
    /// Whether a switch is on.
    pub(crate) fn is_on(&self) -> Result<bool, String> {
        match self.value.as_deref() {
            None | Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
            Some(other) => Err(format!("{} is on or off; write true or false, not `{other}`", self.written)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Words {
        Words::new(line.split_whitespace().map(str::to_owned))
    }

    // Proves every spelling of a flag, that a switch takes no word after it, and where flags end.
    #[test]
    fn flags_are_read_as_go_reads_them() {
        let mut line = words("-host 0.0.0.0 --port=1 -on -off=false --x -- -y");
        let host = line.flag().expect("a flag");
        assert_eq!((host.name.as_str(), line.value(&host).as_deref()), ("host", Ok("0.0.0.0")));
        let port = line.flag().expect("a flag");
        assert_eq!((port.written.as_str(), line.value(&port).as_deref()), ("--port", Ok("1")));
        assert_eq!(line.flag().map(|f| f.is_on()), Some(Ok(true)));
        assert_eq!(line.flag().map(|f| f.is_on()), Some(Ok(false)));
        assert_eq!(line.flag().map(|f| f.name), Some("x".to_owned()));
        assert!(line.flag().is_none(), "the two dashes end the flags");
        assert_eq!((line.word().as_deref(), line.word()), (Some("-y"), None));
        let mut line = words("--seed");
        let seed = line.flag().expect("a flag");
        assert_eq!(line.value(&seed), Err("--seed needs a value".to_owned()));
        assert!(words("-q=maybe").flag().is_some_and(|f| f.is_on().is_err_and(|e| e.contains("-q is on or off"))));
    }
}
