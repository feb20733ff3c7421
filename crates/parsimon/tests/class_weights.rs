//! Rows weighted by their class: the same bits whatever the chunks, saved and resumed, and as importance weights would do.

use parsimon::rows::{Chunk, Repeats};
use parsimon::survey::Found;
use parsimon::tune::Sweep;
use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
use parsimon_testing::Lcg64;
use serde_json::json;

/// Features, label and importance.
type OneRow = (Vec<(u32, f64)>, Option<f64>, f64);

/// Rows of which one in eight is positive, some without a label, with importance weights.
fn rows(count: usize) -> Vec<OneRow> {
    let mut random = Lcg64::new(7);
    let mut below = move |n: u32| random.bits31() % n;
    let row = |_| {
        let y = if below(8) == 0 { 1.0 } else { -1.0 };
        let feature = 1 + below(20);
        let weight = [0.0, 0.5, 1.0, 2.0][below(4) as usize];
        let label = (below(10) > 0).then_some(y);
        (vec![(feature, 1.0), (30, y + f64::from(below(5)))], label, weight)
    };
    (0..count).map(row).collect()
}

fn chunk(rows: &[OneRow]) -> Chunk {
    let mut chunk = Chunk::new();
    for (features, label, weight) in rows {
        features.iter().for_each(|(j, v)| chunk.push_feature(*j, *v));
        chunk.finish_row(*label, *weight, Repeats::Refuse).unwrap();
    }
    chunk
}

fn trainer(spec: &Spec) -> Trainer {
    let settings = spec.resolve().unwrap();
    Trainer::new(settings, LearnerOptions::default(), InputSchema::default()).unwrap()
}

fn balanced(algorithm: &str) -> Spec {
    Spec::new(algorithm).set("class_weight", "balanced")
}

#[test]
fn chunks_do_not_show_and_a_checkpoint_goes_on() {
    let rows = rows(500);
    for spec in [balanced("ftrl"), balanced("rda").set("normalize", true), balanced("auto")] {
        let mut whole = trainer(&spec);
        whole.learn(&chunk(&rows), &mut |_| {}).unwrap();
        for length in [1, 7, 100] {
            let mut parts = trainer(&spec);
            for rows in rows.chunks(length) {
                parts.learn(&chunk(rows), &mut |_| {}).unwrap();
                parts = Trainer::from_checkpoint(&parts.checkpoint()).unwrap();
            }
            assert_eq!(parts.checkpoint(), whole.checkpoint(), "{length}");
        }
    }
}

#[test]
fn a_factor_is_an_importance_weight_and_the_loss_is_that_of_the_rows() {
    let rows = rows(300);
    let spec = Spec::new("adagrad-rda").set("l1", 0.001);
    let mut weighted = trainer(&spec.clone().set("class_weight", json!({"1": 5, "-1": 0.5})));
    weighted.learn(&chunk(&rows), &mut |_| {}).unwrap();
    let factor = |label: Option<f64>| label.map_or(1.0, |y| if y > 0.0 { 5.0 } else { 0.5 });
    let by_hand: Vec<_> = rows.iter().map(|(x, y, w)| (x.clone(), *y, w * factor(*y))).collect();
    let mut important = trainer(&spec);
    important.learn(&chunk(&by_hand), &mut |_| {}).unwrap();
    let heads = |t: &Trainer| t.model().heads().to_vec();
    assert_eq!(format!("{:?}", heads(&weighted)), format!("{:?}", heads(&important)));
    let mass: f64 = rows.iter().filter(|(_, y, _)| y.is_some()).map(|(_, _, w)| w).sum();
    assert_eq!(weighted.progressive().weight(), mass);
    assert_ne!(important.progressive().weight(), mass);
}

#[test]
fn a_sweep_learns_as_one_alone() {
    let rows = chunk(&rows(300));
    let settings = |rate: f64| balanced("ftrl").set("rate", rate).resolve().unwrap();
    let both = vec![settings(0.1), settings(0.3)];
    let mut sweep = Sweep::new(both, LearnerOptions::default(), InputSchema::default()).unwrap();
    sweep.learn(&rows, &mut |_| {});
    let mut alone = trainer(&balanced("ftrl").set("rate", 0.3));
    alone.learn(&rows, &mut |_| {}).unwrap();
    let model = sweep.model(1).unwrap();
    assert_eq!(format!("{:?}", model.heads()), format!("{:?}", alone.model().heads()));
}

#[test]
fn rare_classes_are_found_more_often() {
    let rows = rows(2000);
    let recall = |spec: &Spec| {
        let mut trainer = trainer(spec);
        let mut found = 0;
        let mut watch = |stretch: &parsimon::train::Stretch<'_>| {
            found += stretch.labelled().filter(|(m, y, _)| *y > 0.0 && m[0] > 0.0).count();
        };
        trainer.learn_watched(&chunk(&rows), &mut |_| {}, &mut watch).unwrap();
        found
    };
    let plain = Spec::new("sgd").set("rate", 0.02);
    assert!(recall(&plain.clone().set("class_weight", "balanced")) > recall(&plain));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refuse = |spec: Spec, found: Found| {
        let reading = InputSchema { found, ..InputSchema::default() };
        let settings = spec.resolve().unwrap();
        let error = Trainer::new(settings, LearnerOptions::default(), reading).err().unwrap();
        assert_eq!(error.parameter(), "class_weight");
        error.to_string()
    };
    let numbers = refuse(balanced("lms"), Found::default());
    assert!(numbers.contains("the labels are numbers"), "{numbers}");
    let other = Spec::new("ftrl").set("class_weight", json!({"maybe": 2}));
    let classes = vec!["no".to_owned(), "yes".to_owned()];
    let message = refuse(other, Found { classes, ..Found::default() });
    assert!(message.contains("\"maybe\"") && message.contains("no, yes"), "{message}");
    for bad in [json!("even"), json!({"1": 0}), json!({}), json!([1, 2]), json!({"1": "x"})] {
        let error = Spec::new("ftrl").set("class_weight", bad).resolve().unwrap_err();
        assert!(error.to_string().contains("balanced"), "{error}");
    }
}
