//! Six faults measured in other programs, which cannot happen here.
//!
//! 1. An l1 penalty that is sparse in one call and dense when streamed in chunks.
//! 2. (A speed.)
//! 3. A weight under FTRL that cannot return to zero.
//! 4. One NaN that spoils a model for good.
//! 5. A saved model that predicts otherwise than the one in memory, or is not sparse.
//! 6. A resumed run that has silently lost its loss and its penalty.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::common;

use common::{
    PRECISIONS, bits, chunk, family, implicit_family, learner, margin_bits, ones, rows, settings,
    trainer, with,
};
use parsimon::data::{Bounds, Input, Labels, Options, Reader, Reading, Run};
use parsimon::rows::{Chunk, Repeats, RowError};
use parsimon::settings::{Precision, Storage};
use parsimon::workspace::StateWriter;
use parsimon::{Error, InputSchema, LearnerOptions, Model, Plan, Trainer};
use parsimon_core::metric::AdaGrad;
use parsimon_core::penalty::ElasticNet;
use parsimon_core::rule::Rule;
use parsimon_core::rule::leader::{Accrual, Iterate, Leader};
use parsimon_oracle::streams::{self, SplitMix64};
use serde_json::{Value, json};

fn every_method() -> impl Iterator<Item = Value> {
    family().into_iter().chain(implicit_family())
}

/// Svmlight text: few frequent features, many rare ones, a label that follows a few of them.
fn zipf(seed: u64, count: usize, dimension: f64) -> String {
    let mut random = SplitMix64::new(seed);
    let mut text = String::new();
    for _ in 0..count {
        let mut ids: Vec<u32> = (0..12).map(|_| dimension.powf(random.unit()) as u32).collect();
        ids.sort_unstable();
        ids.dedup();
        let score: f64 = ids.iter().map(|j| if j % 7 == 0 { 1.5 } else { -0.2 }).sum();
        text.push_str(if score + random.normal() > 0.0 { "+1" } else { "-1" });
        ids.iter().for_each(|j| text.push_str(&format!(" {j}:1")));
        text.push('\n');
    }
    text
}

fn input(name: &str, text: &str) -> Input {
    Input::Bytes { name: name.into(), bytes: text.as_bytes().to_vec() }
}

fn train(spec: &Value, text: &str, precision: Precision, options: Options) -> Model {
    let mut trainer = trainer(spec, precision);
    let options = InputSchema::default().options(&settings(spec), precision, &options);
    let plan = Plan::new(vec![input("zipf.svm", text)], options);
    parsimon::run(&mut trainer, &plan, &mut ()).unwrap().model
}

#[test]
fn fault_1_streaming_keeps_the_model_sparse() {
    let text = zipf(1, 3000, 3000.0);
    let dense = train(&json!({"algorithm": "sgd"}), &text, Precision::F64, Options::default());
    for spec in [
        json!({"algorithm": "ftrl", "l1": 1.0}),
        json!({"algorithm": "fobos", "rate": 0.5, "l1": 0.002}),
        json!({"algorithm": "rda", "rate": 0.5, "l1": 0.002}),
        json!({"algorithm": "adagrad-fobos", "l1": 0.005}),
        json!({"algorithm": "truncated-gradient", "rate": 0.5, "l1": 0.002, "period": 10}),
    ] {
        for precision in PRECISIONS {
            let streamed = |chunk_rows: usize, threads: usize| {
                train(
                    &spec,
                    &text,
                    precision,
                    Options {
                        bounds: Bounds { chunk_rows, ..Bounds::default() },
                        run: Run { threads, ..Run::default() },
                        ..Options::default()
                    },
                )
            };
            let whole = streamed(3000, 1);
            let (kept, met) = (whole.nonzeros(), dense.nonzeros());
            assert!(0 < kept && kept < met / 2, "{kept} of {met}: {spec}");
            for (chunk_rows, threads) in [(1, 1), (100, 1), (1000, 2), (7, 3)] {
                let other = streamed(chunk_rows, threads);
                assert_eq!(whole.nonzeros(), other.nonzeros(), "chunks of {chunk_rows}: {spec}");
                assert_eq!(
                    bits(whole.heads()),
                    bits(other.heads()),
                    "chunks of {chunk_rows}: {spec}"
                );
            }
        }
    }
}

const GRADIENTS: [f64; 8] = [-2.0, -2.0, 2.0, 2.0, 1.0, 0.0, 0.0, 0.0];

/// McMahan et al. (2013), Algorithm 1: the weight is 0 whenever `|z| <= l1`.
#[test]
fn fault_3_a_weight_returns_to_zero() {
    for rate in [0.01, 0.05, 0.1] {
        let ftrl = Leader {
            penalty: ElasticNet { l1: 1.0, l2: 0.0 },
            accrual: Accrual::Once,
            center: Iterate,
            metric: AdaGrad { rate, delta: 1.0 },
        };
        let (mut now, mut c) = Default::default();
        let mut weights = Vec::new();
        // The algorithm as printed, beside it.
        let (mut z, mut n) = (0.0f64, 0.0f64);
        for g in GRADIENTS {
            let w: f64 = ftrl.played(&now, 1, &c);
            let printed =
                if z.abs() <= 1.0 { 0.0 } else { -(z - z.signum()) / ((1.0 + n.sqrt()) / rate) };
            assert!((w - printed).abs() < 1e-15);
            weights.push(w);
            Rule::<f64>::tick(&ftrl, &mut now);
            ftrl.absorb(&mut now, 1, &mut c, w, g, g);
            let sigma = ((n + g * g).sqrt() - n.sqrt()) / rate;
            z += g - sigma * w;
            n += g * g;
        }
        let last: f64 = ftrl.played(&now, 1, &c);
        assert!(weights[2] > 0.0, "it was not zero on the way: {weights:?}");
        assert_eq!(last.to_bits(), 0, "{z}");
    }
}

/// Passes equal gradients through a learner: under the squared loss the gradient is the margin minus the label.
#[test]
fn fault_3_a_weight_returns_to_zero_in_a_learner() {
    for precision in PRECISIONS {
        for storage in [Storage::Growing, Storage::Index] {
            let spec =
                json!({"algorithm": "ftrl", "loss": "squared", "rate": 0.05, "l1": 1, "beta": 1});
            let mut online = learner(&spec, precision, false, storage);
            let mut nonzeros = Vec::new();
            for g in GRADIENTS {
                let mut row = Chunk::new();
                row.push_feature(1, 1.0);
                row.finish_row(None, 1.0, Repeats::Refuse).unwrap();
                let mut margin = Vec::new();
                online.predict(&row, &mut margin);
                row.clear();
                row.push_feature(1, 1.0);
                row.finish_row(Some(margin[0] - g), 1.0, Repeats::Refuse).unwrap();
                online.learn(&row, &mut margin);
                nonzeros.push(online.nonzeros());
            }
            assert_eq!(nonzeros[1], 1);
            assert_eq!(nonzeros.last(), Some(&0));
            assert!(online.freeze().heads()[0].indices().is_empty());
        }
    }
}

#[test]
fn fault_4_a_chunk_refuses_what_is_not_finite() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut chunk = ones(1, 5, 8);
        let before = format!("{chunk:?}");
        let mut refused = |feature: f64, label: f64, weight: f64, expected: RowError| {
            chunk.push_feature(3, 1.0);
            chunk.push_feature(7, feature);
            let result = chunk.finish_row(Some(label), weight, Repeats::Add);
            assert_eq!(result, Err(expected), "{feature} {label} {weight}");
            assert!(chunk.open_row().0.is_empty());
            assert_eq!(format!("{chunk:?}"), before);
        };
        refused(bad, 1.0, 1.0, RowError::NotFinite { index: 7 });
        refused(1.0, bad, 1.0, RowError::Label);
        refused(1.0, 1.0, bad, RowError::Importance);
        refused(1.0, 1.0, -1.0, RowError::Importance);
    }
    // Two finite values whose sum is not.
    let mut chunk = Chunk::new();
    chunk.push_feature(2, 1.0);
    chunk.push_feature(4, f64::MAX);
    chunk.push_feature(4, f64::MAX);
    let result = chunk.finish_row(Some(1.0), 1.0, Repeats::Add);
    assert_eq!(result, Err(RowError::NotFinite { index: 4 }));
    assert_eq!((chunk.len(), chunk.nonzeros()), (0, 0));
}

/// The error of the first bad row, which must come after the rows before it.
fn first_error(name: &str, text: &str, good: usize, labels: Labels) -> String {
    let options = Options::from(Reading { labels, ..Reading::default() });
    let mut reader = Reader::open(&[input(name, text)], &options).unwrap();
    let (mut chunk, mut read) = (Chunk::new(), 0);
    loop {
        match reader.read(&mut chunk) {
            Ok(true) => read += chunk.len(),
            Ok(false) => panic!("{name}: nothing was refused"),
            Err(error) => {
                assert_eq!(read, good, "{name}: {error}");
                return error.to_string();
            }
        }
    }
}

#[test]
fn fault_4_readers_refuse_what_is_not_finite_and_say_where() {
    /// The message begins with line and column of the number, and shows it.
    fn check(error: &str, place: &str, bad: &str) {
        assert!(error.starts_with(&format!("{place}: ")), "{error}");
        assert!(error.ends_with(&format!("\"{bad}\" is not a finite number")), "{error}");
    }
    for bad in ["nan", "NaN", "inf", "-inf", "Infinity", "1e999"] {
        let svm = |row: &str| format!("1 1:1 2:1\n-1 2:1\n{row}\n1 1:1\n");
        let error = |row: String| first_error("d.svm", &svm(&row), 2, Labels::Real);
        check(&error(format!("1 1:1 7:{bad}")), "d.svm:3:9", bad);
        check(&error(format!("{bad} 1:1")), "d.svm:3:1", bad);
        let vw = |row: &str| format!("1 |n a:1\n-1 |n b\n{row}\n1 |n a\n");
        let error = |row: String| first_error("d.vw", &vw(&row), 2, Labels::binary());
        check(&error(format!("1 |n a:{bad}")), "d.vw:3:8", bad);
        check(&error(format!("1 {bad} |n a:1")), "d.vw:3:3", bad);
    }
    // In a table a cell that is no number is a category; these are not taken for one.
    for bad in ["nan", "NaN", "inf", "-inf"] {
        let csv = format!("y,a,b\n1,2,3\n-1,2,3\n1,{bad},3\n");
        check(&first_error("d.csv", &csv, 2, Labels::binary()), "d.csv:4:3", bad);
        let csv = format!("y,a,importance\n1,2,3\n-1,2,3\n1,2,{bad}\n");
        check(&first_error("d.csv", &csv, 2, Labels::binary()), "d.csv:4:5", bad);
    }
}

/// A run that meets a bad row stands where it stood before the row, and can go on.
#[test]
fn fault_4_a_bad_row_leaves_the_state_untouched() {
    let text = zipf(2, 60, 200.0);
    let lines: Vec<&str> = text.lines().collect();
    for spec in every_method() {
        let spec = with(&spec, "loss", "logistic");
        for precision in PRECISIONS {
            let options =
                InputSchema::default().options(&settings(&spec), precision, &Options::default());
            let run = |trainer: &mut Trainer, text: &str, options: &Options| {
                let plan = Plan::new(vec![input("d.svm", text)], options.clone());
                parsimon::run(trainer, &plan, &mut ()).map(|outcome| outcome.skipped.0)
            };
            let state = |trainer: &Trainer| {
                let mut state = StateWriter::new();
                trainer.online().save(&mut state);
                (
                    state.into_bytes(),
                    trainer.progressive().average().map(f64::to_bits),
                    trainer.progressive().rows(),
                )
            };
            let mut spoiled = lines.clone();
            spoiled.insert(40, "1 3:1 5:nan");
            let spoiled = spoiled.join("\n");

            let mut hit = trainer(&spec, precision);
            let error = run(&mut hit, &spoiled, &options).unwrap_err();
            assert!(matches!(&error, Error::Data(_)), "{error}");
            assert!(error.to_string().starts_with("d.svm:41:"), "{error}");
            let mut before = trainer(&spec, precision);
            run(&mut before, &lines[..40].join("\n"), &options).unwrap();
            assert_eq!(state(&hit), state(&before), "{spec}");

            let mut skipping = trainer(&spec, precision);
            let skip = Options {
                bounds: Bounds { skip_bad: 1, ..options.bounds.clone() },
                ..options.clone()
            };
            assert_eq!(run(&mut skipping, &spoiled, &skip).unwrap(), 1);
            let mut clean = trainer(&spec, precision);
            run(&mut clean, &text, &options).unwrap();
            assert_eq!(state(&skipping), state(&clean), "{spec}");
        }
    }
}

/// What a square of it would make infinite is refused as well.
#[test]
fn fault_4_a_value_too_large_for_the_precision_is_refused() {
    let spec = json!({"algorithm": "ftrl"});
    let text = "1 1:1\n1 2:1e30\n";
    for (precision, fits) in [(Precision::F32, false), (Precision::F64, true)] {
        let options =
            InputSchema::default().options(&settings(&spec), precision, &Options::default());
        let plan = Plan::new(vec![input("d.svm", text)], options);
        let outcome = parsimon::run(&mut trainer(&spec, precision), &plan, &mut ());
        assert_eq!(outcome.is_ok(), fits, "{precision}");
        if let Err(error) = outcome {
            assert!(error.to_string().starts_with("d.svm:2:"), "{error}");
        }
    }
}

#[test]
fn fault_5_memory_file_and_learner_predict_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let options = streams::Options { huge: false, ..streams::Options::default() };
    let stream = chunk(&streams::random(3, 150, 24, "logistic", options));
    let strangers = chunk(&streams::random(4, 60, 40, "logistic", options));
    for spec in every_method() {
        for precision in PRECISIONS {
            let mut trainer = trainer(&with(&spec, "loss", "logistic"), precision);
            trainer.learn(&stream, &mut |_| {}).unwrap();
            let model = trainer.model();
            model.save(&path).unwrap();
            let loaded = Model::load(&path).unwrap();
            let (mut told, mut memory, mut file) = (Vec::new(), Vec::new(), Vec::new());
            trainer.online().predict(&strangers, &mut told);
            model.scorer().margins(&strangers, &mut memory);
            loaded.scorer().margins(&strangers, &mut file);
            assert!(told.iter().any(|p| *p != 0.0), "{spec}");
            assert_eq!(margin_bits(&told), margin_bits(&memory), "{spec}");
            assert_eq!(margin_bits(&told), margin_bits(&file), "{spec}");
            assert_eq!(bits(loaded.heads()), bits(trainer.online().freeze().heads()), "{spec}");
            // The file holds the nonzeros and nothing else.
            assert!(loaded.heads()[0].weights().iter().all(|w| *w != 0.0), "{spec}");
            assert_eq!(loaded.nonzeros(), trainer.online().nonzeros(), "{spec}");
        }
    }
}

/// Methods with l1 leave zeros among the features they met, and the file does not hold them.
#[test]
fn fault_5_the_saved_model_is_sparse() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let text = zipf(5, 800, 1000.0);
    let sparse = [
        json!({"algorithm": "ftrl", "l1": 1}),
        json!({"algorithm": "fobos", "rate": 0.3, "l1": 0.01}),
        json!({"algorithm": "fobos", "rate": 0.3, "l1": 0.01, "l2": 0.1}),
        json!({"algorithm": "truncated-gradient", "rate": 0.3, "l1": 0.01, "period": 5}),
        json!({"algorithm": "truncation", "rate": 0.3, "theta": 0.05, "period": 5}),
        json!({"algorithm": "lazy-fobos", "rate": 0.3, "l1": 0.01, "period": 10}),
        json!({"algorithm": "lazy-splitting", "rate": 0.3, "l1": 0.01, "period": 10}),
        json!({"algorithm": "lazy-sparse", "rate": 0.3, "l1": 0.01}),
        json!({"algorithm": "rda", "rate": 0.3, "l1": 0.01}),
        json!({"algorithm": "generalized-rda", "rate": 0.3, "l1": 0.01}),
        json!({"algorithm": "adagrad-rda", "l1": 0.01}),
        json!({"algorithm": "adagrad-fobos", "l1": 0.01}),
        json!({"algorithm": "comid", "l1": 0.01}),
        json!({"algorithm": "comid", "l1": 0.01, "metric": "sqrt"}),
        json!({"algorithm": "ftprl", "l1": 0.01}),
        json!({"algorithm": "ftprl", "l1": 0.01, "metric": "sqrt"}),
        json!({"algorithm": "aogd", "l1": 0.01}),
        json!({"algorithm": "unified-rda", "l1": 0.01}),
        json!({"algorithm": "dual-averaging", "ball": "l1", "radius": 2}),
        json!({"algorithm": "sgd", "ball": "l1", "radius": 2}),
    ];
    let dense = train(&json!({"algorithm": "sgd"}), &text, Precision::F64, Options::default());
    for spec in sparse {
        for precision in PRECISIONS {
            let model = train(&spec, &text, precision, Options::default());
            model.save(&path).unwrap();
            let loaded = Model::load(&path).unwrap();
            let kept = loaded.nonzeros();
            assert!(
                0 < kept && kept < dense.nonzeros() * 3 / 4,
                "{kept} of {}: {spec}",
                dense.nonzeros()
            );
            let evaluate = |model: &Model| {
                let test =
                    model.evaluate(&[input("test.svm", &text)], &Options::default()).unwrap();
                test.mean_loss().map(f64::to_bits)
            };
            assert_eq!(evaluate(&loaded), evaluate(&model), "{spec}");
        }
    }
}

/// Nothing is said at resuming but the file: loss, penalties, precision, bias and reading are in it.
#[test]
fn fault_6_a_checkpoint_and_a_model_carry_every_setting() {
    let folder = tempfile::tempdir().unwrap();
    let (state, saved) = (folder.path().join("state"), folder.path().join("model"));
    let odd = [
        json!({"algorithm": "ftrl", "loss": "huber", "huber_delta": 0.3, "rate": 0.07, "l1": 0.1 + 0.2}),
        json!({"algorithm": "ftrl", "loss": "quantile", "quantile": 0.9, "l2": 1e-3}),
        json!({"algorithm": "adagrad-rda", "loss": "squared-hinge", "delta": 1.0 / 3.0}),
        json!({"algorithm": "fobos", "loss": "hinge", "l1": 0.01, "schedule": "two-phase", "switch": 17}),
        json!({"algorithm": "rda", "loss": "hinge", "l1": 0.01, "multiclass": true,
               "classes": ["a", "b"]}),
    ];
    let rows_of = ones(9, 80, 12);
    let mut zero_one = Chunk::new();
    for i in 0..rows_of.len() {
        rows_of.row(i).iter().for_each(|(j, v)| zero_one.push_feature(j, v));
        zero_one.finish_row(Some(f64::from(i % 3 == 0)), 1.0, Repeats::Refuse).unwrap();
    }
    for spec in every_method().chain(odd) {
        let stream = if spec["multiclass"] == true { &zero_one } else { &rows_of };
        for (precision, bias) in [(Precision::F32, false), (Precision::F64, true)] {
            let reading = InputSchema {
                label_column: Some("y".into()),
                ignored_columns: vec!["id".into()],
                ..InputSchema::default()
            };
            let frame = LearnerOptions { precision, bias, storage: Storage::Growing };
            let mut whole = Trainer::new(settings(&spec), frame, reading.clone()).unwrap();
            let mut first = Trainer::new(settings(&spec), frame, reading).unwrap();
            whole.note_input("a.csv");
            first.note_input("a.csv");
            whole.learn(stream, &mut |_| {}).unwrap();
            first.learn(&rows(stream, 0..33), &mut |_| {}).unwrap();
            first.save_checkpoint(&state).unwrap();
            let mut second = Trainer::resume(&state).unwrap();
            assert_eq!(second.settings().to_json(), whole.settings().to_json());
            assert_eq!((second.options().precision, second.options().bias), (precision, bias));
            assert_eq!(second.schema(), whole.schema());
            second.learn(&rows(stream, 33..80), &mut |_| {}).unwrap();
            assert_eq!(
                bits(second.online().freeze().heads()),
                bits(whole.online().freeze().heads()),
                "{spec}"
            );
            assert_eq!(second.progressive(), whole.progressive(), "{spec}");
            assert_eq!(second.model().provenance(), whole.model().provenance(), "{spec}");

            second.model().save(&saved).unwrap();
            let model = Model::load(&saved).unwrap();
            assert_eq!(model.settings().to_json(), whole.settings().to_json());
            assert_eq!(model.precision(), precision);
            assert_eq!(model.schema(), whole.schema());
            assert_eq!(model.provenance(), whole.model().provenance());
            assert_eq!(model.provenance().bias, bias);
        }
    }
}

/// Two runs, the second from the first one's checkpoint, are one run.
#[test]
fn fault_6_a_run_that_goes_on_is_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let text = zipf(6, 300, 200.0);
    let (first, second) = text.split_at(text.match_indices('\n').nth(170).unwrap().0 + 1);
    for spec in [
        json!({"algorithm": "ftrl", "loss": "hinge", "rate": 0.3, "l1": 0.2}),
        json!({"algorithm": "fobos", "loss": "squared", "rate": 0.1, "l1": 0.01, "l2": 0.01}),
        json!({"algorithm": "dual-averaging", "ball": "l1", "radius": 3}),
    ] {
        for precision in PRECISIONS {
            let run = |trainer: &mut Trainer, text: &str| {
                let options = trainer.schema().options(
                    trainer.settings(),
                    trainer.options().precision,
                    &Options::default(),
                );
                let checkpoint = Some((path.clone(), None));
                let plan = Plan { checkpoint, ..Plan::new(vec![input("d.svm", text)], options) };
                parsimon::run(trainer, &plan, &mut ()).unwrap().model
            };
            let mut whole = trainer(&spec, precision);
            let one = run(&mut whole, &text);
            run(&mut trainer(&spec, precision), first);
            let mut resumed = Trainer::resume(&path).unwrap();
            let two = run(&mut resumed, second);
            assert_eq!(bits(one.heads()), bits(two.heads()), "{spec}");
            assert_eq!(one.provenance(), two.provenance(), "{spec}");
            assert_eq!(whole.progressive(), resumed.progressive(), "{spec}");
            assert_eq!(whole.curve_so_far(), resumed.curve_so_far(), "{spec}");
        }
    }
}

/// A model is not a checkpoint, and neither is anything else.
#[test]
fn fault_6_what_cannot_be_resumed_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (state, model) = (folder.path().join("state"), folder.path().join("model"));
    let mut trainer = trainer(&json!({"algorithm": "ftrl"}), Precision::F64);
    trainer.learn(&ones(1, 10, 5), &mut |_| {}).unwrap();
    trainer.save_checkpoint(&state).unwrap();
    trainer.model().save(&model).unwrap();
    let end = |error: String| error.rsplit(": ").next().unwrap_or_default().to_owned();
    let resume = |path| end(Trainer::resume(path).err().unwrap().to_string());
    assert_eq!(resume(&model), "is a model, not a checkpoint");
    assert_eq!(end(Model::load(&state).unwrap_err().to_string()), "is a checkpoint, not a model");
    let bytes = std::fs::read(&state).unwrap();
    std::fs::write(&state, &bytes[..bytes.len() - 9]).unwrap();
    assert!(Trainer::resume(&state).is_err());
}
