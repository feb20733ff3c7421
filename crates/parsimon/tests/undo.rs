//! Going back to before a call gives the learner of before, to the last bit.

use crate::common;

use common::{PRECISIONS, chunk, family, ones, rows, trainer, with};
use parsimon::Trainer;
use parsimon::rows::{Chunk, Repeats};
use parsimon::serve::Undo;
use parsimon::settings::Precision;
use parsimon_oracle::streams;
use serde_json::{Value, json};

const DIMENSION: u32 = 24;

fn learn(trainer: &mut Trainer, undo: &mut Undo, chunk: &Chunk, is_last: bool) {
    trainer.learn(chunk, &mut |_| {}).unwrap();
    undo.learned(chunk);
    if is_last {
        undo.end();
    }
}

/// A stream in calls of many sizes; after each, a call that is taken back.
fn goes_back(spec: &Value, precision: Precision, all: &Chunk, wrong: &Chunk) {
    let (mut one, mut twin) = (trainer(spec, precision), trainer(spec, precision));
    let mut undo = Undo::default();
    let mut start = 0;
    for (k, size) in [1, 1, 7, 30, 1, 20, 30].into_iter().enumerate() {
        let part = rows(all, start..start + size);
        start += size;
        // Every third call states that it is huge, and is not kept.
        let cells = if k % 3 == 2 { usize::MAX } else { part.nonzeros() };
        undo.begin(&one, cells);
        learn(&mut one, &mut undo, &rows(&part, 0..size / 2), false);
        learn(&mut one, &mut undo, &rows(&part, size / 2..size), true);
        twin.learn(&part, &mut |_| {}).unwrap();
        undo.begin(&one, if k % 2 == 0 { usize::MAX } else { wrong.nonzeros() });
        learn(&mut one, &mut undo, wrong, false);
        undo.go_back(&mut one).unwrap();
        assert!(one.checkpoint() == twin.checkpoint(), "{spec} {precision:?}, call {k}");
        assert_eq!(one.last_report().is_some(), twin.last_report().is_some());
    }
}

#[test]
fn every_method_goes_back_to_the_bit() {
    let troubles =
        streams::random(5, 90, DIMENSION as usize, "logistic", streams::Options::default());
    let (all, wrong) = (chunk(&troubles), ones(6, 25, DIMENSION));
    let mut specs = family();
    specs.push(json!({"algorithm": "auto"}));
    specs.push(json!({"algorithm": "ftrl", "normalize": true}));
    for spec in specs {
        let spec = with(&spec, "loss", "logistic");
        PRECISIONS.iter().for_each(|&precision| goes_back(&spec, precision, &all, &wrong));
    }
}

fn row(x: f64, y: f64) -> Chunk {
    let mut chunk = Chunk::new();
    chunk.push_feature(1, x);
    chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
    chunk
}

#[test]
fn a_learner_that_diverged_goes_on_as_if_it_had_not() {
    let spec = json!({"algorithm": "sgd", "loss": "squared", "rate": 0.5, "schedule": "constant"});
    let mut one = trainer(&spec, Precision::F64);
    let mut undo = Undo::default();
    let good = row(1.0, 1.0);
    undo.begin(&one, 1);
    learn(&mut one, &mut undo, &good, true);
    let before = one.checkpoint();
    for _ in 0..3 {
        undo.begin(&one, 1);
        let diverged = (0..2000).find_map(|_| {
            let bad = row(1e3, 1.0);
            let learned = one.learn(&bad, &mut |_| {});
            undo.learned(&bad);
            learned.err()
        });
        assert!(matches!(diverged, Some(parsimon::Error::Diverged { .. })), "{diverged:?}");
        undo.go_back(&mut one).unwrap();
        assert!(one.checkpoint() == before);
    }
    undo.begin(&one, 1);
    learn(&mut one, &mut undo, &good, true);
    assert_eq!(one.progressive().rows(), 2);
}
