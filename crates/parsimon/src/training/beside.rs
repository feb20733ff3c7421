//! A model beside a constant on the same labeled rows.

use parsimon_core::{Chunk, Loss};
use parsimon_eval::Mean;
use serde::{Serialize, Serializer};

use super::constant::Constant;
use super::shared::error;
use crate::model::Model;

/// The losses of a model and of a constant on the same rows: the loss that was trained, or for several classes the share of
/// errors.
#[derive(Clone, Debug, Serialize)]
pub struct BesideConstant {
    /// The name of the loss, or `error`.
    pub measure: &'static str,
    /// The labels that the constant was computed from.
    pub constant_from: Prior,
    /// The loss of the model.
    #[serde(serialize_with = "estimate")]
    pub model: Mean,
    /// The loss of the constant.
    #[serde(serialize_with = "estimate")]
    pub constant: Mean,
    /// The loss of the model less that of the constant, row by row: negative where the model is better.
    #[serde(serialize_with = "estimate")]
    pub difference: Mean,
}

/// The labels a constant is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Prior {
    /// The training labels.
    TrainingLabels,
    /// The labels of the evaluated rows before each row, because the model does not have those of training.
    EvaluatedLabels,
}

/// A mean with its 95% interval.
fn estimate<S: Serializer>(mean: &Mean, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Estimate {
        mean: Option<f64>,
        low: Option<f64>,
        high: Option<f64>,
    }
    let (low, high) = mean.interval().unzip();
    Estimate { mean: mean.value(), low, high }.serialize(serializer)
}

/// Records the margins of a model.
pub(super) struct Beside {
    loss: Loss,
    constant: ConstantSource,
    beside: BesideConstant,
}

enum ConstantSource {
    Fixed(Vec<f64>),
    Running(Constant),
}

impl Beside {
    pub(super) fn new(model: &Model) -> Self {
        let (settings, known) = (model.settings(), &model.provenance().constant);
        let (constant, constant_from) = match known.len() == model.outputs() {
            true => (ConstantSource::Fixed(known.clone()), Prior::TrainingLabels),
            false => (
                ConstantSource::Running(Constant::new(settings, &model.schema().found)),
                Prior::EvaluatedLabels,
            ),
        };
        let beside = BesideConstant {
            measure: settings.progressive_name(),
            constant_from,
            model: Mean::default(),
            constant: Mean::default(),
            difference: Mean::default(),
        };
        Self { loss: settings.loss(), constant, beside }
    }

    /// Takes the rows with a label; gives their numbers with the losses of the model and of the constant.
    pub(super) fn take(&mut self, chunk: &Chunk, margins: &[f64]) -> Vec<(usize, f64, f64)> {
        let heads = if chunk.is_empty() { 1 } else { margins.len() / chunk.len() };
        let mut losses = Vec::with_capacity(chunk.len());
        for (i, margins) in margins.chunks_exact(heads).enumerate() {
            let (Some(y), weight) = (chunk.label(i), chunk.weight(i)) else { continue };
            let own = cost(self.loss, margins, y);
            let constant = match &mut self.constant {
                ConstantSource::Running(constant) => constant.learn(y, weight),
                ConstantSource::Fixed(margins) => cost(self.loss, margins, y),
            };
            self.beside.model.record(own, weight);
            self.beside.constant.record(constant, weight);
            self.beside.difference.record(own - constant, weight);
            losses.push((i, own, constant));
        }
        losses
    }

    pub(super) fn finish(self) -> BesideConstant {
        self.beside
    }
}

/// Returns the loss of a row; for several classes, whether it is an error.
pub(crate) fn cost(loss: Loss, margins: &[f64], y: f64) -> f64 {
    match margins {
        [margin] => loss.value(*margin, y),
        margins => error(margins, y),
    }
}
