//! A stream of text cut into blocks of whole lines.

use std::io::{self, Read};

use memchr::{memchr, memrchr};
use parsimon_files::memory::{Claim, Shortage};

use crate::decompress::Stream;

/// The usual size of a block.
pub(crate) const BLOCK: usize = 256 << 10;

/// The longest line: 1 GiB.
const LONGEST: usize = 1 << 30;

/// The memory that a byte of a long line may take until its row is learned: the line itself, in a buffer that doubles, and its
/// features, which are as short as two bytes, once in the parser and once in the row before.
const PER_BYTE: u64 = 64;

/// Memory of a line of `bytes` bytes; blocks of the usual size are not counted.
fn room(line: usize) -> u64 {
    if line <= 4 * BLOCK { 0 } else { PER_BYTE.saturating_mul(line as u64) }
}

/// Rules for the ends of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// At every newline.
    Newline,
    /// At newlines outside of quotes; a quote opens only at the start of a cell.
    Quoted {
        /// Separator of cells.
        delimiter: u8,
    },
}

/// Why no block could be cut.
#[derive(Debug)]
pub(crate) enum BlockError {
    Io(io::Error),
    TooLong {
        limit: usize,
    },
    /// There is no memory for a line of this number of bytes or more.
    Memory {
        line: usize,
        shortage: Shortage,
    },
}

/// Cuts a stream. Every block ends with a newline; the last gets one if it has none.
pub(crate) struct LineBlocks {
    stream: Stream,
    carry: Vec<u8>,
    ends: Ends,
    /// Whether a short read ends a block: rows of a pipe should not wait for a whole one.
    is_eager: bool,
    block: usize,
    longest: usize,
    done: bool,
    failure: Option<io::Error>,
    /// The memory of a giant line.
    claim: Claim,
}

impl LineBlocks {
    /// A cutter of `head` followed by `stream`.
    pub(crate) fn new(head: Vec<u8>, stream: Stream, ends: Ends) -> Self {
        let (block, longest) = (BLOCK, LONGEST);
        let (is_eager, done) = (false, false);
        let (failure, claim) = (None, Claim::default());
        Self { stream, carry: head, ends, is_eager, block, longest, done, failure, claim }
    }

    /// A cutter for pipes: it hands over whole lines as soon as they arrive.
    pub(crate) fn eager(self) -> Self {
        Self { is_eager: true, ..self }
    }

    /// The next block in `buffer[..len]`; `None` at the end.
    ///
    /// INVARIANT: what is whole before an error is delivered before the error.
    pub(crate) fn next(&mut self, buffer: &mut Vec<u8>) -> Result<Option<usize>, BlockError> {
        let mut len = self.carry.len();
        // PERF: the buffer keeps its length, so that it is zeroed once in its life.
        let size = self.block.max(len + 1);
        if buffer.len() < size {
            buffer.resize(size, 0);
        } else if buffer.len() > 4 * size {
            // A giant line has passed; its memory goes with it.
            buffer.truncate(size);
            buffer.shrink_to_fit();
            self.claim = Claim::default();
        }
        buffer[..len].copy_from_slice(&self.carry);
        self.carry.clear();
        let mut scan = Scan::default();
        loop {
            while len < buffer.len()
                && !self.done
                && !(self.is_eager && memchr(b'\n', &buffer[..len]).is_some())
            {
                self.read_more(buffer, &mut len);
            }
            let end = match self.ends {
                Ends::Newline => memrchr(b'\n', &buffer[scan.at..len]).map(|n| scan.at + n + 1),
                Ends::Quoted { delimiter } => scan.last_end(&buffer[..len], delimiter),
            };
            if self.done && self.failure.is_none() {
                if len > 0 && buffer[len - 1] != b'\n' {
                    if len == buffer.len() {
                        buffer.push(0);
                    }
                    buffer[len] = b'\n';
                    len += 1;
                }
                return Ok((len > 0).then_some(len));
            }
            if let Some(end) = end {
                self.carry.extend_from_slice(&buffer[end..len]);
                return Ok(Some(end));
            }
            if let Some(failure) = self.failure.take() {
                return Err(BlockError::Io(failure));
            }
            if self.is_eager && len < buffer.len() && !self.done {
                // A newline inside quotes: more of the record must come.
                self.read_more(buffer, &mut len);
                continue;
            }
            if len >= self.longest {
                self.done = true;
                return Err(BlockError::TooLong { limit: self.longest });
            }
            if self.ends == Ends::Newline {
                scan.at = len;
            }
            let size = (2 * buffer.len()).min(self.longest.max(self.block));
            self.claim_line(size)?;
            buffer.resize(size, 0);
        }
    }
}

impl LineBlocks {
    fn claim_line(&mut self, line: usize) -> Result<(), BlockError> {
        self.claim.set(room(line)).map_err(|shortage| {
            self.done = true;
            BlockError::Memory { line: line / 2, shortage }
        })
    }

    fn read_more(&mut self, buffer: &mut [u8], len: &mut usize) {
        match self.stream.read(&mut buffer[*len..]) {
            Ok(0) => self.done = true,
            Ok(n) => *len += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => {
                self.done = true;
                self.failure = Some(e);
            }
        }
    }
}

/// Returns the end of the first record of `text`, including its newline.
pub(crate) fn record_end(text: &[u8], ends: Ends) -> Option<usize> {
    let newline = memchr(b'\n', text)?;
    match ends {
        Ends::Newline => Some(newline + 1),
        // PERF: most records have no quotes.
        Ends::Quoted { .. } if memchr(b'"', &text[..newline]).is_none() => Some(newline + 1),
        Ends::Quoted { delimiter } => {
            let mut scan = Scan::default();
            while scan.end.is_none() && scan.at < text.len() {
                scan.step(text[scan.at], delimiter);
            }
            scan.end
        }
    }
}

/// Finds record ends outside of quotes, continuing where it stopped.
#[derive(Default)]
struct Scan {
    at: usize,
    end: Option<usize>,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum State {
    #[default]
    CellStart,
    Plain,
    Quoted,
    /// After a quote inside quotes: doubled, or the end.
    Closing,
}

impl Scan {
    fn last_end(&mut self, text: &[u8], delimiter: u8) -> Option<usize> {
        if self.at == 0 && memchr(b'"', text).is_none() {
            // No quote is open so far; the state at the end is computed again when more text comes.
            return memrchr(b'\n', text).map(|n| n + 1);
        }
        while self.at < text.len() {
            self.step(text[self.at], delimiter);
        }
        self.end
    }

    fn step(&mut self, b: u8, delimiter: u8) {
        self.at += 1;
        self.state = match (self.state, b) {
            (State::Quoted, b'"') => State::Closing,
            (State::Quoted, _) | (State::Closing | State::CellStart, b'"') => State::Quoted,
            (_, b'\n') => {
                self.end = Some(self.at);
                State::CellStart
            }
            (_, b) if b == delimiter => State::CellStart,
            _ => State::Plain,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn blocks(
        text: &[u8],
        ends: Ends,
        block: usize,
        longest: usize,
    ) -> Result<Vec<Vec<u8>>, BlockError> {
        let stream = Box::new(Cursor::new(text.to_vec()));
        let mut cutter = LineBlocks { block, longest, ..LineBlocks::new(Vec::new(), stream, ends) };
        let (mut all, mut buffer) = (Vec::new(), Vec::new());
        while let Some(len) = cutter.next(&mut buffer)? {
            all.push(buffer[..len].to_vec());
        }
        Ok(all)
    }

    #[test]
    fn blocks_are_whole_lines() {
        let text = b"ab\ncdefgh\ni\n\njk";
        for block in 1..20 {
            let all = blocks(text, Ends::Newline, block, 100).unwrap();
            assert_eq!(all.concat(), b"ab\ncdefgh\ni\n\njk\n", "{block}");
            assert!(all.iter().all(|b| b.ends_with(b"\n")), "{block}");
        }
        assert!(blocks(b"", Ends::Newline, 4, 100).unwrap().is_empty());
    }

    #[test]
    fn quoted_newlines_do_not_end_a_record() {
        let text = b"a,\"x\ny\"\"\n\",c\n5\" disk,b\n\"\"\n";
        let records = [&b"a,\"x\ny\"\"\n\",c\n"[..], b"5\" disk,b\n", b"\"\"\n"];
        for block in 1..40 {
            let all = blocks(text, Ends::Quoted { delimiter: b',' }, block, 100).unwrap();
            assert_eq!(all.concat(), text, "{block}");
            // Every block is some records, one after the other.
            let mut rest = &records[..];
            for block in all {
                let mut left = &block[..];
                while !left.is_empty() {
                    left = left.strip_prefix(rest[0]).expect("a whole record");
                    rest = &rest[1..];
                }
            }
        }
    }

    #[test]
    fn a_line_beyond_the_longest_is_an_error() {
        let text = [&b"ab\n"[..], &[b'x'; 200]].concat();
        let refused = blocks(&text, Ends::Newline, 8, 64);
        assert!(matches!(refused, Err(BlockError::TooLong { limit: 64 })));
        assert!(blocks(&text, Ends::Newline, 8, 300).is_ok());
    }

    #[test]
    fn an_eager_cutter_does_not_wait_for_a_whole_block() {
        struct Slow(Vec<&'static [u8]>);
        impl Read for Slow {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let Some(part) = (!self.0.is_empty()).then(|| self.0.remove(0)) else {
                    return Ok(0);
                };
                buffer[..part.len()].copy_from_slice(part);
                Ok(part.len())
            }
        }
        let parts = vec![&b"a"[..], b"b\ncd", b"\n", b"\"e\n", b"f\"\ng"];
        let stream = Box::new(Slow(parts));
        let mut cutter =
            LineBlocks::new(Vec::new(), stream, Ends::Quoted { delimiter: b',' }).eager();
        let (mut all, mut buffer) = (Vec::new(), Vec::new());
        while let Some(len) = cutter.next(&mut buffer).unwrap() {
            all.push(buffer[..len].to_vec());
        }
        assert_eq!(all, [&b"ab\n"[..], b"cd\n", b"\"e\nf\"\n", b"g\n"]);
    }

    #[test]
    fn whole_lines_come_before_an_error() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let stream = Box::new(Cursor::new(b"ab\ncd\nef".to_vec()).chain(Broken));
        let mut cutter = LineBlocks::new(Vec::new(), stream, Ends::Newline);
        let mut buffer = Vec::new();
        assert_eq!(cutter.next(&mut buffer).unwrap(), Some(6));
        assert!(matches!(cutter.next(&mut buffer), Err(BlockError::Io(_))));
    }
}
