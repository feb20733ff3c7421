//! What the tests of this crate share.

use parsimon::core::{Chunk, Online, Precision, Repeats};
use parsimon::{Frame, Spec, Storage};
use parsimon_oracle::Stream;
use serde_json::{Value, json};

/// One spec per method and variant: joining this list joins every test of the family.
pub(crate) fn family() -> Vec<Value> {
    let mut specs = vec![
        json!({"algorithm": "sgd", "rate": 0.3, "schedule": "constant"}),
        json!({"algorithm": "sgd", "rate": 0.5, "schedule": "sqrt"}),
        json!({"algorithm": "sgd", "rate": 0.9, "schedule": "inverse"}),
        json!({"algorithm": "sgd", "rate": 0.5, "schedule": "two-phase", "switch": 50}),
        json!({"algorithm": "sgd", "rate": 0.5, "ball": "l1", "radius": 0.8}),
        json!({"algorithm": "sgd", "rate": 0.5, "ball": "l2", "radius": 0.5}),
        json!({"algorithm": "asgd", "rate": 0.5, "schedule": "sqrt"}),
        json!({"algorithm": "asgd", "rate": 0.5, "ball": "l1", "radius": 0.8}),
        json!({"algorithm": "asgd", "rate": 0.5, "ball": "l2", "radius": 0.5}),
        json!({"algorithm": "subgradient-l1", "rate": 0.3, "l1": 0.02, "schedule": "sqrt"}),
        json!({"algorithm": "subgradient-l1", "rate": 0.1, "l1": 0.02, "schedule": "constant"}),
        json!({"algorithm": "truncation", "rate": 0.3, "period": 7, "theta": 0.05}),
        json!({"algorithm": "truncated-gradient", "rate": 0.3, "l1": 0.02, "period": 5, "theta": 0.2}),
        json!({"algorithm": "truncated-gradient", "rate": 0.3, "l1": 0.02, "period": 1, "theta": "inf"}),
        json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.01}),
        json!({"algorithm": "fobos", "rate": 0.1, "l1": 0.01, "schedule": "constant"}),
        json!({"algorithm": "fobos", "rate": 0.4, "l2": 0.05}),
        json!({"algorithm": "fobos", "rate": 0.1, "l1": 0.01, "l2": 0.5, "schedule": "constant"}),
        json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.01, "l2": 0.05, "half_step": "next"}),
        json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.02, "penalty": "l2-norm"}),
        json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.2, "penalty": "l2-norm", "half_step": "next"}),
        json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.02, "penalty": "linf"}),
        json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.02, "penalty": "group",
               "groups": [[1, 2, 3], [4, 5, 6, 7], [8], [9, 10, 11, 12, 13]]}),
        json!({"algorithm": "lazy-fobos", "rate": 0.4, "l1": 0.02, "period": 10}),
        json!({"algorithm": "lazy-fobos", "rate": 0.4, "l1": 0.02, "period": 10, "penalty": "l2-norm"}),
        json!({"algorithm": "lazy-fobos", "rate": 0.4, "l1": 0.02, "period": 10, "penalty": "linf"}),
        json!({"algorithm": "lazy-splitting", "rate": 0.4, "l1": 0.02, "period": 10}),
        json!({"algorithm": "lazy-sparse", "rate": 0.4, "l1": 0.02, "period": 10}),
        json!({"algorithm": "lazy-sparse", "rate": 0.4, "l1": 0.02}),
        json!({"algorithm": "rda", "rate": 0.5, "l1": 0.01, "beta": "sqrt"}),
        json!({"algorithm": "rda", "rate": 0.5, "l1": 0.01, "l2": 0.1, "beta": "sqrt"}),
        json!({"algorithm": "generalized-rda", "rate": 0.1, "l1": 0.01, "a": 0.5, "b": 0.5}),
        json!({"algorithm": "generalized-rda", "rate": 0.05, "l1": 0.5, "a": 0.0, "b": 0.0}),
        json!({"algorithm": "dual-averaging", "rate": 0.5, "ball": "l1", "radius": 0.9}),
        json!({"algorithm": "dual-averaging", "rate": 0.5, "ball": "l2", "radius": 0.6}),
        json!({"algorithm": "dual-averaging", "rate": 0.5, "ball": "simplex-kl", "radius": 2.0,
               "dimension": 23}),
        json!({"algorithm": "adagrad-rda", "rate": 0.3, "l1": 0.01, "l2": 0.02, "delta": 0.1}),
        json!({"algorithm": "adagrad-rda", "rate": 0.3, "l1": 0.01, "delta": 0}),
        json!({"algorithm": "adagrad-fobos", "rate": 0.3, "l1": 0.01, "delta": 0.1}),
        json!({"algorithm": "adagrad-fobos", "rate": 0.3, "l1": 0.01, "l2": 0.02, "delta": 0}),
        json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.4, "l2": 0.1, "beta": 1}),
        json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.4, "beta": 0}),
        json!({"algorithm": "adam", "rate": 0.05, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}),
        json!({"algorithm": "adam", "rate": 0.05, "beta1": 0.0, "beta2": 0.9, "epsilon": 1e-8}),
        json!({"algorithm": "adadelta", "rho": 0.95, "epsilon": 1e-6, "rate": 1}),
        json!({"algorithm": "ftl", "radius": 0.7}),
    ];
    for beta in ["zero", "constant", "log", "sqrt"] {
        for prox in ["half", "psi"] {
            specs.push(json!({"algorithm": "rda", "rate": 0.5, "l1": 0.01, "l2": 0.1, "beta": beta,
                              "prox": prox}));
        }
    }
    for algorithm in ["comid", "ftprl", "aogd", "unified-rda"] {
        for metric in ["sqrt", "adagrad"] {
            specs.push(json!({"algorithm": algorithm, "rate": 0.4, "l1": 0.02, "metric": metric,
                              "beta": 1}));
        }
    }
    specs
}

/// The methods that can take the loss itself.
pub(crate) fn implicit_family() -> Vec<Value> {
    let mut specs = vec![
        json!({"algorithm": "sgd", "rate": 0.5, "schedule": "sqrt", "implicit": true}),
        json!({"algorithm": "asgd", "rate": 0.5, "schedule": "sqrt", "implicit": true}),
        json!({"algorithm": "sgd", "rate": 0.5, "ball": "l2", "radius": 0.5, "implicit": true}),
    ];
    for algorithm in ["comid", "ftprl", "aogd", "unified-rda"] {
        for metric in ["sqrt", "adagrad"] {
            specs.push(json!({"algorithm": algorithm, "rate": 0.4, "l1": 0.02, "metric": metric,
                              "beta": 1, "implicit": true}));
        }
    }
    specs
}

/// The same spec with one more field.
pub(crate) fn with(spec: &Value, name: &str, value: impl Into<Value>) -> Value {
    let mut spec = spec.clone();
    spec[name] = value.into();
    spec
}

/// A learner of a spec.
pub(crate) fn learner(spec: &Value, precision: Precision, bias: bool, storage: Storage) -> Box<dyn Online> {
    let settings = Spec::from_json(&spec.to_string()).and_then(|s| s.resolve());
    let settings = settings.unwrap_or_else(|e| panic!("{spec}: {e}"));
    settings.build(Frame { precision, bias, storage }).unwrap_or_else(|e| panic!("{spec}: {e}"))
}

/// A stream as one chunk.
pub(crate) fn chunk(stream: &Stream) -> Chunk {
    let mut chunk = Chunk::new();
    for example in &stream.examples {
        for &(j, v) in &example.x {
            chunk.push_feature(u32::try_from(j).unwrap(), v);
        }
        chunk.finish_row(Some(example.y), example.weight, Repeats::Refuse).unwrap();
    }
    chunk
}
