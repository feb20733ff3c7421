//! `half_life`: what it is for, that it can be saved and cut anywhere, and which methods have it.

use parsimon::algorithm::ALGORITHMS;
use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::Precision;
use parsimon::tune::{Grid, Sweep};
use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
use parsimon_testing::SplitMix64;
use serde_json::{Value, json};

use crate::common::{PRECISIONS, bits, learn_margins, rows, trainer, with};

/// Rows of twenty features in different units. In the second half the label follows the first feature with the opposite sign.
fn drifting(count: usize, label: impl Fn(f64) -> f64) -> Chunk {
    let (mut random, mut chunk) = (SplitMix64::new(17), Chunk::new());
    for i in 0..count {
        let mut margin = 0.2;
        for j in 1..=20u32 {
            if j == 1 || random.chance(0.3) {
                let x = random.unit() - 0.5;
                margin += match j {
                    1 if i < count / 2 => 4.0 * x,
                    1 => -4.0 * x,
                    2..5 => x,
                    _ => 0.0,
                };
                chunk.push_feature(j, x * 10f64.powi(j as i32 % 3));
            }
        }
        let y = label(margin + 0.5 * (random.unit() - 0.5));
        let weight = [1.0, 1.0, 0.5, 2.0, 0.0][i % 5];
        chunk.finish_row((i % 11 != 3).then_some(y), weight, Repeats::Refuse).unwrap();
    }
    chunk
}

fn classes(count: usize) -> Chunk {
    drifting(count, |margin| if margin > 0.0 { 1.0 } else { -1.0 })
}

fn numbers(count: usize) -> Chunk {
    drifting(count, |margin| 1e3 + 7.0 * margin)
}

fn learned(spec: &Value, precision: Precision, chunk: &Chunk) -> Trainer {
    let mut trainer = trainer(spec, precision);
    trainer.learn(chunk, &mut |_| {}).unwrap();
    trainer
}

/// The mean loss of the predictions made in the second half.
fn loss_after_the_drift(spec: &Value, chunk: &Chunk) -> f64 {
    let mut trainer = trainer(spec, Precision::F32);
    let loss = trainer.settings().loss();
    let margins = learn_margins(&mut trainer, chunk, &mut |_| {});
    let half = chunk.len() / 2..chunk.len();
    let judged = half.filter_map(|i| Some((margins[i], chunk.label(i)?, chunk.weight(i))));
    let (mut sum, mut weight) = (0.0, 0.0);
    for (p, y, h) in judged {
        sum += h * loss.value(p, y);
        weight += h;
    }
    sum / weight
}

#[test]
fn after_a_drift_the_loss_is_clearly_lower() {
    let (classes, numbers) = (classes(12_000), numbers(12_000));
    for (spec, chunk) in [
        (json!({"algorithm": "ftrl", "l1": 0.1}), &classes),
        (json!({"algorithm": "ftrl", "normalize": true, "l1": 0.1}), &classes),
        (json!({"algorithm": "ftrl", "normalize": true, "loss": "squared", "l1": 0.1}), &numbers),
        (json!({"algorithm": "auto"}), &classes),
        (json!({"algorithm": "auto", "loss": "squared"}), &numbers),
    ] {
        let without = loss_after_the_drift(&spec, chunk);
        let with = loss_after_the_drift(&with(&spec, "half_life", 500), chunk);
        println!("{spec}: {without:.4} without a half-life, {with:.4} with one of 500 rows");
        assert!(with < 0.9 * without, "{spec}: {without} without, {with} with");
    }
}

/// The methods and their variants, each on rows that suit it.
fn specs() -> Vec<(Value, Chunk)> {
    let (classes, numbers) = (classes(4000), numbers(4000));
    let several = drifting(600, |margin| (margin + 1.5).clamp(0.0, 2.9).floor());
    let of_several = |algorithm: &str, normalize: bool| {
        json!({"algorithm": algorithm, "multiclass": true, "classes": ["a", "b", "c"], "half_life": 7,
               "normalize": normalize})
    };
    vec![
        (json!({"algorithm": "ftrl", "l1": 0.1, "half_life": 50}), classes.clone()),
        (json!({"algorithm": "ftrl", "normalize": true, "half_life": 5}), classes.clone()),
        (
            json!({"algorithm": "ftrl", "normalize": true, "loss": "huber", "half_life": 1}),
            numbers.clone(),
        ),
        (json!({"algorithm": "auto", "half_life": 100}), classes),
        (json!({"algorithm": "auto", "loss": "squared", "half_life": 30}), numbers),
        (of_several("ftrl", false), several.clone()),
        (of_several("ftrl", true), several.clone()),
        (of_several("auto", false), several),
    ]
}

#[test]
fn chunks_and_checkpoints_do_not_show() {
    for (spec, chunk) in specs() {
        for precision in PRECISIONS {
            let whole = learned(&spec, precision, &chunk);
            for size in [1, 63, 1000] {
                let mut parts = trainer(&spec, precision);
                for start in (0..chunk.len()).step_by(size) {
                    let end = chunk.len().min(start + size);
                    parts.learn(&rows(&chunk, start..end), &mut |_| {}).unwrap();
                }
                assert_eq!(parts.checkpoint(), whole.checkpoint(), "{spec}: chunks of {size}");
            }
            for cut in [0, 1, 111, 500] {
                let first = learned(&spec, precision, &rows(&chunk, 0..cut));
                let mut second = Trainer::from_checkpoint(&first.checkpoint()).unwrap();
                second.learn(&rows(&chunk, cut..chunk.len()), &mut |_| {}).unwrap();
                assert_eq!(second.checkpoint(), whole.checkpoint(), "{spec}: saved after {cut}");
            }
        }
    }
}

#[test]
fn the_model_of_a_race_is_that_of_the_setting_it_names() {
    for (spec, chunk) in specs().into_iter().filter(|(spec, _)| spec["algorithm"] == "auto") {
        if spec["multiclass"] == true {
            continue;
        }
        for precision in PRECISIONS {
            let raced = learned(&spec, precision, &chunk).model();
            let named = Value::from(raced.settings().to_json().clone());
            assert_eq!(
                (&named["algorithm"], &named["half_life"]),
                (&json!("ftrl"), &spec["half_life"])
            );
            let alone = learned(&named, precision, &chunk).model();
            assert_eq!(bits(raced.heads()), bits(alone.heads()), "{named}");
        }
    }
}

#[test]
fn growth_does_not_disturb_the_race() {
    // As good as no fading at all: the same setting wins, which it would not if late rows counted more at the looks.
    let chunk = classes(3000);
    let chosen = |spec: Value| learned(&spec, Precision::F64, &chunk).online().chosen();
    let without = chosen(json!({"algorithm": "auto"}));
    assert_eq!(chosen(json!({"algorithm": "auto", "half_life": 1u64 << 45})), without);
}

#[test]
fn settings_that_share_a_learner_end_as_they_would_alone() {
    let chunk = classes(700);
    let sweeps = ["half_life=20,300", "l1=0,0.1,1", "rate=0.1,1"];
    let specs = Grid::parse(sweeps).unwrap().expand(&Spec::new("ftrl")).unwrap();
    let all: Vec<_> = specs.iter().map(|spec| spec.resolve().unwrap()).collect();
    for precision in PRECISIONS {
        let options = LearnerOptions { precision, ..LearnerOptions::default() };
        let mut sweep = Sweep::new(all.clone(), options, InputSchema::default()).unwrap();
        sweep.learn(&chunk, &mut |_| {});
        for (k, settings) in all.iter().enumerate() {
            let alone = Trainer::new(settings.clone(), options, InputSchema::default());
            let mut alone = alone.unwrap();
            alone.learn(&chunk, &mut |_| {}).unwrap();
            let shared = sweep.model(k).unwrap();
            assert_eq!(bits(shared.heads()), bits(alone.model().heads()), "{settings:?}");
        }
    }
}

#[test]
fn a_hundred_half_lives_in_f32_stay_finite() {
    for (spec, _) in specs().into_iter().filter(|(spec, _)| spec["multiclass"] != true) {
        let rows = if spec["algorithm"] == "auto" { 100 } else { 10 };
        let spec = with(&spec, "half_life", rows);
        let chunk = match spec["loss"].as_str() {
            Some("squared" | "huber") => numbers(140 * rows),
            _ => classes(140 * rows),
        };
        let model = learned(&spec, Precision::F32, &chunk).model();
        let head = &model.heads()[0];
        assert!(head.bias().is_finite() && head.weights().iter().all(|w| w.is_finite()));
        assert!(model.nonzeros() > 0, "{spec}");
    }
}

#[test]
fn two_methods_have_it_and_neither_merges() {
    for algorithm in ALGORITHMS.iter() {
        let has = ["ftrl", "auto"].contains(&algorithm.name);
        assert_eq!(algorithm.has("half_life"), has, "{}", algorithm.name);
    }
    let refused = |value: Value| {
        let spec = Spec::new("ftrl").set("half_life", value);
        spec.resolve().unwrap_err().to_string()
    };
    for value in [json!(0), json!(-3), json!(2.5), json!("long")] {
        assert!(refused(value).starts_with("half_life must be a whole number >= 1, got "));
    }
    let merged = trainer(&json!({"algorithm": "ftrl", "half_life": 9}), Precision::F64);
    let error = merged.check_mergeable().unwrap_err().to_string();
    assert!(error.contains("half-life"), "{error}");
}
