//! Shared code of this crate's tests.

use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::{Precision, Storage};
use parsimon::survey::Found;
use parsimon::train::{Online, Progress, Stretch};
use parsimon::workspace::Head;
use parsimon::{InputSchema, LearnerOptions, Settings, Spec, Trainer};
use parsimon_oracle::Stream;
use parsimon_oracle::streams::{self, SplitMix64};
use serde_json::{Value, json};

/// One spec per method and variant: joining this list joins every test of the family.
pub(crate) fn family() -> Vec<Value> {
    let mut specs = vec![
        json!({"algorithm": "sgd", "rate": 0.3, "schedule": "constant"}),
        json!({"algorithm": "sgd", "rate": 0.5, "schedule": "sqrt"}),
        json!({"algorithm": "sgd", "rate": 0.9, "schedule": "inverse"}),
        json!({"algorithm": "sgd", "rate": 0.5, "schedule": "two-phase", "switch": 50}),
        json!({"algorithm": "sgd", "rate": 0.5, "schedule": "power", "power": 0.75}),
        json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.01, "l2": 0.05, "half_step": "next", "schedule": "power"}),
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
        json!({"algorithm": "dual-averaging", "rate": 0.5, "ball": "simplex-kl", "radius": 2.0,
               "dimension": 23, "mirror": true}),
        json!({"algorithm": "dual-averaging", "rate": 0.5, "ball": "simplex-kl", "radius": 2.0,
               "dimension": 23, "sigma": 0.3}),
        json!({"algorithm": "adagrad-rda", "rate": 0.3, "l1": 0.01, "l2": 0.02, "delta": 0.1}),
        json!({"algorithm": "adagrad-rda", "rate": 0.3, "l1": 0.01, "delta": 0}),
        json!({"algorithm": "adagrad-fobos", "rate": 0.3, "l1": 0.01, "delta": 0.1}),
        json!({"algorithm": "adagrad-fobos", "rate": 0.3, "l1": 0.01, "l2": 0.02, "delta": 0}),
        json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.4, "l2": 0.1, "beta": 1}),
        json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.4, "beta": 0}),
        json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.2, "l2": 0.1, "beta": 1, "half_life": 40}),
        json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.1, "beta": 0, "half_life": 3}),
        json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.1, "half_life": 20, "penalty": "box",
               "lower": -0.05, "upper": 0.1}),
        json!({"algorithm": "adam", "rate": 0.05, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}),
        json!({"algorithm": "adam", "rate": 0.05, "beta1": 0.0, "beta2": 0.9, "epsilon": 1e-8}),
        json!({"algorithm": "adadelta", "rho": 0.95, "epsilon": 1e-6, "rate": 1}),
        json!({"algorithm": "nag", "rate": 0.5}),
        json!({"algorithm": "nag", "rate": 2, "exponent": 0.7, "start": 3}),
        json!({"algorithm": "ftl", "radius": 0.7}),
    ];
    for beta in ["zero", "constant", "log", "sqrt"] {
        for prox in ["half", "psi"] {
            specs
                .push(json!({"algorithm": "rda", "rate": 0.5, "l1": 0.01, "l2": 0.1, "beta": beta,
                              "prox": prox}));
        }
    }
    for algorithm in ["comid", "ftprl", "aogd", "unified-rda"] {
        for metric in ["sqrt", "adagrad"] {
            specs.push(json!({"algorithm": algorithm, "rate": 0.4, "l1": 0.02, "metric": metric,
                              "beta": 1}));
        }
    }
    specs.extend(bounded_family());
    specs.extend(factor_family());
    specs
}

/// The methods whose penalty may differ between features: some have none, one is less and one is more than the rest.
pub(crate) fn factor_family() -> Vec<Value> {
    let methods = [
        json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.4, "l2": 0.1, "beta": 1}),
        json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.2, "beta": 1, "half_life": 40}),
        json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.4, "penalty": "nonnegative"}),
        json!({"algorithm": "rda", "rate": 0.5, "l1": 0.01}),
        json!({"algorithm": "rda", "rate": 0.5, "l1": 0.01, "l2": 0.1}),
        json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.01}),
        json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.01, "half_step": "next", "penalty": "box",
               "lower": -0.05, "upper": 0.1}),
        json!({"algorithm": "adagrad-rda", "rate": 0.3, "l1": 0.01, "l2": 0.02, "delta": 0.1}),
        json!({"algorithm": "adagrad-fobos", "rate": 0.3, "l1": 0.01, "delta": 0.1}),
        json!({"algorithm": "adagrad-fobos", "rate": 0.3, "l1": 0.01, "l2": 0.02, "delta": 0.1}),
    ];
    let factors = json!({"1": 0, "2": 0.25, "5": 4, "11": 0});
    methods.iter().map(|method| with(method, "penalty_factor", factors.clone())).collect()
}

/// The methods whose weights may be bounded. The bounds are tight enough to bind.
pub(crate) fn bounded_family() -> Vec<Value> {
    let methods = [
        json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0.4, "l2": 0.1, "beta": 1}),
        json!({"algorithm": "rda", "rate": 0.5, "l1": 0.01}),
        json!({"algorithm": "rda", "rate": 0.5, "l1": 0.002, "l2": 1, "beta": "constant"}),
        json!({"algorithm": "rda", "rate": 0.5, "l1": 0.002, "l2": 1, "beta": "log", "prox": "psi"}),
        json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.01}),
        json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.01, "l2": 0.05, "half_step": "next"}),
        json!({"algorithm": "adagrad-rda", "rate": 0.3, "l1": 0.01, "l2": 0.02, "delta": 0.1}),
        json!({"algorithm": "adagrad-fobos", "rate": 0.3, "l1": 0.01, "delta": 0.1}),
        json!({"algorithm": "adagrad-fobos", "rate": 0.3, "l1": 0.01, "l2": 0.02, "delta": 0.1}),
    ];
    let bounds = [
        json!({"penalty": "nonnegative"}),
        json!({"penalty": "box", "lower": -0.05, "upper": 0.1}),
        json!({"penalty": "box", "upper": 0.05}),
    ];
    let bounded = |method: &Value, bounds: &Value| {
        let fields = bounds.as_object().into_iter().flatten();
        fields.fold(method.clone(), |spec, (name, value)| with(&spec, name, value.clone()))
    };
    let of = |method: &Value| bounds.iter().map(|b| bounded(method, b)).collect::<Vec<_>>();
    methods.iter().flat_map(of).collect()
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

/// The methods that have their own reading of a loss: constraints, projections, least squares.
pub(crate) fn projecting_family() -> Vec<Value> {
    let mut specs = vec![
        json!({"algorithm": "csgd", "rate": 0.1, "schedule": "two-phase", "switch": 40, "loss": "squared"}),
        json!({"algorithm": "ncsgd", "rate": 0.1, "schedule": "sqrt", "loss": "squared"}),
        json!({"algorithm": "csgd", "rate": 0.1, "schedule": "power", "power": 0.6, "loss": "squared"}),
        json!({"algorithm": "rls", "delta": 0.5, "forgetting": 1, "dimension": 24, "loss": "squared"}),
        json!({"algorithm": "rls", "delta": 0.5, "forgetting": 0.97, "dimension": 24, "loss": "squared"}),
        json!({"algorithm": "adaline", "rate": 0.02, "loss": "squared"}),
        json!({"algorithm": "c-adaline", "rate": 0.1, "loss": "squared"}),
        json!({"algorithm": "lms", "rate": 0.02, "loss": "squared"}),
        json!({"algorithm": "pnlms", "rate": 0.5, "rho": 0.05, "delta": 1e-3, "delta_p": 0.01,
               "dimension": 24, "loss": "projection"}),
        json!({"algorithm": "ipnlms", "rate": 0.5, "a": 0.3, "delta": 1e-3, "epsilon": 1e-3,
               "dimension": 24, "loss": "projection"}),
    ];
    for slack in ["none", "linear", "squared"] {
        let margin = json!({"slack": slack, "aggressiveness": 0.2, "loss": "hinge"});
        specs.push(with(&margin, "algorithm", "pa"));
        specs.push(with(&with(&margin, "algorithm", "scw"), "phi", 0.7));
    }
    specs.push(json!({"algorithm": "arow", "r": 0.5, "loss": "hinge"}));
    for loss in ["projection", "halfspace"] {
        specs.push(json!({"algorithm": "nlms", "rate": 0.4, "delta": 1e-3, "loss": loss}));
        specs.push(
            json!({"algorithm": "apa", "rate": 0.4, "delta": 1e-3, "order": 1, "loss": loss}),
        );
        for algorithm in ["apfbs", "pda"] {
            let l1 = if algorithm == "pda" { 0.1 } else { 0.01 };
            let plain =
                json!({"algorithm": algorithm, "rate": 0.4, "l1": l1, "delta": 1e-3, "loss": loss});
            let metric = with(&with(&plain, "alpha", 0.4), "epsilon", 0.01);
            specs.push(with(&metric, "dimension", 24));
            specs.push(plain);
        }
        specs.push(
            json!({"algorithm": "papa", "rate": 0.4, "alpha": 0.4, "epsilon": 0.01, "delta": 1e-3,
                          "dimension": 24, "loss": loss}),
        );
    }
    for (l1_metric, growing_l1, alpha) in [
        ("none", false, Some(0.4)),
        ("metric", false, Some(0.4)),
        ("squared", true, Some(0.4)),
        ("squared", true, None),
    ] {
        let spec = json!({"algorithm": "pda", "rate": 0.4, "l1": 0.01, "delta": 1e-3, "l1_metric": l1_metric,
                          "growing_l1": growing_l1, "loss": "projection"});
        specs.push(match alpha {
            Some(alpha) => {
                with(&with(&with(&spec, "alpha", alpha), "epsilon", 0.01), "dimension", 24)
            }
            None => spec,
        });
    }
    for order in [2, 3] {
        specs.push(
            json!({"algorithm": "apa", "rate": 0.3, "delta": 0.1, "order": order, "dimension": 24,
                          "loss": "projection"}),
        );
        for algorithm in ["apfbs", "pda"] {
            let l1 = if algorithm == "pda" { 0.1 } else { 0.01 };
            specs.push(json!({"algorithm": algorithm, "rate": 0.3, "l1": l1, "delta": 0.1, "order": order,
                              "alpha": 0.5, "epsilon": 0.05, "dimension": 24, "loss": "projection"}));
        }
        specs.push(
            json!({"algorithm": "papa", "rate": 0.3, "delta": 0.1, "order": order, "alpha": 0.5,
                          "epsilon": 0.05, "dimension": 24, "loss": "projection"}),
        );
    }
    specs
}

/// The loss whose labels suit a method with its own.
pub(crate) fn labels_of(spec: &Value) -> &'static str {
    let is_adaline = spec["algorithm"].as_str().is_some_and(|name| name.ends_with("adaline"));
    match spec["loss"].as_str() {
        Some("squared") if !is_adaline => "squared",
        Some("projection") => "squared",
        _ => "hinge",
    }
}

/// Returns the spec with one more field.
pub(crate) fn with(spec: &Value, name: &str, value: impl Into<Value>) -> Value {
    let mut spec = spec.clone();
    spec[name] = value.into();
    spec
}

/// The settings of a spec.
pub(crate) fn settings(spec: &Value) -> Settings {
    let settings = Spec::from_json(&spec.to_string()).and_then(|s| s.resolve());
    settings.unwrap_or_else(|e| panic!("{spec}: {e}"))
}

/// A learner of a spec.
pub(crate) fn learner(
    spec: &Value,
    precision: Precision,
    bias: bool,
    storage: Storage,
) -> Box<dyn Online> {
    let frame = LearnerOptions { precision, bias, storage };
    settings(spec).build(frame, &Found::default()).unwrap_or_else(|e| panic!("{spec}: {e}"))
}

/// A trainer of a spec, with a bias.
pub(crate) fn trainer(spec: &Value, precision: Precision) -> Trainer {
    let frame = LearnerOptions { precision, ..LearnerOptions::default() };
    let trainer = Trainer::new(settings(spec), frame, InputSchema::default());
    trainer.unwrap_or_else(|e| panic!("{spec}: {e}"))
}

/// Learns a chunk and returns the margins that were predicted before learning.
pub(crate) fn learn_margins(
    trainer: &mut Trainer,
    chunk: &Chunk,
    report: &mut dyn FnMut(&Progress),
) -> Vec<f64> {
    let mut margins = Vec::new();
    let mut watch = |stretch: &Stretch<'_>| {
        stretch.rows().for_each(|row| margins.extend_from_slice(stretch.margins(row)));
    };
    trainer.learn_watched(chunk, report, &mut watch).unwrap();
    margins
}

/// A stream as one chunk; a label that is NaN is absent.
pub(crate) fn chunk(stream: &Stream) -> Chunk {
    let mut chunk = Chunk::new();
    for example in &stream.examples {
        for &(j, v) in &example.x {
            chunk.push_feature(u32::try_from(j).unwrap(), v);
        }
        let label = (!example.y.is_nan()).then_some(example.y);
        chunk.finish_row(label, example.weight, Repeats::Refuse).unwrap();
    }
    chunk
}

/// Rows of ones, with labels that mostly follow one feature: sums of hinge gradients cancel to exact zeros.
pub(crate) fn ones(seed: u64, rounds: usize, dimension: u32) -> Chunk {
    let mut random = SplitMix64::new(seed);
    let mut chunk = Chunk::new();
    for _ in 0..rounds {
        for j in 1..dimension {
            if random.chance(0.3) {
                chunk.push_feature(j, 1.0);
            }
        }
        let leads = chunk.open_row().0.first() == Some(&1);
        let y = if leads == random.chance(0.8) { 1.0 } else { -1.0 };
        chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

/// Some rows of a chunk as a chunk of their own.
pub(crate) fn rows(chunk: &Chunk, range: std::ops::Range<usize>) -> Chunk {
    let mut part = Chunk::new();
    range.for_each(|i| part.copy_row(chunk, i));
    part
}

/// Weights to the last bit: the bias, then indices and weights, for every head.
pub(crate) type Bits = Vec<(u64, Vec<(u32, u64)>)>;

/// The bits of some heads.
pub(crate) fn bits(heads: &[Head]) -> Bits {
    let weights = |head: &Head| head.iter().map(|(j, w)| (j, w.to_bits())).collect();
    heads.iter().map(|head| (head.bias().to_bits(), weights(head))).collect()
}

/// The bits of some margins.
pub(crate) fn margin_bits(margins: &[f64]) -> Vec<u64> {
    margins.iter().map(|p| p.to_bits()).collect()
}

/// Both precisions.
pub(crate) const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

/// A random stream with features of very different scales and some rows without a label. Labels that are numbers on a line
/// are far from 0 and of their own scale, too.
pub(crate) fn wild(seed: u64, rounds: usize, dimension: usize, loss: &str) -> Stream {
    let mut stream = streams::random(seed, rounds, dimension, loss, streams::Options::default());
    let mut random = SplitMix64::new(seed ^ 0x5eed);
    let units: Vec<f64> = (0..dimension).map(|_| 10f64.powf(16.0 * random.unit() - 8.0)).collect();
    for example in &mut stream.examples {
        example.x.iter_mut().for_each(|(j, x)| *x *= units[*j]);
        if is_number(loss) {
            example.y = 500.0 + 30.0 * example.y;
        }
        if random.chance(0.1) {
            example.y = f64::NAN;
        }
    }
    stream
}

/// Whether the labels of a loss are numbers on a line.
pub(crate) fn is_number(loss: &str) -> bool {
    ["squared", "huber", "quantile"].contains(&loss)
}

/// All losses that every linear method has.
pub(crate) const LOSSES: [&str; 6] =
    ["logistic", "hinge", "squared-hinge", "squared", "huber", "quantile"];
