//! The line by which a service that binds port 0 announces its address.

/// A compiled [`Ready::line`](super::Ready::line): what stands before and after the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Announcement {
    before: String,
    after: String,
    capture: Capture,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Capture {
    Nothing,
    Url,
    Port,
}

impl Announcement {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("`ready.line` is empty: every line would match".to_owned());
        }
        let (before, after, capture) = match (text.split_once("{url}"), text.split_once("{port}")) {
            (Some(_), Some(_)) => return Err(format!("`ready.line` captures both {{url}} and {{port}}: `{text}`")),
            (Some((before, after)), None) => (before, after, Capture::Url),
            (None, Some((before, after))) => (before, after, Capture::Port),
            (None, None) => (text, "", Capture::Nothing),
        };
        if after.contains("{url}") || after.contains("{port}") {
            return Err(format!("`ready.line` captures twice: `{text}`"));
        }
        if capture != Capture::Nothing && before.trim().is_empty() && after.trim().is_empty() {
            return Err("`ready.line` needs some text around the address, e.g. `listening on {url}`".to_owned());
        }
        Ok(Self { before: before.to_owned(), after: after.to_owned(), capture })
    }

    pub(super) fn captures(&self) -> bool {
        self.capture != Capture::Nothing
    }

    /// `None` when the line is another one; else the base URL, when the line announces one.
    pub(super) fn find(&self, line: &str) -> Option<Option<String>> {
        let rest = &line[line.find(&self.before)? + self.before.len()..];
        if self.capture == Capture::Nothing {
            return Some(None);
        }
        let word = if self.after.trim().is_empty() {
            let end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | ')' | '}' | '<' | '>');
            rest.trim_start().split(end).next()?.trim_end_matches('.')
        } else {
            &rest[..rest.find(&self.after)?]
        };
        let url = match self.capture {
            Capture::Port => format!("http://127.0.0.1:{}", word.parse::<u16>().ok().filter(|p| *p > 0)?),
            _ => base_url(word)?,
        };
        Some(Some(url))
    }
}

/// `127.0.0.1:80`, `http://0.0.0.0:80/` and the like as a base URL that can be connected to; `None` when there is no
/// address in it.
fn base_url(word: &str) -> Option<String> {
    let address = word.trim().strip_prefix("http://").unwrap_or(word.trim());
    let address = address.trim_end_matches('/');
    let (host, port) = address.rsplit_once(':')?;
    let port: u16 = port.parse().ok().filter(|p| *p > 0)?;
    let host = match host {
        // "Every interface" is what a service may bind, but nothing to connect to.
        "0.0.0.0" | "*" | "" | "[::]" => "127.0.0.1",
        other if other.contains('/') || other.contains(char::is_whitespace) => return None,
        other => other,
    };
    Some(format!("http://{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::Announcement;

    fn find(pattern: &str, line: &str) -> Option<Option<String>> {
        Announcement::parse(pattern).expect("a good pattern").find(line)
    }

    // Proves that the usual spellings of an address are found in a line, that "every interface" becomes an address one
    // can connect to, and that a line with no address in the right place does not match.
    #[test]
    fn addresses_in_their_usual_spellings() {
        let url = |port: u16| Some(Some(format!("http://127.0.0.1:{port}")));
        assert_eq!(find("listening on {url}", "INFO listening on http://127.0.0.1:4711/"), url(4711));
        assert_eq!(find("listening on {url}", "listening on 127.0.0.1:4711."), url(4711));
        assert_eq!(find("listening on {url}", r#"{"msg":"listening on 0.0.0.0:81","n":1}"#), url(81));
        assert_eq!(find("addr={url} ready", "addr=[::]:9 ready"), url(9));
        assert_eq!(find("on port {port}", "Tomcat started on port 8081 (http)"), url(8081));
        assert_eq!(find("on port {port}", "on port 0"), None);
        assert_eq!(find("on port {port}", "on port seven"), None);
        assert_eq!(find("listening on {url}", "listening on a unix socket"), None);
        assert_eq!(find("listening on {url}", "starting"), None);
        assert_eq!(find("server up", "the server up and running"), Some(None));
    }

    // Proves that a pattern which would match anything, or capture twice, is refused.
    #[test]
    fn useless_patterns_are_refused() {
        for pattern in ["", "  ", "{url}", " {port} ", "{url} or {port}", "at {url} {url}"] {
            assert!(Announcement::parse(pattern).is_err(), "`{pattern}` was accepted");
        }
    }
}
