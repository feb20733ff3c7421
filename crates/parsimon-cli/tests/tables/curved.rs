//! Curves and pairs by default: equal in every format, with any number of threads, in a checkpoint and after it.

use parsimon_testing::doors::{Table, Value};

use super::doors::doors;
use super::features;
use crate::fixture::Dir;

/// A hill by age, which no line predicts, and an exclusive or of two columns, which no curve predicts.
fn hill(rows: usize) -> Table {
    let age = |i: usize| (18 + i * 37 % 61) as i64;
    let size = |i: usize| (i * 7919 % 1000) as f64 / 10.0;
    let city = |i: usize| ["Rome", "Oslo", "Bern"][i * 5 % 3 * i % 3];
    let label = |i: usize| {
        let is_middle = (32..55).contains(&age(i)) != (size(i) > 50.0 && city(i) == "Rome");
        i64::from(is_middle != i.is_multiple_of(23))
    };
    let column = |cell: &dyn Fn(usize) -> Value| (0..rows).map(|i| Some(cell(i))).collect();
    Table {
        name: "hill",
        flags: "",
        columns: vec![
            ("age", column(&|i| Value::Integer(age(i)))),
            ("size", column(&|i| Value::Float(size(i)))),
            ("city", column(&|i| Value::Text(city(i).into()))),
            ("bought", column(&|i| Value::Integer(label(i)))),
        ],
    }
}

fn has_knots(dir: &Dir, model: &str) -> bool {
    features(dir, model).iter().any(|name| name.starts_with("age~"))
}

#[test]
fn every_format_and_number_of_threads_has_the_same_curves_and_passes() {
    let (dir, table) = (Dir::new(), hill(2600));
    for (door, format, bytes) in doors(&table) {
        dir.write("rows", &bytes);
        for threads in [1, 3] {
            let words =
                format!("--format {format} --label-column bought --threads {threads} --quiet");
            dir.run(&format!("train rows {words} -o m.psm")).ok();
            dir.run(&format!("predict m.psm rows --format {format} -o p.txt")).ok();
            if !dir.has("first.psm") {
                assert!(has_knots(&dir, "m.psm"));
                std::fs::rename(dir.path("m.psm"), dir.path("first.psm")).unwrap();
                std::fs::rename(dir.path("p.txt"), dir.path("first.txt")).unwrap();
                continue;
            }
            assert!(dir.read("m.psm") == dir.read("first.psm"), "{door}, {threads} threads");
            assert!(dir.read("p.txt") == dir.read("first.txt"), "{door}: predictions");
        }
    }
}

#[test]
fn a_checkpoint_goes_on_with_its_knots() {
    let (dir, table) = (Dir::new(), hill(2600));
    dir.write("rows.csv", table.csv());
    let label = "--label-column bought --quiet";
    dir.run("schema rows.csv --label-column bought --curves 8 -o s.json").ok();
    // Knots that are given: parts are the whole, bit for bit.
    dir.run(&format!(
        "train rows.csv --schema s.json {label} --passes 1 --no-shuffle -o whole.psm"
    ))
    .ok();
    dir.run(&format!("train rows.csv --schema s.json {label} --limit 1500 --checkpoint c.psc"))
        .ok();
    dir.run("train rows.csv --resume c.psc --quiet -o parts.psm").ok();
    let weights = |model: &str| dir.run(&format!("inspect {model} --weights json")).ok();
    assert!(has_knots(&dir, "whole.psm"));
    assert_eq!(weights("whole.psm"), weights("parts.psm"));
    // Knots that were decided are those of later rows, too.
    dir.run(&format!("train rows.csv {label} --limit 1500 --checkpoint d.psc -o first.psm")).ok();
    dir.run("train rows.csv --resume d.psc --quiet -o later.psm").ok();
    assert!(has_knots(&dir, "first.psm"));
    let knots = |model: &str| {
        let names = features(&dir, model).into_iter().filter(|name| name.starts_with("age~"));
        names.collect::<Vec<_>>()
    };
    assert_eq!(knots("first.psm"), knots("later.psm"));
}
