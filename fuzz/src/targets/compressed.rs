//! Compressed text.

use std::io::Write;

use parsimon::data::{Bounds, Format, Labels, Options, Reading};

use super::text;
use crate::{Outcome, rows};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = text::vw_seeds();
    let many = texts[0].repeat(40);
    let mut all: Vec<Vec<u8>> = texts.iter().map(|text| gzip(text)).collect();
    all.extend(texts.iter().map(|text| zstd::encode_all(&text[..], 1).unwrap()));
    all.push([gzip(&texts[0]), gzip(&texts[2])].concat());
    all.push(gzip(&many));
    all.push(zstd::encode_all(&many[..], 1).unwrap());
    all
}

pub(crate) fn run(bytes: &[u8]) -> Outcome {
    let options = Options::from(Reading {
        format: Some(Format::Vw),
        labels: Labels::Any,
        ..Reading::default()
    });
    let whole = rows::read(bytes, &options, |_| {});
    whole.check();
    let small = rows::read(
        bytes,
        &Options { bounds: Bounds { chunk_rows: 2, ..options.bounds }, ..options },
        |_| {},
    );
    assert_eq!(small, whole, "the size of chunks");
    match &whole.error {
        None => Outcome::Accepted,
        // Something was unpacked.
        Some(_) if !whole.rows.is_empty() => Outcome::Refused,
        Some(_) => Outcome::Unrecognized,
    }
}
