//! Everything that a reader gives.

use parsimon::data::{Input, Options, Reader};
use parsimon::rows::Chunk;

/// A row: label, importance, features, number cells, tag.
type Row = (Option<f64>, f64, Vec<(u32, f64)>, Vec<Option<f64>>, Vec<u8>);

/// Everything that a reader gives.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Row>,
    pub(crate) names: Vec<(u32, String)>,
    pub(crate) skipped: Vec<String>,
    pub(crate) error: Option<String>,
    /// Whether the reader could be opened.
    pub(crate) is_open: bool,
}

/// Bytes as an input.
pub(crate) fn input(bytes: &[u8]) -> Input {
    Input::Bytes { name: "x".into(), bytes: bytes.to_vec() }
}

/// Reads bytes to their end, or to the error.
pub(crate) fn read(bytes: &[u8], options: &Options, mut each: impl FnMut(&Chunk)) -> Rows {
    let mut all = Rows::default();
    let mut reader = match Reader::open(&[input(bytes)], options) {
        Ok(reader) => reader,
        Err(error) => {
            all.error = Some(error.to_string());
            return all;
        }
    };
    all.is_open = true;
    let mut chunk = Chunk::new();
    loop {
        match reader.read(&mut chunk) {
            Ok(false) => break,
            Err(error) => {
                all.error = Some(error.to_string());
                break;
            }
            Ok(true) => {
                for i in 0..chunk.len() {
                    let numbers = chunk.numbers(i).iter().map(|&x| (!x.is_nan()).then_some(x));
                    let row: Vec<_> = chunk.row(i).iter().collect();
                    let tag = chunk.tag(i).to_vec();
                    all.rows.push((chunk.label(i), chunk.weight(i), row, numbers.collect(), tag));
                }
                each(&chunk);
            }
        }
    }
    all.skipped = reader.skipped().iter().map(ToString::to_string).collect();
    // Names of rows that were parsed ahead of an error are not part of the result.
    if all.error.is_none() {
        let names = reader.into_names();
        all.names = names.iter().map(|(slot, name)| (slot, name.to_owned())).collect();
    }
    all
}

impl Rows {
    /// What holds for any rows of any reader.
    pub(crate) fn check(&self) {
        for (label, weight, row, numbers, _) in &self.rows {
            assert!(label.is_none_or(f64::is_finite), "label {label:?}");
            assert!(weight.is_finite() && *weight >= 0.0, "importance {weight}");
            assert!(row.iter().all(|(_, v)| v.is_finite() && *v != 0.0), "{row:?}");
            assert!(row.is_sorted_by(|a, b| a.0 < b.0), "{row:?}");
            assert!(numbers.iter().flatten().all(|v| v.is_finite()), "{numbers:?}");
        }
        for error in self.error.iter().chain(&self.skipped) {
            assert!(error.lines().count() == 1, "an error of several lines: {error:?}");
        }
    }
}
