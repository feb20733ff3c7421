use std::sync::Arc;

use crate::testing::{Rows, read};
use crate::{
    Bounds, ColumnKind, Curves, Format, Kind, Kinds, Options, Pairs, Points, Reading, Run,
    TableSchema, hash,
};

fn column(name: &str, kind: Kind, knots: &[f64], cuts: &[f64]) -> ColumnKind {
    let points = |points: &[f64]| Points::new(points.to_vec()).unwrap();
    let (knots, cuts) = (points(knots), points(cuts));
    ColumnKind { name: name.into(), kind, form: None, missing: Vec::new(), knots, cuts }
}

const KNOTS: [f64; 4] = [-2.0, 0.0, 0.5, 30.0];
const CUTS: [f64; 2] = [0.0, 10.0];

fn schema() -> TableSchema {
    TableSchema {
        columns: vec![
            column("y", Kind::Number, &[], &[]),
            column("x", Kind::Number, &KNOTS, &CUTS),
            column("z", Kind::Number, &[], &[1.0]),
            column("city", Kind::Category, &[], &[]),
            column("old", Kind::Boolean, &[], &[]),
        ],
        label: Some("y".into()),
        pairs: vec![
            ["x".into(), "z".into()],
            ["city".into(), "x".into()],
            ["old".into(), "city".into()],
        ],
        ..TableSchema::default()
    }
}

fn options(numbers_apart: bool) -> Options {
    Options::from(Reading {
        kinds: Kinds::Known(Arc::new(schema())),
        labels: crate::Labels::Real,
        numbers_apart,
        ..Reading::default()
    })
}

/// The cells of a row: x, z, city, old.
type Cells = (Option<f64>, Option<f64>, &'static str, &'static str);

fn cells(i: usize) -> Cells {
    let x = [-5.0, -2.0, -1.3, 0.0, 0.125, 0.5, 7.75, 10.0, 30.0, 31.0, 1e9][i % 11];
    let z = [0.25, 1.0, 3.0][i % 3];
    (
        (i % 7 != 3).then_some(x),
        (i % 5 != 2).then_some(z),
        ["Rome", "Oslo", "", "Bern"][i % 4],
        ["yes", "No", ""][i % 3],
    )
}

/// The features of a row by the definition: `max(0, 1 - distance)` to each knot, in units of the gap on that side, and all pairs
/// of values that are there.
fn defined((x, z, city, old): Cells) -> Vec<(String, f64)> {
    let mut features = Vec::new();
    if let Some(x) = x {
        for (i, &knot) in KNOTS.iter().enumerate() {
            let gap = match x < knot {
                true if i == 0 => f64::INFINITY,
                true => knot - KNOTS[i - 1],
                false if i + 1 == KNOTS.len() => f64::INFINITY,
                false => KNOTS[i + 1] - knot,
            };
            let height = (1.0 - (x - knot).abs() / gap).max(0.0);
            if height > 0.0 {
                features.push((format!("x~{knot}"), height));
            }
        }
    }
    let bin = |name: &str, x: Option<f64>, names: &[&str], cuts: &[f64]| {
        x.map(|x| format!("{name}{}", names[cuts.iter().filter(|cut| x >= **cut).count()]))
    };
    let x = bin("x", x, &["<0", "=0..10", ">=10"], &CUTS);
    let z = bin("z", z, &["<1", ">=1"], &[1.0]);
    let city = (!city.is_empty()).then(|| format!("city={city}"));
    let old = (!old.is_empty()).then(|| format!("old={}", old.to_lowercase()));
    features.extend(city.iter().chain(&old).map(|name| (name.clone(), 1.0)));
    for (a, b) in [(&x, &z), (&city, &x), (&old, &city)] {
        if let (Some(a), Some(b)) = (a, b) {
            features.push((format!("{a}*{b}"), 1.0));
        }
    }
    features
}

/// The slot of a name, as it is documented in `hash`.
fn slot(name: &str) -> u32 {
    let feature = |name: &str| hash::feature(0, name.as_bytes());
    let hash = match name.split_once('*') {
        Some((a, b)) => hash::cross(feature(a), feature(b)),
        None => feature(name),
    };
    hash::slot(hash, 22)
}

fn csv(rows: usize) -> String {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
    let line = |i: usize| {
        let (x, z, city, old) = cells(i);
        format!("{},{},{},{city},{old}\n", i % 3, number(x), number(z))
    };
    "y,x,z,city,old\n".to_owned() + &(0..rows).map(line).collect::<String>()
}

fn json(rows: usize) -> String {
    let line = |i: usize| {
        let (x, z, city, old) = cells(i);
        serde_json::json!({"y": i % 3, "x": x, "z": z, "city": city, "old": old}).to_string() + "\n"
    };
    (0..rows).map(line).collect()
}

fn of_format(format: Format, options: Options) -> Options {
    Options { reading: Reading { format: Some(format), ..options.reading }, ..options }
}

fn rows_of(text: &str, options: &Options) -> Rows {
    let (rows, error) = read(text.as_bytes(), options);
    assert!(error.is_none(), "{error:?}");
    rows
}

#[test]
fn rows_have_the_features_of_the_definition() {
    let found = rows_of(&csv(200), &of_format(Format::Csv, options(true)));
    for (i, row) in found.rows.iter().enumerate() {
        let mut expected: Vec<(u32, f64)> =
            defined(cells(i)).into_iter().map(|(name, value)| (slot(&name), value)).collect();
        expected.sort_by_key(|(slot, _)| *slot);
        assert_eq!(row.len(), expected.len(), "row {i}: {row:?} {expected:?}");
        for (found, expected) in row.iter().zip(&expected) {
            assert_eq!(found.0, expected.0, "row {i}");
            assert!((found.1 - expected.1).abs() < 1e-12, "row {i}: {found:?} {expected:?}");
        }
        for (name, _) in defined(cells(i)) {
            assert!(found.names.contains(&(slot(&name), name.clone())), "{name}");
        }
    }
}

#[test]
fn every_format_chunk_and_thread_makes_the_same_features() {
    let expected = rows_of(&csv(3000), &of_format(Format::Csv, options(true)));
    let plain = rows_of(&json(3000), &of_format(Format::Jsonl, options(true)));
    assert_eq!((&plain.rows, &plain.cells), (&expected.rows, &expected.cells));
    let options = of_format(Format::Csv, options(true));
    for (chunk_rows, threads) in [(1, 1), (7, 3), (100_000, 2)] {
        let options = Options {
            bounds: Bounds { chunk_rows, ..options.bounds.clone() },
            run: Run { threads, ..Run::default() },
            ..options.clone()
        };
        let found = rows_of(&csv(3000), &options);
        assert_eq!((&found.rows, &found.names), (&expected.rows, &expected.names));
    }
}

#[test]
fn numbers_that_are_features_have_curves_beside_them() {
    let found = rows_of(&csv(50), &of_format(Format::Csv, options(false)));
    let apart = rows_of(&csv(50), &of_format(Format::Csv, options(true)));
    for (i, (row, apart)) in found.rows.iter().zip(&apart.rows).enumerate() {
        let mut expected = apart.clone();
        let (x, z, ..) = cells(i);
        expected
            .extend([("x", x), ("z", z)].iter().filter_map(|(name, x)| Some((slot(name), (*x)?))));
        expected.retain(|(_, value)| *value != 0.0);
        expected.sort_by_key(|(slot, _)| *slot);
        let row: Vec<_> = row.iter().copied().filter(|(_, value)| *value != 0.0).collect();
        assert_eq!(row, expected, "row {i}");
    }
}

#[test]
fn a_table_of_numbers_is_read_quickly_and_with_curves() {
    let columns = vec![
        column("y", Kind::Number, &[], &[]),
        column("x", Kind::Number, &KNOTS, &CUTS),
        column("z", Kind::Number, &[], &[1.0]),
    ];
    let pairs = vec![["x".into(), "z".into()]];
    let table = TableSchema { columns, label: Some("y".into()), pairs, ..TableSchema::default() };
    let mut options = of_format(Format::Csv, options(true));
    options.reading.kinds = Kinds::Known(Arc::new(table.clone()));
    let text = "y,x,z\n1,0.25,1\n2,,3\n3,-9,\n";
    let fast = rows_of(text, &options);
    // A number that means a missing cell makes the reader look at each cell.
    let slow = TableSchema { missing: Some(vec!["-98765.5".into()]), ..table };
    options.reading.kinds = Kinds::Known(Arc::new(slow));
    assert_eq!(rows_of(text, &options), fast);
    assert_eq!(fast.rows[0].len(), 3);
    assert_eq!((fast.rows[1].len(), fast.rows[2].len()), (0, 1));
}

#[test]
fn edited_schemas_are_checked() {
    let refused = |edit: &dyn Fn(&mut TableSchema)| {
        let mut schema = schema();
        edit(&mut schema);
        schema.check().unwrap_err().fact().to_owned()
    };
    let three = || Points::new(vec![1.0, 2.0, 3.0]).unwrap();
    assert!(
        refused(&|s| s.columns[3].knots = three()).contains("which are for columns of numbers")
    );
    assert!(
        refused(&|s| s.columns[1].knots = Points::new(vec![1.0]).unwrap()).contains("has one knot")
    );
    assert!(
        refused(&|s| s.pairs.push(["x".into(), "w".into()])).contains("\"w\", which is no column")
    );
    assert!(refused(&|s| s.pairs.push(["x".into(), "y".into()])).contains("is the label"));
    assert!(refused(&|s| s.pairs.push(["z".into(), "x".into()])).contains("is there twice"));
    assert!(Points::new(vec![0.0, f64::INFINITY]).is_err());
    assert!(Points::new(vec![0.0; 3]).is_err());
    assert!(Points::new((0..300).map(f64::from).collect()).is_err());
}

#[test]
fn wishes_are_put_into_the_schema() {
    let plain = schema().without_curves();
    let cells = |_: &str| (0..100).map(f64::from).collect::<Vec<_>>();
    let all = plain.shaped(&Curves::parse("8").unwrap(), &Pairs::None, &cells).unwrap();
    let knots: Vec<usize> = all.columns.iter().map(|c| c.knots.values().len()).collect();
    // Neither the label nor a category has a curve.
    assert_eq!(knots, [0, 8, 8, 0, 0]);
    let named = plain.shaped(&Curves::parse("city").unwrap(), &Pairs::None, &cells);
    assert!(named.unwrap_err().contains("not a number column"));
    let pairs = Pairs::parse("x:city,city:x").unwrap();
    let paired = plain.shaped(&Curves::None, &pairs, &cells).unwrap();
    assert_eq!(paired.pairs.len(), 1);
    assert_eq!(paired.columns[1].cuts.values().len(), 7);
    assert!(!paired.columns[2].cuts.values().iter().any(|_| true));
}
