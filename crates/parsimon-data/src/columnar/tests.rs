use super::*;
use crate::arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int32Array, ListBuilder,
    PrimitiveBuilder, StringArray, TimestampSecondArray, UInt64Array,
};
use crate::arrow::datatypes::{Float32Type, Int32Type, UInt32Type};
use crate::arrow::ipc::CompressionType;
use crate::arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use crate::testing::{Rows, error, rows};
use crate::{Bounds, Options, Reading};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;

fn wide() -> RecordBatch {
    let city: DictionaryArray<Int32Type> = [Some("Rome"), None, Some("Oslo")].into_iter().collect();
    RecordBatch::try_from_iter([
        ("age", Arc::new(Float32Array::from(vec![Some(1.5), Some(2.0), None])) as ArrayRef),
        ("city", Arc::new(city)),
        ("new", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("y", Arc::new(Int32Array::from(vec![1, 0, 1]))),
        ("importance", Arc::new(UInt64Array::from(vec![1, 2, 3]))),
    ])
    .unwrap()
}

fn lists() -> RecordBatch {
    let mut indices = ListBuilder::new(PrimitiveBuilder::<UInt32Type>::new());
    let mut values = ListBuilder::new(PrimitiveBuilder::<Float32Type>::new());
    for (ids, numbers) in [(&[7, 3][..], &[0.5, 2.0][..]), (&[], &[]), (&[9], &[1.0])] {
        indices.append_value(ids.iter().map(|&j| Some(j)));
        values.append_value(numbers.iter().map(|&v| Some(v)));
    }
    RecordBatch::try_from_iter([
        ("label", Arc::new(StringArray::from(vec!["1", "-1", "1"])) as ArrayRef),
        ("indices", Arc::new(indices.finish())),
        ("values", Arc::new(values.finish())),
    ])
    .unwrap()
}

fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

pub(super) fn every(batch: &RecordBatch) -> [Vec<u8>; 3] {
    [parquet(batch), arrow_file(batch), arrow_stream(batch)]
}

fn named(all: &Rows, row: usize) -> Vec<(&str, f64)> {
    let name = |j: u32| all.names.iter().find(|(k, _)| *k == j).unwrap().1.as_str();
    let mut row: Vec<_> = all.rows[row].iter().map(|&(j, v)| (name(j), v)).collect();
    row.sort_by(|a, b| a.0.cmp(b.0));
    row
}

#[test]
fn plain_columns_are_read_like_csv() {
    let csv = b"age,city,new,y,importance\n1.5,Rome,1,1,1\n2,,0,0,2\n,Oslo,1,1,3\n";
    let mut expected =
        rows(csv, &Options::from(Reading { format: Some(Format::Csv), ..Reading::default() }))
            .unwrap();
    for bytes in every(&wide()) {
        let all = rows(&bytes, &Options::default()).unwrap();
        assert_eq!(named(&all, 0), [("age", 1.5), ("city=Rome", 1.0), ("new", 1.0)]);
        expected.names.clone_from(&all.names);
        assert_eq!(all, expected);
    }
}

#[test]
fn list_columns_are_ids() {
    for bytes in every(&lists()) {
        let all = rows(&bytes, &Options::default()).unwrap();
        assert_eq!(all.rows, [vec![(3, 2.0), (7, 0.5)], vec![], vec![(9, 1.0)]]);
        assert_eq!(all.labels, [Some(1.0), Some(-1.0), Some(1.0)]);
        let hashed = Options::from(Reading {
            space: Some(Space::Hashed { bits: 20 }),
            ..Reading::default()
        });
        let all = rows(&bytes, &hashed).unwrap();
        assert_eq!(named(&all, 0), [("3", 2.0), ("7", 0.5)]);
    }
}

#[test]
fn batches_in_memory_are_read_like_files_of_them() {
    for batch in [wide(), lists()] {
        let parts = vec![Ok(batch.slice(0, 2)), Ok(batch.slice(2, 1))];
        let (schema, options) = (batch.schema(), Options::default());
        let mut reader =
            crate::Reader::over_batches("x", &schema, Box::new(parts.into_iter()), &options)
                .unwrap();
        let expected = rows(&parquet(&batch), &options).unwrap();
        let (mut chunk, mut met) = (parsimon_core::Chunk::new(), Vec::new());
        while reader.read(&mut chunk).unwrap() {
            let row = |i| (chunk.row(i).iter().collect::<Vec<_>>(), chunk.label(i));
            met.extend((0..chunk.len()).map(row));
        }
        let expected = expected.rows.into_iter().zip(expected.labels);
        assert_eq!(met, expected.collect::<Vec<_>>());
    }
}

#[test]
fn what_is_wrong_is_said_with_its_row() {
    let numbers = |v: Vec<f64>| Arc::new(Float64Array::from(v)) as ArrayRef;
    let batch = RecordBatch::try_from_iter([
        ("y", numbers(vec![1.0, 1.0])),
        ("a", numbers(vec![1.0, f64::NAN])),
    ])
    .unwrap();
    for bytes in every(&batch) {
        let words = error(&bytes, &Options::default());
        assert_eq!(words, "x:2: column \"a\" is not a finite number");
    }
    let time = Arc::new(TimestampSecondArray::from(vec![1, 2])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("y", numbers(vec![1.0, 1.0])), ("t", time)]).unwrap();
    let words = error(&parquet(&batch), &Options::default());
    assert!(words.starts_with("x: column \"t\" is of type Timestamp"), "{words}");
    let ignoring = Options::from(Reading { ignore: vec!["t".into()], ..Reading::default() });
    assert_eq!(rows(&parquet(&batch), &ignoring).unwrap().rows.len(), 2);
}

#[test]
fn damage_is_an_error() {
    for (bytes, format) in
        every(&wide()).into_iter().zip([Format::Parquet, Format::Arrow, Format::Arrow])
    {
        let options = Options {
            reading: Reading { format: Some(format), ..Reading::default() },
            bounds: Bounds { skip_bad: 100, ..Bounds::default() },
            ..Options::default()
        };
        for cut in [1, 7, bytes.len() / 3, bytes.len() / 2] {
            let words = error(&bytes[..cut], &options);
            assert!(words.starts_with("x: is "), "{words}");
            assert_eq!(words.lines().count(), 1);
        }
    }
}

/// One bit of each byte, of all eight positions in turn. The fuzz targets `parquet` and `arrow` flip others.
#[test]
fn a_flipped_bit_in_any_byte_is_survived() {
    let formats = [Format::Parquet, Format::Arrow, Format::Arrow];
    for batch in [wide(), lists()] {
        for (bytes, format) in every(&batch).into_iter().zip(formats) {
            let options = Options {
                reading: Reading {
                    format: Some(format),
                    space: Some(Space::Hashed { bits: 4 }),
                    ..Reading::default()
                },
                bounds: Bounds { skip_bad: 100, ..Bounds::default() },
                ..Options::default()
            };
            for byte in 0..bytes.len() {
                let mut broken = bytes.clone();
                broken[byte] ^= 1 << (byte % 8);
                // Not every bit is covered by a checksum: what is read may be wrong, but is rows.
                let _ = rows(&broken, &options);
            }
        }
    }
}

#[test]
fn batches_of_numbers_are_read_as_all_others() {
    let rows = 2500;
    let column = |k: usize, bad: Option<f64>| {
        let cell = move |i: usize| match (i * 7 + k) % 11 {
            0 => None,
            1 => Some(f64::NAN),
            2 => Some(-0.0),
            _ if i == 2100 && bad.is_some() => bad,
            _ => Some((i as f64 + k as f64 * 0.1).sin() * 1e3),
        };
        // The first cells of the last column come later than those of the others.
        (0..rows).map(move |i| cell(i).filter(|_| k < 3 || i > 700)).collect::<Float64Array>()
    };
    let labels: Vec<Option<i32>> = (0..rows).map(|i| Some(i as i32 % 2)).collect();
    let missing = |i: usize| (i != 2000).then_some(1);
    for (bad, labels) in [
        (None, labels.clone()),
        (Some(f64::INFINITY), labels.clone()),
        (Some(1e200), labels),
        (None, (0..rows).map(missing).collect()),
        (None, (0..rows).map(|i| Some(1 + 6 * i32::from(i == 1900))).collect()),
    ] {
        let whole: Vec<i32> = (0..rows as i32).collect();
        let batch = RecordBatch::try_from_iter([
            ("d", Arc::new(column(3, None)) as ArrayRef),
            ("a", Arc::new(column(1, None))),
            ("b", Arc::new(column(2, bad))),
            ("y", Arc::new(Int32Array::from(labels))),
            ("c", Arc::new(Int32Array::from(whole))),
            ("skip", Arc::new(Int32Array::from(vec![1; rows]))),
        ])
        .unwrap();
        for (skip_bad, numbers_apart) in [(0, true), (9, true), (0, false), (9, false)] {
            let fast = Options {
                reading: Reading {
                    kinds: Kinds::Found,
                    numbers_apart,
                    numbers: vec!["c".into()],
                    ignore: vec!["skip".into()],
                    label_column: Some("y".into()),
                    ..Reading::default()
                },
                bounds: Bounds { skip_bad, ..Bounds::default() },
                ..Options::default()
            };
            // If a number means a missing cell, each cell is checked.
            let slow = Options {
                reading: Reading { missing: vec!["-98765.5".into()], ..fast.reading.clone() },
                ..fast.clone()
            };
            for bytes in every(&batch) {
                let outcome = |options: &Options| {
                    let (rows, error) = crate::testing::read(&bytes, options);
                    (rows, error.map(|e| e.to_string()))
                };
                let found = outcome(&fast);
                assert_eq!(found, outcome(&slow));
                let width = if numbers_apart { 4 } else { 0 };
                assert!(found.0.cells.iter().all(|cells| cells.len() == width));
                assert!(found.0.cells.len() > 1800);
            }
        }
    }
}

/// A batch of which each column compresses.
fn long() -> RecordBatch {
    let rows = 0..500_usize;
    let city: DictionaryArray<Int32Type> =
        rows.clone().map(|i| Some(["Rome on the Tiber", "Oslo on the fjord"][i % 2])).collect();
    RecordBatch::try_from_iter([
        (
            "age",
            Arc::new(Float64Array::from_iter_values(rows.clone().map(|i| (i % 7) as f64)))
                as ArrayRef,
        ),
        ("city", Arc::new(city)),
        ("y", Arc::new(Int32Array::from_iter_values(rows.map(|i| (i % 3 % 2) as i32)))),
    ])
    .unwrap()
}

fn compressed(batch: &RecordBatch, codec: CompressionType) -> [Vec<u8>; 2] {
    let options = || IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
    let mut file =
        FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options()).unwrap();
    file.write(batch).unwrap();
    file.finish().unwrap();
    let mut stream =
        StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options()).unwrap();
    stream.write(batch).unwrap();
    stream.finish().unwrap();
    [file.into_inner().unwrap(), stream.into_inner().unwrap()]
}

#[test]
fn compressed_tables_are_read_as_plain_ones() {
    let (batch, options) = (long(), Options::default());
    let plain = arrow_file(&batch);
    let expected = rows(&plain, &options).unwrap();
    assert_eq!(expected.rows.len(), 500);
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        for bytes in compressed(&batch, codec) {
            assert!(bytes.len() < plain.len() / 2, "{codec:?}");
            assert_eq!(rows(&bytes, &options).unwrap(), expected, "{codec:?}");
        }
    }
    for codec in [
        Compression::BROTLI(BrotliLevel::default()),
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        let properties = WriterProperties::builder().set_compression(codec).build();
        let mut bytes = Vec::new();
        let mut writer =
            ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        assert_eq!(rows(&bytes, &options).unwrap(), expected, "{codec}");
    }
}

#[test]
fn lengths_after_decompression_are_not_believed() {
    // The numbers of `age`.
    let length = (500 * size_of::<f64>() as u64).to_le_bytes();
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        for mut bytes in compressed(&long(), codec) {
            let at = bytes.windows(8).rposition(|window| window == length).unwrap();
            for wrong in [1_u64 << 60, 1 << 40] {
                bytes[at..at + 8].copy_from_slice(&wrong.to_le_bytes());
                let words = error(&bytes, &Options::default());
                assert!(words.contains(&format!("are said to be {wrong} when")), "{words}");
            }
        }
    }
}

#[test]
fn a_name_that_is_there_twice_is_refused_with_both_places() {
    let column = || Arc::new(Int32Array::from(vec![1, 0, 1])) as ArrayRef;
    let names = ["x", "z", "x", "label"];
    let batch = RecordBatch::try_from_iter(names.map(|name| (name, column()))).unwrap();
    for bytes in every(&batch) {
        for kinds in [crate::Kinds::ByCell, crate::Kinds::Found] {
            let options = Options::from(Reading { kinds, ..Reading::default() });
            let words = error(&bytes, &options);
            assert!(words.contains("columns 1 and 3 are both called \"x\""), "{words}");
        }
    }
}
