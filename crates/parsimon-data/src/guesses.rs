//! Guesses about a table of text, with the setting that changes each.

use crate::columns::Columns;
use crate::remedy::{Message, Remedy};
use crate::{Format, Header, Options};

/// Why JSON rows are not read as those of a table.
pub(crate) const BAGS: &str = "rows have few of many fields, so each field is read by itself: numbers as they are, texts as categories; write the rows as a table to have kinds of columns";

/// The guesses that may be wrong. Commas in CSV and a line of names are the usual case and not listed.
pub(crate) fn of(columns: &Columns, format: Format, options: &Options) -> Vec<Message> {
    let mut guesses = Vec::new();
    if format == Format::Csv && columns.delimiter != b',' && options.reading.separator.is_none() {
        let sign = match columns.delimiter {
            b';' => "semicolons".to_owned(),
            b'\t' => "tabs".to_owned(),
            b'|' => "vertical bars".to_owned(),
            other => format!("{:?}", char::from(other)),
        };
        let fact = format!("cells are separated by {sign}");
        guesses.push(Message::new(fact).or(Remedy::AnotherSeparator));
    }
    let is_delimited = matches!(format, Format::Csv | Format::Tsv);
    if is_delimited && !columns.has_header && options.reading.header == Header::Guess {
        let fact = "no header: the first line is a row, and columns are called c1, c2, ...";
        guesses.push(Message::new(fact).or(Remedy::HeaderPresent));
    }
    guesses
}
