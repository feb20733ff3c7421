//! Cells that have no value.

use std::sync::Arc;

use super::TableSchema;
use crate::number;

/// Spellings of a missing cell beside nothing at all.
pub(super) const USUAL: [&str; 12] =
    ["NA", "N/A", "#N/A", "n/a", "null", "NULL", "Null", "None", "nan", "NaN", "NAN", "?"];

/// Whether a trimmed cell has no value, by the usual list.
#[inline]
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    cell.len() <= 4 && (cell.is_empty() || USUAL.iter().any(|usual| usual.as_bytes() == cell))
}

/// Whether a text is one that tables write for a missing value, such as NA.
pub fn is_missing_word(text: &str) -> bool {
    is_missing(text.as_bytes())
}

/// The name of a column, and texts that are missing in it.
type OfColumn = (Box<str>, Vec<Box<[u8]>>);

/// The words of missing cells. An empty cell is always missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Missing {
    /// The list of the table, if it is not the usual one.
    list: Option<Vec<Box<[u8]>>>,
    /// The words that are numbers: `-999` also covers `-999.0`.
    numbers: Vec<f64>,
    /// Texts that are missing in one column of numbers.
    of_columns: Vec<OfColumn>,
}

impl Missing {
    /// The cells of a list; of the usual list if there is none.
    pub(crate) fn new(list: Option<&[String]>) -> Self {
        let Some(list) = list else { return Self::default() };
        let tokens = || list.iter().map(|token| token.trim().as_bytes());
        Self {
            list: Some(tokens().map(Box::from).collect()),
            numbers: tokens().filter_map(number::whole).collect(),
            of_columns: Vec::new(),
        }
    }

    /// The cells that have no value in a table; by the usual list if there is no schema.
    pub(crate) fn of(schema: Option<&Arc<TableSchema>>) -> Self {
        let Some(schema) = schema else { return Self::default() };
        let columns = schema.columns.iter().filter(|column| !column.missing.is_empty());
        let of_columns = columns.map(|column| {
            let texts = column.missing.iter().map(|odd| Box::from(odd.text.trim().as_bytes()));
            (Box::from(column.name.as_str()), texts.collect())
        });
        Self { of_columns: of_columns.collect(), ..Self::new(schema.missing.as_deref()) }
    }

    /// Whether a trimmed cell that is no number has no value in a column of numbers.
    #[cold]
    pub(crate) fn has_in(&self, column: &str, cell: &[u8]) -> bool {
        let mut texts = self.of_columns.iter().filter(|(name, _)| **name == *column);
        texts.any(|(_, texts)| texts.iter().any(|text| **text == *cell))
    }

    /// The cells of the usual list and some more.
    pub(crate) fn beside_usual(more: &[String]) -> Self {
        Self::new(with_usual(more).as_deref())
    }

    /// Whether a trimmed cell has no value.
    #[inline]
    pub(crate) fn has(&self, cell: &[u8]) -> bool {
        match &self.list {
            None => is_missing(cell),
            Some(list) => {
                cell.is_empty()
                    || list.iter().any(|token| **token == *cell)
                    || !self.numbers.is_empty()
                        && number::whole(cell).is_some_and(|value| self.has_number(value))
            }
        }
    }

    /// Whether any number means a missing value.
    pub(crate) fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Whether a number means a missing value.
    #[inline]
    pub(crate) fn has_number(&self, value: f64) -> bool {
        !self.numbers.is_empty() && self.numbers.contains(&value)
    }

    /// Whether a label has no value: only by a word that the user has added, because `None` or `NA` may be a class.
    pub(crate) fn has_label(&self, cell: &[u8]) -> bool {
        cell.is_empty() || self.list.is_some() && !is_missing(cell) && self.has(cell)
    }
}

/// The default list and further words; `None` if there are no further words.
pub(super) fn with_usual(more: &[String]) -> Option<Vec<String>> {
    let mut list: Vec<String> = USUAL.iter().map(|&usual| usual.to_owned()).collect();
    for token in more.iter().map(|token| token.trim()) {
        if !token.is_empty() && !list.iter().any(|known| known == token) {
            list.push(token.to_owned());
        }
    }
    (list.len() > USUAL.len()).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_takes_the_place_of_the_usual_one() {
        let usual = Missing::new(None);
        assert!(usual.has(b"") && usual.has(b"NA") && usual.has(b"?") && !usual.has(b"-999"));
        let more = Missing::new(with_usual(&["-999".into(), " unknown ".into()]).as_deref());
        for cell in ["", "NA", "-999", "-999.0", "unknown"] {
            assert!(more.has(cell.as_bytes()), "{cell}");
        }
        assert!(!more.has(b"-998") && more.has_number(-999.0) && !more.has_number(999.0));
        assert!(more.has_label(b"unknown") && !more.has_label(b"NA") && more.has_label(b""));
        let own = Missing::new(Some(&["none".into()]));
        assert!(own.has(b"none") && own.has(b"") && !own.has(b"NA"));
        assert_eq!(with_usual(&["NA".into()]), None);
    }
}
