//! CSV files as Vowpal Wabbit reads them: a header of `namespace|feature` names, and labels in the column `_label`.

use super::example::{Example, Feature, number};
use super::hash;
use super::options::{CsvOptions, Options};

/// The columns of a file.
#[derive(Debug)]
pub(super) struct Columns {
    label: Option<usize>,
    tag: Option<usize>,
    /// Namespace and name of each column.
    names: Vec<(String, String)>,
}

impl Columns {
    pub(super) fn of(header: &str, csv: &CsvOptions) -> Result<Self, String> {
        let mut columns = Self { label: None, tag: None, names: Vec::new() };
        for (k, name) in cells(header, csv.separator).into_iter().enumerate() {
            match &name[..] {
                "_label" => columns.label = Some(k),
                "_tag" => columns.tag = Some(k),
                _ => {}
            }
            let (space, name) = name
                .split_once('|')
                .map_or((String::new(), name.clone()), |(s, n)| (s.to_owned(), n.to_owned()));
            columns.names.push((space, name));
        }
        match columns.names.len() {
            0 => Err("the header has no columns".into()),
            _ => Ok(columns),
        }
    }

    pub(super) fn read(
        &self,
        line: &str,
        options: &Options,
        csv: &CsvOptions,
        example: &mut Example,
    ) -> Result<(), String> {
        example.clear();
        let cells = cells(line, csv.separator);
        if cells.len() != self.names.len() {
            return Err(format!("{} cells, and the header has {}", cells.len(), self.names.len()));
        }
        for (k, (cell, (space, name))) in cells.iter().zip(&self.names).enumerate() {
            if Some(k) == self.label {
                example.label.extend(cell.split_whitespace().map(String::from));
            } else if Some(k) == self.tag {
                example.tag.clone_from(cell);
            } else if !cell.is_empty() {
                push(cell, space, name, options, csv, example);
            }
        }
        example.finish(options);
        Ok(())
    }
}

fn push(
    cell: &str,
    space: &str,
    name: &str,
    options: &Options,
    csv: &CsvOptions,
    example: &mut Example,
) {
    let all = options.hash_all;
    let letter = options.redefined(space.bytes().next().unwrap_or(b' '));
    let seed = if space.is_empty() && options.hash_seed == 0 {
        0
    } else {
        hash::name(space.as_bytes(), options.hash_seed, all)
    };
    let named = hash::name(name.as_bytes(), seed, all);
    let (value, length) = number(cell.as_bytes());
    let factor =
        csv.factors.get(if space.is_empty() { " " } else { space }).copied().unwrap_or(1.0);
    let (hash, value, text) = if length == cell.len() && value.is_finite() {
        (named & options.mask(), value * factor, "")
    } else {
        (hash::name(cell.as_bytes(), named, all) & options.mask(), factor, cell)
    };
    if value != 0.0 {
        let shown = options.names().then(|| {
            let space = if space.is_empty() { String::new() } else { format!("{space}^") };
            if text.is_empty() { format!("{space}{name}") } else { format!("{space}{name}^{text}") }
        });
        example.push(letter, Feature { hash, value }, shown);
    }
}

/// Splits a line into cells; a quoted cell may hold separators, and a quote twice.
fn cells(line: &str, separator: u8) -> Vec<String> {
    let (mut out, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => is_quoted = !is_quoted,
            _ if letter == char::from(separator) && !is_quoted => {
                out.push(std::mem::take(&mut cell));
            }
            _ => cell.push(letter),
        }
    }
    out.push(cell);
    out.into_iter().map(|cell| cell.trim().to_owned()).collect()
}
