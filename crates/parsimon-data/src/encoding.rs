//! Text that is not UTF-8, as UTF-8: UTF-16, and bytes of Windows-1252 (which has Latin-1 in it).
//!
//! Both are streams around a stream. What they give depends on the bytes alone, for any sizes of reads.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes that are asked for at a time.
const BUFFER: usize = 64 << 10;

/// The order of the two bytes of a unit of UTF-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

/// Whether text is UTF-16, by its byte order mark or, without one, because every other byte is zero; with the length of the mark.
pub(crate) fn utf16(head: &[u8]) -> Option<(ByteOrder, usize)> {
    /// Fewer units are no proof.
    const LEAST: usize = 8;
    match head {
        // Arrow streams begin with four of these bytes.
        [0xff, 0xfe, rest @ ..] if !rest.starts_with(&[0, 0]) => {
            return Some((ByteOrder::Little, 2));
        }
        [0xfe, 0xff, ..] => return Some((ByteOrder::Big, 2)),
        _ => {}
    }
    let pairs = head.chunks_exact(2).take(2048);
    let units = pairs.len();
    let mut zeros = [0, 0];
    for pair in pairs {
        zeros[0] += usize::from(pair[0] == 0);
        zeros[1] += usize::from(pair[1] == 0);
    }
    match zeros {
        _ if units < LEAST => None,
        [0, second] if 4 * second > 3 * units => Some((ByteOrder::Little, 0)),
        [first, 0] if 4 * first > 3 * units => Some((ByteOrder::Big, 0)),
        _ => None,
    }
}

/// A stream of UTF-16 as UTF-8. Half a surrogate pair is the replacement character.
pub(crate) struct FromUtf16<R> {
    inner: R,
    order: ByteOrder,
    /// Bytes of a unit, or of a surrogate pair, that is not complete: up to three.
    carry: Vec<u8>,
    ready: Ready,
}

impl<R: Read> FromUtf16<R> {
    pub(crate) fn new(inner: R, order: ByteOrder) -> Self {
        Self { inner, order, carry: Vec::new(), ready: Ready::default() }
    }

    fn unit(&self, pair: &[u8]) -> u16 {
        let pair = [pair[0], pair[1]];
        match self.order {
            ByteOrder::Little => u16::from_le_bytes(pair),
            ByteOrder::Big => u16::from_be_bytes(pair),
        }
    }

    /// Decodes the bytes at hand; at the end of the stream all of them.
    fn decode(&mut self, bytes: &[u8], is_end: bool) {
        let mut units: Vec<u16> = bytes.chunks_exact(2).map(|pair| self.unit(pair)).collect();
        let mut rest = bytes.len() % 2;
        if !is_end && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            units.pop();
            rest += 2;
        }
        let text = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
        let mut text: String = text.collect();
        if is_end && rest > 0 {
            text.push(char::REPLACEMENT_CHARACTER);
            rest = 0;
        }
        self.ready.bytes.extend_from_slice(text.as_bytes());
        self.carry = bytes[bytes.len() - rest..].to_vec();
    }
}

impl<R: Read> Read for FromUtf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() && !buffer.is_empty() {
            let mut bytes = std::mem::take(&mut self.carry);
            let before = bytes.len();
            bytes.resize(before + BUFFER, 0);
            match self.inner.read(&mut bytes[before..]) {
                Ok(n) => {
                    bytes.truncate(before + n);
                    if n == 0 && before == 0 {
                        return Ok(0);
                    }
                    self.decode(&bytes, n == 0);
                }
                Err(e) => {
                    bytes.truncate(before);
                    self.carry = bytes;
                    return Err(e);
                }
            }
        }
        Ok(self.ready.give(buffer))
    }
}

/// Whether lines end in a carriage return alone, as those of some spreadsheets on a Mac.
pub(crate) fn ends_in_returns(head: &[u8]) -> bool {
    memchr::memchr(b'\r', head).is_some_and(|first| first + 1 < head.len())
        && memchr::memchr(b'\n', head).is_none()
}

/// A stream whose carriage returns are line feeds.
pub(crate) struct FromReturns<R>(pub(crate) R);

impl<R: Read> Read for FromReturns<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(buffer)?;
        buffer[..n].iter_mut().filter(|b| **b == b'\r').for_each(|b| *b = b'\n');
        Ok(n)
    }
}

/// Decoded bytes that were not read yet.
#[derive(Default)]
struct Ready {
    bytes: Vec<u8>,
    at: usize,
}

impl Ready {
    fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn give(&mut self, buffer: &mut [u8]) -> usize {
        let n = buffer.len().min(self.bytes.len() - self.at);
        buffer[..n].copy_from_slice(&self.bytes[self.at..self.at + n]);
        self.at += n;
        if self.is_empty() {
            self.bytes.clear();
            self.at = 0;
        }
        n
    }
}

/// Number of bytes of a text that are not UTF-8, and the position of the first.
#[derive(Debug, Default)]
pub(crate) struct Strays {
    pub(crate) bytes: AtomicU64,
    pub(crate) first: OnceLock<Stray>,
    /// Separator of the cells of the table, and the names of its columns.
    pub(crate) columns: OnceLock<(u8, Vec<String>)>,
}

/// A byte that is not UTF-8: its line and its place in the line, from 1, and what stands before it in the line.
#[derive(Debug)]
pub(crate) struct Stray {
    pub(crate) line: u64,
    pub(crate) byte: u64,
    before: Vec<u8>,
}

impl Strays {
    /// The column of the first, if the columns have names.
    pub(crate) fn column(&self) -> Option<&str> {
        let ((separator, names), stray) = (self.columns.get()?, self.first.get()?);
        let (mut column, mut is_quoted) = (0, false);
        for &b in &stray.before {
            is_quoted ^= b == b'"';
            column += usize::from(b == *separator && !is_quoted);
        }
        // The header names the columns, and is in none of them.
        let is_whole = stray.before.len() as u64 + 1 == stray.byte && stray.line > 1;
        names.get(column).map(String::as_str).filter(|_| is_whole)
    }
}

/// More of a line is not kept.
const MOST_BEFORE: usize = 64 << 10;

/// A stream in which every byte that is not part of UTF-8 is the character of Windows-1252.
pub(crate) struct FromWindows1252<R> {
    inner: R,
    /// The start of a character that is not complete: up to three bytes.
    carry: Vec<u8>,
    ready: Ready,
    strays: Arc<Strays>,
    /// The place of the next byte, counted until the first stray: lines and bytes from 1.
    line: u64,
    byte: u64,
    /// Returns the beginning of the line before that position, shortened.
    before: Vec<u8>,
}

impl<R: Read> FromWindows1252<R> {
    pub(crate) fn new(inner: R, strays: Arc<Strays>) -> Self {
        Self {
            inner,
            carry: Vec::new(),
            ready: Ready::default(),
            strays,
            line: 1,
            byte: 1,
            before: Vec::new(),
        }
    }

    /// Keeps the place, until it is known.
    fn pass(&mut self, valid: &[u8]) {
        if self.strays.first.get().is_none() {
            self.line += memchr::memchr_iter(b'\n', valid).count() as u64;
            let mut of_line = valid;
            if let Some(newline) = memchr::memrchr(b'\n', valid) {
                self.byte = 1;
                self.before.clear();
                of_line = &valid[newline + 1..];
            }
            self.byte += of_line.len() as u64;
            let room = MOST_BEFORE.saturating_sub(self.before.len());
            self.before.extend_from_slice(&of_line[..of_line.len().min(room)]);
        }
    }

    /// Decodes the bytes at hand into `ready`; at the end of the stream all of them.
    #[cold]
    fn decode(&mut self, mut bytes: &[u8], is_end: bool) {
        while !bytes.is_empty() {
            let (valid, stray) = match std::str::from_utf8(bytes) {
                Ok(_) => (bytes.len(), 0),
                Err(e) => match e.error_len() {
                    Some(len) => (e.valid_up_to(), len),
                    None if is_end => (e.valid_up_to(), bytes.len() - e.valid_up_to()),
                    None => (e.valid_up_to(), 0),
                },
            };
            self.pass(&bytes[..valid]);
            self.ready.bytes.extend_from_slice(&bytes[..valid]);
            if stray == 0 {
                self.carry = bytes[valid..].to_vec();
                return;
            }
            let before = std::mem::take(&mut self.before);
            let _ = self.strays.first.set(Stray { line: self.line, byte: self.byte, before });
            self.strays.bytes.fetch_add(stray as u64, Ordering::Relaxed);
            for &b in &bytes[valid..valid + stray] {
                let mut utf8 = [0; 4];
                let text = windows_1252(b).encode_utf8(&mut utf8);
                self.ready.bytes.extend_from_slice(text.as_bytes());
            }
            bytes = &bytes[valid + stray..];
        }
    }
}

impl<R: Read> Read for FromWindows1252<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            let before = self.carry.len();
            if buffer.len() <= 2 * before + 4 {
                // No room for a character behind what is carried.
                let mut bytes = self.carry.clone();
                bytes.resize(before + BUFFER, 0);
                let n =
                    if buffer.is_empty() { 0 } else { self.inner.read(&mut bytes[before..])? };
                if buffer.is_empty() || n == 0 && before == 0 {
                    return Ok(0);
                }
                self.carry.clear();
                self.decode(&bytes[..before + n], n == 0);
                continue;
            }
            // PERF: text that is UTF-8, as almost all is, is read where it is wanted.
            let n = self.inner.read(&mut buffer[before..])?;
            buffer[..before].copy_from_slice(&self.carry);
            self.carry.clear();
            let len = before + n;
            let whole = match std::str::from_utf8(&buffer[..len]) {
                Ok(_) => len,
                Err(e) if e.error_len().is_none() && n > 0 => e.valid_up_to(),
                Err(_) => {
                    self.decode(&buffer[..len], n == 0);
                    continue;
                }
            };
            self.carry.extend_from_slice(&buffer[whole..len]);
            if whole > 0 || n == 0 {
                self.pass(&buffer[..whole]);
                return Ok(whole);
            }
        }
        Ok(self.ready.give(buffer))
    }
}

/// The character of a byte. Five bytes have none; they are the control characters of Latin-1.
fn windows_1252(byte: u8) -> char {
    const FROM_80: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => FROM_80[usize::from(byte) - 0x80],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(buffer.len()).min(self.0.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn read_by(mut stream: impl Read, size: usize) -> String {
        let (mut all, mut buffer) = (Vec::new(), vec![0; size]);
        loop {
            match stream.read(&mut buffer).unwrap() {
                0 => return String::from_utf8(all).unwrap(),
                n => all.extend_from_slice(&buffer[..n]),
            }
        }
    }

    const TEXT: &str = "name,label\nZoë €5,1\n🎈,0\n";

    #[test]
    fn utf16_is_read_in_any_pieces() {
        for (order, mark) in [(ByteOrder::Little, [0xff, 0xfe]), (ByteOrder::Big, [0xfe, 0xff])] {
            let bytes = |unit: u16| match order {
                ByteOrder::Little => unit.to_le_bytes(),
                ByteOrder::Big => unit.to_be_bytes(),
            };
            let text: Vec<u8> = TEXT.encode_utf16().flat_map(bytes).collect();
            assert_eq!(utf16(&text), Some((order, 0)));
            assert_eq!(utf16(&[&mark[..], &text].concat()), Some((order, 2)));
            for (given, taken) in [(1, 1), (1, 100), (3, 2), (7, 5), (1000, 1000)] {
                assert_eq!(read_by(FromUtf16::new(Slow(&text, given), order), taken), TEXT);
            }
            let cut = &text[..text.len() - 1];
            assert!(read_by(FromUtf16::new(cut, order), 9).ends_with("0\u{fffd}"));
        }
        for head in
            [&b"a,b\n1,2\n3,4\n5,6\n7,8\n"[..], b"\xff\xff\xff\xff\x10\0\0\0", b"", &[0; 64]]
        {
            assert_eq!(utf16(head), None);
        }
    }

    #[test]
    fn bytes_of_windows_are_read_in_any_pieces() {
        let bytes = b"a\nZo\xeb \x805, \xe2\x82\xac \xe2\x82x\xf0\x9f\x8e\x88\xe9";
        for (given, taken) in [(1, 1), (1, 100), (2, 9), (3, 8), (1000, 1000)] {
            let strays = Arc::new(Strays::default());
            let text = read_by(FromWindows1252::new(Slow(bytes, given), strays.clone()), taken);
            assert_eq!(text, "a\nZoë €5, € â‚x🎈é", "{given} {taken}");
            assert_eq!(strays.bytes.load(Ordering::Relaxed), 5);
            assert_eq!(strays.first.get().map(|s| (s.line, s.byte)), Some((2, 3)));
        }
        let strays = Arc::new(Strays::default());
        assert_eq!(read_by(FromWindows1252::new(TEXT.as_bytes(), strays.clone()), 3), TEXT);
        assert!(strays.first.get().is_none());
    }
}
