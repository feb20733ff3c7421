//! Reading a flat spec: what is there, what must be there, what may not be there.

use serde_json::{Map, Value};

use crate::space::Space;

/// Keys every method may be given.
const COMMON: [&str; 8] =
    ["algorithm", "loss", "rate", "l1", "l2", "huber_delta", "quantile", "normalize"];

/// The keys of one method beside the common ones, from the table of names.
fn own_keys(algorithm: &str) -> &'static [&'static str] {
    match algorithm {
        "sgd" | "asgd" => &["schedule", "switch", "power", "ball", "radius", "implicit"],
        "subgradient-l1" | "csgd" | "ncsgd" => &["schedule", "switch", "power"],
        "truncation" | "truncated-gradient" => &["schedule", "switch", "power", "period", "theta"],
        "fobos" => &[
            "schedule",
            "switch",
            "power",
            "penalty",
            "groups",
            "lower",
            "upper",
            "half_step",
            "penalty_factor",
        ],
        "lazy-fobos" => &["schedule", "switch", "power", "penalty", "groups", "period"],
        "lazy-sparse" | "lazy-splitting" => &["schedule", "switch", "power", "period"],
        "rda" => &["beta", "prox", "penalty", "lower", "upper", "penalty_factor"],
        "generalized-rda" => &["a", "b"],
        "dual-averaging" => &["ball", "radius", "dimension", "mirror", "sigma"],
        "adagrad-rda" | "adagrad-fobos" => {
            &["delta", "penalty", "lower", "upper", "penalty_factor"]
        }
        "ftrl" => &["beta", "penalty", "lower", "upper", "half_life", "penalty_factor"],
        "comid" | "ftprl" | "aogd" | "unified-rda" => &["metric", "beta", "implicit"],
        "adam" => &["beta1", "beta2", "epsilon"],
        "adadelta" => &["rho", "epsilon"],
        "nag" => &["exponent", "start"],
        "pa" => &["slack", "aggressiveness"],
        "arow" => &["r"],
        "scw" => &["phi", "slack", "aggressiveness"],
        "ftl" => &["radius"],
        "rls" => &["delta", "forgetting"],
        "auto" | "lms" | "adaline" | "c-adaline" => &[],
        "pda" | "apfbs" | "papa" | "apa" | "nlms" => {
            &["alpha", "epsilon", "delta", "order", "dimension", "l1_metric", "growing_l1"]
        }
        "pnlms" => &["rho", "delta", "delta_p", "dimension"],
        "ipnlms" => &["a", "delta", "epsilon", "dimension"],
        "multikernel-pda" | "multikernel-apfbs" => {
            &["delta", "kernel", "variances", "degrees", "dictionary_max", "dictionary_threshold"]
        }
        other => panic!("unknown algorithm {other:?}"),
    }
}

/// A checked flat spec. A null value is an absent value.
pub(crate) struct Spec {
    keys: Map<String, Value>,
}

impl Spec {
    /// Takes the spec, refusing keys the method does not have.
    pub(crate) fn new(value: &Value) -> Self {
        let Value::Object(keys) = value else { panic!("a spec is an object, got {value}") };
        let keys: Map<String, Value> = keys
            .iter()
            .filter(|(_, v)| !v.is_null())
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let spec = Spec { keys };
        let algorithm = spec.text("algorithm");
        let own = own_keys(&algorithm);
        for key in spec.keys.keys() {
            assert!(
                COMMON.contains(&key.as_str()) || own.contains(&key.as_str()),
                "unknown key {key:?} for algorithm {algorithm:?}"
            );
        }
        spec
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.keys.get(key)
    }

    pub(crate) fn text(&self, key: &str) -> String {
        match self.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => panic!("{key} must be a string, got {other}"),
            None => panic!("missing parameter {key:?}"),
        }
    }

    pub(crate) fn text_or(&self, key: &str, default: &str) -> String {
        if self.get(key).is_some() { self.text(key) } else { default.to_owned() }
    }

    /// A number; the words "inf" and "-inf" are the infinities.
    pub(crate) fn number(&self, key: &str) -> f64 {
        match self.get(key) {
            Some(Value::String(word)) if word == "inf" => f64::INFINITY,
            Some(Value::String(word)) if word == "-inf" => f64::NEG_INFINITY,
            Some(value) => {
                value.as_f64().unwrap_or_else(|| panic!("{key} must be a number, got {value}"))
            }
            None => panic!("missing parameter {key:?}"),
        }
    }

    pub(crate) fn number_or(&self, key: &str, default: f64) -> f64 {
        if self.get(key).is_some() { self.number(key) } else { default }
    }

    /// The strength of a penalty on each feature: `value`, times the factor of the feature if it has one. Zero for the bias.
    pub(crate) fn strength(&self, value: f64, space: &Space) -> Vec<f64> {
        let mut strength = space.on_features(value);
        let Some(factors) = self.get("penalty_factor") else { return strength };
        let factors = factors.as_object().expect("penalty_factor is an object");
        for (id, factor) in factors {
            let id: usize = id.parse().expect("a feature by its number");
            let factor = factor.as_f64().expect("a factor is a number");
            // Not the bias, which is behind the features.
            if id < space.dimension {
                strength[id] *= factor;
            }
        }
        strength
    }

    pub(crate) fn count(&self, key: &str) -> usize {
        let value = self.number(key);
        assert!(value >= 1.0 && value.fract() == 0.0, "{key} must be a count, got {value}");
        value as usize
    }

    /// A list of numbers; empty when absent.
    pub(crate) fn numbers(&self, key: &str) -> Vec<f64> {
        match self.get(key) {
            None => Vec::new(),
            Some(Value::Array(list)) => list
                .iter()
                .map(|v| v.as_f64().unwrap_or_else(|| panic!("{key} must hold numbers, got {v}")))
                .collect(),
            Some(other) => panic!("{key} must be a list of numbers, got {other}"),
        }
    }

    /// One word, or a list of words.
    pub(crate) fn words(&self, key: &str) -> Vec<String> {
        match self.get(key) {
            Some(Value::Array(list)) => list
                .iter()
                .map(|v| v.as_str().unwrap_or_else(|| panic!("{key} must hold words, got {v}")))
                .map(str::to_owned)
                .collect(),
            _ => vec![self.text(key)],
        }
    }

    pub(crate) fn flag_or(&self, key: &str, default: bool) -> bool {
        match self.get(key) {
            Some(Value::Bool(flag)) => *flag,
            Some(other) => panic!("{key} must be true or false, got {other}"),
            None => default,
        }
    }

    /// Panics if a dimension is given and is not the stream's.
    pub(crate) fn check_dimension(&self, dimension: usize) {
        if self.get("dimension").is_some() {
            let found = self.count("dimension");
            assert!(found == dimension, "dimension is {found}, the stream has {dimension}");
        }
    }

    /// Panics if the penalty strength is given to a method that has no such penalty.
    pub(crate) fn refuse_strength(&self, key: &str) {
        let value = self.number_or(key, 0.0);
        assert!(value == 0.0, "{} gives {key} no meaning, got {value}", self.text("algorithm"));
    }
}
