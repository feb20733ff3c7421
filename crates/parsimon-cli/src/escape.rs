//! Escapes for control characters of names, labels and paths, which a terminal would execute: a column can be named `\x1b[2J`.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with control characters other than tabs and line ends written as `\x1b`.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_obeyed(c) {
            // Writing into a text does not fail.
            true => _ = write!(shown, "\\x{:02x}", u32::from(c)),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// Escapes bytes that may not be UTF-8; invalid bytes are kept.
pub(crate) fn escaped_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(bytes) {
        Ok(text) => match escaped(text) {
            Cow::Borrowed(_) => bytes.into(),
            Cow::Owned(text) => text.into_bytes().into(),
        },
        Err(_) => bytes.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(escaped("a\tb\r\n"), "a\tb\r\n");
        assert_eq!(escaped("é日"), "é日");
        assert_eq!(escaped("x\x1b[31my\x07"), "x\\x1b[31my\\x07");
        assert_eq!(escaped("\u{9b}2J\x7f"), "\\x9b2J\\x7f");
        assert_eq!(&*escaped_bytes(b"\x1bc\xff"), b"\x1bc\xff");
        assert_eq!(&*escaped_bytes(b"\x1bc"), b"\\x1bc");
    }
}
