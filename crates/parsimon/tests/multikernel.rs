//! The multikernel filters: equal to their twin, and to themselves through chunks, checkpoints and files.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::common;

use common::{PRECISIONS, chunk, learn_margins, learner, margin_bits, rows, settings, trainer};
use parsimon::rows::Chunk;
use parsimon::settings::{Precision, Storage};
use parsimon::workspace::Dictionary;
use parsimon::{Error, Model, Spec, Trainer};
use parsimon_oracle::{KernelOutcome, Stream, multikernel, streams};
use serde_json::{Value, json};

/// Every shape of a filter: no penalty and one, refining early, late and never, each kernel and all of them.
fn family() -> Vec<Value> {
    let mut specs = Vec::new();
    for algorithm in ["multikernel-pda", "multikernel-apfbs"] {
        let mut one = |mut spec: Value| {
            spec["algorithm"] = algorithm.into();
            specs.push(spec);
        };
        one(json!({"kernel": "gaussian", "variances": [0.1, 1, 10], "rate": 0.3, "l1": 0,
                   "dictionary_max": 1000, "dictionary_threshold": 1e-3, "delta": 1e-5}));
        one(json!({"kernel": ["gaussian"], "variances": [0.5, 5], "rate": 0.5, "l1": 0.003,
                   "dictionary_max": 20, "dictionary_threshold": 1e-12, "delta": 1e-5}));
        one(json!({"kernel": "linear", "rate": 0.9, "l1": 0.001,
                   "dictionary_max": 5, "dictionary_threshold": 0.01, "delta": 0}));
        one(json!({"kernel": ["polynomial"], "degrees": [1, 3], "rate": 0.3, "l1": 1e-4,
                   "dictionary_max": 30, "dictionary_threshold": 1e-4, "delta": 1e-3}));
        one(json!({"kernel": ["linear", "polynomial", "gaussian"], "degrees": [2],
                   "variances": [1, 0.01], "rate": 1, "l1": 1e-3,
                   "dictionary_max": 1, "dictionary_threshold": 1e-3, "delta": 1e-5}));
        one(json!({"kernel": "gaussian", "variances": [1], "rate": 0.3, "l1": 0.5,
                   "dictionary_max": 10, "dictionary_threshold": 0, "delta": 1e-5}));
    }
    specs
}

fn stream(seed: u64, rounds: usize) -> Stream {
    let options = streams::Options { huge: false, ..streams::Options::default() };
    streams::random(seed, rounds, 12, "squared", options)
}

fn dictionary(trainer: &Trainer) -> Dictionary {
    trainer.online().freeze().dictionary().unwrap().clone()
}

/// The rows of a twin's dictionary that count, with their coefficients.
fn counting(twin: &KernelOutcome) -> Vec<(&Vec<f64>, &Vec<f64>)> {
    let all = twin.dictionary.iter().zip(&twin.coefficients);
    all.filter(|(_, h)| h.iter().any(|h| *h != 0.0)).collect()
}

#[test]
fn a_filter_equals_its_twin() {
    for spec in family() {
        let mut shrunk = false;
        for seed in 1..4 {
            let stream = stream(seed, 200);
            let twin = multikernel(&spec, &stream);
            let mut ours = learner(&spec, Precision::F64, true, Storage::Growing);
            let mut margins = Vec::new();
            ours.learn(&chunk(&stream), &mut margins);
            let scale = twin.margins.iter().fold(1.0f64, |m, p| m.max(p.abs()));
            for (t, (p, q)) in margins.iter().zip(&twin.margins).enumerate() {
                assert!((p - q).abs() <= 1e-9 * scale, "{spec}: row {t}: {p} is not {q}");
            }
            let (frozen, expected) = (ours.freeze(), counting(&twin));
            let dictionary = frozen.dictionary().unwrap();
            assert_eq!(dictionary.len(), expected.len(), "{spec}");
            for (j, (row, coefficients)) in expected.into_iter().enumerate() {
                let mut dense = vec![0.0; stream.dimension];
                dictionary.center(j).iter().for_each(|(i, v)| dense[i as usize] = v);
                assert_eq!(&dense, row, "{spec}: center {j}");
                for (h, expected) in dictionary.coefficients(j).iter().zip(coefficients) {
                    assert!((h - expected).abs() <= 1e-9 * scale, "{spec}: center {j}");
                }
            }
            shrunk |= twin.sizes.windows(2).any(|pair| pair[1] < pair[0]);
        }
        let refines = spec["dictionary_threshold"] != 0 && spec["dictionary_max"] != 1000;
        assert!(shrunk || !refines, "{spec}: no row ever left");
    }
}

/// The size after every row, told by the twin and found by freezing: without zero columns they are the same.
#[test]
fn the_dictionary_has_the_twins_size_after_every_row() {
    for spec in family().into_iter().filter(|spec| spec["dictionary_max"] == 1) {
        let stream = stream(8, 120);
        let twin = multikernel(&spec, &stream);
        let rows = chunk(&stream);
        let mut ours = learner(&spec, Precision::F64, false, Storage::Growing);
        for (t, size) in twin.sizes.iter().enumerate() {
            ours.learn_rows(&rows, t..t + 1, &mut Vec::new());
            assert_eq!(ours.nonzeros(), *size, "{spec}: row {t}");
        }
    }
}

#[test]
fn chunks_checkpoints_and_files_change_no_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, file) = (folder.path().join("checkpoint"), folder.path().join("model"));
    let (data, strangers) = (chunk(&stream(5, 90)), chunk(&stream(6, 30)));
    for spec in family() {
        for precision in PRECISIONS {
            let mut whole = trainer(&spec, precision);
            let expected = margin_bits(&learn_margins(&mut whole, &data, &mut |_| {}));
            for cut in [0, 1, 37, 89] {
                let mut first = trainer(&spec, precision);
                let part = rows(&data, 0..cut);
                let mut margins = margin_bits(&learn_margins(&mut first, &part, &mut |_| {}));
                first.save_checkpoint(&checkpoint).unwrap();
                let mut second = Trainer::resume(&checkpoint).unwrap();
                let rest = rows(&data, cut..data.len());
                margins.extend(margin_bits(&learn_margins(&mut second, &rest, &mut |_| {})));
                assert_eq!(margins, expected, "{spec} cut at {cut}");
                assert_eq!(dictionary(&second), dictionary(&whole), "{spec} cut at {cut}");
                assert_eq!(
                    second.progressive().average(),
                    whole.progressive().average(),
                    "{spec} cut at {cut}"
                );
            }
            let model = whole.model();
            model.save(&file).unwrap();
            let loaded = Model::load(&file).unwrap();
            assert_eq!(loaded.dictionary(), model.dictionary(), "{spec}");
            assert_eq!(loaded.nonzeros(), whole.online().nonzeros(), "{spec}");
            let (mut told, mut read) = (Vec::new(), Vec::new());
            whole.online().predict(&strangers, &mut told);
            loaded.scorer().margins(&strangers, &mut read);
            assert_eq!(margin_bits(&told), margin_bits(&read), "{spec}");
        }
    }
}

#[test]
fn there_is_no_bias_whatever_the_frame_says() {
    let spec = &family()[0];
    let trainer = trainer(spec, Precision::F64);
    assert!(!trainer.options().bias && !trainer.model().provenance().bias);
    let empty = {
        let mut chunk = Chunk::new();
        chunk.finish_row(None, 1.0, parsimon::rows::Repeats::Refuse).unwrap();
        chunk
    };
    let mut margins = Vec::new();
    trainer.online().predict(&empty, &mut margins);
    assert_eq!(margins, [0.0]);
}

#[test]
fn a_model_carries_its_kernels() {
    let resolved =
        settings(&json!({"algorithm": "multikernel-pda", "kernel": ["polynomial", "gaussian"]}));
    assert_eq!(resolved.to_json().get("variances"), Some(&json!([0.01, 0.1, 1, 10])));
    assert_eq!(resolved.to_json().get("degrees"), Some(&json!([2])));
    let shown: Vec<_> = resolved.kernels().iter().map(ToString::to_string).collect();
    let expected =
        ["polynomial(2)", "gaussian(0.01)", "gaussian(0.1)", "gaussian(1)", "gaussian(10)"];
    assert_eq!(shown, expected);
    let again = resolved.to_spec().resolve().unwrap();
    assert_eq!(again.kernels(), resolved.kernels());
    let linear = settings(&json!({"algorithm": "multikernel-pda", "kernel": "linear"}));
    assert_eq!((linear.to_json().get("variances"), linear.to_json().get("degrees")), (None, None));
}

#[test]
fn a_spec_in_toml_is_the_spec_in_json() {
    let toml = "algorithm = \"multikernel-apfbs\"\nkernel = [\"gaussian\"]\nvariances = [0.5, 2]\n";
    let json =
        r#"{"algorithm": "multikernel-apfbs", "kernel": ["gaussian"], "variances": [0.5, 2]}"#;
    let (toml, json) = (Spec::from_toml(toml).unwrap(), Spec::from_json(json).unwrap());
    assert_eq!(toml.resolve().unwrap().to_json(), json.resolve().unwrap().to_json());
}

#[test]
fn what_makes_no_sense_is_refused_with_words() {
    let cases = [
        (
            json!({"kernel": "linear", "variances": [1]}),
            "variances is a setting of the gaussian kernel, which is not named",
        ),
        (
            json!({"degrees": [2]}),
            "degrees is a setting of the polynomial kernel, which is not named",
        ),
        (
            json!({"kernel": "cosine"}),
            "kernel must be one or a list of gaussian, linear, polynomial, got \"cosine\"",
        ),
        (
            json!({"kernel": []}),
            "kernel must be one or a list of gaussian, linear, polynomial, got []",
        ),
        (
            json!({"kernel": ["linear", "linear"]}),
            "kernel must be one or a list of gaussian, linear, polynomial, got [\"linear\",\"linear\"]",
        ),
        (json!({"variances": [1, 0]}), "variances must be a list of finite numbers > 0, got [1,0]"),
        (json!({"variances": []}), "variances must be a list of finite numbers > 0, got []"),
        (
            json!({"kernel": "polynomial", "degrees": [0]}),
            "degrees must be a list of whole numbers >= 1, got [0]",
        ),
        (
            json!({"kernel": "polynomial", "degrees": [4_294_967_296u64]}),
            "degrees must be a list of whole numbers >= 1, got [4294967296]",
        ),
        (json!({"loss": "logistic"}), "loss must be one of projection, got \"logistic\""),
        (
            json!({"multiclass": true}),
            "multikernel-pda predicts numbers and knows no classes; leave out multiclass",
        ),
        (json!({"dictionary_max": 0}), "dictionary_max must be a whole number >= 1, got 0"),
    ];
    for (mut spec, message) in cases {
        spec["algorithm"] = "multikernel-pda".into();
        let error = Spec::from_json(&spec.to_string()).unwrap().resolve().unwrap_err();
        assert_eq!(error.to_string(), message, "{spec}");
    }
}

#[test]
fn the_regret_of_a_dictionary_is_refused() {
    let bytes = b"0.5 1:1\n0.25 1:0.5\n".to_vec();
    let input = parsimon::data::Input::Bytes { name: "d.svm".into(), bytes };
    let labels = parsimon::data::Labels::Real;
    let options = parsimon::data::Reading { labels, ..Default::default() }.into();
    let plan = parsimon::Plan { regret: true, ..parsimon::Plan::new(vec![input], options) };
    let error = parsimon::run(&mut trainer(&family()[0], Precision::F64), &plan, &mut ());
    let Err(Error::Usage(message)) = error else { panic!("{:?}", error.is_ok()) };
    assert_eq!(message.fact(), "the regret is computed for linear models, not for a dictionary");
}
