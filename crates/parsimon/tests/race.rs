//! Normalized rows and the race of `auto`: whatever the chunks, wherever it is saved, in whatever units, and equal to the
//! setting it names.

use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::Precision;
use parsimon::{Spec, Trainer};
use parsimon_testing::SplitMix64;
use serde_json::{Value, json};

use crate::common::{PRECISIONS, bits, rows, trainer};

/// Rows of 20 features in very different units; the label follows a few of them.
fn stream(count: usize, unit: f64, noise: f64) -> Chunk {
    let (mut random, mut chunk) = (SplitMix64::new(5), Chunk::new());
    for _ in 0..count {
        let mut margin = 0.3;
        for j in 1..=20u32 {
            if random.chance(0.4) {
                let x = random.unit() - 0.5;
                margin += if j < 6 { (f64::from(j) - 3.0) * x } else { 0.0 };
                chunk.push_feature(j, x * unit.powi(j as i32 % 5) * 3.0);
            }
        }
        let y = if margin + noise * (random.unit() - 0.5) > 0.0 { 1.0 } else { -1.0 };
        chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

fn learned(spec: &Value, precision: Precision, chunk: &Chunk) -> Trainer {
    let mut trainer = trainer(spec, precision);
    trainer.learn(chunk, &mut |_| {}).unwrap();
    trainer
}

#[test]
fn chunks_and_checkpoints_do_not_show() {
    let chunk = stream(5000, 10.0, 1.0);
    for precision in PRECISIONS {
        let spec = json!({"algorithm": "auto"});
        let whole = learned(&spec, precision, &chunk);
        for size in [1, 7, 1000] {
            let mut parts = trainer(&spec, precision);
            for start in (0..chunk.len()).step_by(size) {
                let end = chunk.len().min(start + size);
                parts.learn(&rows(&chunk, start..end), &mut |_| {}).unwrap();
            }
            assert_eq!(parts.checkpoint(), whole.checkpoint(), "chunks of {size}");
        }
        for cut in [0, 500, 1024, 1025, 3000, 4096] {
            let first = learned(&spec, precision, &rows(&chunk, 0..cut));
            let mut second = Trainer::from_checkpoint(&first.checkpoint()).unwrap();
            second.learn(&rows(&chunk, cut..chunk.len()), &mut |_| {}).unwrap();
            assert_eq!(second.checkpoint(), whole.checkpoint(), "saved after {cut} rows");
        }
    }
}

#[test]
fn the_model_is_that_of_the_setting_it_names() {
    for (count, noise) in [(500, 1.0), (3000, 0.5), (6000, 4.0)] {
        let chunk = stream(count, 100.0, noise);
        for precision in PRECISIONS {
            let raced = learned(&json!({"algorithm": "auto"}), precision, &chunk).model();
            let named = Value::from(raced.settings().to_json().clone());
            assert_eq!(named["algorithm"], "ftrl");
            let alone = learned(&named, precision, &chunk).model();
            assert_eq!(bits(raced.heads()), bits(alone.heads()), "{count} rows: {named}");
            assert!(raced.nonzeros() > 0);
        }
    }
}

#[test]
fn several_classes_have_one_setting_which_gives_the_same_model() {
    let mut random = SplitMix64::new(11);
    let mut chunk = Chunk::new();
    for _ in 0..5000 {
        let class = (3.0 * random.unit()) as u32;
        for j in 1..=12u32 {
            if random.chance(0.3) || (j % 3 == class && random.chance(0.5)) {
                chunk.push_feature(j, 1.0 + random.unit());
            }
        }
        chunk.finish_row(Some(f64::from(class)), 1.0, Repeats::Refuse).unwrap();
    }
    let spec = json!({"algorithm": "auto", "multiclass": true, "classes": ["a", "b", "c"]});
    for precision in PRECISIONS {
        let raced = learned(&spec, precision, &chunk);
        let model = raced.model();
        let named = Value::from(model.settings().to_json().clone());
        assert_eq!((&named["algorithm"], &named["multiclass"]), (&json!("ftrl"), &json!(true)));
        let alone = learned(&named, precision, &chunk).model();
        assert_eq!(model.heads().len(), 3);
        assert_eq!(bits(model.heads()), bits(alone.heads()), "{named}");
        assert!(raced.progressive().average().unwrap() < 0.45);
        // Neither chunks nor a checkpoint show.
        let mut parts = learned(&spec, precision, &rows(&chunk, 0..1500));
        parts = Trainer::from_checkpoint(&parts.checkpoint()).unwrap();
        for start in (1500..chunk.len()).step_by(7) {
            let end = chunk.len().min(start + 7);
            parts.learn(&rows(&chunk, start..end), &mut |_| {}).unwrap();
        }
        assert_eq!(parts.checkpoint(), raced.checkpoint());
        // What is read agrees with the model.
        let (mut own, mut read) = (Vec::new(), Vec::new());
        raced.online().predict(&chunk, &mut own);
        model.scorer().margins(&chunk, &mut read);
        let tolerance = if precision == Precision::F64 { 1e-9 } else { 1e-3 };
        assert!(own.iter().zip(&read).all(|(p, q)| (p - q).abs() < tolerance * p.abs().max(1.0)));
    }
}

#[test]
fn units_of_features_do_not_matter() {
    let spec = json!({"algorithm": "auto"});
    let of = |unit: f64| {
        let chunk = stream(3000, unit, 1.0);
        let mut margins = Vec::new();
        let mut trainer = trainer(&spec, Precision::F64);
        let mut watch =
            |s: &parsimon::train::Stretch<'_>| margins.extend(s.labelled().map(|(m, ..)| m[0]));
        trainer.learn_watched(&chunk, &mut |_| {}, &mut watch).unwrap();
        margins
    };
    let own = of(1.0);
    assert_eq!(own, of(1024.0));
    for (a, b) in own.iter().zip(of(1e-3)) {
        assert!((a - b).abs() < 1e-9 * a.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn labels_may_have_any_unit_and_origin() {
    let classes = stream(3000, 1000.0, 0.5);
    let of = |scale: f64, shift: f64| {
        let mut chunk = Chunk::new();
        for i in 0..classes.len() {
            classes.row(i).iter().for_each(|(j, x)| chunk.push_feature(j, x));
            let y = scale * classes.label(i).unwrap() + shift;
            chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
        }
        let spec = json!({"algorithm": "auto", "loss": "squared"});
        let model = learned(&spec, Precision::F64, &chunk).model();
        let mut margins = Vec::new();
        model.scorer().margins(&classes, &mut margins);
        margins
    };
    let own = of(1.0, 0.0);
    // Better than the mean, which is about 0.
    let error: f64 = (0..classes.len()).map(|i| (own[i] - classes.label(i).unwrap()).powi(2)).sum();
    assert!(error < 0.8 * classes.len() as f64, "{error}");
    for (a, b) in own.iter().zip(of(1e4, -3e6)) {
        assert!((1e4 * a - 3e6 - b).abs() < 1e-9 * 3e6, "{a} {b}");
    }
}

#[test]
fn where_nothing_helps_the_constant_wins() {
    let (mut random, mut chunk) = (SplitMix64::new(9), Chunk::new());
    for _ in 0..5000 {
        (1..=30)
            .filter(|_| random.chance(0.5))
            .collect::<Vec<_>>()
            .iter()
            .for_each(|&j| chunk.push_feature(j, 1.0));
        let y = if random.chance(0.7) { 1.0 } else { -1.0 };
        chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
    }
    let model = learned(&json!({"algorithm": "auto"}), Precision::F32, &chunk).model();
    assert_eq!(model.nonzeros(), 0);
    let bias = model.heads()[0].bias();
    assert!((bias - (0.7f64 / 0.3).ln()).abs() < 0.15, "{bias}");
}

#[test]
fn nasty_data_leaves_finite_weights() {
    type Value = fn(u32, i32) -> f64;
    let columns: [Value; 6] = [
        |_, _| 3.0,                                 // a constant
        |_, _| 0.0,                                 // zeros
        |i, _| 1.6e9 + f64::from(i),                // timestamps
        |i, _| if i % 2 == 0 { 1e6 } else { -1e6 }, // alternating signs
        |i, _| 10f64.powi(i as i32 % 12),           // growing by 10
        |i, j| f64::from(i * 7919 % 101) * 10f64.powi(j),
    ];
    for count in [1, 2, 100, 3000] {
        let mut chunk = Chunk::new();
        for i in 0..count {
            for (j, column) in (1..).zip(columns) {
                chunk.push_feature(j, column(i, j as i32));
            }
            let y = if i % 3 == 0 { 1.0 } else { -1.0 };
            chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
        }
        for precision in PRECISIONS {
            for loss in ["logistic", "squared", "hinge"] {
                let spec = json!({"algorithm": "auto", "loss": loss});
                let model = learned(&spec, precision, &chunk).model();
                let head = &model.heads()[0];
                assert!(head.bias().is_finite() && head.weights().iter().all(|w| w.is_finite()));
            }
        }
    }
}

#[test]
fn every_linear_method_can_be_normalized_and_kernels_cannot() {
    let spec = Spec::new("multikernel-pda").set("normalize", true);
    let error = spec.resolve().unwrap_err().to_string();
    assert_eq!(error, "multikernel-pda is not linear and cannot be normalized");
    let chunk = stream(600, 1e4, 0.5);
    for name in ["sgd", "fobos", "rda", "adagrad-rda", "adam", "truncated-gradient"] {
        let loss = |normalize: bool| {
            let spec = json!({"algorithm": name, "normalize": normalize});
            let mut trainer = trainer(&spec, Precision::F64);
            let learned = trainer.learn(&chunk, &mut |_| {});
            learned.ok().and_then(|()| trainer.progressive().average()).unwrap_or(f64::INFINITY)
        };
        let (raw, normalized) = (loss(false), loss(true));
        assert!(normalized < 0.69 && normalized < raw, "{name}: {raw} {normalized}");
    }
    let error = trainer(&json!({"algorithm": "auto"}), Precision::F64).check_mergeable();
    let error = error.unwrap_err().to_string();
    assert!(error.contains("it keeps several settings side by side"), "{error}");
}
