//! Learners that begin with a model.

use parsimon::algorithm::ALGORITHMS;
use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::{Precision, Storage};
use parsimon::survey::Found;
use parsimon::workspace::NumberColumn;
use parsimon::{InputSchema, LearnerOptions, Model, Spec, Trainer};
use parsimon_oracle::streams::SplitMix64;

/// Methods that begin with no model: their weights are bounded, or they know no base values.
const REFUSED: [&str; 11] = [
    "c-adaline",
    "csgd",
    "dual-averaging",
    "ftl",
    "ipnlms",
    "multikernel-apfbs",
    "multikernel-pda",
    "ncsgd",
    "papa",
    "pnlms",
    "rls",
];

/// Rows of a few features of twelve, and of two number columns if asked for. The label is of two classes, a number or one of
/// three classes.
fn rows(count: usize, seed: u64, task: &str, has_columns: bool) -> Chunk {
    let mut random = SplitMix64::new(seed);
    let mut chunk = Chunk::new();
    if has_columns {
        chunk.set_columns(&[NumberColumn { key: 1, id: 101 }, NumberColumn { key: 2, id: 102 }]);
    }
    for _ in 0..count {
        let mut score = 0.0;
        for j in 1..=12u32 {
            let x = random.unit() - 0.5;
            if x > 0.1 {
                chunk.push_feature(j, x);
                score += x * (f64::from(j) - 6.0);
            }
        }
        if has_columns {
            let cells = chunk.open_numbers();
            for (k, cell) in cells.iter_mut().enumerate() {
                let u = random.unit();
                *cell = if u < 0.1 { f64::NAN } else { 1e3 * (k as f64 + 1.0) + 50.0 * u };
                score += if u < 0.1 { 0.0 } else { u - 0.5 };
            }
        }
        score += random.unit() - 0.5;
        let label = match task {
            "classes" => score.signum(),
            "numbers" => 100.0 + 10.0 * score,
            _ => f64::from(u8::from(score > -0.5) + u8::from(score > 0.5)),
        };
        chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

fn schema(task: &str) -> InputSchema {
    let classes = match task {
        "several" => vec!["a".into(), "b".into(), "c".into()],
        _ => Vec::new(),
    };
    InputSchema { found: Found { classes, ..Found::default() }, ..InputSchema::default() }
}

fn spec(name: &str, task: &str) -> Spec {
    match task {
        "classes" => Spec::new(name).set("loss", "logistic"),
        "numbers" => Spec::new(name).set("loss", "squared"),
        _ => Spec::new(name).set("loss", "logistic").set("multiclass", true),
    }
}

fn first(name: &str, task: &str, is_normalized: bool, rows: &Chunk) -> Model {
    let spec = spec(name, task);
    let spec = if is_normalized && name != "auto" { spec.set("normalize", true) } else { spec };
    let frame = LearnerOptions { precision: Precision::F64, ..LearnerOptions::default() };
    let mut trainer = Trainer::new(spec.resolve().unwrap(), frame, schema(task)).unwrap();
    trainer.learn(rows, &mut |_| {}).unwrap();
    trainer.model()
}

fn margins(model: &Model, rows: &Chunk) -> Vec<f64> {
    let mut margins = Vec::new();
    model.scorer().margins(rows, &mut margins);
    margins
}

fn begin(name: &str, model: &Model) -> Result<Trainer, parsimon::BuildError> {
    let spec = model.spec_to_begin(Spec::new(name));
    Trainer::from_model(spec.resolve()?, Storage::Growing, model, "m")
}

#[test]
fn every_method_begins_with_the_predictions_of_the_model() {
    for task in ["classes", "numbers", "several"] {
        let (old, new) = (rows(400, 1, task, false), rows(300, 2, task, false));
        let model = first("ftrl", task, false, &old);
        let expected = margins(&model, &new);
        let mut refused = Vec::new();
        for algorithm in ALGORITHMS.iter() {
            let Ok(mut trainer) = begin(algorithm.name, &model) else {
                refused.push(algorithm.name);
                continue;
            };
            let mut made = Vec::new();
            trainer.online().predict(&new, &mut made);
            let far = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-12 * b.abs().max(1.0);
            assert!(!made.iter().zip(&expected).any(far), "{} {task}", algorithm.name);
            assert_eq!(trainer.model().heads(), model.heads(), "{} {task}", algorithm.name);
            trainer.learn(&new, &mut |_| {}).unwrap();
            let after = trainer.model();
            assert!(
                after
                    .heads()
                    .iter()
                    .flat_map(parsimon::workspace::Head::weights)
                    .all(|w| w.is_finite()),
                "{} {task}",
                algorithm.name
            );
            assert_ne!(after.heads(), model.heads(), "{} {task}", algorithm.name);
            // What the learner predicts is what its model predicts.
            let (mut online, frozen) = (Vec::new(), margins(&after, &new));
            trainer.online().predict(&new, &mut online);
            let far = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9 * b.abs().max(1.0);
            assert!(!online.iter().zip(&frozen).any(far), "{} {task}", algorithm.name);
        }
        assert!(refused.contains(&"auto"), "it normalizes features");
        if task == "classes" {
            assert!(!refused.contains(&"ftrl") && !refused.contains(&"adam"));
        }
        if task == "numbers" {
            let of_classes = ["adaline", "pa", "arow", "scw"];
            let of_rows = ["auto", "nlms", "apa", "apfbs", "pda"];
            refused.retain(|name| !of_classes.contains(name) && !of_rows.contains(name));
            let unexpected: Vec<_> = refused.iter().filter(|n| !REFUSED.contains(n)).collect();
            assert!(unexpected.is_empty(), "{unexpected:?}");
        }
    }
}

#[test]
fn tables_with_number_columns_keep_the_units_of_the_model() {
    for task in ["classes", "numbers", "several"] {
        let (old, new) = (rows(1500, 1, task, true), rows(1500, 2, task, true));
        for name in ["auto", "ftrl", "sgd", "adam"] {
            let model = first("auto", task, true, &old);
            let mut trainer = begin(name, &model).unwrap();
            let (mut made, expected) = (Vec::new(), margins(&model, &new));
            trainer.online().predict(&new, &mut made);
            assert_eq!(made, expected, "{name} {task}");
            let mut one = Chunk::new();
            one.copy_row(&new, 0);
            let mut seen = Vec::new();
            let mut watch =
                |stretch: &parsimon::train::Stretch<'_>| seen.extend_from_slice(stretch.margins(0));
            trainer.learn_watched(&one, &mut |_| {}, &mut watch).unwrap();
            assert_eq!(seen, expected[..seen.len()], "{name} {task}");
            trainer.learn(&new, &mut |_| {}).unwrap();
            let after = trainer.model();
            assert_eq!(after.columns(), model.columns(), "{name} {task}");
            let (mut online, frozen) = (Vec::new(), margins(&after, &new));
            trainer.online().predict(&new, &mut online);
            let far = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9 * b.abs().max(1.0);
            assert!(!online.iter().zip(&frozen).any(far), "{name} {task}");
        }
    }
}

#[test]
fn weights_that_no_row_moves_stay() {
    let old = rows(400, 1, "classes", false);
    let model = first("ftrl", "classes", false, &old);
    let mut new = Chunk::new();
    for i in 0..50 {
        new.push_feature(3, 1.0);
        new.finish_row(Some(if i % 2 == 0 { 1.0 } else { -1.0 }), 1.0, Repeats::Refuse).unwrap();
    }
    for name in ["ftrl", "sgd", "adagrad-rda", "adam"] {
        let mut trainer = begin(name, &model).unwrap();
        trainer.learn(&new, &mut |_| {}).unwrap();
        let after = trainer.model();
        for j in (1..=20).filter(|j| *j != 3) {
            assert_eq!(after.heads()[0].weight(j), model.heads()[0].weight(j), "{name} {j}");
        }
        assert_ne!(after.heads()[0].weight(3), model.heads()[0].weight(3), "{name}");
    }
}

/// A method of weights without a penalty learns as if it had begun with the weights: two halves are the whole.
#[test]
fn plain_steps_go_on_where_they_were() {
    let all = rows(300, 4, "numbers", false);
    let parts = |range: std::ops::Range<usize>| {
        let mut chunk = Chunk::new();
        range.for_each(|i| chunk.copy_row(&all, i));
        chunk
    };
    let settings = || Spec::new("lms").set("rate", 0.05).resolve().unwrap();
    let frame = LearnerOptions { precision: Precision::F64, ..LearnerOptions::default() };
    let new = || Trainer::new(settings(), frame, schema("numbers")).unwrap();
    let (mut whole, mut half) = (new(), new());
    whole.learn(&all, &mut |_| {}).unwrap();
    half.learn(&parts(0..150), &mut |_| {}).unwrap();
    let mut rest =
        Trainer::from_model(settings(), Storage::Growing, &half.model(), "half").unwrap();
    rest.learn(&parts(150..300), &mut |_| {}).unwrap();
    let (a, b) = (whole.model(), rest.model());
    for (x, y) in a.heads()[0].weights().iter().zip(b.heads()[0].weights()) {
        assert!((x - y).abs() < 1e-9, "{x} {y}");
    }
}

#[test]
fn checkpoints_continue_bit_for_bit() {
    for task in ["classes", "numbers", "several"] {
        let (old, new) = (rows(600, 1, task, true), rows(600, 2, task, true));
        let model = first("auto", task, true, &old);
        let mut whole = begin("auto", &model).unwrap();
        let (mut one, mut two) = (Chunk::new(), Chunk::new());
        (0..250).for_each(|i| one.copy_row(&new, i));
        (250..600).for_each(|i| two.copy_row(&new, i));
        whole.learn(&new, &mut |_| {}).unwrap();
        let mut part = begin("auto", &model).unwrap();
        part.learn(&one, &mut |_| {}).unwrap();
        let mut part = Trainer::from_checkpoint(&part.checkpoint()).unwrap();
        assert_eq!(part.began_with(), Some("m"));
        part.learn(&two, &mut |_| {}).unwrap();
        assert_eq!(whole.checkpoint(), part.checkpoint(), "{task}");
        assert_eq!(whole.model().to_bytes(), part.model().to_bytes(), "{task}");
        let error = part.online().mergeable().err().unwrap();
        assert!(error.contains("began with a model"), "{error}");
    }
}

#[test]
fn refusals_name_the_reason() {
    let old = rows(200, 1, "numbers", false);
    let model = first("ftrl", "numbers", false, &old);
    let error = |spec: Spec| {
        let settings = model.spec_to_begin(spec).resolve().unwrap();
        let begun = Trainer::from_model(settings, Storage::Growing, &model, "m");
        begun.err().map(|e| e.to_string()).unwrap_or_default()
    };
    let bounded = error(Spec::new("ftrl").set("penalty", "nonnegative"));
    assert!(bounded.contains("its weights are bounded"), "{bounded}");
    assert!(bounded.contains("these can: auto, sgd, "), "{bounded}");
    let ball = error(Spec::new("sgd").set("ball", "l2"));
    assert!(ball.contains("its weights are bounded"), "{ball}");
    let race = error(Spec::new("auto"));
    assert!(race.contains("auto standardizes features"), "{race}");
    let kernel = Spec::new("multikernel-pda").resolve().unwrap();
    let mut trainer =
        Trainer::new(kernel.clone(), LearnerOptions::default(), InputSchema::default()).unwrap();
    trainer.learn(&rows(20, 1, "numbers", false), &mut |_| {}).unwrap();
    let begun = Trainer::from_model(kernel, Storage::Growing, &trainer.model(), "m");
    assert!(begun.err().unwrap().to_string().contains("no weights to begin with"));
}
