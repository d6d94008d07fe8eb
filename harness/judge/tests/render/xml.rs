//! Enough of an XML 1.0 reader to say whether a report is well-formed: characters, references, attributes, nesting.

/// Checks a whole document.
pub fn well_formed(text: &str) -> Result<(), String> {
    if let Some(c) = text.chars().find(|c| !allowed(*c)) {
        return Err(format!("{c:?} is not allowed in XML 1.0"));
    }
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").ok_or("no declaration")?;
    let mut open: Vec<String> = Vec::new();
    let mut roots = 0;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        characters(before)?;
        if open.is_empty() && !before.trim().is_empty() {
            return Err(format!("text outside the root: {before:?}"));
        }
        let end = tag.find('>').ok_or("an unfinished tag")?;
        let inner = &tag[1..end];
        if let Some(name) = inner.strip_prefix('/') {
            let expected = open.pop().ok_or_else(|| format!("</{name}> closes nothing"))?;
            if expected != name {
                return Err(format!("</{name}> closes <{expected}>"));
            }
        } else {
            roots += usize::from(open.is_empty());
            let (inner, empty) = inner.strip_suffix('/').map_or((inner, false), |i| (i, true));
            let name = start(inner)?;
            if !empty {
                open.push(name);
            }
        }
        rest = &tag[end + 1..];
    }
    if !open.is_empty() || roots != 1 || !rest.trim().is_empty() {
        return Err(format!("left open: {open:?}; roots: {roots}; after the end: {rest:?}"));
    }
    Ok(())
}

fn allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}

/// A start tag without its brackets: name, then `name="value"` pairs.
fn start(inner: &str) -> Result<String, String> {
    let (name, mut rest) = inner.split_once(' ').unwrap_or((inner, ""));
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
        return Err(format!("<{name}> is not an element of JUnit"));
    }
    let mut seen = Vec::new();
    while !rest.is_empty() {
        let (attribute, value) = rest.split_once("=\"").ok_or_else(|| format!("no attribute: {rest:?}"))?;
        let (value, after) = value.split_once('"').ok_or_else(|| format!("an open attribute: {value:?}"))?;
        characters(value)?;
        if seen.contains(&attribute) {
            return Err(format!("{attribute} twice"));
        }
        seen.push(attribute);
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    Ok(name.to_owned())
}

/// Character data: every `&` begins one of the five predefined references, and no bare quote or bracket is left.
fn characters(text: &str) -> Result<(), String> {
    if text.contains(['<', '>', '"', '\'']) {
        return Err(format!("unescaped markup in {text:?}"));
    }
    let known = ["lt;", "gt;", "amp;", "quot;", "apos;"];
    match text.split('&').skip(1).find(|part| !known.iter().any(|k| part.starts_with(k))) {
        Some(part) => Err(format!("a bare & before {part:?}")),
        None => Ok(()),
    }
}

/// Proves that the reader itself can say no.
#[test]
fn the_reader_sees_what_is_wrong() {
    let document = |body: &str| format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}\n");
    for good in ["<a/>", "<a b=\"c\">x &amp; y<b/></a>"] {
        well_formed(&document(good)).expect(good);
    }
    let bad =
        ["", "<a>", "<a></b>", "<a/><a/>", "<a b=\"\" b=\"\"/>", "<a>&x</a>", "<a>\u{1}</a>", "<a>></a>", "x<a/>"];
    bad.iter().for_each(|b| assert!(well_formed(&document(b)).is_err(), "{b}"));
}
