//! What was guessed of a table of text, in sentences with the flag that changes the guess.

use crate::columns::Columns;
use crate::{Format, Header, Options};

/// The guesses that may be wrong. Commas in CSV and a line of names are the usual case and not listed.
pub(crate) fn of(columns: &Columns, format: Format, options: &Options) -> Vec<String> {
    let mut guesses = Vec::new();
    if format == Format::Csv && columns.delimiter != b',' && options.separator.is_none() {
        let sign = match columns.delimiter {
            b';' => "semicolons".to_owned(),
            b'\t' => "tabs".to_owned(),
            b'|' => "vertical bars".to_owned(),
            other => format!("{:?}", char::from(other)),
        };
        guesses.push(format!("cells are separated by {sign}; --separator CHAR chooses another"));
    }
    if !columns.has_header && options.header == Header::Guess {
        guesses.push(
            "no header: the first line is a row, and columns are called c1, c2, ...; --header present reads it as names"
                .to_owned(),
        );
    }
    guesses
}
