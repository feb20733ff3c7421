//! Shared code of the format tests: reading everything into plain vectors.

use parsimon_core::Chunk;

use crate::{DataError, Input, Options, Reader};

/// Everything a reader delivered.
#[expect(clippy::struct_field_names, reason = "rows have rows")]
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rows {
    pub(crate) labels: Vec<Option<f64>>,
    pub(crate) weights: Vec<f64>,
    pub(crate) rows: Vec<Vec<(u32, f64)>>,
    /// The bits of the cells of number columns that stay apart.
    pub(crate) cells: Vec<Vec<u64>>,
    pub(crate) tags: Vec<Vec<u8>>,
    pub(crate) names: Vec<(u32, String)>,
    pub(crate) texts: Vec<String>,
    pub(crate) skipped: Vec<String>,
    pub(crate) largest: u32,
}

/// Reads bytes called `x`, and the error that ended it, if one did.
pub(crate) fn read(bytes: &[u8], options: &Options) -> (Rows, Option<DataError>) {
    read_inputs(&[Input::Bytes { name: "x".into(), bytes: bytes.to_vec() }], options)
}

pub(crate) fn read_inputs(inputs: &[Input], options: &Options) -> (Rows, Option<DataError>) {
    let mut all = Rows::default();
    let mut reader = match Reader::open(inputs, options) {
        Ok(reader) => reader,
        Err(e) => return (all, Some(e)),
    };
    let mut chunk = Chunk::new();
    let failure = loop {
        match reader.read(&mut chunk) {
            Ok(false) => break None,
            Err(e) => break Some(e),
            Ok(true) => {
                assert!((1..=options.bounds.chunk_rows).contains(&chunk.len()));
                for i in 0..chunk.len() {
                    all.labels.push(chunk.label(i));
                    all.weights.push(chunk.weight(i));
                    all.rows.push(chunk.row(i).iter().collect());
                    all.cells.push(chunk.numbers(i).iter().map(|x| x.to_bits()).collect());
                    all.tags.push(chunk.tag(i).to_vec());
                }
            }
        }
    };
    assert_eq!(reader.position().rows, all.rows.len() as u64);
    assert!(!reader.read(&mut chunk).unwrap_or(true) && chunk.is_empty());
    all.names = reader.names().iter().map(|(slot, name)| (slot, name.to_owned())).collect();
    all.texts = reader.label_texts().iter().map(|(_, text)| text.to_owned()).collect();
    all.skipped = reader.skipped().iter().map(ToString::to_string).collect();
    all.largest = reader.largest_index();
    (all, failure)
}

/// Reads bytes called `x` to their end.
pub(crate) fn rows(bytes: &[u8], options: &Options) -> Result<Rows, String> {
    match read(bytes, options) {
        (all, None) => Ok(all),
        (_, Some(e)) => Err(e.to_string()),
    }
}

/// The error that reading bytes called `x` must end in.
pub(crate) fn error(bytes: &[u8], options: &Options) -> String {
    rows(bytes, options).expect_err("the bytes should be refused")
}
