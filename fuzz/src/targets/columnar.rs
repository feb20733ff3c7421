//! Arrow and Parquet.

use parsimon::data::{Bounds, Format, Kinds, Labels, Options, Reading};
use parsimon::workspace::{Cell, ColumnType, TableFormat, TableWriter};

use crate::{Outcome, rows};

fn table(format: TableFormat, rows: usize) -> Vec<u8> {
    let columns = vec![
        ("label".to_owned(), ColumnType::Number),
        ("x".to_owned(), ColumnType::Number),
        ("city".to_owned(), ColumnType::Text),
    ];
    let mut writer = TableWriter::new(Vec::new(), format, false, columns).unwrap();
    for i in 0..rows {
        let city = ["Paris", "Lyon", "", "a b"][i % 4];
        let x = if i % 5 == 4 { Cell::Missing } else { Cell::Number(i as f64 * 0.5) };
        writer.push(&[Cell::Number((i % 2) as f64), x, Cell::Text(city.as_bytes())]).unwrap();
    }
    writer.finish().unwrap()
}

pub(crate) fn arrow_seeds() -> Vec<Vec<u8>> {
    vec![table(TableFormat::Arrow, 6), table(TableFormat::Arrow, 40)]
}

pub(crate) fn parquet_seeds() -> Vec<Vec<u8>> {
    vec![table(TableFormat::Parquet, 6), table(TableFormat::Parquet, 40)]
}

pub(crate) fn arrow(bytes: &[u8]) -> Outcome {
    read(Format::Arrow, bytes)
}

pub(crate) fn parquet(bytes: &[u8]) -> Outcome {
    read(Format::Parquet, bytes)
}

fn read(format: Format, bytes: &[u8]) -> Outcome {
    let options = Options::from(Reading {
        format: Some(format),
        labels: Labels::Any,
        label_column: Some("label".into()),
        ..Reading::default()
    });
    let whole = rows::read(bytes, &options, |_| {});
    whole.check();
    let small = rows::read(
        bytes,
        &Options { bounds: Bounds { chunk_rows: 3, ..options.bounds.clone() }, ..options.clone() },
        |_| {},
    );
    assert_eq!(small, whole, "the size of chunks");
    let kinds = Options {
        reading: Reading { kinds: Kinds::Found, ..options.reading },
        bounds: Bounds { skip_bad: 100, ..options.bounds },
        ..options
    };
    rows::read(bytes, &kinds, |_| {}).check();
    match (whole.is_open, &whole.error) {
        (false, _) => Outcome::Unrecognized,
        (true, Some(_)) => Outcome::Refused,
        (true, None) => Outcome::Accepted,
    }
}
