//! Tables as text: CSV (RFC 4180) and TSV.
//!
//! A cell that is a number is the feature `column` with that value; any other text is the feature
//! `column=text` with value 1; an empty cell is missing. That is decided cell by cell. Unquoted cells are
//! trimmed. A cell that spells nan or inf is an error. Columns of codes that may look like numbers
//! (`25837498`, `7e091613`) should be named in `Reading::categories`. TSV has no quotes: a quote there
//! is a character like any other.
//!
//! In the id space a feature's id is its column's position among the feature columns, from 1, and text
//! is an error.
//!
//! Under [`Kinds`](crate::Kinds) the column decides instead of the cell: see `typed`.

mod cells;
mod head;
mod plain;
mod prelude;
mod typed;

use crate::builder::Builder;
use crate::columns::{Columns, Role};
use crate::error::{Bad, not_a_number, shown};
use crate::label::Found;
use crate::line_blocks::record_end;
use crate::remedy::{Remedy, Setting};
use crate::{DataErrorKind, number};

pub(crate) use cells::Dialect;
use cells::cell;
pub(crate) use head::{Head, asked, check_interactions, judged_bytes, sniff};
use plain::Plain;
pub(crate) use prelude::Prelude;
pub(crate) use typed::{Scratch, push_found as push_kind, unfit};

/// Parses a block of whole records.
pub(crate) fn parse(builder: &mut Builder, text: &[u8], columns: &Columns, dialect: Dialect) {
    builder.begin_table(columns);
    let (mut scratch, mut name) = (Vec::new(), Scratch::default());
    let mut plain = Plain::new(builder, columns, dialect);
    let mut at = 0;
    let mut line = 0;
    while at < text.len() {
        if let Some(plain) = &mut plain
            && let Some(next) = plain.record(builder, text, at)
        {
            line += u64::from(text[next - 1] == b'\n');
            at = next;
            continue;
        }
        let end = record_end(&text[at..], dialect.ends()).map_or(text.len(), |n| at + n);
        let record = &text[at..end];
        let lines = memchr::memchr_iter(b'\n', record).count() as u64;
        at = end;
        let row = if record.trim_ascii().is_empty() {
            Ok(())
        } else {
            parse_record(builder, record, columns, dialect, &mut scratch, &mut name)
        };
        if let Err(mut bad) = row {
            // The column counts from the start of the cell's own line.
            let before = &record[..bad.column.saturating_sub(1).min(record.len())];
            let into = memchr::memchr_iter(b'\n', before).count() as u64;
            if let Some(newline) = memchr::memrchr(b'\n', before) {
                bad.column -= newline + 1;
            }
            if !builder.refuse(line + into + 1, bad) {
                break;
            }
        }
        line += lines;
    }
    builder.out.lines += line;
}

fn parse_record(
    builder: &mut Builder,
    record: &[u8],
    columns: &Columns,
    dialect: Dialect,
    scratch: &mut Vec<u8>,
    name: &mut Scratch,
) -> Result<(), Bad> {
    let mut label = None;
    let mut weight = 1.0;
    let mut next = 0;
    let (mut count, mut filled) = (0, 0);
    loop {
        let cell = cell(record, next, dialect, scratch)?;
        let (content, place) = (cell.content, cell.start + 1);
        if let Some(column) = columns.columns.get(count) {
            if count == 0 && columns.has_header && content == column.name.trim().as_bytes() {
                check_header_again(record, columns, dialect)?;
            }
            let named = |bad: Bad| bad.in_field(&column.name);
            if let Some(k) = column.carried {
                builder.carry(k, content);
            }
            match column.role {
                Role::Label => {
                    label = if builder.spec.missing.has_label(content) {
                        builder.no_label(place).map_err(named)?
                    } else {
                        builder.label(Found::Text(content), place).map_err(named)?
                    };
                }
                _ if content.is_empty() => {}
                Role::Ignored => {}
                Role::Weight => weight = builder.importance(content, place).map_err(named)?,
                Role::Feature { id, is_text } => {
                    let found = match is_text {
                        true => Found::Text(content),
                        false => judge(content, place).map_err(named)?,
                    };
                    push(builder, &column.name, id, found, place, &mut name.name).map_err(named)?;
                }
                role => {
                    typed::push(builder, &column.name, role, content, place, name)
                        .map_err(named)?;
                }
            }
        }
        count += 1;
        if !content.is_empty() {
            filled = count;
        }
        next = cell.next;
        if cell.ends_record {
            break;
        }
    }
    let expected = columns.columns.len();
    // Spreadsheets write empty cells behind the last column. Where other rows have none, a separator too many has shifted the cells.
    let has_tail = dialect.has_tail(count.saturating_sub(expected));
    let is_cut = count < expected
        && (!dialect.is_careless
            || columns.columns[count..].iter().any(|column| column.role == Role::Label));
    if is_cut || filled > expected || !has_tail {
        return Err(ragged(record, columns, dialect, count, scratch));
    }
    builder.finish_adding(label, weight, b"")
}

/// Refuses a row that has the names of the columns: files that were put one behind the other.
#[cold]
fn check_header_again(record: &[u8], columns: &Columns, dialect: Dialect) -> Result<(), Bad> {
    let Ok(cells) = head::cells(record, dialect) else { return Ok(()) };
    let names = columns.columns.iter().map(|column| column.name.trim().as_bytes());
    match cells.len() > 1 && names.eq(cells.iter().map(|cell| cell.trim_ascii())) {
        true => {
            let words = "the line has the names of the columns, as the header has";
            let way = Remedy::Advice("remove the line".into());
            Err(Bad::new(DataErrorKind::Malformed, 1, words).or(way))
        }
        false => Ok(()),
    }
}

/// The error of a row that has more or fewer cells than there are columns.
#[cold]
fn ragged(
    record: &[u8],
    columns: &Columns,
    dialect: Dialect,
    count: usize,
    scratch: &mut Vec<u8>,
) -> Bad {
    let expected = columns.columns.len();
    let s = if count == 1 { "" } else { "s" };
    let counts = format!("the row has {count} cell{s} and the table {expected} columns");
    if let Some(column) = columns.columns.get(count) {
        let words =
            format!("{counts}: there is no cell for column {}", shown(column.name.as_bytes()));
        return Bad::new(DataErrorKind::Malformed, 1, words).in_field(&column.name);
    }
    let sign = match dialect.delimiter {
        b',' => "a comma",
        b';' => "a semicolon",
        b'\t' => "a tab",
        _ => "a bar",
    };
    let (mut next, mut i) = (0, 0);
    while let Ok(cell) = cell(record, next, dialect, scratch) {
        if i >= expected && !cell.content.is_empty() {
            let advice = if dialect.has_quotes {
                format!("; a cell that contains {sign} needs quotes")
            } else {
                String::new()
            };
            let words = format!("{counts}: {} stands behind the last{advice}", shown(cell.content));
            return Bad::new(DataErrorKind::Malformed, cell.start + 1, words).found(cell.content);
        }
        if cell.ends_record {
            break;
        }
        (next, i) = (cell.next, i + 1);
    }
    let words =
        format!("{counts}, the last of them empty, unlike in other rows: there is {sign} too many");
    Bad::new(DataErrorKind::Malformed, 1, words)
}

/// A number, or a text.
fn judge(content: &[u8], place: usize) -> Result<Found<'_>, Bad> {
    if let Some(value) = number::whole(content) {
        return Ok(Found::Number(value));
    }
    // A spelled nan or inf is a number gone wrong; "7e091613", beyond any number, is somebody's hash.
    let is_spelled = content.iter().any(|b| b.eq_ignore_ascii_case(&b'n'))
        && std::str::from_utf8(content).is_ok_and(|t| t.parse::<f64>().is_ok());
    match is_spelled {
        true => Err(Bad::new(DataErrorKind::Number, place, not_a_number(content)).found(content)),
        false => Ok(Found::Text(content)),
    }
}

/// Adds the feature of a column: `column` with a value, or `column=text`.
pub(crate) fn push(
    builder: &mut Builder,
    column: &str,
    id: u32,
    found: Found<'_>,
    place: usize,
    name: &mut Vec<u8>,
) -> Result<(), Bad> {
    let max = builder.spec.max_cell;
    let value = match found {
        Found::Number(value) if value.abs() <= max => value,
        Found::Number(value) => {
            let token = format!("{value:e}");
            let bad = number::too_large(token.as_bytes(), place, max);
            return Err(bad.or(Remedy::Codes(column.to_owned())));
        }
        Found::Text(text) if builder.is_ids() => {
            let (cell, column) = (shown(text), shown(column.as_bytes()));
            let words = format!(
                "{cell} in column {column} is not a number, and without hashing every cell must be one"
            );
            let bad = Bad::new(DataErrorKind::Number, place, words);
            return Err(bad.or(Remedy::LeaveOut(Setting::NoHash)).found(text));
        }
        Found::Text(_) => 1.0,
    };
    if builder.is_ids() && !builder.keeps_numbers_apart() {
        builder.push_id(id, value);
        return Ok(());
    }
    builder.enter(column.as_bytes());
    if builder.keeps_numbers_apart() && matches!(found, Found::Number(_)) {
        // Ids of columns count from 1.
        builder.push_number(id as usize - 1, column.as_bytes(), value);
        return Ok(());
    }
    match found {
        Found::Number(_) => builder.push_named(0, b"", column.as_bytes(), value),
        Found::Text(text) => {
            name.clear();
            name.extend_from_slice(column.as_bytes());
            name.push(b'=');
            name.extend_from_slice(text);
            builder.push_named(0, b"", name, value);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::{Rows, error, rows};
    use crate::{Format, Header, Labels, Options, Reading, Space};

    fn csv() -> Options {
        Options::from(Reading { format: Some(Format::Csv), ..Reading::default() })
    }

    fn named(all: &Rows) -> Vec<Vec<(String, f64)>> {
        let name = |j: u32| all.names.iter().find(|(k, _)| *k == j).unwrap().1.clone();
        let sorted = |row: &Vec<(u32, f64)>| {
            let mut row: Vec<_> = row.iter().map(|&(j, v)| (name(j), v)).collect();
            row.sort_by(|a, b| a.0.cmp(&b.0));
            row
        };
        all.rows.iter().map(sorted).collect()
    }

    fn list(pairs: &[(&str, f64)]) -> Vec<(String, f64)> {
        pairs.iter().map(|&(n, v)| (n.to_owned(), v)).collect()
    }

    #[test]
    fn cells_are_numbers_or_texts() {
        let text = concat!(
            "age,city,click,importance\r\n",
            "30,Paris,1,2\r\n",
            "\r\n",
            ",\"New \"\"York\"\", NY\",0,\n",
            "\"1e1\", Rome ,1,0.5",
        );
        let all = rows(text.as_bytes(), &csv()).unwrap();
        assert_eq!(all.labels, [Some(1.0), Some(-1.0), Some(1.0)]);
        assert_eq!(all.weights, [2.0, 1.0, 0.5]);
        assert_eq!(
            named(&all),
            [
                list(&[("age", 30.0), ("city=Paris", 1.0)]),
                list(&[("city=New \"York\", NY", 1.0)]),
                list(&[("age", 10.0), ("city=Rome", 1.0)])
            ]
        );
    }

    #[test]
    fn a_file_without_a_header_numbers_its_columns() {
        let all = rows(
            b"0\t3\t\tx\n1\t\t2\t\"q\n",
            &Options { reading: Reading { format: Some(Format::Tsv), ..csv().reading }, ..csv() },
        );
        let all = all.unwrap();
        assert_eq!(all.labels, [Some(-1.0), Some(1.0)]);
        assert_eq!(named(&all)[0], list(&[("c2", 3.0), ("c4=x", 1.0)]));
        assert_eq!(named(&all)[1], list(&[("c3", 2.0), ("c4=\"q", 1.0)]));
        let last = Options {
            reading: Reading {
                label_column: Some("3".into()),
                labels: Labels::Real,
                ..csv().reading
            },
            ..csv()
        };
        assert_eq!(rows(b"1,2,3.5\n", &last).unwrap().labels, [Some(3.5)]);
        let absent = Options {
            reading: Reading { header: Header::Absent, labels: Labels::Any, ..csv().reading },
            ..csv()
        };
        assert_eq!(rows(b"a,b\nc,d\n", &absent).unwrap().rows.len(), 2);
        let present =
            Options { reading: Reading { header: Header::Present, ..csv().reading }, ..csv() };
        assert_eq!(rows(b"label,2020\n1,5\n", &present).unwrap().names[0].1, "2020");
    }

    #[test]
    fn numbers_may_be_categories_and_columns_ignored() {
        let options = Options {
            reading: Reading {
                categories: vec!["hour".into()],
                ignore: vec!["id".into()],
                ..csv().reading
            },
            ..csv()
        };
        let all = rows(b"id,click,hour\n77,1,14\n", &options).unwrap();
        assert_eq!(named(&all), [list(&[("hour=14", 1.0)])]);
        let all = rows(b"y,hash\n1,7e091613\n", &csv()).unwrap();
        assert_eq!(named(&all), [list(&[("hash=7e091613", 1.0)])]);
    }

    #[test]
    fn columns_have_ids_without_hashing() {
        let options =
            Options { reading: Reading { space: Some(Space::Ids), ..csv().reading }, ..csv() };
        let all = rows(b"a,y,b\n3,1,4\n", &options).unwrap();
        assert_eq!(all.rows, [[(1, 3.0), (2, 4.0)]]);
        assert_eq!(
            error(b"a,y,b\n3,1,x\n", &options),
            "x:2:5: \"x\" in column \"b\" is not a number, and without hashing every cell must be one; leave out no_hash"
        );
    }

    #[test]
    fn columns_are_namespaces() {
        let interactions = vec![vec!["age".into(), "city".into()]];
        let all = rows(
            b"y,age,city\n1,3,Rome\n",
            &Options { reading: Reading { interactions, ..csv().reading }, ..csv() },
        )
        .unwrap();
        let expected = list(&[("age", 3.0), ("age*city=Rome", 3.0), ("city=Rome", 1.0)]);
        assert_eq!(named(&all), [expected]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, expected) in [
            (
                "y,a\n1,2,3\n",
                "x:2:5: the row has 3 cells and the table 2 columns: \"3\" stands behind the last; a cell that contains a comma needs quotes",
            ),
            (
                "y,a\n1\n",
                "x:2:1: the row has 1 cell and the table 2 columns: there is no cell for column \"a\"",
            ),
            ("y,a\n1,2\n1,nan\n", "x:3:3: \"nan\" is not a finite number"),
            ("y,a\n1,-Infinity\n", "x:2:3: \"-Infinity\" is not a finite number"),
            (
                "y,a\n1,1e200\n",
                "x:2:3: \"1e200\" is beyond the largest magnitude, 1e100; if column \"a\" holds codes, make it a category with categories a",
            ),
            ("y,a\n,3\n", "x:2:1: the label is missing; remove the row, or skip it with skip_bad"),
            ("y,a\n3,3\n", "x:2:1: label \"3\" is neither \"-1\" nor \"1\""),
            ("y,importance\n1,-3\n", "x:2:3: importance weight \"-3\" is negative"),
            ("y,a\n1,\"b\n", "x:2:3: the quote is never closed"),
            ("y,a,b\n1,\"p\nq\",\"r\" s\n", "x:3:7: \"s\" stands after a closing quote"),
            ("y,a\n1,\"p\nq\"\n1,inf\n", "x:4:3: \"inf\" is not a finite number"),
            ("y,y\n1,2\n", "x: columns 1 and 2 are both called \"y\"; rename one of the two"),
            ("y,a\n", "x: is empty: no rows"),
        ] {
            assert_eq!(error(text.as_bytes(), &csv()), expected, "{text:?}");
        }
        let missing = Options {
            reading: Reading { label_column: Some("z".into()), ..csv().reading },
            ..csv()
        };
        assert_eq!(error(b"y,a\n1,2\n", &missing), "x: has no column \"z\". The columns are y, a");
    }

    #[test]
    fn a_missing_label_is_fine_when_predicting() {
        let labels = Labels::Optional(Box::new(Labels::Real));
        let all =
            rows(b"y,a\n,3\n", &Options { reading: Reading { labels, ..csv().reading }, ..csv() })
                .unwrap();
        assert_eq!(all.labels, [None]);
    }
}
