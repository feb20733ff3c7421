//! The race of half-lives: neither chunks nor checkpoints show, and it ends with the learner of the setting it names.

use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::Precision;
use parsimon::{Spec, Trainer};
use parsimon_testing::SplitMix64;
use serde_json::{Value, json};

use crate::common::{PRECISIONS, bits, rows, trainer};

/// Rows of ten features. The label follows weights that turn around every `turns` rows, or stay.
fn stream(count: usize, turns: Option<usize>, classes: bool) -> Chunk {
    let (mut random, mut chunk) = (SplitMix64::new(8), Chunk::new());
    for i in 0..count {
        let sign = if turns.is_some_and(|turns| i / turns % 2 == 1) { -1.0 } else { 1.0 };
        let mut margin = 0.0;
        for j in 1..=10u32 {
            let x = random.unit() - 0.5;
            margin += sign * (f64::from(j) - 5.5) * x;
            chunk.push_feature(j, x);
        }
        let y = margin + random.unit() - 0.5;
        let label = if classes { y.signum() } else { 100.0 + 7.0 * y };
        chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

fn spec(loss: &str, half_lives: bool) -> Value {
    json!({"algorithm": "auto", "loss": loss, "half_lives": half_lives})
}

fn learned(spec: &Value, precision: Precision, chunk: &Chunk) -> Trainer {
    let mut trainer = trainer(spec, precision);
    trainer.learn(chunk, &mut |_| {}).unwrap();
    trainer
}

fn loss(trainer: &Trainer) -> f64 {
    trainer.progressive().average().unwrap()
}

#[test]
fn chunks_and_checkpoints_do_not_show() {
    let chunk = stream(5000, Some(1500), true);
    let spec = spec("logistic", true);
    for precision in PRECISIONS {
        let whole = learned(&spec, precision, &chunk);
        for size in [1, 7, 1000] {
            let mut parts = trainer(&spec, precision);
            for start in (0..chunk.len()).step_by(size) {
                let end = chunk.len().min(start + size);
                parts.learn(&rows(&chunk, start..end), &mut |_| {}).unwrap();
            }
            assert_eq!(parts.checkpoint(), whole.checkpoint(), "chunks of {size}");
        }
        for cut in [0, 500, 1024, 1025, 4096] {
            let first = learned(&spec, precision, &rows(&chunk, 0..cut));
            let mut second = Trainer::from_checkpoint(&first.checkpoint()).unwrap();
            second.learn(&rows(&chunk, cut..chunk.len()), &mut |_| {}).unwrap();
            assert_eq!(second.checkpoint(), whole.checkpoint(), "saved after {cut} rows");
        }
    }
}

#[test]
fn the_model_is_that_of_the_setting_it_names() {
    for (count, turns) in [(700, None), (3000, Some(500)), (6000, Some(2500))] {
        let chunk = stream(count, turns, true);
        for precision in PRECISIONS {
            let raced = learned(&spec("logistic", true), precision, &chunk).model();
            let named = Value::from(raced.settings().to_json().clone());
            assert_eq!(named["algorithm"], "ftrl");
            assert_eq!(named.get("half_lives"), None);
            let alone = learned(&named, precision, &chunk).model();
            assert_eq!(bits(raced.heads()), bits(alone.heads()), "{count} rows: {named}");
        }
    }
}

#[test]
fn several_classes_may_drift() {
    let (mut random, mut chunk) = (SplitMix64::new(11), Chunk::new());
    for i in 0..9000u32 {
        let class = (3.0 * random.unit()) as u32;
        // What belongs to a class changes.
        let shown = (class + i / 1500) % 3;
        for j in 1..=12u32 {
            if random.chance(0.2) || (j % 3 == shown && random.chance(0.6)) {
                chunk.push_feature(j, 1.0);
            }
        }
        chunk.finish_row(Some(f64::from(class)), 1.0, Repeats::Refuse).unwrap();
    }
    let spec = |half_lives: bool| json!({"algorithm": "auto", "multiclass": true, "classes": ["a", "b", "c"], "half_lives": half_lives});
    let plain = learned(&spec(false), Precision::F64, &chunk);
    let raced = learned(&spec(true), Precision::F64, &chunk);
    assert!(loss(&raced) < 1.02 * loss(&plain), "{} {}", loss(&raced), loss(&plain));
    let again = Trainer::from_checkpoint(&raced.checkpoint()).unwrap();
    assert_eq!(bits(again.model().heads()), bits(raced.model().heads()));
}

#[test]
fn one_half_life_or_a_race_of_them() {
    let both = Spec::recommended().set("half_lives", true).set("half_life", 100);
    let error = both.resolve().unwrap_err().to_string();
    assert_eq!(error, "half_lives chooses the half-life; leave out half_life");
}
