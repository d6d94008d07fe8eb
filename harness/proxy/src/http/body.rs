//! Where a body ends, and which of its bytes are payload. Framing is passed on as it came.

/// How a body is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// No body.
    Empty,
    /// So many bytes.
    Length(u64),
    /// Chunks.
    Chunked,
    /// Everything until the connection ends.
    ToEnd,
}

/// The longest chunk-size line, extensions included.
const MAX_SIZE_LINE: usize = 4 << 10;
/// The longest trailer section.
const MAX_TRAILER: usize = 64 << 10;

/// Follows one body through its bytes.
#[derive(Debug)]
pub(crate) struct BodyReader {
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Done,
    ToEnd,
    Length(u64),
    /// In the digits of a chunk size.
    Size {
        value: u64,
        digits: u32,
        line: usize,
    },
    /// Behind them, before the line's end.
    Extension {
        value: u64,
        line: usize,
    },
    /// Before the LF of the size line.
    SizeLf {
        value: u64,
    },
    Data {
        left: u64,
    },
    /// Before the CR behind a chunk's data.
    DataCr,
    DataLf,
    /// At the start of a trailer line, or of the empty line that ends the body.
    TrailerStart {
        seen: usize,
    },
    TrailerLine {
        seen: usize,
    },
    TrailerLf {
        seen: usize,
    },
    LastLf,
}

/// What one step took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Taken {
    /// Bytes of the input, framing included.
    pub(crate) raw: usize,
    /// Payload bytes among them.
    pub(crate) payload: u64,
}

impl BodyReader {
    pub(crate) fn new(framing: Framing) -> Self {
        let state = match framing {
            Framing::Empty | Framing::Length(0) => State::Done,
            Framing::Length(n) => State::Length(n),
            Framing::Chunked => State::Size { value: 0, digits: 0, line: 0 },
            Framing::ToEnd => State::ToEnd,
        };
        Self { state }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The connection ended: whether the body is whole now.
    pub(crate) fn end_of_stream(&mut self) -> bool {
        if self.state == State::ToEnd {
            self.state = State::Done;
        }
        self.is_done()
    }

    /// Takes what belongs to the body from the start of `input`, but stops once `at_most` payload bytes are taken.
    /// `sink` sees the payload.
    pub(crate) fn take(
        &mut self,
        input: &[u8],
        at_most: u64,
        mut sink: impl FnMut(&[u8]),
    ) -> Result<Taken, &'static str> {
        let mut taken = Taken::default();
        while taken.raw < input.len() && !self.is_done() && taken.payload < at_most {
            let rest = &input[taken.raw..];
            let room = at_most - taken.payload;
            let data = match self.state {
                State::ToEnd => room,
                State::Length(n) | State::Data { left: n } => n.min(room),
                _ => 0,
            };
            if data > 0 {
                let n = rest.len().min(usize::try_from(data).unwrap_or(usize::MAX));
                sink(&rest[..n]);
                self.passed(n as u64);
                taken.raw += n;
                taken.payload += n as u64;
            } else {
                self.state = self.state.after(rest[0])?;
                taken.raw += 1;
            }
        }
        Ok(taken)
    }

    fn passed(&mut self, n: u64) {
        self.state = match self.state {
            State::Length(left) if left == n => State::Done,
            State::Length(left) => State::Length(left - n),
            State::Data { left } if left == n => State::DataCr,
            State::Data { left } => State::Data { left: left - n },
            other => other,
        };
    }
}

impl State {
    /// The state behind one byte of chunk framing.
    fn after(self, byte: u8) -> Result<Self, &'static str> {
        match (self, byte) {
            (State::Size { digits: 1.., value, .. }, b'\r') => Ok(State::SizeLf { value }),
            (State::Size { digits: 1.., value, line }, b';' | b' ' | b'\t') => Ok(State::Extension { value, line }),
            (State::Size { value, digits, line }, _) => {
                let digit = char::from(byte).to_digit(16).ok_or("a chunk size that is not hexadecimal")?;
                if digits >= 15 {
                    return Err("a chunk size of more than 15 digits");
                }
                Ok(State::Size { value: value * 16 + u64::from(digit), digits: digits + 1, line: line + 1 })
            }
            (State::Extension { value, .. }, b'\r') => Ok(State::SizeLf { value }),
            (State::Extension { .. }, b'\n') => Err("a chunk size line that ends with a bare LF"),
            (State::Extension { line, .. }, _) if line >= MAX_SIZE_LINE => Err("a chunk size line that is too long"),
            (State::Extension { value, line }, _) => Ok(State::Extension { value, line: line + 1 }),
            (State::SizeLf { value: 0 }, b'\n') => Ok(State::TrailerStart { seen: 0 }),
            (State::SizeLf { value }, b'\n') => Ok(State::Data { left: value }),
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => Ok(State::Size { value: 0, digits: 0, line: 0 }),
            (State::TrailerStart { .. }, b'\r') => Ok(State::LastLf),
            (State::TrailerStart { seen } | State::TrailerLine { seen }, _) if seen >= MAX_TRAILER => {
                Err("a trailer section that is too long")
            }
            (State::TrailerLine { seen }, b'\r') => Ok(State::TrailerLf { seen: seen + 1 }),
            (State::TrailerStart { seen } | State::TrailerLine { seen }, _) => {
                Ok(State::TrailerLine { seen: seen + 1 })
            }
            (State::TrailerLf { seen }, b'\n') => Ok(State::TrailerStart { seen: seen + 1 }),
            (State::LastLf, b'\n') => Ok(State::Done),
            _ => Err("a chunk that does not end where its size says"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CHUNKED: &[u8] = b"4\r\nWiki\r\n6;ext=\"x\"\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nx-trail: 1\r\n\r\n";

    fn read(framing: Framing, pieces: &[&[u8]]) -> Result<(Vec<u8>, usize, bool), &'static str> {
        let (mut reader, mut payload, mut raw) = (BodyReader::new(framing), Vec::new(), 0);
        for piece in pieces {
            let taken = reader.take(piece, u64::MAX, |bytes| payload.extend_from_slice(bytes))?;
            raw += taken.raw;
        }
        Ok((payload, raw, reader.is_done()))
    }

    // Proves that a chunked body reads the same wherever the network cuts it, and that the next message behind it is
    // not touched.
    #[test]
    fn chunks_may_be_cut_anywhere() {
        let next = [CHUNKED, b"GET / HTTP/1.1\r\n"].concat();
        let whole = read(Framing::Chunked, &[&next]).expect("whole");
        assert_eq!(whole, (b"Wikipedia in \r\n\r\nchunks.".to_vec(), CHUNKED.len(), true));
        for cut in 0..CHUNKED.len() {
            let (a, b) = next.split_at(cut);
            assert_eq!(read(Framing::Chunked, &[a, b]).expect("cut"), whole, "cut at {cut}");
        }
    }

    // Proves that a payload limit stops before the next payload byte, also between chunks.
    #[test]
    fn a_limit_stops_between_payload_bytes() {
        for limit in 0..24_u64 {
            let mut reader = BodyReader::new(Framing::Chunked);
            let mut payload = Vec::new();
            let taken = reader.take(CHUNKED, limit, |bytes| payload.extend_from_slice(bytes)).expect("take");
            assert_eq!((taken.payload, payload.len() as u64, reader.is_done()), (limit, limit, false));
            let rest = reader.take(&CHUNKED[taken.raw..], u64::MAX, |_| {}).expect("rest");
            assert_eq!((taken.raw + rest.raw, reader.is_done()), (CHUNKED.len(), true));
        }
    }

    // Proves that broken chunk framing is an error rather than a guess.
    #[test]
    fn broken_chunks_are_refused() {
        for bad in
            ["x\r\n", "\r\n", ";x\r\n", "4\r\nWikiXX", "4\nWiki\r\n", "4 \nWiki", "ffffffffffffffff\r\n", "0\r\n\rX"]
        {
            assert!(read(Framing::Chunked, &[bad.as_bytes()]).is_err(), "{bad:?}");
        }
        let long = format!("4;{}\r\n", "x".repeat(MAX_SIZE_LINE + 1));
        assert!(read(Framing::Chunked, &[long.as_bytes()]).is_err());
        let trailer = format!("0\r\n{}", "a: b\r\n".repeat(MAX_TRAILER / 6 + 2));
        assert!(read(Framing::Chunked, &[trailer.as_bytes()]).is_err());
    }

    proptest! {
        // Proves that no bytes make the reader panic or take more than there is.
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>, limit: u64, length: u64) {
            for framing in [Framing::Empty, Framing::Length(length), Framing::Chunked, Framing::ToEnd] {
                let mut reader = BodyReader::new(framing);
                if let Ok(taken) = reader.take(&bytes, limit, |_| {}) {
                    prop_assert!(taken.raw <= bytes.len() && taken.payload <= limit);
                }
            }
        }
    }
}
