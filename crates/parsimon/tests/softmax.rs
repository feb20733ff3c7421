//! Softmax of several classes: beside its twin, its laws, and the door from settings.

use parsimon::rows::Chunk;
use parsimon::settings::{Loss, Precision, Storage};
use parsimon::survey::Found;
use parsimon::{LearnerOptions, Spec, Trainer};
use parsimon_core::Online;
use parsimon_oracle::streams::SplitMix64;
use parsimon_oracle::{Stream, run_softmax};
use serde_json::{Value, json};

use crate::common::{PRECISIONS, bits, chunk, family, rows, settings, trainer, wild, with};
use crate::normalized::differences;

const CLASSES: usize = 4;
const DIMENSION: usize = 23;

/// Rows with labels 0 to 3, some without a label or of weight 0.
fn stream(seed: u64, rounds: usize) -> Stream {
    let mut random = SplitMix64::new(seed);
    let mut stream = wild(seed, rounds, DIMENSION, "quantile");
    for example in stream.examples.iter_mut().filter(|example| !example.y.is_nan()) {
        let place = example.x.first().map_or(0, |(j, _)| *j);
        let own = random.chance(0.7);
        example.y = if own { (place % CLASSES) as f64 } else { (random.bits() % 4) as f64 };
    }
    stream
}

fn of_classes(spec: &Value, classes: usize) -> Value {
    let names: Vec<String> = (0..classes).map(|k| format!("c{k}")).collect();
    with(&with(spec, "loss", "softmax"), "classes", json!(names))
}

fn learner(spec: &Value, precision: Precision, storage: Storage) -> Box<dyn Online> {
    let options = LearnerOptions { precision, bias: true, storage };
    settings(spec).build(options, &Found::default()).unwrap()
}

/// Whether a spec of the family takes any loss, by its tangent.
fn takes_softmax(spec: &Value) -> bool {
    let spec = Spec::from_json(&of_classes(spec, CLASSES).to_string()).unwrap();
    spec.resolve().is_ok()
}

#[test]
fn every_method_with_a_tangent_is_its_twin() {
    let (stream, mut count) = (stream(7, 250), 0);
    let whole = chunk(&stream);
    // Which weights a projection on a ball leaves at zero is rounding where slopes are, too; each class has the ball of its own.
    // Follow the leader without a regularizer runs to and fro, and so do its roundings.
    let without_ball = family()
        .into_iter()
        .filter(|spec| spec.get("ball").is_none() && spec["algorithm"] != "ftl");
    for spec in without_ball.filter(takes_softmax) {
        // Scales that fade have a twin of their own, in the tests of parsimon-core.
        let normalizes = if spec.get("half_life").is_none() { 2 } else { 1 };
        for normalize in [false, true].into_iter().take(normalizes) {
            let spec = with(&with(&spec, "loss", "softmax"), "normalize", normalize);
            let mut own = spec.clone();
            own.as_object_mut().unwrap().remove("dimension");
            let twins = run_softmax(&own, &stream, true, CLASSES);
            let mut learner =
                learner(&of_classes(&spec, CLASSES), Precision::F64, Storage::Growing);
            let mut margins = Vec::new();
            learner.learn(&whole, &mut margins);
            let heads = learner.freeze().into_heads();
            for (k, (twin, head)) in twins.iter().zip(&heads).enumerate() {
                let own: Vec<f64> = margins.iter().skip(k).step_by(CLASSES).copied().collect();
                let found = differences(&stream, twin, &own, head);
                assert!(found.is_empty(), "class {k} of {spec}: {}", found.join("; "));
            }
            count += 1;
        }
    }
    assert!(count >= 30, "{count} specs");
}

/// Gradients of the classes add up to zero: with plain steps and no penalty so do the weights, and of two classes one is the
/// negative of the other.
#[test]
fn classes_balance() {
    let stream = stream(8, 400);
    let spec = of_classes(&json!({"algorithm": "sgd", "rate": 0.3, "l1": 0}), CLASSES);
    let mut learner = learner(&spec, Precision::F64, Storage::Growing);
    learner.learn(&chunk(&stream), &mut Vec::new());
    let heads = learner.freeze().into_heads();
    for j in 0..DIMENSION as u32 {
        let each: Vec<f64> = heads.iter().map(|head| head.weight(j)).collect();
        let size = each.iter().map(|w| w.abs()).sum::<f64>();
        assert!(each.iter().sum::<f64>().abs() <= 1e-12 * size, "{j}: {each:?}");
    }
    let mut two = stream;
    for example in two.examples.iter_mut().filter(|example| !example.y.is_nan()) {
        example.y = f64::from(u8::from(example.y > 1.0));
    }
    for spec in [json!({"algorithm": "ftrl", "l1": 0.5}), json!({"algorithm": "rda", "l1": 0.01})] {
        let mut learner = self::learner(&of_classes(&spec, 2), Precision::F64, Storage::Growing);
        learner.learn(&chunk(&two), &mut Vec::new());
        let heads = learner.freeze().into_heads();
        assert!(!heads[0].indices().is_empty());
        for j in 0..DIMENSION as u32 {
            let (a, b) = (heads[0].weight(j), heads[1].weight(j));
            assert!((a + b).abs() <= 1e-9 * a.abs().max(1e-9), "{spec} {j}: {a} {b}");
        }
    }
}

/// Storage of hashed features does not show: an array of all slots, or an index.
#[test]
fn storage_does_not_show() {
    let rows = chunk(&stream(9, 1500));
    for algorithm in ["auto", "ftrl"] {
        let spec = of_classes(&json!({"algorithm": algorithm}), CLASSES);
        for precision in PRECISIONS {
            let learned =
                [Storage::Growing, Storage::Slots(1 << 8), Storage::Slots(1 << 22), Storage::Index]
                    .map(|storage| {
                        let (mut learner, mut margins) =
                            (learner(&spec, precision, storage), Vec::new());
                        learner.learn(&rows, &mut margins);
                        let margins: Vec<u64> = margins.iter().map(|p| p.to_bits()).collect();
                        (margins, bits(learner.freeze().heads()))
                    });
            assert!(learned.iter().all(|other| *other == learned[0]), "{algorithm} {precision}");
        }
    }
}

#[test]
fn the_default_of_auto_and_of_no_other_method() {
    let resolve = |spec: Value| Spec::from_json(&spec.to_string()).unwrap().resolve().unwrap();
    assert_eq!(resolve(json!({"algorithm": "auto", "multiclass": true})).loss(), Loss::Softmax);
    assert_eq!(resolve(json!({"algorithm": "auto"})).loss(), Loss::Logistic);
    let apart = json!({"algorithm": "auto", "multiclass": true, "loss": "logistic"});
    assert_eq!(resolve(apart).loss(), Loss::Logistic);
    assert_eq!(resolve(json!({"algorithm": "ftrl", "multiclass": true})).loss(), Loss::Logistic);
    // The loss is one of several classes.
    assert!(resolve(json!({"algorithm": "ftrl", "loss": "softmax"})).is_multiclass());
    for spec in [
        json!({"algorithm": "sgd", "implicit": true, "loss": "softmax"}),
        json!({"algorithm": "auto", "metric": "accuracy"}),
        json!({"algorithm": "auto", "metric": "accuracy", "multiclass": true, "loss": "hinge"}),
    ] {
        Spec::from_json(&spec.to_string()).unwrap().resolve().unwrap_err();
    }
}

fn learned(spec: &Value, rows: &Chunk) -> Trainer {
    let mut trainer = trainer(spec, Precision::F32);
    trainer.learn(rows, &mut |_| {}).unwrap();
    trainer
}

/// More classes than settings fit: fewer settings race, and the model is still that of the setting it names.
#[test]
fn a_race_of_many_classes() {
    let mut random = SplitMix64::new(3);
    let mut rows = Chunk::new();
    for _ in 0..3000 {
        let class = random.bits() % 600;
        let feature = if random.chance(0.8) { class } else { random.bits() % 600 };
        rows.push_feature(1 + feature as u32, 1.0);
        rows.finish_row(Some(class as f64), 1.0, parsimon::rows::Repeats::Refuse).unwrap();
    }
    let raced = learned(&of_classes(&json!({"algorithm": "auto"}), 600), &rows);
    let model = raced.model();
    let named = Value::from(model.settings().to_json().clone());
    assert_eq!((&named["algorithm"], &named["loss"]), (&json!("ftrl"), &json!("softmax")));
    assert_eq!(bits(learned(&named, &rows).model().heads()), bits(model.heads()));
    let again = Trainer::from_checkpoint(&raced.checkpoint()).unwrap();
    assert_eq!(again.checkpoint(), raced.checkpoint());
    assert_eq!(bits(again.model().heads()), bits(model.heads()));
}

/// Where accuracy decides, a one-against-all model may win, and the model is then one of that loss.
#[test]
fn accuracy_decides() {
    let rows = chunk(&stream(12, 2500));
    let spec = of_classes(&json!({"algorithm": "auto", "metric": "accuracy"}), CLASSES);
    let raced = learned(&spec, &rows);
    let model = raced.model();
    let named = Value::from(model.settings().to_json().clone());
    assert!(named.get("metric").is_none());
    assert_eq!(bits(learned(&named, &rows).model().heads()), bits(model.heads()), "{named}");
}

#[test]
fn chunks_and_checkpoints_do_not_show() {
    let whole = chunk(&stream(10, 2600));
    for spec in [json!({"algorithm": "auto"}), json!({"algorithm": "auto", "half_life": 90})] {
        let spec = of_classes(&spec, CLASSES);
        let expected = learned(&spec, &whole).checkpoint();
        for cut in [1, 700, 2000] {
            let first = learned(&spec, &rows(&whole, 0..cut));
            let mut second = Trainer::from_checkpoint(&first.checkpoint()).unwrap();
            for start in (cut..whole.len()).step_by(13) {
                let part = rows(&whole, start..whole.len().min(start + 13));
                second.learn(&part, &mut |_| {}).unwrap();
            }
            assert_eq!(second.checkpoint(), expected, "cut after {cut}");
        }
    }
}
