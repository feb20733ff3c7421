//! Cells of delimited text.

use memchr::{memchr, memchr2, memrchr};

use crate::DataErrorKind;
use crate::columns::ANY_TAILS;
use crate::error::{Bad, shown};
use crate::line_blocks::Ends;

/// Format of cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) has_quotes: bool,
    /// Whether quotes are as a careless program writes them: never across lines, not always closed, and single within
    /// a cell. Cells missing at the end of a row are empty.
    pub(crate) is_careless: bool,
    /// How many empty cells may stand behind the last column: a bit for each number, the last for so many and more.
    pub(crate) tails: u64,
}

impl Dialect {
    pub(crate) const CSV: Self =
        Self { delimiter: b',', has_quotes: true, is_careless: false, tails: ANY_TAILS };
    pub(crate) const TSV: Self = Self { delimiter: b'\t', has_quotes: false, ..Self::CSV };

    /// Whether rows may have so many empty cells behind the last column.
    pub(crate) fn has_tail(self, cells: usize) -> bool {
        cells == 0 || self.tails >> cells.min(63) & 1 == 1
    }

    pub(crate) fn ends(self) -> Ends {
        if self.has_quotes && !self.is_careless {
            Ends::Quoted { delimiter: self.delimiter }
        } else {
            Ends::Newline
        }
    }
}

/// A cell: its content, and the position after it.
pub(super) struct Cell<'a> {
    pub(super) content: &'a [u8],
    pub(super) start: usize,
    pub(super) next: usize,
    pub(super) ends_record: bool,
}

/// The cell at `start`; `scratch` holds it when quotes inside were doubled. Columns are offsets + 1.
pub(super) fn cell<'a>(
    text: &'a [u8],
    start: usize,
    dialect: Dialect,
    scratch: &'a mut Vec<u8>,
) -> Result<Cell<'a>, Bad> {
    if !(dialect.has_quotes && text.get(start) == Some(&b'"')) {
        let rest = &text[start..];
        let len = memchr2(dialect.delimiter, b'\n', rest).unwrap_or(rest.len());
        let ends_record = rest.get(len).is_none_or(|&b| b == b'\n');
        return Ok(Cell {
            content: rest[..len].trim_ascii(),
            start,
            next: start + len + 1,
            ends_record,
        });
    }
    scratch.clear();
    let mut from = start + 1;
    let mut at = from;
    let content = loop {
        let Some(quote) = memchr(b'"', &text[at..]).map(|n| at + n) else {
            if dialect.is_careless {
                // The cell ends with the first separator behind the last quote.
                let quoted = memrchr(b'"', &text[start + 1..]).map_or(start + 1, |n| start + 2 + n);
                let rest = &text[quoted..];
                let len = memchr2(dialect.delimiter, b'\n', rest).unwrap_or(rest.len());
                at = quoted + len;
                let inner = text[start + 1..at].trim_ascii();
                scratch.clear();
                scratch.extend_from_slice(inner.strip_suffix(b"\"").unwrap_or(inner));
                break &scratch[..];
            }
            return Err(Bad::new(DataErrorKind::Malformed, start + 1, "the quote is never closed"));
        };
        if text.get(quote + 1) == Some(&b'"') {
            scratch.extend_from_slice(&text[from..=quote]);
            at = quote + 2;
            from = at;
            continue;
        }
        at = quote + 1;
        if dialect.is_careless && !ends_cell(&text[at..], dialect) {
            scratch.extend_from_slice(&text[from..at]);
            from = at;
            continue;
        }
        if scratch.is_empty() {
            break &text[from..quote];
        }
        scratch.extend_from_slice(&text[from..quote]);
        break &scratch[..];
    };
    let rest = &text[at..];
    let len = memchr2(dialect.delimiter, b'\n', rest).unwrap_or(rest.len());
    let ends_record = rest.get(len).is_none_or(|&b| b == b'\n');
    if !rest[..len].trim_ascii().is_empty() {
        let found = rest[..len].trim_ascii();
        let words = format!("{} stands after a closing quote", shown(found));
        return Err(Bad::new(DataErrorKind::Malformed, at + 1, words).found(found));
    }
    Ok(Cell { content, start, next: at + len + 1, ends_record })
}

/// Whether only blanks stand before the end of the cell.
fn ends_cell(rest: &[u8], dialect: Dialect) -> bool {
    let len = memchr2(dialect.delimiter, b'\n', rest).unwrap_or(rest.len());
    rest[..len].trim_ascii().is_empty()
}
