//! The first records of delimited text: what separates cells, the names of columns, and their kinds.

use std::sync::Arc;

use memchr::{memchr, memchr_iter};

use super::cells::{Dialect, cell};
use crate::columns::{Columns, check_names};
use crate::kinds::{Asked, Candidate, Judge, Missing, ROWS, choose};
use crate::line_blocks::record_end;
use crate::selector::Selector;
use crate::{Header, Kinds, Labels, Options, TableSchema};

/// The most bytes that are looked at.
const MOST: usize = 64 << 20;
/// The records that decide what separates cells.
const SNIFFED: usize = 20;

/// The place of the first record, where it is a row.
const FIRST: usize = usize::MAX;

/// What the first records say.
pub(crate) struct Head {
    pub(crate) columns: Columns,
    /// The kinds of columns, where columns have kinds.
    pub(crate) table: Option<Arc<TableSchema>>,
    /// The bytes and lines of the header.
    pub(crate) bytes: usize,
    pub(crate) lines: u64,
}

/// How many of the first bytes decide the kinds; `None` if more are needed and not here yet. The number depends on the
/// text alone, whatever the sizes of reads.
pub(crate) fn judged_bytes(head: &[u8]) -> Option<usize> {
    match memchr_iter(b'\n', head).nth(ROWS) {
        Some(newline) if newline < MOST => Some(newline + 1),
        _ => (head.len() >= MOST).then_some(MOST),
    }
}

/// What separates the cells of a text: the sign that cuts its first records into most cells, as many in each, unless one is given.
pub(crate) fn sniff(head: &[u8], is_whole: bool, separator: Option<u8>) -> Dialect {
    let given = separator.map(|delimiter| Dialect { delimiter, ..Dialect::CSV });
    let mut best = (1, given.unwrap_or(Dialect::CSV));
    let candidates: &[u8] = if separator.is_some() { &[] } else { b",;\t|" };
    for &delimiter in candidates {
        let dialect = Dialect { delimiter, ..Dialect::CSV };
        let mut counts = Records { head, at: 0, dialect, is_whole }
            .take(SNIFFED)
            .map(|record| cells(record, dialect).map_or(0, |cells| cells.len()));
        let Some(first) = counts.next() else { continue };
        // Of two that cut alike the other is a decimal comma.
        let is_better = first > best.0 || (first > 1 && first == best.0);
        if is_better && counts.all(|count| count == first) {
            best = (first, dialect);
        }
    }
    let careless = Dialect { is_careless: true, ..best.1 };
    if has_careless_quotes(head, is_whole, best.1, careless) { careless } else { best.1 }
}

/// Whether quotes do not fit as they should, and lines have the same number of cells if they are read as a careless
/// program writes them.
fn has_careless_quotes(head: &[u8], is_whole: bool, right: Dialect, careless: Dialect) -> bool {
    if memchr(b'"', head).is_none() {
        return false;
    }
    let mut rows = Records { head, at: 0, dialect: right, is_whole };
    if rows.all(|record| cells(record, right).is_ok()) {
        return false;
    }
    let lines = Records { head, at: 0, dialect: careless, is_whole };
    let counts: Vec<usize> =
        lines.map(|line| cells(line, careless).map_or(0, |cells| cells.len())).collect();
    let Some(&first) = counts.first() else { return false };
    let same = counts.iter().filter(|count| **count == first).count();
    counts.iter().all(|count| *count <= first) && 20 * same > 19 * counts.len()
}

/// Whole records that are not blank.
struct Records<'a> {
    head: &'a [u8],
    at: usize,
    dialect: Dialect,
    /// Whether the text ends with the head; else its last record may be cut.
    is_whole: bool,
}

impl<'a> Iterator for Records<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = &self.head[self.at..];
            let end = match record_end(rest, self.dialect.ends()) {
                Some(end) => end,
                // A first record without an end is all there is.
                None if (self.is_whole || self.at == 0) && !rest.is_empty() => rest.len(),
                None => return None,
            };
            self.at += end;
            if !rest[..end].trim_ascii().is_empty() {
                return Some(&rest[..end]);
            }
        }
    }
}

/// The cells of a record.
fn cells(record: &[u8], dialect: Dialect) -> Result<Vec<Vec<u8>>, String> {
    let (mut scratch, mut next, mut cells) = (Vec::new(), 0, Vec::new());
    loop {
        let cell = cell(record, next, dialect, &mut scratch).map_err(|bad| bad.message.clone())?;
        cells.push(cell.content.to_vec());
        next = cell.next;
        if cell.ends_record {
            return Ok(cells);
        }
    }
}

impl Head {
    /// Looks at the first records. `head` must hold the first whole, or all there is: `is_whole` if it ends with the text,
    /// `is_all` if no other input follows.
    pub(crate) fn new(
        head: &[u8],
        is_whole: bool,
        is_all: bool,
        dialect: Dialect,
        options: &Options,
    ) -> Result<Self, String> {
        let mut at = 0;
        let mut lines = 0;
        while let Some(end) = memchr(b'\n', &head[at..])
            && head[at..at + end].trim_ascii().is_empty()
        {
            at += end + 1;
            lines += 1;
        }
        let end = record_end(&head[at..], dialect.ends()).map_or(head.len(), |n| at + n);
        let record = &head[at..end];
        let mut first: Vec<String> = cells(record, dialect)?
            .iter()
            .map(|cell| String::from_utf8_lossy(cell).into_owned())
            .collect();
        let mut found = None;
        let is_header = match &options.kinds {
            Kinds::Found => {
                let rows = Records { head: &head[end..], at: 0, dialect, is_whole };
                let judged = Judged::new(&first, rows, dialect, options);
                let is_header = judged.is_header;
                found = Some(judged);
                is_header
            }
            Kinds::Known(schema) => is_header_of(&first, schema, options),
            Kinds::ByCell => is_header(&first, options),
        };
        for (i, cell) in first.iter_mut().enumerate() {
            if !is_header || cell.is_empty() {
                *cell = format!("c{}", i + 1);
            }
        }
        let table = match (&options.kinds, found) {
            (Kinds::Known(schema), _) => Some(schema.clone()),
            (_, Some(judged)) => {
                check_names(&first)?;
                let comma_decimals = dialect.delimiter != b',';
                let is_all = is_whole && is_all;
                let mut schema = judged.schema(&first, is_all, comma_decimals, options)?;
                // Places count from the end of the first record.
                let line_of = |place: u64| match usize::try_from(place) {
                    Ok(place) if place < FIRST => count_lines(&head[..end + place]) + 1,
                    _ => count_lines(&head[..at]) + 1,
                };
                for odd in schema.columns.iter_mut().flat_map(|column| &mut column.missing) {
                    odd.line = odd.line.map(line_of);
                }
                Some(Arc::new(schema))
            }
            _ => None,
        };
        if !options.unfit_is_missing {
            check_interactions(&first, options)?;
        }
        let mut columns = match &table {
            Some(table) => Columns::by_kind(&first, options, table)?,
            None => Columns::new(&first, options, Some(0))?,
        };
        columns = columns.carry(&options.carried_columns)?;
        columns.delimiter = dialect.delimiter;
        columns.has_header = is_header;
        columns.is_careless = dialect.is_careless;
        let (bytes, lines) = match is_header {
            true => (end, lines + count_lines(record)),
            false => (0, 0),
        };
        Ok(Self { columns, table, bytes, lines })
    }
}

fn count_lines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// Whether the first record names the columns, from it alone.
fn is_header(first: &[String], options: &Options) -> bool {
    match options.header {
        Header::Present => true,
        Header::Absent => false,
        Header::Guess => {
            // An index column written by pandas has no name; other columns do.
            let is_data = first.iter().any(|cell| is_number(cell))
                || first.iter().skip(1).any(String::is_empty);
            is_asked_for(first, options) || !is_data
        }
    }
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

/// Whether the record has the label's name. A number asks for a column by position, and proves nothing when it also stands
/// in a cell.
fn is_asked_for(first: &[String], options: &Options) -> bool {
    options.label_column.as_ref().is_some_and(|name| !is_number(name) && first.contains(name))
}

/// The same for a table of known columns.
fn is_header_of(first: &[String], schema: &TableSchema, options: &Options) -> bool {
    if options.header != Header::Guess {
        return options.header == Header::Present;
    }
    let known = first.iter().filter(|name| schema.column(name).is_some()).count();
    let were_numbered = schema.columns.iter().zip(1..).all(|(c, i)| c.name == format!("c{i}"));
    2 * known >= first.len() || !were_numbered && is_header(first, options)
}

/// The kinds of columns, from all rows of the head.
struct Judged {
    is_header: bool,
    judges: Vec<Judge>,
}

impl Judged {
    fn new(first: &[String], rows: Records<'_>, dialect: Dialect, options: &Options) -> Self {
        let mut judges = vec![Judge::default(); first.len()];
        let mut scratch = Vec::new();
        let missing = Missing::beside_usual(&options.missing);
        let take = |judge: &mut Judge, cell: &[u8], place: usize| {
            let cell = cell.trim_ascii();
            match missing.has(cell) {
                true => judge.take_missing(),
                false => judge.take_value_at(cell, place),
            }
        };
        let mut rows = rows;
        'rows: while let Some(record) = rows.next() {
            let (mut next, place) = (0, rows.at - record.len());
            for judge in &mut judges {
                // What is wrong with a row is said when it is read.
                let Ok(cell) = cell(record, next, dialect, &mut scratch) else { break 'rows };
                take(judge, cell.content, place);
                next = cell.next;
                if cell.ends_record {
                    break;
                }
            }
        }
        let is_header = match options.header {
            Header::Guess => is_header_above(first, &judges, options),
            other => other == Header::Present,
        };
        if !is_header {
            let cells = first.iter().zip(&mut judges);
            cells.for_each(|(cell, judge)| take(judge, cell.as_bytes(), FIRST));
        }
        Self { is_header, judges }
    }

    fn schema(
        &self,
        names: &[String],
        is_whole: bool,
        comma_decimals: bool,
        options: &Options,
    ) -> Result<TableSchema, String> {
        let table = Candidate::new(names, &self.judges, self.is_header, is_whole, comma_decimals);
        choose(&table, &asked(options))
    }
}

/// What the options say about columns.
pub(crate) fn asked(options: &Options) -> Asked<'_> {
    Asked {
        label: options.label_column.as_deref(),
        weight: options.weight_column.as_deref(),
        numbers: &options.number_columns,
        categories: &options.text_columns,
        texts: &options.word_columns,
        ignored: &options.ignored_columns,
        kept: &options.kept_columns,
        missing: &options.missing,
        ngrams: options.ngrams,
        is_label_optional: matches!(options.labels, Labels::Optional(_)),
    }
}

/// Refuses interactions of columns that are not there.
pub(crate) fn check_interactions(names: &[String], options: &Options) -> Result<(), String> {
    Selector::check_all(options.interactions.iter().flatten(), names, "column")
}

/// Whether the first record names the columns, from it and the rows below.
fn is_header_above(first: &[String], judges: &[Judge], options: &Options) -> bool {
    if is_asked_for(first, options) {
        return true;
    }
    if first.iter().any(|cell| is_number(cell)) || first.iter().skip(1).any(String::is_empty) {
        return false;
    }
    let columns = || first.iter().zip(judges).filter(|(_, judge)| judge.values() > 0);
    // A text above numbers is their name. Where all are texts, names are not among the values.
    columns().any(|(_, judge)| judge.are_numbers())
        || !columns().any(|(name, judge)| judge.has_seen(name.trim().as_bytes()))
}
