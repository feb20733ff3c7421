//! A look at the labels before learning.

use std::sync::Arc;

use parsimon_core::Chunk;
use rustc_hash::FxHashMap;

use crate::label::is_code;
use crate::{DataError, Input, Labels, Options, Reader, Reading};

/// The labels of some inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelScan {
    /// Each label with the number of its rows; numbers in order, then texts in order. Numbers are
    /// spelled one way, for any file does: `+1` and `1.0` are `1`.
    pub labels: Vec<(String, u64)>,
    /// Rows that have no label.
    pub missing: u64,
}

/// Reads inputs once and counts their labels, passing over features where the format allows it.
///
/// For several classes without a list of them, and for two classes that are not -1 and 1. More than
/// `most` distinct labels are an error: they are not classes.
///
/// ```
/// use parsimon_data::{Input, Options, scan_labels};
///
/// let bytes = b"ham 3:1\nspam 1:1\nham 2:1\n".to_vec();
/// let input = Input::Bytes { name: "mail.svm".into(), bytes };
/// let scan = scan_labels(&[input], &Options::default(), 1000).unwrap();
/// assert_eq!(scan.labels, [("ham".to_owned(), 2), ("spam".to_owned(), 1)]);
/// ```
pub fn scan_labels(
    inputs: &[Input],
    options: &Options,
    most: usize,
) -> Result<LabelScan, DataError> {
    if inputs.contains(&Input::Stdin) {
        return Err(DataError::file(
            &Arc::from("stdin"),
            "cannot be read twice: pass the labels, or give a file",
        ));
    }
    let options = Options {
        reading: Reading {
            labels: Labels::Any,
            interactions: Vec::new(),
            ..options.reading.clone()
        },
        ..options.clone()
    };
    count_labels(Reader::open_labels(inputs, &options)?, most)
}

/// Counts the labels of what a reader reads, which was opened with [`Labels::Any`]. More than `most` are an error.
pub fn count_labels(mut reader: Reader, most: usize) -> Result<LabelScan, DataError> {
    let (mut chunk, mut counter) = (Chunk::new(), LabelCounter::new(most));
    while reader.read(&mut chunk)? {
        counter.take(&chunk, &reader)?;
    }
    Ok(counter.finish(&reader))
}

/// Counts labels of rows that the caller reads, under [`Labels::Any`].
#[derive(Clone, Debug)]
pub struct LabelCounter {
    most: usize,
    counts: FxHashMap<u64, u64>,
    missing: u64,
}

impl LabelCounter {
    /// Creates a counter for at most `limit` distinct labels.
    pub fn new(most: usize) -> Self {
        Self { most, counts: FxHashMap::default(), missing: 0 }
    }

    /// Counts the labels of a chunk. Returns an error if there are more distinct labels than allowed.
    pub fn take(&mut self, chunk: &Chunk, reader: &Reader) -> Result<(), DataError> {
        for i in 0..chunk.len() {
            match chunk.label(i) {
                // Adding 0 makes -0 and 0 one number.
                Some(y) => *self.counts.entry((y + 0.0).to_bits()).or_default() += 1,
                None => self.missing += 1,
            }
        }
        if self.counts.len() > self.most {
            let name = reader.name().clone();
            let words =
                format!("has more than {} distinct labels: not classes but numbers?", self.most);
            return Err(DataError::labels(&name, words));
        }
        Ok(())
    }

    /// The distinct labels so far, in order, if all of them are numbers.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        let mut numbers: Vec<f64> = self.counts.keys().map(|bits| f64::from_bits(*bits)).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.last().is_none_or(|y| !is_code(*y)).then_some(numbers)
    }

    /// Number of distinct labels so far.
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// The labels, spelled as the reader's texts.
    pub fn finish(self, reader: &Reader) -> LabelScan {
        let texts = reader.label_texts();
        let mut labels: Vec<_> =
            self.counts.into_iter().map(|(bits, count)| (f64::from_bits(bits), count)).collect();
        labels.sort_by(|a, b| {
            let text = |y: f64| texts.text(y);
            text(a.0).cmp(&text(b.0)).then(a.0.total_cmp(&b.0))
        });
        let labels = labels.into_iter().map(|(y, count)| (texts.spell(y), count)).collect();
        LabelScan { labels, missing: self.missing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(name: &str, text: &str, most: usize) -> Result<LabelScan, String> {
        let input = Input::Bytes { name: name.into(), bytes: text.as_bytes().to_vec() };
        scan_labels(&[input], &Options::default(), most).map_err(|e| e.to_string())
    }

    fn list(pairs: &[(&str, u64)]) -> Vec<(String, u64)> {
        pairs.iter().map(|&(label, n)| (label.to_owned(), n)).collect()
    }

    #[test]
    fn labels_are_counted_in_every_format() {
        let svm =
            scan("x.svm", "+1 1:1\n10 2:1\nb 3:1\n1.0 4:rubbish\na\n-0 1:1\n0\n", 10).unwrap();
        assert_eq!(svm.labels, list(&[("0", 2), ("1", 2), ("10", 1), ("a", 1), ("b", 1)]));
        let vw = scan("x.vw", "1 | a\n| b\n2 | c\n", 10).unwrap();
        assert_eq!((vw.labels, vw.missing), (list(&[("1", 1), ("2", 1)]), 1));
        let csv = scan("x.csv", "a,class\n1,p\n2,e\n3,p\n", 10).unwrap();
        assert_eq!(csv.labels, list(&[("e", 1), ("p", 2)]));
        let json = scan("x.jsonl", "{\"label\": true}\n{\"label\": \"x\"}\n", 10).unwrap();
        assert_eq!(json.labels, list(&[("1", 1), ("x", 1)]));
    }

    #[test]
    fn too_many_labels_are_not_classes() {
        assert_eq!(
            scan("x.svm", "1\n2\n3\n", 2).unwrap_err(),
            "x.svm: has more than 2 distinct labels: not classes but numbers?"
        );
        let stdin = scan_labels(&[Input::Stdin], &Options::default(), 2).unwrap_err().to_string();
        assert_eq!(stdin, "stdin: cannot be read twice: pass the labels, or give a file");
    }
}
