//! What Linux tells of a thread in `/proc/PID/task/TID/schedstat`: three numbers, the time on a processor, the time ready and
//! without one, both in nanoseconds, and how often it got one.

/// How long a thread has waited for processors, and how often it got one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waited {
    pub(super) ns: u64,
    pub(super) turns: u64,
}

/// Reads the file's text; `None` for what is no such text.
pub(super) fn parse(text: &[u8]) -> Option<Waited> {
    let text = std::str::from_utf8(text).ok()?;
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
    let [Ok(_), Ok(ns), Ok(turns)] = [numbers.next()?, numbers.next()?, numbers.next()?] else { return None };
    Some(Waited { ns, turns })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the second number is the wait and the third the turns, and that anything else is nothing.
    #[test]
    fn the_second_number_is_the_wait() {
        assert_eq!(parse(b"248072 3732613 7\n"), Some(Waited { ns: 3_732_613, turns: 7 }));
        for other in [&b""[..], b"1 2", b"1 -2 3", b"a 2 3", b"1 2 \xff"] {
            assert_eq!(parse(other), None, "{other:?}");
        }
    }
}
