//! The same rows as CSV, TSV, JSON lines, an array of JSON objects, Parquet, and Arrow files and streams: the same model, the same
//! predictions.

use std::sync::Arc;

use parquet::arrow::ArrowWriter;
use parsimon_data::arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int64Array, RecordBatch,
    StringArray, TimestampSecondArray,
};
use parsimon_data::arrow::ipc::writer::{FileWriter, StreamWriter};
use parsimon_testing::doors::{Table, Value, tables};

use crate::fixture::Dir;

/// A column with the type of its cells. Cells of several types are texts, as Parquet and Arrow have them.
fn array(cells: &[Option<Value>]) -> ArrayRef {
    fn typed<T>(cells: &[Option<Value>], of: fn(&Value) -> Option<T>) -> Option<Vec<Option<T>>> {
        let is_typed = cells.iter().flatten().all(|cell| of(cell).is_some());
        is_typed.then(|| cells.iter().map(|cell| cell.as_ref().and_then(of)).collect())
    }
    macro_rules! of_type {
        ($($variant:ident => $array:ty),*) => {
            $(if let Some(cells) = typed(cells, |cell| match cell {
                Value::$variant(value) => Some(*value),
                _ => None,
            }) {
                return Arc::new(<$array>::from(cells));
            })*
        };
    }
    if cells.iter().any(Option::is_some) {
        of_type!(Truth => BooleanArray, Integer => Int64Array, Float => Float64Array,
            Single => Float32Array, Day => Date32Array, Moment => TimestampSecondArray);
    }
    Arc::new(cells.iter().map(|cell| cell.as_ref().map(Value::text)).collect::<StringArray>())
}

fn batch(table: &Table) -> RecordBatch {
    let columns = table.columns.iter().map(|(name, cells)| (*name, array(cells), true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// The table in every format: the name of the door, the format, and the bytes.
pub(super) fn doors(table: &Table) -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let batch = batch(table);
    let schema = batch.schema();
    let mut parquet = ArrowWriter::try_new(Vec::new(), schema.clone(), None).unwrap();
    parquet.write(&batch).unwrap();
    let mut file = FileWriter::try_new(Vec::new(), &schema).unwrap();
    file.write(&batch).unwrap();
    let mut stream = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    stream.write(&batch).unwrap();
    vec![
        ("csv", "csv", table.csv().into_bytes()),
        ("tsv", "tsv", table.tsv().into_bytes()),
        ("json lines", "json", table.json_lines().into_bytes()),
        ("json array", "json", table.json_array().into_bytes()),
        ("parquet", "parquet", parquet.into_inner().unwrap()),
        ("arrow file", "arrow", file.into_inner().unwrap()),
        ("arrow stream", "arrow", stream.into_inner().unwrap()),
    ]
}

#[test]
fn every_door_gives_the_same_model_and_the_same_scores() {
    for table in tables() {
        let (dir, name, flags) = (Dir::new(), table.name, table.flags);
        let label = table.columns.last().unwrap().0;
        for (door, format, bytes) in doors(&table) {
            // A model has the names of its inputs: all of these have one.
            dir.write("rows", &bytes);
            let words = format!("--format {format} --label-column {label} {flags} --quiet");
            dir.run(&format!("schema rows --format {format} --label-column {label} -o s.json"))
                .ok();
            dir.run(&format!("train rows {words} -o m.psm")).ok();
            dir.run(&format!("predict m.psm rows --format {format} -o p.txt")).ok();
            if door == "csv" {
                dir.run("inspect m.psm").ok();
                std::fs::rename(dir.path("m.psm"), dir.path("first.psm")).unwrap();
                std::fs::rename(dir.path("p.txt"), dir.path("first.txt")).unwrap();
                continue;
            }
            let differ = || {
                let read = |model: &str| dir.run(&format!("inspect {model} --json")).ok();
                format!("{name}: {door}\n{}\n{}", read("first.psm"), read("m.psm"))
            };
            assert!(dir.read("m.psm") == dir.read("first.psm"), "{}", differ());
            assert!(dir.read("p.txt") == dir.read("first.txt"), "{name}: {door}: predictions");
        }
    }
}

#[test]
fn what_a_type_decides_is_printed() {
    let dir = Dir::new();
    let all = tables();
    for (name, expected) in [
        (
            "digits in texts",
            "categories, because their digits are texts: plan; --numbers plan reads",
        ),
        (
            "singles and names that are not ASCII",
            "floats of 32 bits, read with the values they have",
        ),
    ] {
        let table = all.iter().find(|table| table.name == name).unwrap();
        for (door, format, bytes) in doors(table) {
            dir.write("rows", &bytes);
            let ran = dir.run(&format!("train rows --format {format} -a ftrl -o {}.psm", &format));
            let is_typed = match name {
                "digits in texts" => !matches!(format, "csv" | "tsv"),
                _ => matches!(format, "parquet" | "arrow"),
            };
            assert_eq!(ran.stderr.contains(expected), is_typed, "{name}: {door}: {}", ran.stderr);
            ran.ok();
        }
        // Without a flag the types of all these agree.
        assert!(name != "digits in texts" || dir.read("json.psm") == dir.read("parquet.psm"));
    }
}
