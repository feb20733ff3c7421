//! JSON rows beside the same rows as CSV.

use crate::testing::{Rows, error, read, rows};
use crate::{Format, Input, Kind, Kinds, Labels, Options, Reader, Reading, TypeNote};

fn found(format: Format) -> Options {
    let reading = Reading {
        format: Some(format),
        kinds: Kinds::Found,
        numbers_apart: true,
        labels: Labels::Any,
        ..Reading::default()
    };
    Options { reading, ..Options::default() }
}

fn kinds(text: &str, options: &Options) -> Vec<(String, Kind)> {
    let input = Input::Bytes { name: "x".into(), bytes: text.as_bytes().to_vec() };
    let reader = Reader::open(&[input], options).unwrap();
    let table = reader.table().unwrap();
    table.columns.iter().map(|column| (column.name.clone(), column.kind)).collect()
}

/// One cell of a row: as CSV, and as JSON.
fn cell(row: usize, column: usize) -> (String, String) {
    let both = |text: String| (text.clone(), text);
    let quoted = |text: String| (text.clone(), format!("{text:?}"));
    match column {
        _ if row % 11 == 5 && column != 6 => (String::new(), "null".to_owned()),
        0 => both(format!("{}.{}", row % 17, row % 10)),
        1 => both((9_007_199_254_740_993_u64 + row as u64 % 7).to_string()),
        2 => quoted(format!("00{}", row % 9)),
        3 => both(row.is_multiple_of(3).to_string()),
        4 => quoted(format!("2020-03-{:02}T14:05:00", 1 + row % 28)),
        5 => quoted(format!("so it is {}", row % 80)),
        6 => quoted(format!("key{row}")),
        7 if row % 50 == 7 => (String::new(), "\"\"".to_owned()),
        7 => quoted(["rot", "blau", "gr\u{fc}n"][row % 3].to_owned()),
        8 => both((1 + row % 3).to_string()),
        _ => both((row % 2).to_string()),
    }
}

const NAMES: [&str; 10] =
    ["x", "long", "zip", "flag", "at", "note", "id", "farbe_\u{fc}", "weight", "label"];

fn table() -> (String, String) {
    let (mut csv, mut json) = (NAMES.join(",") + "\n", String::new());
    for row in 0..200 {
        // A missing label is refused, which is another test.
        let cells: Vec<_> =
            (0..NAMES.len()).map(|k| cell(if k == 9 { row - row % 11 } else { row }, k)).collect();
        csv += &(cells.iter().map(|(cell, _)| cell.as_str()).collect::<Vec<_>>().join(",") + "\n");
        let fields: Vec<_> =
            NAMES.iter().zip(&cells).map(|(name, (_, cell))| format!("{name:?}: {cell}")).collect();
        json += &format!("{{{}}}\n", fields.join(", "));
    }
    (csv, json)
}

fn everything(text: &str, options: &Options) -> Rows {
    rows(text.as_bytes(), options).unwrap()
}

#[test]
fn rows_of_json_are_those_of_csv() {
    let (csv, json) = table();
    let array = format!("[{}]", json.trim_end().replace('\n', ",\n"));
    let spread = json.replace('{', "{\n ").replace(", \"", ",\n \"");
    let dropped = json.replace("\"x\": null, ", "").replace(", \"weight\": null", "");
    let (expected, expected_kinds) =
        (everything(&csv, &found(Format::Csv)), kinds(&csv, &found(Format::Csv)));
    assert!(expected.cells.iter().any(|row| !row.is_empty()));
    for text in [&json, &array, &spread, &dropped] {
        assert_eq!(kinds(text, &found(Format::Jsonl)), expected_kinds);
        assert_eq!(everything(text, &found(Format::Jsonl)), expected);
        let mut threads = found(Format::Jsonl);
        threads.run.threads = 3;
        assert_eq!(everything(text, &threads), expected);
    }
    let kind = |name: &str| expected_kinds.iter().find(|(n, _)| n == name).unwrap().1;
    assert_eq!(
        ["x", "long", "zip", "flag", "at", "note", "id"].map(kind),
        [
            Kind::Number,
            Kind::Category,
            Kind::Category,
            Kind::Boolean,
            Kind::Time,
            Kind::Text,
            Kind::Identifier
        ]
    );
}

#[test]
fn the_type_decides_where_it_says_more() {
    let line = |i: usize| {
        format!(
            "{{\"digits\": \"{}\", \"real\": {}e5, \"tags\": [\"a\", {}], \"v\": [0.5, {}], \"u\": {{\"age\": {}}}, \"y\": {}}}\n",
            i % 7,
            i % 5,
            i % 3,
            i,
            i % 9,
            i % 2
        )
    };
    let text: String = (0..40).map(line).collect();
    let kinds = kinds(&text, &found(Format::Jsonl));
    let expected = [
        ("digits", Kind::Category),
        ("real", Kind::Number),
        ("tags", Kind::Category),
        ("v.0", Kind::Constant),
        ("v.1", Kind::Number),
        ("u.age", Kind::Number),
        ("y", Kind::Number),
    ];
    assert_eq!(kinds, expected.map(|(name, kind)| (name.to_owned(), kind)));
    let all = everything(&text, &found(Format::Jsonl));
    let names: Vec<&str> = all.names.iter().map(|(_, name)| name.as_str()).collect();
    for name in ["digits=6", "tags=a", "tags=2", "v.1", "u.age", "real"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let input = Input::Bytes { name: "x".into(), bytes: text.into_bytes() };
    let reader = Reader::open(&[input], &found(Format::Jsonl)).unwrap();
    let notes: Vec<_> = reader.table().unwrap().notes.iter().cloned().collect();
    assert_eq!(notes, [TypeNote::Digits("digits".into()), TypeNote::List("tags".into())]);
}

#[test]
fn rows_that_are_no_table_are_read_by_field() {
    let bag = |i: usize| format!("{{\"label\": {}, \"w{i}\": 1, \"w{}\": 2}}\n", i % 2, i + 1);
    for text in [
        (0..100).map(bag).collect::<String>(),
        "{\"_label\": 1, \"user\": {\"age\": 3}}\n".to_owned(),
        "{\"label\": 1, \"features\": {\"indices\": [3], \"values\": [0.5]}}\n".to_owned(),
    ] {
        let mut cell = found(Format::Jsonl);
        cell.reading.kinds = Kinds::ByCell;
        assert_eq!(everything(&text, &found(Format::Jsonl)), everything(&text, &cell));
    }
}

#[test]
fn features_in_an_object_are_columns() {
    let row = |i: usize| {
        let (y, a) = (i % 2, i % 5);
        (
            format!("{{\"label\": {y}, \"a\": {a}, \"b\": \"t{a}\"}}\n"),
            format!(
                "{{\"id\": {i}, \"label\": {y}, \"features\": {{\"a\": {a}, \"b\": \"t{a}\"}}}}\n"
            ),
        )
    };
    let (flat, inner): (String, String) = (0..30).map(row).unzip();
    let all = everything(&inner, &found(Format::Jsonl));
    assert_eq!(all, everything(&flat, &found(Format::Jsonl)));
}

#[test]
fn fields_that_are_no_columns_are_counted() {
    let row = |i: usize| format!("{{\"y\": {}, \"a\": {}}}\n", i % 2, i % 3);
    let mut text: String = (0..10_001).map(row).collect();
    text += "{\"y\": 1, \"a\": 2, \"late\": {\"b\": 3}}\n";
    let input = Input::Bytes { name: "x".into(), bytes: text.into_bytes() };
    let mut reader = Reader::open(&[input], &found(Format::Jsonl)).unwrap();
    let mut chunk = parsimon_core::Chunk::new();
    while reader.read(&mut chunk).unwrap() {}
    let expected = "1 field is not a column of the table and was not read: late.b";
    assert_eq!(reader.warnings(), [expected]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let good = "{\"y\": 1, \"a\": 2, \"b\": \"u\"}\n{\"y\": 0, \"a\": 3, \"b\": \"v\"}\n";
    for (row, expected) in [
        ("{\"y\": 1, \"a\": \"x\"}", "x:3: column \"a\": \"x\" is not a number, unlike"),
        ("{\"y\": null, \"a\": 1}", "x:3: the label is missing"),
        ("{\"y\": [1], \"a\": 1}", "x:3: \"label\" is \"[1]\" instead of"),
        ("{\"y\": 1, \"a\": 1e999}", "x:3: \"1e999\" is not a finite number"),
        ("{\"y\": 1, \"a\": [1, 2]}", "x:3: column \"a\": \"[1,2]\" is a list"),
        ("{\"y\": 1, \"a\": 1, \"a\": 2}", "x:3:20: the name \"a\" appears twice"),
        ("{\"y\": 1, \"a\": }", "x:3:15: not a json object: expected value"),
        ("[1]", "x:3: a row is a json object"),
    ] {
        let text = format!("{good}{row}\n");
        // The first rows decide, and a bad row is not among them.
        let mut options = found(Format::Jsonl);
        options.reading.labels = Labels::binary();
        let input = Input::Bytes { name: "x".into(), bytes: good.as_bytes().to_vec() };
        let reader = Reader::open(&[input], &options).unwrap();
        options.reading.kinds = Kinds::Known(reader.table().unwrap().clone());
        let error = error(text.as_bytes(), &options);
        assert!(error.starts_with(expected), "{row}: {error}");
    }
    let cut = read(b"[{\"y\": 1, \"a\": 2},\n{\"y\": 0,", &found(Format::Jsonl)).1.unwrap();
    assert!(cut.to_string().contains("the array is not closed"), "{cut}");
    let wrapped = "{\"data\": [{\"a\": 1}, {\"a\": 2}]}";
    let error = error(wrapped.as_bytes(), &found(Format::Jsonl));
    assert!(error.contains("jq -c '.[\"data\"][]'"), "{error}");
}

#[test]
fn labels_are_read_in_the_form_of_their_column() {
    let labels = ["$2.39", "$5,720", "$1,000.50", "($7,890.00)", "$3"];
    let csv: String = (0..40).map(|i| format!("{}\t{}\n", i % 5, labels[i % 5])).collect();
    let json: String = (0..40)
        .map(|i| format!("{{\"x\": {}, \"label\": {:?}}}\n", i % 5, labels[i % 5]))
        .collect();
    let expected = [2.39, 5720.0, 1000.5, -7890.0, 3.0];
    for (text, format) in [(format!("x\tlabel\n{csv}"), Format::Tsv), (json, Format::Jsonl)] {
        for labels in [Labels::Any, Labels::Real] {
            let mut options = found(format);
            options.reading.labels = labels;
            let all = everything(&text, &options);
            assert_eq!(all.labels[..5], expected.map(Some), "{format}");
        }
    }
}
