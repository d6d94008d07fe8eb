//! What the tool prints: columns in colour for people, tabs for programs.

use serde_json::Value;

const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const BLUE: &str = "\u{1b}[34m";
const PURPLE: &str = "\u{1b}[35m";
const NONE: &str = "\u{1b}[0m";
/// Columns of a tab.
const TAB: usize = 8;

/// For whom the text is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    terminal: bool,
}

impl Style {
    pub(super) fn new(terminal: bool) -> Self {
        Self { terminal }
    }

    fn paint(self, colour: &str, text: &str) -> String {
        if self.terminal { format!("{colour}{text}{NONE}") } else { text.to_owned() }
    }

    /// A cell of a table, `tabs` wide for people.
    fn cell(self, colour: &str, text: &str, tabs: usize) -> String {
        let fill = if self.terminal { tabs.saturating_sub(text.len() / TAB + 1) } else { 0 };
        self.paint(colour, text) + "\t" + &"\t".repeat(fill)
    }

    fn hint(self, text: &str) -> String {
        if self.terminal { format!("\nHint: {text}\n") } else { String::new() }
    }
}

fn enabled(is: bool) -> (&'static str, &'static str) {
    if is { (GREEN, "enabled") } else { (RED, "disabled") }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn toxics(proxy: &Value) -> &[Value] {
    proxy["toxics"].as_array().map_or(&[], Vec::as_slice)
}

/// All proxies, by name.
pub(super) fn list(proxies: &Value, style: Style) -> String {
    let mut proxies: Vec<_> = proxies.as_object().into_iter().flatten().collect();
    proxies.sort_by_key(|(name, _)| name.as_str());
    let mut out = String::new();
    if style.terminal {
        let heads = [(GREEN, "Name", 3), (BLUE, "Listen", 2), (YELLOW, "Upstream", 3), (PURPLE, "Enabled", 2)];
        out.extend(heads.map(|(colour, head, tabs)| style.cell(colour, head, tabs)));
        out += &format!("{}\n{}\n", style.paint(RED, "Toxics"), "=".repeat(86));
        if proxies.is_empty() {
            out += &style.paint(RED, "no proxies\n");
            return out + &style.hint("create a proxy with `toxiproxy-cli create`");
        }
    }
    for (name, proxy) in proxies {
        let (colour, state) = enabled(proxy["enabled"] == true);
        let count = match toxics(proxy).len() {
            0 if style.terminal => "None".to_owned(),
            n => n.to_string(),
        };
        out += &style.cell(colour, name, 3);
        out += &style.cell(BLUE, text(proxy, "listen"), 2);
        out += &style.cell(YELLOW, text(proxy, "upstream"), 3);
        out += &style.cell(PURPLE, state, 2);
        out += &(style.paint(RED, &count) + "\n");
    }
    out + &style.hint("inspect toxics with `toxiproxy-cli inspect <proxyName>`")
}

/// One proxy. Programs get its toxics alone.
pub(super) fn proxy(proxy: &Value, style: Style) -> String {
    let all = toxics(proxy);
    if !style.terminal {
        return all.iter().map(|toxic| line(toxic, style)).collect();
    }
    let mut out = String::new();
    for (colour, head, field, end) in
        [(PURPLE, "Name: ", "name", "\t"), (BLUE, "Listen: ", "listen", "\t"), (YELLOW, "Upstream: ", "upstream", "\n")]
    {
        out += &(style.paint(colour, head) + text(proxy, field) + end);
    }
    out += &("=".repeat(70) + "\n");
    if all.is_empty() {
        out += &style.paint(RED, "Proxy has no toxics enabled.\n");
    } else {
        for (title, stream) in [("Upstream", "upstream"), ("Downstream", "downstream")] {
            let of: Vec<_> = all.iter().filter(|t| text(t, "stream").eq_ignore_ascii_case(stream)).collect();
            out += &style.paint(GREEN, &format!("{title} toxics:\n"));
            if of.is_empty() {
                out += &style.paint(RED, &format!("Proxy has no {title} toxics enabled.\n"));
            }
            out.extend(of.into_iter().map(|toxic| line(toxic, style)));
            out += if stream == "upstream" { "\n" } else { "" };
        }
    }
    out + &style.hint("add a toxic with `toxiproxy-cli toxic add`")
}

fn line(toxic: &Value, style: Style) -> String {
    let name = text(toxic, "name");
    let name = if style.terminal { style.paint(BLUE, &format!("{name}:")) } else { name.to_owned() };
    let mut attributes: Vec<_> = toxic["attributes"].as_object().into_iter().flatten().collect();
    attributes.sort_by_key(|(key, _)| key.as_str());
    let attributes: String = attributes.into_iter().map(|(key, value)| format!("\t{key}={value}")).collect();
    let toxicity = toxic["toxicity"].as_f64().unwrap_or_default();
    let (kind, stream) = (text(toxic, "type"), text(toxic, "stream"));
    format!("{name}\ttype={kind}\tstream={stream}\ttoxicity={toxicity:.2}\tattributes=[{attributes}\t]\n")
}

/// What a toggle did.
pub(super) fn toggled(proxy: &str, is_enabled: bool, style: Style) -> String {
    let (colour, state) = enabled(is_enabled);
    format!("Proxy {} is now {}\n", style.paint(colour, proxy), style.paint(colour, state))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample() -> Value {
        json!({ "name": "db", "listen": "127.0.0.1:1", "upstream": "u:2", "enabled": true, "toxics": [
            { "name": "slow", "type": "latency", "stream": "downstream", "toxicity": 0.5,
              "attributes": { "latency": 100, "jitter": 0 } } ] })
    }

    // Proves the lines that programs read.
    #[test]
    fn programs_get_tabs() {
        let style = Style::new(false);
        let off = json!({ "name": "a", "listen": "l", "upstream": "u", "enabled": false, "toxics": [] });
        let all = json!({ "db": sample(), "a": off });
        assert_eq!(list(&all, style), "a\tl\tu\tdisabled\t0\ndb\t127.0.0.1:1\tu:2\tenabled\t1\n");
        let slow = "slow\ttype=latency\tstream=downstream\ttoxicity=0.50\tattributes=[\tjitter=0\tlatency=100\t]\n";
        assert_eq!(proxy(&sample(), style), slow);
        assert_eq!(
            (list(&json!({}), style), toggled("p", false, style).as_str()),
            (String::new(), "Proxy p is now disabled\n")
        );
    }

    // Proves that people get heads, colours, columns and a hint.
    #[test]
    fn people_get_columns() {
        let style = Style::new(true);
        let text = list(&json!({ "db": sample() }), style);
        assert!(text.starts_with(&format!("{GREEN}Name{NONE}\t\t\t{BLUE}Listen{NONE}\t\t")), "{text}");
        assert!(
            text.contains(&format!("{GREEN}db{NONE}\t\t\t{BLUE}127.0.0.1:1{NONE}\t{YELLOW}u:2{NONE}\t\t\t")),
            "{text}"
        );
        assert!(text.ends_with("Hint: inspect toxics with `toxiproxy-cli inspect <proxyName>`\n"), "{text}");
        let text = proxy(&sample(), style);
        assert!(text.contains("Proxy has no Upstream toxics enabled.") && text.contains("slow:"), "{text}");
        assert!(list(&json!({}), style).contains("no proxies"));
    }
}
