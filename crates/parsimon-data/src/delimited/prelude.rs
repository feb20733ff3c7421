//! Lines before the header of a table: Excel's `sep=;`, and comments.

use memchr::memchr;

use super::head::{cells, sniff};
use crate::Format;
use crate::delimited::Dialect;

/// Lines that stand before a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prelude {
    /// Their bytes and their number.
    pub(crate) bytes: usize,
    pub(crate) lines: u64,
    /// The separator that they name.
    pub(crate) separator: Option<u8>,
}

impl Prelude {
    /// Whether a first line may belong to a prelude, whose end is in the lines behind it.
    pub(crate) fn may_begin(head: &[u8]) -> bool {
        head.trim_ascii_start().first() == Some(&b'#')
    }

    /// Finds the lines before the table at the start of a text.
    pub(crate) fn of(head: &[u8], is_whole: bool, format: Format, separator: Option<u8>) -> Self {
        if !matches!(format, Format::Csv | Format::Tsv) {
            return Self::default();
        }
        let mut prelude = Self::default();
        if format == Format::Csv
            && let Some((sign, end)) = named_separator(head)
        {
            prelude = Self { bytes: end, lines: 1, separator: Some(sign) };
        }
        let rest = &head[prelude.bytes..];
        let separator = prelude.separator.or(separator);
        if let Some((bytes, lines)) = comments(rest, is_whole, format, separator) {
            prelude.bytes += bytes;
            prelude.lines += lines;
        }
        prelude
    }
}

/// The separator that a first line `sep=;` names, and where the line ends.
fn named_separator(head: &[u8]) -> Option<(u8, usize)> {
    let end = memchr(b'\n', head)?;
    let line = head[..end].strip_suffix(b"\r").unwrap_or(&head[..end]);
    let line = line.strip_prefix(b"\"").and_then(|l| l.strip_suffix(b"\"")).unwrap_or(line);
    let (name, sign) = line.split_at_checked(4)?;
    match sign {
        [sign] if name.eq_ignore_ascii_case(b"sep=") => Some((*sign, end + 1)),
        _ => None,
    }
}

/// The bytes and lines of comments: lines that begin with `#` and do not have as many cells as the line behind them. A header may
/// begin with `#`, too.
fn comments(
    head: &[u8],
    is_whole: bool,
    format: Format,
    separator: Option<u8>,
) -> Option<(usize, u64)> {
    let mut lines: Vec<(usize, &[u8])> = Vec::new();
    let mut at = 0;
    let first = loop {
        let rest = head.get(at..).filter(|rest| !rest.is_empty())?;
        let len = memchr(b'\n', rest).map_or(rest.len(), |n| n + 1);
        let line = rest[..len].trim_ascii();
        if !line.is_empty() && line[0] != b'#' {
            break rest;
        }
        at += len;
        lines.push((at, line));
    };
    if !lines.iter().any(|(_, line)| !line.is_empty()) {
        return None;
    }
    let dialect = match format {
        Format::Tsv => Dialect::TSV,
        _ => sniff(first, is_whole, separator),
    };
    let end = memchr(b'\n', first).unwrap_or(first.len());
    let width = |line: &[u8]| cells(line, dialect).map_or(0, |cells| cells.len());
    let names = cells(&first[..end], dialect).unwrap_or_default();
    let has_number = names.iter().any(|name| crate::number::whole(name).is_some());
    // A header is the last of these lines.
    let (_, last) = lines.iter().rev().find(|(_, line)| !line.is_empty())?;
    let is_sentence = last.starts_with(b"# ") || last.starts_with(b"##");
    let is_header = width(last) == names.len() && (has_number || !is_sentence);
    let count = match is_header {
        true => lines.iter().rposition(|(_, line)| line == last)?,
        false => lines.len(),
    };
    let bytes = count.checked_sub(1).map(|k| lines[k].0)?;
    Some((bytes, count as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prelude(text: &str) -> (usize, u64, Option<char>) {
        let Prelude { bytes, lines, separator } =
            Prelude::of(text.as_bytes(), true, Format::Csv, None);
        (bytes, lines, separator.map(char::from))
    }

    #[test]
    fn lines_before_a_table_are_told_from_its_header() {
        assert_eq!(prelude("sep=;\r\na;b\r\n1;2\r\n"), (7, 1, Some(';')));
        assert_eq!(prelude("\"SEP=|\"\na|b\n"), (8, 1, Some('|')));
        assert_eq!(prelude("sep=;;\na\n"), (0, 0, None));
        assert_eq!(prelude("a,b\n1,2\n"), (0, 0, None));
        assert_eq!(prelude("# made today\na,b,c\n1,2,3\n"), (13, 1, None));
        assert_eq!(prelude("# made by p, q\na,b\n1,2\n"), (15, 1, None));
        assert_eq!(prelude("## x\n#a,b\n1,2\n"), (5, 1, None));
        // A header, and colors.
        assert_eq!(prelude("#a,b\n1,2\n"), (0, 0, None));
        assert_eq!(prelude("#fff,1\n#ffe,2\n"), (0, 0, None));
        assert_eq!(prelude("sep=,\n# x\n\na,b\n"), (11, 3, Some(',')));
    }
}
