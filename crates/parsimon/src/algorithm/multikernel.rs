//! The multikernel filters: the only learners whose model is not linear.

use parsimon_core::Float;
use parsimon_core::kernel::{Kernel, Tuning, Update};
use serde_json::{Map, Value, json};

use super::groups::HyperplaneLoss;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{
    Kind, Natural, Naturals, NonNegative, Positives, Setting, Step, family, settings,
};
use crate::error::BuildError;
use crate::found::Found;

/// One kernel, or several, by their words.
#[derive(Clone, Copy, Debug)]
pub struct KernelWords;

const WORDS: &[&str] = &["gaussian", "linear", "polynomial"];

impl Setting for KernelWords {
    type Value = Vec<&'static str>;
    fn kind() -> Kind {
        Kind::Words(WORDS)
    }
    fn read(value: &Value) -> Option<Self::Value> {
        let word = |value: &Value| WORDS.iter().copied().find(|word| value == word);
        let words: Vec<&'static str> = match value {
            Value::Array(words) => words.iter().map(word).collect::<Option<_>>()?,
            value => vec![word(value)?],
        };
        let is_distinct = (1..words.len()).all(|i| !words[..i].contains(&words[i]));
        (is_distinct && !words.is_empty()).then_some(words)
    }
    fn write(words: &Self::Value) -> Option<Value> {
        // One word as specs have it by default.
        Some(if let [word] = words[..] { word.into() } else { words.clone().into() })
    }
}

settings! {
    /// A function over a dictionary of rows.
    pub struct Multikernel {
        rate: Step = 0.3, "step size (eta)";
        l1: NonNegative = 0.0, "strength of the penalty on the norms of the columns";
        kernel: KernelWords = "gaussian", "the kernels, one or more";
        variances: Option<Positives>, "variances of the Gaussian kernels (kernel gaussian only; 0.01, 0.1, 1, 10 if not set)";
        degrees: Option<Naturals>, "degrees of the polynomial kernels (kernel polynomial only; 2 if not set)";
        dictionary_max: Natural = 100.0, "size from which on the dictionary is refined (r_max); not an upper limit";
        dictionary_threshold: NonNegative = 1e-3, "refining removes rows whose coefficients have a smaller norm";
        delta: NonNegative = 1e-5, "added to |K|^2";
    }
}

family! {
    Multikernel:
    /// Dual averaging over a dictionary (Ushio 2018, appendix A.3).
    MultikernelPda,
    /// Forward-backward splitting over a dictionary (Yukawa and Ishii 2013).
    MultikernelApfbs,
}

impl Multikernel {
    /// In the order of their words, and within a word in the order of its list.
    fn kernels(&self) -> Vec<Kernel> {
        let mut kernels = Vec::new();
        for word in &self.kernel {
            let variances = self.variances.iter().flatten().copied();
            let degrees = self.degrees.iter().flatten().copied();
            match *word {
                "gaussian" => {
                    kernels.extend(variances.map(|variance| Kernel::Gaussian { variance }));
                }
                "polynomial" => kernels.extend(degrees.map(|degree| Kernel::Polynomial { degree })),
                _ => kernels.push(Kernel::Linear),
            }
        }
        kernels
    }

    fn check(&self) -> Result<(), BuildError> {
        let lists = [
            ("gaussian", "variances", self.variances.is_some()),
            ("polynomial", "degrees", self.degrees.is_some()),
        ];
        for (word, list, is_given) in lists {
            if is_given && !self.kernel.contains(&word) {
                let message =
                    format!("{list} is a setting of the {word} kernel, which is not named");
                return Err(BuildError::new(list, message));
            }
        }
        Ok(())
    }

    fn tuning(&self, update: Update) -> Tuning {
        Tuning {
            update,
            rate: self.rate,
            l1: self.l1,
            delta: self.delta,
            dictionary_max: usize::try_from(self.dictionary_max).unwrap_or(usize::MAX),
            dictionary_threshold: self.dictionary_threshold,
        }
    }
}

/// The list of a named kernel is written into the settings: the file of a model must not depend on the
/// defaults become.
fn complete(values: &mut Map<String, Value>) {
    let words = values.get("kernel").and_then(KernelWords::read).unwrap_or_default();
    let lists = [
        ("gaussian", "variances", json!([0.01, 0.1, 1, 10])),
        ("polynomial", "degrees", json!([2])),
    ];
    for (word, list, default) in lists {
        if words.contains(&word) && !values.contains_key(list) {
            values.insert(list.into(), default);
        }
    }
}

impl Recipe for MultikernelPda {
    const CARD: Card = Card {
        name: "multikernel-pda",
        paper: "Ushio 2018, appendix A.3",
        losses: "projection",
        penalties: "norms of the dictionary's columns, once",
        center: "origin, constant",
        cost: "O(dictionary (nnz + kernels))",
    };
    const L1: f64 = 1e-3;
    type Losses = HyperplaneLoss;

    fn check(&self, _: &HyperplaneLoss) -> Result<(), BuildError> {
        self.0.check()
    }
    fn complete(values: &mut Map<String, Value>) {
        complete(values);
    }
    fn kernels(&self) -> Vec<Kernel> {
        self.0.kernels()
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        composer.kernel(self.0.tuning(Update::DualAveraging), self.0.kernels())
    }
}

impl Recipe for MultikernelApfbs {
    const CARD: Card = Card {
        name: "multikernel-apfbs",
        paper: "Yukawa and Ishii 2013; Ushio 2018, appendix A.3",
        losses: "projection",
        penalties: "norms of the dictionary's columns, linearized",
        center: "iterate, constant",
        cost: "O(dictionary (nnz + kernels))",
    };
    const L1: f64 = 1e-5;
    type Losses = HyperplaneLoss;

    fn check(&self, _: &HyperplaneLoss) -> Result<(), BuildError> {
        self.0.check()
    }
    fn complete(values: &mut Map<String, Value>) {
        complete(values);
    }
    fn kernels(&self) -> Vec<Kernel> {
        self.0.kernels()
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        composer.kernel(self.0.tuning(Update::ForwardBackward), self.0.kernels())
    }
}
