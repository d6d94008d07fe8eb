//! Foreign text made harmless, and wrapping.

/// Longest piece of foreign text in a report.
const MAX_CHARS: usize = 2_000;

/// Makes text of unknown origin one harmless line: control characters, line and paragraph separators, direction marks
/// and characters that XML 1.0 forbids become visible escapes such as `\u{1b}`. Very long text is cut.
pub(super) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, c) in text.chars().enumerate() {
        if i == MAX_CHARS {
            out.push('\u{2026}');
            break;
        }
        if harmful(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

/// Whether a character could act on a terminal, forge a line, or make XML 1.0 unreadable.
pub(super) fn harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// Wraps at spaces so that lines stay within `width`; a longer word stays whole, so that a key or a command can be
/// copied.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
    for word in text.split(' ') {
        let n = word.chars().count();
        if used > 0 && used + 1 + n > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line += word;
        used += n;
    }
    lines.push(line);
    lines
}

/// `label  text`, wrapped, further lines under the text.
pub(super) fn labelled(indent: usize, label: &str, text: &str, width: usize) -> Vec<String> {
    const LABEL: usize = 12;
    let room = width.max(40) - indent - LABEL;
    let wrapped = wrap(text, room);
    let line = |(i, part): (usize, String)| {
        let head = if i == 0 { label } else { "" };
        format!("{:indent$}{head:<LABEL$}{part}", "").trim_end().to_owned()
    };
    wrapped.into_iter().enumerate().map(line).collect()
}

/// `1 check`, `2 checks`.
pub(super) fn plural(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
