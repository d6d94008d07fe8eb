//! Addresses with a scheme: `https://` on either side of a link is short for TLS there.

use super::config::{Originate, Terminate};
use crate::config::LinkConfig;

impl LinkConfig {
    /// Reads `https://` before the listen address as [`TlsConfig::terminate`](crate::TlsConfig), and before the upstream
    /// as [`TlsConfig::originate`](crate::TlsConfig), each with what is set there or else its defaults. `http://` means
    /// no TLS. An upstream with a scheme needs no port.
    ///
    /// [`Proxy`](crate::Proxy) does it with every link that it is given.
    #[must_use]
    pub fn apply_schemes(mut self) -> Self {
        let (scheme, rest) = split(&self.listen);
        match scheme {
            Scheme::Https => self.tls.terminate = self.tls.terminate.or_else(|| Some(Terminate::new())),
            Scheme::Http => self.tls.terminate = None,
            Scheme::None => {}
        }
        self.listen = rest.to_owned();
        let Some(upstream) = self.upstream.take() else { return self };
        let (scheme, rest) = split(&upstream);
        let port = match scheme {
            Scheme::Https => {
                self.tls.originate = self.tls.originate.or_else(|| Some(Originate::new()));
                443
            }
            Scheme::Http => {
                self.tls.originate = None;
                80
            }
            Scheme::None => {
                self.upstream = Some(upstream);
                return self;
            }
        };
        self.upstream = Some(if has_port(rest) { rest.to_owned() } else { format!("{rest}:{port}") });
        self
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    None,
    Http,
    Https,
}

fn split(text: &str) -> (Scheme, &str) {
    let bare = |rest: &'_ str| rest.len() - usize::from(rest.ends_with('/'));
    if let Some(rest) = text.strip_prefix("https://") {
        return (Scheme::Https, &rest[..bare(rest)]);
    }
    match text.strip_prefix("http://") {
        Some(rest) => (Scheme::Http, &rest[..bare(rest)]),
        None => (Scheme::None, text),
    }
}

/// A colon inside the brackets of an IPv6 address is none before a port.
fn has_port(address: &str) -> bool {
    address.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves what each way to write the two ends of a link comes to.
    #[test]
    fn a_scheme_is_short_for_tls() {
        let cases = [
            ("127.0.0.1:0", "bank:9000", ("127.0.0.1:0", "bank:9000"), (false, false)),
            ("https://127.0.0.1:0", "http://bank", ("127.0.0.1:0", "bank:80"), (true, false)),
            ("http://[::1]:0", "https://bank.example/", ("[::1]:0", "bank.example:443"), (false, true)),
            ("https://:0", "https://[::1]:8443", (":0", "[::1]:8443"), (true, true)),
            ("", "https://[::1]", ("", "[::1]:443"), (false, true)),
        ];
        for (listen, upstream, ends, tls) in cases {
            let link = LinkConfig::http("l").listen(listen).upstream(upstream).apply_schemes();
            assert_eq!((link.listen.as_str(), link.upstream.as_deref()), (ends.0, Some(ends.1)), "{listen} {upstream}");
            assert_eq!((link.tls.terminate.is_some(), link.tls.originate.is_some()), tls, "{listen} {upstream}");
        }
    }

    // Proves that a scheme keeps what is set, and that `http://` takes it away.
    #[test]
    fn a_scheme_keeps_what_is_set() {
        let set = Originate::new().server_name("other");
        let link = LinkConfig::tcp("l").upstream("https://bank").tls_originate(set.clone()).apply_schemes();
        assert_eq!(link.tls.originate, Some(set.clone()));
        let link = LinkConfig::tcp("l").upstream("http://bank:1").tls_originate(set).apply_schemes();
        assert_eq!(link.tls.originate, None);
    }
}
