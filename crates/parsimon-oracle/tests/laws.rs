//! Laws that hold for every method.

use parsimon_oracle::streams::{Options, random};
use parsimon_oracle::{Outcome, Stream, run};
use serde_json::{Value, json};

const LOSSES: [&str; 7] =
    ["logistic", "squared", "hinge", "squared-hinge", "huber", "quantile", "poisson"];

/// Every method without its loss and penalty: joining this list joins the laws.
fn methods() -> Vec<Value> {
    let mut methods = vec![
        json!({"algorithm": "sgd"}),
        json!({"algorithm": "sgd", "schedule": "inverse", "implicit": true}),
        json!({"algorithm": "asgd", "schedule": "two-phase", "switch": 50}),
        json!({"algorithm": "asgd", "implicit": true}),
        json!({"algorithm": "subgradient-l1", "schedule": "constant"}),
        json!({"algorithm": "truncation", "theta": 0.01, "period": 10}),
        json!({"algorithm": "truncated-gradient", "theta": 0.3, "period": 5}),
        json!({"algorithm": "fobos", "half_step": "next"}),
        json!({"algorithm": "lazy-fobos", "period": 7}),
        json!({"algorithm": "lazy-sparse"}),
        json!({"algorithm": "lazy-splitting", "period": 7}),
        json!({"algorithm": "rda"}),
        json!({"algorithm": "generalized-rda", "a": 0.4, "b": 0.6}),
        json!({"algorithm": "dual-averaging"}),
        json!({"algorithm": "adagrad-rda", "delta": 0.1}),
        json!({"algorithm": "adagrad-fobos"}),
        json!({"algorithm": "ftrl", "beta": 1.0}),
        json!({"algorithm": "adam", "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}),
        json!({"algorithm": "adadelta", "rho": 0.95, "epsilon": 1e-6}),
        json!({"algorithm": "nag"}),
        json!({"algorithm": "nag", "exponent": 0.7, "start": 2}),
    ];
    for row in ["comid", "ftprl", "aogd", "unified-rda"] {
        for metric in ["sqrt", "adagrad"] {
            for implicit in [false, true] {
                methods.push(json!({"algorithm": row, "metric": metric, "implicit": implicit}));
            }
        }
    }
    methods
}

/// Methods that need a penalty, a ball or groups beside the plain list.
fn penalized() -> Vec<Value> {
    let mut methods = vec![
        json!({"algorithm": "sgd", "ball": "l1", "radius": 1.0}),
        json!({"algorithm": "sgd", "ball": "l2", "radius": 1.0, "implicit": true}),
        json!({"algorithm": "fobos", "l1": 0.01, "penalty": "l2-norm"}),
        json!({"algorithm": "fobos", "l1": 0.01, "penalty": "linf"}),
        json!({"algorithm": "fobos", "l1": 0.01, "penalty": "group", "groups": [[1, 4], [5, 6]]}),
        json!({"algorithm": "lazy-fobos", "l1": 0.01, "penalty": "linf", "period": 4}),
        json!({"algorithm": "rda", "l1": 0.01, "l2": 0.5, "beta": "zero"}),
        json!({"algorithm": "rda", "l1": 0.01, "l2": 0.5, "beta": "constant", "prox": "psi"}),
        json!({"algorithm": "rda", "l1": 0.01, "l2": 0.5, "beta": "log"}),
        json!({"algorithm": "rda", "l1": 0.01, "l2": 0.5, "beta": "sqrt"}),
        json!({"algorithm": "dual-averaging", "ball": "l1", "radius": 1.0}),
        json!({"algorithm": "dual-averaging", "ball": "l2", "radius": 1.0}),
        json!({"algorithm": "ftl", "radius": 1.0}),
        json!({"algorithm": "rda", "l1": 0.01, "l2": 0.5, "beta": "log", "prox": "psi",
            "penalty": "box", "lower": -0.01, "upper": 0.02}),
    ];
    for algorithm in ["ftrl", "rda", "fobos", "adagrad-rda", "adagrad-fobos"] {
        methods.push(json!({"algorithm": algorithm, "l1": 0.01, "penalty": "nonnegative"}));
        methods.push(json!({"algorithm": algorithm, "l1": 0.01, "l2": 0.5, "penalty": "box",
            "lower": -0.01, "upper": 0.02}));
    }
    let no_l1 = ["sgd", "asgd", "truncation", "dual-averaging", "adam", "adadelta", "nag"];
    for mut spec in self::methods() {
        let algorithm = spec["algorithm"].as_str().unwrap_or_default().to_owned();
        if !no_l1.contains(&algorithm.as_str()) {
            spec["l1"] = json!(0.01);
            methods.push(spec);
        }
    }
    methods
}

fn with_loss(spec: &Value, loss: &str) -> Value {
    let mut spec = spec.clone();
    spec["loss"] = json!(loss);
    spec["rate"] = json!(0.05);
    spec
}

fn bits(outcome: &Outcome) -> Vec<u64> {
    outcome.weights.iter().chain([&outcome.bias]).map(|w| w.to_bits()).collect()
}

#[test]
fn a_row_of_weight_zero_is_predicted_and_does_not_exist() {
    for loss in LOSSES {
        let stream = random(1, 120, 16, loss, Options { huge: false, ..Options::default() });
        let kept = stream.examples.iter().filter(|row| row.weight != 0.0).cloned().collect();
        let without = Stream { dimension: stream.dimension, examples: kept };
        for spec in methods().iter().chain(&penalized()) {
            let spec = with_loss(spec, loss);
            let (all, some) = (run(&spec, &stream, true), run(&spec, &without, true));
            assert!(all.weights.iter().all(|w| w.is_finite()), "{spec}: not finite");
            assert_eq!(all.margins.len(), stream.examples.len());
            assert_eq!(bits(&all), bits(&some), "{spec}");
        }
    }
}

#[test]
fn a_feature_never_seen_weighs_exactly_zero() {
    for loss in LOSSES {
        let stream = random(2, 120, 16, loss, Options { huge: false, ..Options::default() });
        for spec in methods().iter().chain(&penalized()) {
            let spec = with_loss(spec, loss);
            let outcome = run(&spec, &stream, true);
            assert_eq!(outcome.weights.len(), 16);
            assert_eq!((outcome.weights[0], outcome.weights[15]), (0.0, 0.0), "{spec}");
            assert!(outcome.bias != 0.0, "{spec}: the bias never moved");
        }
    }
}

#[test]
fn without_a_penalty_the_bias_is_one_more_feature() {
    for loss in LOSSES {
        let stream = random(3, 120, 16, loss, Options { huge: false, ..Options::default() });
        let mut explicit = stream.clone();
        explicit.dimension += 1;
        for row in &mut explicit.examples {
            row.x.push((16, 1.0));
        }
        for spec in methods() {
            // Truncation has no strength to switch off: its theta is a penalty on features.
            if spec["algorithm"] == "truncation" {
                continue;
            }
            let spec = with_loss(&spec, loss);
            let implied = run(&spec, &stream, true);
            let mut written = run(&spec, &explicit, false);
            written.bias = written.weights.pop().unwrap_or(f64::NAN);
            assert_eq!(implied, written, "{spec}");
        }
    }
}

#[test]
fn a_strong_penalty_empties_the_features_and_spares_the_bias() {
    let stream = random(4, 120, 16, "logistic", Options { huge: false, ..Options::default() });
    for mut spec in penalized() {
        if spec.get("l1").is_none() || spec["algorithm"] == "subgradient-l1" {
            continue;
        }
        spec["l1"] = json!(1e6);
        if spec["penalty"] == "group" {
            spec["groups"] = json!([(0..16).collect::<Vec<usize>>()]);
        }
        // The period of a block must end with the stream, or its penalty is still owed.
        if spec.get("period").is_some() {
            spec["period"] = json!(1);
        }
        if spec["algorithm"] == "truncated-gradient" {
            spec["theta"] = json!("inf");
        }
        let outcome = run(&with_loss(&spec, "logistic"), &stream, true);
        assert!(outcome.weights.iter().all(|&w| w == 0.0), "{spec}: {:?}", outcome.weights);
        assert!(outcome.bias != 0.0, "{spec}: the bias was penalized");
    }
}

#[test]
fn huge_and_tiny_values_do_not_break_losses_of_bounded_slope() {
    for loss in ["logistic", "hinge", "huber", "quantile"] {
        let stream = random(5, 200, 16, loss, Options::default());
        for spec in methods().iter().chain(&penalized()) {
            let spec = with_loss(spec, loss);
            let outcome = run(&spec, &stream, true);
            let numbers = outcome.weights.iter().chain(&outcome.margins).chain([&outcome.bias]);
            assert!(numbers.into_iter().all(|v| v.is_finite()), "{spec}");
        }
    }
}
