//! Bad input leaves finite weights and finite margins behind, in both precisions.

use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::Storage;
use serde_json::{Value, json};

use crate::common::{PRECISIONS, is_number, learner};

type Column = fn(u32) -> f64;

const COLUMNS: [(&str, Column); 9] = [
    ("constant", |_| 3.0),
    ("zeros", |_| 0.0),
    ("mostly zeros", |i| f64::from(i % 50 / 49) * 7.0),
    ("timestamps", |i| 1.7e9 + f64::from(i)),
    ("alternating", |i| if i % 2 == 0 { 1e6 } else { -1e6 }),
    ("growing", |i| 10f64.powi(i as i32 % 30)),
    ("shrinking", |i| 10f64.powi(-(i as i32 % 30))),
    ("tiny", |i| 1e-30 * f64::from(i % 7)),
    ("huge", |i| 1e30 * f64::from(i % 7)),
];

/// Rows of some of the columns.
fn rows(columns: &[(&str, Column)], count: u32, label: impl Fn(u32) -> f64) -> Chunk {
    let mut chunk = Chunk::new();
    for i in 0..count {
        for (j, (_, column)) in (1..).zip(columns) {
            chunk.push_feature(j, column(i));
        }
        chunk.finish_row(Some(label(i)), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

fn methods() -> [Value; 5] {
    [
        json!({"algorithm": "auto"}),
        json!({"algorithm": "ftrl", "normalize": true, "rate": 0.5, "beta": 0, "l1": 0.1}),
        json!({"algorithm": "rda", "normalize": true, "l1": 0.01}),
        json!({"algorithm": "sgd", "normalize": true}),
        json!({"algorithm": "truncated-gradient", "normalize": true, "l1": 0.01}),
    ]
}

/// What is not finite after learning, in words.
fn not_finite(chunk: &Chunk, losses: &[&str], name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for method in methods() {
        for loss in losses {
            for precision in PRECISIONS {
                let mut spec = method.clone();
                spec["loss"] = (*loss).into();
                let mut learner = learner(&spec, precision, true, Storage::Growing);
                let mut margins = Vec::new();
                learner.learn(chunk, &mut margins);
                learner.predict(chunk, &mut margins);
                let head = learner.freeze().into_heads().remove(0);
                let mut fail =
                    |what: &str| found.push(format!("{name}, {what}: {spec} {precision:?}"));
                if learner.nonzeros() != head.indices().len() {
                    fail("number of nonzeros");
                }
                if !head.bias().is_finite() {
                    fail("bias");
                }
                if let Some((j, w)) = head.iter().find(|(_, w)| !w.is_finite()) {
                    fail(&format!("weight {j} = {w}"));
                }
                if let Some(i) = margins.iter().position(|p| !p.is_finite()) {
                    fail(&format!("margin {i} = {}", margins[i]));
                }
            }
        }
    }
    found
}

const CLASSES: [&str; 3] = ["logistic", "hinge", "squared-hinge"];
const NUMBERS: [&str; 3] = ["squared", "huber", "quantile"];

#[test]
fn bad_columns() {
    let mut found = Vec::new();
    for count in [1, 2, 90, 1300] {
        for column in COLUMNS {
            let two = |i: u32| if i.is_multiple_of(3) { 1.0 } else { -1.0 };
            let name = format!("{} x {count}", column.0);
            found.extend(not_finite(&rows(&[column], count, two), &CLASSES, &name));
            let number = |i: u32| f64::from(i * 7919 % 101) - 30.0;
            found.extend(not_finite(&rows(&[column], count, number), &NUMBERS, &name));
        }
        let two = |i: u32| if i.is_multiple_of(3) { 1.0 } else { -1.0 };
        found.extend(not_finite(&rows(&COLUMNS, count, two), &CLASSES, "all columns"));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn bad_labels() {
    let mut found = Vec::new();
    for count in [1, 2, 1300] {
        found.extend(not_finite(&rows(&COLUMNS, count, |_| 1.0), &CLASSES, "one class"));
        for (name, label) in [
            ("equal", (|_| 0.1) as Column),
            ("zeros", |_| 0.0),
            ("timestamps", |i| 1.7e9 + f64::from(i)),
            ("growing", |i| 10f64.powi(i as i32 % 30)),
            ("huge", |i| 1e30 * f64::from(i % 3)),
            ("tiny", |i| 1e-30 * f64::from(i % 3)),
            ("alternating", |i| if i % 2 == 0 { 1e6 } else { -1e6 }),
        ] {
            assert!(NUMBERS.iter().all(|loss| is_number(loss)));
            let name = format!("labels {name} x {count}");
            found.extend(not_finite(&rows(&COLUMNS[..5], count, label), &NUMBERS, &name));
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// By 10 at every row, to the end of the range of a double.
#[test]
fn growth_without_end() {
    let grow: [(&str, Column); 2] = [("growing", |i| 10f64.powi(i as i32)), ("constant", |_| 1.0)];
    let shrink: [(&str, Column); 2] =
        [("shrinking", |i| 10f64.powi(-(i as i32))), ("constant", |_| 1.0)];
    let two = |i: u32| if i.is_multiple_of(3) { 1.0 } else { -1.0 };
    let mut found = Vec::new();
    for count in [18, 37, 140, 150, 300] {
        found.extend(not_finite(&rows(&grow, count, two), &CLASSES, &format!("grow x {count}")));
        found.extend(not_finite(
            &rows(&shrink, count, two),
            &CLASSES,
            &format!("shrink x {count}"),
        ));
    }
    // A scale beyond the range of its precision is lost: the weight reads as zero, and the learner inside still counts it.
    found.retain(|what| !(what.contains("grow x") && what.contains("number of nonzeros")));
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// Importances that are far apart.
#[test]
fn extreme_importances() {
    let mut chunk = Chunk::new();
    for i in 0..1300u32 {
        COLUMNS.iter().zip(1..).for_each(|((_, column), j)| chunk.push_feature(j, column(i)));
        let h = [1.0, 1e-12, 1e12, 0.0, 1e-30][i as usize % 5];
        let y = if i.is_multiple_of(3) { 1.0 } else { -1.0 };
        chunk.finish_row(Some(y), h, Repeats::Refuse).unwrap();
    }
    let found = not_finite(&chunk, &["logistic", "hinge"], "importances");
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// Labels whose squares are still finite numbers.
#[test]
fn extreme_labels() {
    let mut found = Vec::new();
    for size in [1e-200, 1e-100, 1e100, 1e150] {
        let label = |i: u32| if i.is_multiple_of(3) { size } else { -size };
        let name = format!("labels of {size:e}");
        found.extend(not_finite(&rows(&COLUMNS[..2], 50, label), &NUMBERS, &name));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}
