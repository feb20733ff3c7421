//! The first records of delimited text: what separates cells, the names of columns, and their kinds.

use std::sync::Arc;

use memchr::{memchr, memchr_iter};

use super::cells::{Dialect, cell};
use crate::columns::{ANY_TAILS, Columns, check_names};
use crate::error::shown;
use crate::kinds::{Asked, Candidate, Judge, Missing, ROWS, choose};
use crate::line_blocks::record_end;
use crate::remedy::{Message, Remedy};
use crate::selector::Selector;
use crate::{Header, Kinds, Labels, Options, TableSchema, number};

/// The most bytes that are looked at.
const MOST: usize = 64 << 20;
/// The records that decide what separates cells.
const SNIFFED: usize = 20;

/// The place of the first record, where it is a row.
const FIRST: usize = usize::MAX;

/// Findings in the first records.
pub(crate) struct Head {
    pub(crate) columns: Columns,
    /// The kinds of columns, where columns have kinds.
    pub(crate) table: Option<Arc<TableSchema>>,
    /// The bytes and lines of the header.
    pub(crate) bytes: usize,
    pub(crate) lines: u64,
}

/// How many of the first bytes decide the kinds; `None` if more are needed and not here yet. The number depends on the
/// text alone, regardless of the sizes of reads.
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
        // If two signs cut alike, the other sign is a decimal comma.
        let is_better = first > best.0 || (first > 1 && first == best.0);
        if is_better && counts.all(|count| count == first) {
            best = (first, dialect);
        }
    }
    let careless = Dialect { is_careless: true, ..best.1 };
    if has_careless_quotes(head, is_whole, best.1, careless) { careless } else { best.1 }
}

/// Whether quotes violate RFC 4180, and lines have the same number of cells if quotes within cells are read as text.
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
pub(super) fn cells(record: &[u8], dialect: Dialect) -> Result<Vec<Vec<u8>>, Message> {
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
    /// Looks at the first records, before which there were so many lines. `head` must hold the first whole, or all there is: `is_whole`
    /// if it ends with the text, `is_all` if no other input follows.
    pub(crate) fn new(
        head: &[u8],
        before: u64,
        is_whole: bool,
        is_all: bool,
        dialect: Dialect,
        options: &Options,
    ) -> Result<Self, Message> {
        let mut at = 0;
        let mut lines = before;
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
        let rows = || Records { head: &head[end..], at: 0, dialect, is_whole };
        check_blanks(record, rows(), before + count_lines(&head[..at]) + 1)?;
        check_width(&first, rows(), before + count_lines(&head[..at]) + 1)?;
        let mut found = None;
        let is_header = match &options.reading.kinds {
            Kinds::Found => {
                let judged = Judged::new(&first, rows(), dialect, options);
                let is_header = judged.is_header;
                if is_header {
                    check_second_header(rows(), dialect, before + count_lines(&head[..end]))?;
                }
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
        let table = match (&options.reading.kinds, found) {
            (Kinds::Known(schema), _) => Some(schema.clone()),
            (_, Some(judged)) => {
                check_names(&first)?;
                let comma_decimals = dialect.delimiter != b',';
                let is_all = is_whole && is_all;
                let mut schema = judged.schema(&first, is_all, comma_decimals, options)?;
                // Places count from the end of the first record.
                let line_of = |place: u64| match usize::try_from(place) {
                    Ok(place) if place < FIRST => before + count_lines(&head[..end + place]) + 1,
                    _ => before + count_lines(&head[..at]) + 1,
                };
                for odd in schema.columns.iter_mut().flat_map(|column| &mut column.missing) {
                    odd.line = odd.line.map(line_of);
                }
                Some(Arc::new(schema))
            }
            _ => None,
        };
        if !options.ask.unfit_is_missing {
            check_interactions(&first, options)?;
        }
        let mut columns = match &table {
            Some(table) => Columns::by_kind(&first, options, table)?,
            None => Columns::new(&first, options, Some(0))?,
        };
        columns = columns.carry(&options.ask.carried)?;
        columns.delimiter = dialect.delimiter;
        columns.has_header = is_header;
        columns.is_careless = dialect.is_careless;
        columns.tails = tails(rows(), dialect, first.len());
        let (bytes, lines) = match is_header {
            true => (end, lines + count_lines(record)),
            false => (0, before),
        };
        Ok(Self { columns, table, bytes, lines })
    }
}

/// The numbers of empty cells that some of the first rows have behind the last column; any number where no row is known yet.
fn tails(rows: Records<'_>, dialect: Dialect, columns: usize) -> u64 {
    const ROWS: usize = 1000;
    /// One row in so many has such a tail, and more than one.
    const RARE: usize = 20;
    let mut counts = [0_usize; 64];
    let mut all = 0;
    let mut scratch = Vec::new();
    for record in rows.take(ROWS) {
        let (mut next, mut count) = (0, 0_usize);
        while let Ok(cell) = cell(record, next, dialect, &mut scratch) {
            count += 1;
            next = cell.next;
            if cell.ends_record {
                break;
            }
        }
        all += 1;
        counts[count.saturating_sub(columns).min(63)] += 1;
    }
    if all == 0 {
        return ANY_TAILS;
    }
    let is_usual = |count: usize| count > 1 && RARE * count >= all || count == all;
    (1..64).filter(|&k| is_usual(counts[k])).fold(1, |tails, k| tails | 1 << k)
}

/// Refuses a table whose cells are separated by blanks: each row would be one cell.
fn check_blanks(first: &[u8], rows: Records<'_>, line: u64) -> Result<(), Message> {
    let dialect = rows.dialect;
    if cells(first, dialect)?.len() > 1 {
        return Ok(());
    }
    let words =
        |record: &[u8]| record.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).count();
    let (width, mut count) = (words(first), 0);
    let is_table = width > 1
        && rows.take(SNIFFED).all(|record| {
            count += 1;
            words(record) == width
        });
    if is_table && count > 1 {
        let fact = format!("line {line}: cells seem to be separated by blanks, which are not read");
        let way = Remedy::Advice(
            "write commas between them, for example with: tr -s ' ' ',' < FILE".into(),
        );
        return Err(Message::new(fact).or(way));
    }
    Ok(())
}

/// Refuses a first record that has fewer cells than all of the next: a title, or names of all columns but the first.
fn check_width(first: &[String], rows: Records<'_>, line: u64) -> Result<(), Message> {
    let dialect = rows.dialect;
    let (mut width, mut count, mut is_filled) = (None, 0, false);
    for record in rows.take(SNIFFED) {
        let Ok(cells) = cells(record, dialect) else { return Ok(()) };
        if cells.len() <= first.len() || *width.get_or_insert(cells.len()) != cells.len() {
            return Ok(());
        }
        is_filled |= cells.last().is_some_and(|cell| !cell.is_empty());
        count += 1;
    }
    let Some(width) = width.filter(|_| count > 1 && is_filled) else { return Ok(()) };
    let names = first.len();
    let s = if names == 1 { "" } else { "s" };
    let fact = format!("line {line} has {names} cell{s} and the lines below have {width}");
    let way = match names > 1 && width == names + 1 {
        true => {
            "if these are names of columns, as R writes them, put one for the first column in front"
        }
        false => "if the line is a title, remove it",
    };
    Err(Message::new(fact).or(Remedy::Advice(way.into())))
}

/// Refuses a second line of names or units below the header: it would be read as a row, and make columns of numbers categories.
fn check_second_header(rows: Records<'_>, dialect: Dialect, before: u64) -> Result<(), Message> {
    const ROWS: usize = 100;
    let mut rows = rows;
    let Some(second) = rows.next() else { return Ok(()) };
    let line = before + count_lines(&rows.head[..rows.at - second.len()]) + 1;
    let Ok(second) = cells(second, dialect) else { return Ok(()) };
    let (mut are_numbers, mut count) = (vec![true; second.len()], 0);
    for record in rows.take(ROWS) {
        let Ok(cells) = cells(record, dialect) else { break };
        for (i, is_number) in are_numbers.iter_mut().enumerate() {
            *is_number &= cells.get(i).is_some_and(|cell| number::whole(cell).is_some());
        }
        count += 1;
    }
    let texts: Vec<&Vec<u8>> =
        second.iter().zip(&are_numbers).filter(|(_, is)| **is).map(|(cell, _)| cell).collect();
    let has_number = second.iter().any(|cell| number::whole(cell).is_some());
    let is_name = |cell: &&Vec<u8>| !crate::kinds::is_missing_word(&String::from_utf8_lossy(cell));
    let are_different = texts.iter().enumerate().all(|(i, cell)| !texts[..i].contains(cell));
    if count >= 2 && !has_number && texts.len() >= 2 && texts.iter().all(is_name) && are_different {
        let fact = format!(
            "line {line}: a second line of names, such as {}, stands above the numbers",
            shown(texts[0])
        );
        return Err(Message::new(fact).or(Remedy::Advice("remove the line".into())));
    }
    Ok(())
}

fn count_lines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// Whether the first record names the columns, from it alone.
fn is_header(first: &[String], options: &Options) -> bool {
    match options.reading.header {
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

/// Whether a record has these cells.
fn is_same(cells: &[Vec<u8>], first: &[String]) -> bool {
    cells.iter().map(Vec::as_slice).eq(first.iter().map(String::as_bytes))
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

/// Whether the record has the label's name. A number asks for a column by position, and proves nothing when it also stands
/// in a cell.
fn is_asked_for(first: &[String], options: &Options) -> bool {
    options
        .reading
        .label_column
        .as_ref()
        .is_some_and(|name| !is_number(name) && first.contains(name))
}

/// The columns of a table that a schema describes.
fn is_header_of(first: &[String], schema: &TableSchema, options: &Options) -> bool {
    if options.reading.header != Header::Guess {
        return options.reading.header == Header::Present;
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
        let missing = Missing::beside_usual(&options.reading.missing);
        let take = |judge: &mut Judge, cell: &[u8], place: usize| {
            let cell = cell.trim_ascii();
            match missing.has(cell) {
                true => judge.take_missing(),
                false => judge.take_value_at(cell, place),
            }
        };
        // A header that is there again among the rows is no row: it is refused when it is read.
        let may_repeat = !first.iter().any(|cell| is_number(cell));
        let is_again = |record: &[u8]| {
            let begins = first.first().is_some_and(|cell| record.starts_with(cell.as_bytes()));
            may_repeat && begins && cells(record, dialect).is_ok_and(|cells| is_same(&cells, first))
        };
        let mut repeats = 0;
        let mut rows = rows;
        'rows: while let Some(record) = rows.next() {
            if is_again(record) {
                repeats += 1;
                continue;
            }
            let (mut next, place) = (0, rows.at - record.len());
            for judge in &mut judges {
                // Errors of a row are reported when the row is read.
                let Ok(cell) = cell(record, next, dialect, &mut scratch) else { break 'rows };
                take(judge, cell.content, place);
                next = cell.next;
                if cell.ends_record {
                    break;
                }
            }
        }
        let is_header = match options.reading.header {
            Header::Guess => is_header_above(first, &judges, options),
            other => other == Header::Present,
        };
        if !is_header {
            for _ in 0..=repeats {
                let cells = first.iter().zip(&mut judges);
                cells.for_each(|(cell, judge)| take(judge, cell.as_bytes(), FIRST));
            }
        }
        Self { is_header, judges }
    }

    fn schema(
        &self,
        names: &[String],
        is_whole: bool,
        comma_decimals: bool,
        options: &Options,
    ) -> Result<TableSchema, Message> {
        let table = Candidate::new(names, &self.judges, self.is_header, is_whole, comma_decimals);
        choose(&table, &asked(options))
    }
}

/// Columns of the options.
pub(crate) fn asked(options: &Options) -> Asked<'_> {
    Asked {
        label: options.reading.label_column.as_deref(),
        weight: options.reading.weight_column.as_deref(),
        numbers: &options.reading.numbers,
        categories: &options.reading.categories,
        texts: &options.reading.texts,
        ignored: &options.reading.ignore,
        kept: &options.reading.keep,
        missing: &options.reading.missing,
        ngrams: options.reading.ngrams,
        is_label_optional: matches!(options.reading.labels, Labels::Optional(_)),
    }
}

/// Refuses interactions of columns that are not there.
pub(crate) fn check_interactions(names: &[String], options: &Options) -> Result<(), String> {
    Selector::check_all(options.reading.interactions.iter().flatten(), names, "column")
}

/// Whether the first record names the columns, from it and the rows below.
fn is_header_above(first: &[String], judges: &[Judge], options: &Options) -> bool {
    if is_asked_for(first, options) {
        return true;
    }
    // A column without cells needs no name.
    let lacks_name = |(cell, judge): (&String, &Judge)| cell.is_empty() && judge.values() > 0;
    if first.iter().any(|cell| is_number(cell)) || first.iter().zip(judges).skip(1).any(lacks_name)
    {
        return false;
    }
    let columns = || first.iter().zip(judges).filter(|(_, judge)| judge.values() > 0);
    // A text above numbers is their name. Where all are texts, names are not among the values.
    columns().any(|(_, judge)| judge.are_numbers())
        || !columns().any(|(name, judge)| judge.has_seen(name.trim().as_bytes()))
}
