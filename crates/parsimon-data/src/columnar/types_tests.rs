//! Columns of every type, in Parquet files, Arrow files, Arrow streams and batches.

use std::collections::HashMap;
use std::sync::Arc;

use crate::arrow::array::*;
use crate::arrow::compute::cast;
use crate::arrow::datatypes::{DataType, Field, Int32Type, Schema, TimeUnit, i256};
use parsimon_core::Chunk;

use super::tests::every;
use crate::{Ask, Input, Kind, Kinds, Options, Reader, Reading};

const ROWS: i64 = 150;

/// A column of 150 rows with a null in every seventh, and a label.
fn table(column: ArrayRef, metadata: HashMap<String, String>) -> RecordBatch {
    let label: ArrayRef = Arc::new(Int32Array::from_iter_values((0..ROWS as i32).map(|i| i % 2)));
    let fields = vec![
        Field::new("x", column.data_type().clone(), true),
        Field::new("label", DataType::Int32, true),
    ];
    let schema = Schema::new(fields).with_metadata(metadata);
    RecordBatch::try_new(Arc::new(schema), vec![column, label]).unwrap()
}

/// The kind of the column, the features of rows 1 and 2, and those of row 0, where the cell is null.
fn seen(bytes: &[u8], options: &Options) -> (Kind, Vec<String>, Vec<String>) {
    let input = Input::Bytes { name: "t".into(), bytes: bytes.to_vec() };
    let mut reader = Reader::open(&[input], options).unwrap();
    let kind = reader.table().unwrap().column("x").unwrap().kind;
    let (mut chunk, mut rows) = (Chunk::new(), Vec::new());
    while reader.read(&mut chunk).unwrap() {
        for i in 0..chunk.len() {
            rows.push(chunk.row(i).iter().collect::<Vec<_>>());
        }
    }
    assert_eq!(rows.len(), ROWS as usize);
    let names: HashMap<u32, String> =
        reader.names().iter().map(|(j, name)| (j, name.to_owned())).collect();
    let text = |&(j, v): &(u32, f64)| {
        let name = &names[&j];
        if v == 1.0 { name.clone() } else { format!("{name}:{v}") }
    };
    let features = |rows: &[Vec<(u32, f64)>]| {
        let mut all: Vec<_> = rows.iter().flatten().map(text).collect();
        all.sort();
        all.dedup();
        all
    };
    (kind, features(&rows[1..3]), features(&rows[..1]))
}

fn check(column: &ArrayRef, kind: Kind, features: &[&str]) {
    check_with(column, HashMap::new(), kind, features);
}

fn check_with(column: &ArrayRef, metadata: HashMap<String, String>, kind: Kind, features: &[&str]) {
    let options = Options::from(Reading { kinds: Kinds::Found, ..Reading::default() });
    for bytes in every(&table(column.clone(), metadata)) {
        let (found, of_rows, of_null) = seen(&bytes, &options);
        assert_eq!(found, kind, "{}", column.data_type());
        assert_eq!(of_rows, features, "{}", column.data_type());
        assert!(of_null.is_empty(), "{}: {of_null:?}", column.data_type());
    }
}

/// Small integers, null in every seventh row.
fn integers() -> Int64Array {
    (0..ROWS).map(|i| (i % 7 > 0).then_some(i % 5 + 2)).collect()
}

fn as_type(array: &dyn Array, kind: &DataType) -> ArrayRef {
    cast(array, kind).unwrap()
}

#[test]
fn numbers_of_every_width_are_numbers() {
    use DataType::*;
    for kind in [
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Decimal128(10, 2),
        Decimal128(38, 0),
        Decimal256(40, 3),
        Decimal256(76, 0),
    ] {
        check(&as_type(&integers(), &kind), Kind::Number, &["x:3", "x:4"]);
    }
    let halves: Decimal256Array =
        (0..ROWS).map(|i| (i % 7 > 0).then(|| i256::from_i128(i128::from(5 * (i % 3))))).collect();
    let halves: ArrayRef = Arc::new(halves.with_precision_and_scale(40, 1).unwrap());
    check(&halves, Kind::Number, &["x", "x:0.5"]);
    for unit in
        [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond]
    {
        let per_second = [1, 1000, 1_000_000, 1_000_000_000][unit_place(unit)];
        let counts: Int64Array = integers().unary(|n| n * per_second);
        check(&as_type(&counts, &Duration(unit)), Kind::Number, &["x:3", "x:4"]);
    }
}

fn unit_place(unit: TimeUnit) -> usize {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 1,
        TimeUnit::Microsecond => 2,
        TimeUnit::Nanosecond => 3,
    }
}

#[test]
fn integers_beyond_floats_are_codes() {
    for kind in [DataType::Int64, DataType::UInt64] {
        let codes = integers().unary::<_, crate::arrow::datatypes::Int64Type>(|n| n + (1 << 60));
        let features = ["x=1152921504606846979", "x=1152921504606846980"];
        check(&as_type(&codes, &kind), Kind::Category, &features);
    }
}

#[test]
fn dictionaries_are_categories_whatever_they_hold() {
    let values: ArrayRef = Arc::new(Int64Array::from(vec![20, 30]));
    let keys: Int32Array = (0..ROWS as i32).map(|i| (i % 7 > 0).then_some(i % 2)).collect();
    let codes: ArrayRef = Arc::new(DictionaryArray::new(keys.clone(), values));
    // Parquet forgets dictionaries of numbers; what pandas writes beside tells.
    let about = |name: &str| {
        format!(
            "{{\"columns\":[{{\"name\":{name:?},\"field_name\":{name:?},\"pandas_type\":\"categorical\"}}]}}"
        )
    };
    let metadata = HashMap::from([("pandas".to_owned(), about("x"))]);
    check_with(&codes, metadata.clone(), Kind::Category, &["x=20", "x=30"]);
    let halves: ArrayRef = Arc::new(Float64Array::from(vec![2.0, 0.5]));
    let halves: ArrayRef = Arc::new(DictionaryArray::new(keys, halves));
    check_with(&halves, metadata, Kind::Category, &["x=0.5", "x=2"]);
    // The Parquet library does not write dictionaries of views.
    for values in [DataType::Utf8, DataType::LargeUtf8] {
        let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
        let texts = as_type(&integers(), &DataType::Utf8);
        check(&as_type(&texts, &kind), Kind::Category, &["x=3", "x=4"]);
    }
}

#[test]
fn texts_booleans_and_nothing() {
    let texts = as_type(&integers(), &DataType::Utf8);
    for kind in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
        check(&as_type(&texts, &kind), Kind::Category, &["x=3", "x=4"]);
    }
    let flags: BooleanArray = (0..ROWS).map(|i| (i % 7 > 0).then_some(i % 2 == 0)).collect();
    check(&(Arc::new(flags) as ArrayRef), Kind::Boolean, &["x=false", "x=true"]);
    check(&(Arc::new(NullArray::new(ROWS as usize)) as ArrayRef), Kind::Empty, &[]);
}

#[test]
fn times_of_every_unit_and_zone() {
    // 2020-03-01 was a Sunday; rows are an hour apart.
    let seconds: Int64Array =
        (0..ROWS).map(|i| (i % 7 > 0).then_some(1_583_020_800 + 3600 * i)).collect();
    let hours = ["x:20.1644", "x:20.1645", "x^day=Sun", "x^hour=1", "x^hour=2"];
    let near = |features: &[String]| -> Vec<String> {
        let is_place = |f: &&String| {
            ["^month=", "^week=", "^date=", "year)"].iter().any(|part| f.contains(part))
        };
        features
            .iter()
            .filter(|f| !is_place(f))
            .map(|f| match f.split_once(':') {
                Some((name, value)) => format!("{name}:{:.4}", value.parse::<f64>().unwrap()),
                None => f.clone(),
            })
            .collect()
    };
    let check = |column: &ArrayRef, expected: &[&str]| {
        let options = Options::from(Reading { kinds: Kinds::Found, ..Reading::default() });
        for bytes in every(&table(column.clone(), HashMap::new())) {
            let (kind, features, of_null) = seen(&bytes, &options);
            assert_eq!((kind, of_null.len()), (Kind::Time, 0), "{}", column.data_type());
            assert_eq!(near(&features), expected, "{}", column.data_type());
        }
    };
    for unit in
        [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond]
    {
        let per_second = [1, 1000, 1_000_000, 1_000_000_000][unit_place(unit)];
        let counts: Int64Array = seconds.unary(|n| n * per_second);
        for zone in [None, Some("UTC"), Some("Z"), Some("+00:00"), Some("Europe/Berlin")] {
            let kind = DataType::Timestamp(unit, zone.map(Arc::from));
            check(&as_type(&counts, &kind), &hours);
        }
        let kind = DataType::Timestamp(unit, Some("+02:00".into()));
        let later = ["x:20.1646", "x:20.1647", "x^day=Sun", "x^hour=3", "x^hour=4"];
        check(&as_type(&counts, &kind), &later);
    }
    let days: Int32Array = (0..ROWS as i32).map(|i| (i % 7 > 0).then_some(18_322 + i)).collect();
    let dates = as_type(&days, &DataType::Date32);
    let first = ["x:20.1670", "x:20.1697", "x^day=Mon", "x^day=Tue"];
    check(&dates, &first);
    check(&as_type(&dates, &DataType::Date64), &first);
    let of_day: Int32Array =
        (0..ROWS as i32).map(|i| (i % 7 > 0).then_some(3600 * (i % 24) + 60)).collect();
    let of_day = as_type(&of_day, &DataType::Time32(TimeUnit::Second));
    for kind in [
        DataType::Time32(TimeUnit::Second),
        DataType::Time32(TimeUnit::Millisecond),
        DataType::Time64(TimeUnit::Microsecond),
        DataType::Time64(TimeUnit::Nanosecond),
    ] {
        check(&as_type(&of_day, &kind), &["x^hour=1", "x^hour=2"]);
    }
}

#[test]
fn lists_of_texts_are_categories_or_words() {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for i in 0..ROWS {
        if i % 7 > 0 {
            let items = [Some("Big Data"), None, Some(["rust", "sql"][i as usize % 2])];
            lists.append_value(items);
        } else {
            lists.append(false);
        }
    }
    let lists: ArrayRef = Arc::new(lists.finish());
    let large = DataType::LargeList(Arc::new(Field::new_list_field(DataType::LargeUtf8, true)));
    for column in [lists.clone(), as_type(&lists, &large)] {
        check(&column, Kind::Category, &["x=Big Data", "x=rust", "x=sql"]);
        let options = Options::from(Reading {
            kinds: Kinds::Found,
            texts: vec!["x".into()],
            ..Reading::default()
        });
        for bytes in every(&table(column, HashMap::new())) {
            let (kind, features, _) = seen(&bytes, &options);
            assert_eq!(kind, Kind::Text);
            assert_eq!(features, ["x^big", "x^data", "x^rust", "x^sql"]);
        }
    }
    let ids: ListArray = ListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..ROWS as i32).map(|i| (i % 7 > 0).then(|| vec![Some(i % 2), Some(9)])),
    );
    check(&(Arc::new(ids) as ArrayRef), Kind::Category, &["x=0", "x=1", "x=9"]);
}

#[test]
fn the_index_of_a_pandas_frame_is_left_out() {
    let numbers = |step: i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..ROWS).map(|i| step * i % 11)))
    };
    let sold: ArrayRef = Arc::new(Int64Array::from_iter_values((0..ROWS).map(|i| i % 2)));
    let columns = [
        ("a", numbers(3)),
        ("sold", sold),
        ("user", numbers(5)),
        ("__index_level_1__", numbers(2)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let about = r#"{"index_columns": ["user", "__index_level_1__"], "columns": []}"#;
    let metadata = HashMap::from([("pandas".to_owned(), about.to_owned())]);
    let schema = batch.schema().as_ref().clone().with_metadata(metadata);
    let batch = batch.with_schema(Arc::new(schema)).unwrap();
    let kinds = |bytes: &[u8], options: &Options| {
        let input = Input::Bytes { name: "t".into(), bytes: bytes.to_vec() };
        let reader = Reader::open(&[input], options).unwrap();
        let table = reader.table().unwrap();
        let kinds: Vec<_> = table.columns.iter().map(|column| column.kind).collect();
        (kinds, table.label.clone())
    };
    for bytes in every(&batch) {
        let options = Options::from(Reading { kinds: Kinds::Found, ..Reading::default() });
        let found = kinds(&bytes, &options);
        assert_eq!(found.0, [Kind::Number, Kind::Number, Kind::Index, Kind::Index]);
        // The last column that is not the index.
        assert_eq!(found.1.as_deref(), Some("sold"));
        let options = Options {
            reading: Reading { keep: vec!["user".into()], ..options.reading },
            ..options
        };
        // Users are codes.
        assert_eq!(kinds(&bytes, &options).0[2], Kind::Category);
    }
}

#[test]
fn lists_of_numbers_and_structs_are_columns() {
    let vectors: ListArray =
        ListArray::from_iter_primitive::<crate::arrow::datatypes::Float32Type, _, _>(
            (0..ROWS).map(|i| Some(vec![Some(0.5 + i as f32)])),
        );
    let vectors: ArrayRef = Arc::new(vectors);
    let inner: ArrayRef = Arc::new(integers());
    let fields = vec![(Arc::new(Field::new("a", DataType::Int64, true)), inner)];
    let structs: ArrayRef = Arc::new(StructArray::from(fields));
    for (column, name) in [(vectors, "x.0"), (structs, "x.a")] {
        for bytes in every(&table(column.clone(), HashMap::new())) {
            let options = Options::from(Reading { kinds: Kinds::Found, ..Reading::default() });
            let inputs = [Input::Bytes { name: "x".into(), bytes }];
            let mut reader = Reader::open(&inputs, &options).unwrap();
            let (mut chunk, mut rows) = (Chunk::new(), 0);
            while reader.read(&mut chunk).unwrap() {
                rows += chunk.len();
            }
            assert_eq!(rows, 150);
            assert!(reader.table().unwrap().columns.iter().any(|c| c.name == name), "{name}");
        }
    }
}

#[test]
fn a_column_of_another_type_than_learned_is_read_by_its_kind() {
    let known = |column: &ArrayRef, options: &Options| {
        let bytes = &every(&table(column.clone(), HashMap::new()))[0];
        let input = Input::Bytes { name: "t".into(), bytes: bytes.clone() };
        let mut reader = Reader::open(&[input], options).unwrap();
        let (mut chunk, mut features) = (Chunk::new(), 0);
        while reader.read(&mut chunk).unwrap() {
            features += chunk.nonzeros();
        }
        let names: Vec<_> = reader.names().iter().map(|(_, name)| name.to_owned()).collect();
        (reader.table().unwrap().clone(), features, reader.unfit_cells(), names)
    };
    let found = Options::from(Reading { kinds: Kinds::Found, ..Reading::default() });
    let numbers: ArrayRef = Arc::new(integers());
    let (table, features, ..) = known(&numbers, &found);
    let learned = Options {
        reading: Reading { kinds: Kinds::Known(table), ..Reading::default() },
        ask: Ask { unfit_is_missing: true, ..Ask::default() },
        ..Options::default()
    };
    // Texts of numbers are numbers; other texts are missing and counted.
    let texts = as_type(&numbers, &DataType::Utf8);
    assert_eq!(known(&texts, &learned).1, features);
    let words: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..ROWS).map(|i| ["1", "oops"][i as usize % 2])));
    assert_eq!(known(&words, &learned).2, 75);
    // A category of integers is the same as one of floats, which integers with nulls become in pandas.
    let as_categories =
        Options { reading: Reading { categories: vec!["x".into()], ..found.reading }, ..found };
    let (table, .., names) = known(&numbers, &as_categories);
    let learned = Options::from(Reading { kinds: Kinds::Known(table), ..Reading::default() });
    assert_eq!(known(&as_type(&numbers, &DataType::Float64), &learned).3, names);
}
