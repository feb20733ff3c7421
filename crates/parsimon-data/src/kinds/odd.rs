//! A few texts among the numbers of a column, such as `unknown` in one row of a thousand.
//!
//! A few such texts do not turn a number column into categories: the column keeps its kind, and these texts are missing values.

use super::Judge;

/// More different texts are words of the column, not marks of missing values.
const MOST_TEXTS: usize = 3;
/// Fewer numbers do not prove that a column is one of numbers.
const LEAST_NUMBERS: usize = 100;
/// At most one of this number of cells is a text.
const RARITY: usize = 100;
/// At most one of this number of cells is a text where the numbers are measured, or the texts are marks.
const RARITY_AMONG_MEASURED: usize = 2;
/// Number of different whole numbers from which they are measured.
const MEASURED: usize = 50;
/// Fewer numbers do not prove that marks beside them are no words.
const LEAST_BESIDE_MARKS: usize = 20;

/// A text that is missing in a column of numbers.
#[derive(Clone, Debug)]
pub struct OddText {
    /// The cell, trimmed.
    pub text: String,
    /// The line where it was first seen, for a message. Not part of the schema: files do not have it, and two texts that
    /// differ in it are equal.
    pub line: Option<u64>,
}

impl PartialEq for OddText {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for OddText {}

/// The texts, and the column without them.
#[derive(Clone, Debug, Default)]
pub(super) enum Odd {
    /// No text was seen.
    #[default]
    None,
    Few {
        numbers: Box<Judge>,
        texts: Vec<OddText>,
        cells: usize,
    },
    TooMany,
}

impl Odd {
    /// Whether no text was seen so far.
    pub(super) fn is_unused(&self) -> bool {
        matches!(self, Odd::None)
    }

    /// Begins with the first text; `numbers` has seen the cells before it.
    pub(super) fn begin(&mut self, numbers: Box<Judge>, cell: &[u8], place: usize) {
        *self = Odd::Few { numbers, texts: Vec::new(), cells: 0 };
        self.take(cell, place);
    }

    /// Looks at one more text. The place stands where the line will be.
    pub(super) fn take(&mut self, cell: &[u8], place: usize) {
        let Odd::Few { numbers, texts, cells } = self else { return };
        numbers.take_missing();
        *cells += 1;
        if texts.iter().any(|odd| odd.text.as_bytes() == cell) {
            return;
        }
        match std::str::from_utf8(cell) {
            Ok(text) if texts.len() < MOST_TEXTS => {
                texts.push(OddText { text: text.to_owned(), line: Some(place as u64) });
            }
            _ => *self = Odd::TooMany,
        }
    }

    /// The column without the texts, while these are few.
    pub(super) fn numbers(&mut self) -> Option<&mut Judge> {
        match self {
            Odd::Few { numbers, .. } => Some(numbers),
            Odd::None | Odd::TooMany => None,
        }
    }

    /// Returns the column without the texts, and the texts, if they are few among `cells` cells with a value.
    pub(super) fn found(&self, values: usize) -> Option<(&Judge, &[OddText])> {
        match self {
            Odd::Few { numbers, texts, cells } => {
                let are_marks = texts.iter().all(|odd| is_mark(&odd.text));
                let least = if are_marks { LEAST_BESIDE_MARKS } else { LEAST_NUMBERS };
                let rarity = match are_marks || numbers.are_measured(MEASURED) {
                    true => RARITY_AMONG_MEASURED,
                    false => RARITY,
                };
                let are_few = numbers.values() >= least && cells * rarity <= values;
                are_few.then_some((&**numbers, &texts[..]))
            }
            _ => None,
        }
    }
}

/// Whether a text is a mark and no word: `-`, `.`, `***`, `<NA>`, or an error of a spreadsheet such as `#DIV/0!`.
fn is_mark(text: &str) -> bool {
    let is_error = text.starts_with('#') && text.ends_with(['!', '?', 'A']);
    is_error || text == "<NA>" || !text.chars().any(char::is_alphanumeric)
}
