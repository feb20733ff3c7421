//! Caches.

use parsimon::data::{Bounds, Format, Kinds, Labels, Options, Reader, Reading};
use parsimon::rows::Chunk;
use parsimon::workspace::cache::Writer;

use super::text;
use crate::rows::{self, input};
use crate::{Outcome, repair};

fn cached(text: &[u8], options: &Options) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.psc");
    let mut reader = Reader::open(&[input(text)], options).unwrap();
    let mut writer = match reader.table().cloned() {
        Some(table) => Writer::create_table(&path, reader.space(), &table).unwrap(),
        None => Writer::create(&path, reader.space()).unwrap(),
    };
    let mut chunk = Chunk::new();
    while reader.read(&mut chunk).unwrap() {
        writer.write(&chunk).unwrap();
    }
    writer.names(reader.names());
    writer.label_texts(reader.label_texts());
    writer.finish().unwrap();
    std::fs::read(&path).unwrap()
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let any = |format| {
        Options::from(Reading { format: Some(format), labels: Labels::Any, ..Reading::default() })
    };
    let table = Options {
        reading: Reading {
            kinds: Kinds::Found,
            numbers_apart: true,
            label_column: Some("click".into()),
            ..any(Format::Csv).reading
        },
        ..any(Format::Csv)
    };
    vec![
        cached(&text::svmlight_seeds()[0], &any(Format::Svmlight)),
        cached(&text::vw_seeds()[2], &any(Format::Vw)),
        cached(&text::vw_seeds()[0].repeat(20), &any(Format::Vw)),
        cached(&text::csv_seeds()[2], &table),
    ]
}

pub(crate) fn run(bytes: &[u8]) -> Outcome {
    let bytes = repair::cache(bytes);
    let options = Options::from(Reading {
        format: Some(Format::Cache),
        labels: Labels::Any,
        ..Reading::default()
    });
    let whole = rows::read(&bytes, &options, |_| {});
    whole.check();
    let small = rows::read(
        &bytes,
        &Options { bounds: Bounds { chunk_rows: 2, ..options.bounds.clone() }, ..options.clone() },
        |_| {},
    );
    assert_eq!(small, whole, "the size of chunks");
    let apart = Options {
        reading: Reading { numbers_apart: true, ..options.reading },
        bounds: Bounds { skip_bad: 100, ..options.bounds },
        ..options
    };
    rows::read(&bytes, &apart, |_| {}).check();
    match (whole.is_open, &whole.error) {
        (false, _) => Outcome::Unrecognized,
        (true, Some(_)) => Outcome::Refused,
        (true, None) => Outcome::Accepted,
    }
}
