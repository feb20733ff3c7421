//! Number columns of tables: standardized as the formulas say, whatever the chunks, the units, the order of columns and where
//! the learner is saved.

use parsimon::data::{Input, Labels, Options, Reader, Reading};
use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::Precision;
use parsimon::workspace::NumberColumn;
use parsimon::{Model, Trainer};
use parsimon_testing::SplitMix64;
use serde_json::json;

use crate::common::{PRECISIONS, bits, rows, trainer};

/// A table of three number columns, with missing cells, and one category of five.
fn table(count: usize, change: impl Fn(usize, f64) -> f64, order: [usize; 3]) -> Chunk {
    let (mut random, mut chunk) = (SplitMix64::new(3), Chunk::new());
    let columns = order.map(|k| NumberColumn { key: 100 + k as u64, id: 7 * k as u32 + 2 });
    chunk.set_columns(&columns);
    for i in 0..count {
        let cells =
            [random.unit(), 50.0 + 5.0 * random.unit(), f64::from(u8::from(random.chance(0.3)))];
        let category = 1 + (8.0 * random.unit()) as u32;
        let score = cells[0] - 0.5 + 0.4 * (cells[1] - 52.5) - cells[2] + 0.1 * f64::from(category);
        let missing = random.chance(0.1).then(|| (3.0 * random.unit()) as usize);
        let (label, weight) = (if score > 0.0 { 1.0 } else { -1.0 }, 0.5 + random.unit());
        for (place, &k) in order.iter().enumerate() {
            chunk.open_numbers()[place] =
                if missing == Some(k) { f64::NAN } else { change(k, cells[k]) };
        }
        chunk.push_feature(category, 1.0);
        let label = (i % 17 != 3).then_some(label);
        chunk.finish_row(label, if i % 23 == 5 { 0.0 } else { weight }, Repeats::Refuse).unwrap();
    }
    chunk
}

fn plain(count: usize) -> Chunk {
    table(count, |_, x| x, [0, 1, 2])
}

const SPECS: [&str; 2] =
    [r#"{"algorithm":"auto"}"#, r#"{"algorithm":"rda","normalize":true,"l1":0.001}"#];

fn learned(spec: &str, precision: Precision, chunk: &Chunk) -> (Trainer, Vec<f64>) {
    let mut trainer = trainer(&serde_json::from_str(spec).unwrap(), precision);
    let mut margins = Vec::new();
    let mut watch =
        |s: &parsimon::train::Stretch<'_>| margins.extend(s.rows().map(|i| s.margins(i)[0]));
    trainer.learn_watched(chunk, &mut |_| {}, &mut watch).unwrap();
    (trainer, margins)
}

#[test]
fn chunks_and_checkpoints_do_not_show() {
    let chunk = plain(3000);
    for spec in SPECS {
        for precision in PRECISIONS {
            let whole = learned(spec, precision, &chunk).0;
            for size in [1, 64, 1000] {
                let mut parts = trainer(&serde_json::from_str(spec).unwrap(), precision);
                for start in (0..chunk.len()).step_by(size) {
                    let end = chunk.len().min(start + size);
                    parts.learn(&rows(&chunk, start..end), &mut |_| {}).unwrap();
                }
                assert_eq!(parts.checkpoint(), whole.checkpoint(), "{spec}, chunks of {size}");
            }
            let first = learned(spec, precision, &rows(&chunk, 0..1500)).0;
            let mut second = Trainer::from_checkpoint(&first.checkpoint()).unwrap();
            second.learn(&rows(&chunk, 1500..3000), &mut |_| {}).unwrap();
            assert_eq!(second.checkpoint(), whole.checkpoint(), "{spec}");
        }
    }
}

#[test]
fn cells_are_standardized_as_the_formulas_say() {
    // The twin: dense, eager, from the whole history of every column.
    let chunk = plain(700);
    let (standardized, _) = learned(SPECS[1], Precision::F64, &chunk);
    let mut history: [Vec<(f64, f64)>; 3] = Default::default();
    let mut twin = Chunk::new();
    for i in 0..chunk.len() {
        let (label, h) = (chunk.label(i), chunk.weight(i));
        let mut row: Vec<(u32, f64)> = chunk.row(i).iter().collect();
        for (k, &x) in chunk.numbers(i).iter().enumerate().filter(|(_, x)| !x.is_nan()) {
            if label.is_some() && h > 0.0 {
                history[k].push((x, h));
            }
            let total: f64 = history[k].iter().map(|c| c.1).sum();
            let mean = history[k].iter().map(|(x, h)| h * x).sum::<f64>() / total;
            let variance =
                history[k].iter().map(|(x, h)| h * (x - mean).powi(2)).sum::<f64>() / total;
            let u = ((x - mean) / variance.sqrt()).clamp(-4.0, 4.0);
            if variance > 1e-20 && u != 0.0 {
                row.push((chunk.columns()[k].id, u));
            }
        }
        row.iter().for_each(|&(j, v)| twin.push_feature(j, v));
        twin.finish_row(label, h, Repeats::Add).unwrap();
    }
    let (eager, _) = learned(SPECS[1], Precision::F64, &twin);
    let (a, b) = (standardized.model(), eager.model());
    assert!(a.nonzeros() >= 8);
    let (a, b) = (&a.heads()[0], &b.heads()[0]);
    assert_eq!(a.indices(), b.indices());
    for (x, y) in a.weights().iter().zip(b.weights()) {
        assert!((x - y).abs() <= 1e-9 * x.abs().max(1e-3), "{x} {y}");
    }
}

#[test]
fn units_origins_and_the_order_of_columns_do_not_matter() {
    let own = learned(SPECS[0], Precision::F64, &plain(2000)).1;
    let exact = table(2000, |k, x| x * [1024.0, 0.25, 8.0][k], [0, 1, 2]);
    assert_eq!(learned(SPECS[0], Precision::F64, &exact).1, own);
    let moved = table(
        2000,
        |k, x| [1e6, -1e-7, 3.0][k] * x + [17.0, 1.0, 1.7e9][k] * [1e6, 1e-7, 1.0][k],
        [0, 1, 2],
    );
    let order = table(2000, |_, x| x, [2, 0, 1]);
    for (other, tolerance) in [(moved, 1e-5), (order, 1e-12)] {
        for (a, b) in own.iter().zip(&learned(SPECS[0], Precision::F64, &other).1) {
            // A negative unit turns the sign of a weight, not the margin.
            assert!((a - b).abs() <= tolerance * a.abs().max(1.0), "{a} {b}");
        }
    }
}

#[test]
fn a_model_predicts_as_its_learner_and_survives_its_file() {
    let chunk = plain(2000);
    for spec in SPECS {
        let (trainer, _) = learned(spec, Precision::F64, &chunk);
        let model = Model::from_bytes(&trainer.model().to_bytes()).unwrap();
        assert_eq!(model.columns(), trainer.online().columns());
        let (mut a, mut b) = (Vec::new(), Vec::new());
        trainer.online().predict(&chunk, &mut a);
        model.scorer().margins(&chunk, &mut b);
        a.iter().zip(&b).for_each(|(x, y)| assert!((x - y).abs() < 1e-9 * x.abs().max(1.0)));
        // The view in the units of the data is the model wherever no cell is clipped.
        let raw = &model.heads_in_units()[0];
        for (i, &margin) in b.iter().enumerate() {
            if chunk.numbers(i).iter().any(|x| x.is_nan()) {
                continue;
            }
            let cells = chunk.columns().iter().zip(chunk.numbers(i)).map(|(c, x)| (c.id, *x));
            let dot: f64 = chunk.row(i).iter().chain(cells).map(|(j, x)| raw.weight(j) * x).sum();
            // Column 2 and category 2 share an id: their weight is one.
            if chunk.row(i).iter().all(|(j, _)| ![2, 9, 16].contains(&j)) {
                assert!(
                    (raw.bias() + dot - margin).abs() < 1e-6,
                    "{} {}",
                    raw.bias() + dot,
                    margin
                );
            }
        }
    }
}

#[test]
fn odd_columns_are_survived() {
    type Cell = fn(usize) -> f64;
    let cells: [(&str, Cell); 7] = [
        ("constant", |_| 3.7),
        ("zero", |_| 0.0),
        ("timestamps", |i| 1.7e9 + i as f64),
        ("alternating", |i| if i % 2 == 0 { 1e30 } else { -1e30 }),
        ("growing", |i| 10f64.powi((i % 38) as i32)),
        ("missing", |_| f64::NAN),
        ("one outlier", |i| if i == 500 { 1e30 } else { (i % 10) as f64 }),
    ];
    for (name, cell) in cells {
        for precision in PRECISIONS {
            for loss in ["logistic", "squared"] {
                let mut chunk = Chunk::new();
                chunk.set_columns(&[NumberColumn { key: 1, id: 1 }]);
                for i in 0..2000 {
                    chunk.open_numbers()[0] = cell(i);
                    let label = if i % 3 == 0 { 1.0 } else { -1.0 };
                    chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
                }
                let mut trainer = trainer(&json!({"algorithm": "auto", "loss": loss}), precision);
                trainer.learn(&chunk, &mut |_| {}).unwrap();
                let loss = trainer.progressive().average().unwrap();
                assert!(loss < 0.75, "{name}: {loss}");
                let model = trainer.model();
                let finite = model.heads()[0].weights().iter().all(|w| w.is_finite());
                assert!(finite && model.heads()[0].bias().is_finite(), "{name}");
            }
        }
    }
}

#[test]
fn tables_are_read_with_numbers_apart() {
    let text = "age,city,clicked\n30,Paris,1\n,Lyon,0\n0,Paris,1\n";
    let input = Input::Bytes { name: "t.csv".into(), bytes: text.into() };
    let options = Options::from(Reading {
        label_column: Some("clicked".into()),
        labels: Labels::binary(),
        numbers_apart: true,
        ..Reading::default()
    });
    let mut reader = Reader::open(&[input], &options).unwrap();
    let (mut chunk, mut cells) = (Chunk::new(), Vec::new());
    while reader.read(&mut chunk).unwrap() {
        cells.extend((0..chunk.len()).map(|i| chunk.numbers(i)[0]));
        assert!((0..chunk.len()).all(|i| chunk.row(i).len() == 1));
    }
    assert_eq!((cells[0], cells[2], cells[1].is_nan()), (30.0, 0.0, true));
    assert_eq!(reader.names().len(), 3);
}

#[test]
fn learners_that_do_not_normalize_see_the_cells_as_they_are() {
    let chunk = plain(500);
    let spec = r#"{"algorithm":"rda","l1":0.001}"#;
    let apart = learned(spec, Precision::F64, &chunk).0.model();
    let together = learned(spec, Precision::F64, &chunk.with_plain_numbers()).0.model();
    assert_eq!(bits(apart.heads()), bits(together.heads()));
}
