//! A learner that begins with a model.

use parsimon_core::Online;

use serde_json::Value;

use super::Trainer;
use crate::algorithm::{ALGORITHMS, find};
use crate::error::BuildError;
use crate::found::Found;
use crate::model::Model;
use crate::options::{LearnerOptions, Storage};
use crate::settings::wrappers::{Begun, begun};
use crate::settings::{Settings, Spec};
use crate::survey::InputSchema;

/// The settings that belong to a model: a learner that begins with it has the same.
const OF_THE_MODEL: [&str; 6] =
    ["loss", "huber_delta", "quantile", "multiclass", "classes", "normalize"];

impl Model {
    /// A spec of a learner that is to begin with this model: what belongs to the model (the loss, the classes, whether features are
    /// normalized) is added where it is not set and the algorithm has it.
    pub fn spec_to_begin(&self, spec: Spec) -> Spec {
        let stored = self.settings().completed(&self.schema().found);
        let algorithm = spec.get("algorithm").and_then(Value::as_str).and_then(find);
        let has = |name: &str| algorithm.is_some_and(|a| a.parameter(name).is_some());
        let of_model = stored.into_iter().filter(|(name, _)| Self::decides(name) && has(name));
        let missing = of_model.filter(|(name, _)| spec.get(name).is_none_or(Value::is_null));
        let missing: Vec<_> = missing.collect();
        missing.into_iter().fold(spec, |spec, (name, value)| spec.set(&name, value))
    }

    /// Whether a setting belongs to the model, so that a learner that begins with it cannot have another.
    pub fn decides(setting: &str) -> bool {
        OF_THE_MODEL.contains(&setting)
    }
}

impl Trainer {
    /// A learner that begins with the weights of a model, called `name`. The settings may be of another algorithm, except for those of the
    /// model ([`Model::spec_to_begin`]). Precision, bias and schema are those of the model.
    ///
    /// A model has no sums of gradients, scales or counts: the algorithm begins without them and learns the change of the weights,
    /// with the model's margin as the base value of every row. So the first prediction is the model's, and penalties act on the
    /// change. Number columns keep the means and deviations of the model. Refused are kernel models and methods that bound their
    /// weights or know no base values.
    ///
    /// ```
    /// use parsimon::rows::{Chunk, Repeats};
    /// use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
    /// use parsimon::settings::Storage;
    ///
    /// let mut chunk = Chunk::new();
    /// for label in [1.0, 1.0, -1.0] {
    ///     chunk.push_feature(1, 1.0);
    ///     chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
    /// }
    /// let settings = Spec::new("ftrl").resolve()?;
    /// let mut first = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
    /// first.learn(&chunk, &mut |_| {})?;
    /// let model = first.model();
    /// let second = Trainer::from_model(Spec::new("sgd").resolve()?, Storage::Growing, &model, "first.psm")?;
    /// assert_eq!(second.model().heads(), model.heads());
    /// # Ok::<(), parsimon::Error>(())
    /// ```
    pub fn from_model(
        settings: Settings,
        storage: Storage,
        model: &Model,
        name: &str,
    ) -> Result<Self, BuildError> {
        check(&settings, model)?;
        let mut reading = model.schema().clone();
        // The number of rows has changed.
        reading.found.rows = None;
        let bias = model.provenance().bias;
        let frame = LearnerOptions { precision: model.precision(), bias, storage };
        let mut learner = rested(&settings, frame, &reading)?;
        learner.start(model.heads().to_vec(), model.columns(), model.range());
        let mut trainer = Self::around(Box::new(learner), settings, frame, reading)?;
        trainer.began_with = Some(name.to_owned());
        trainer.names = model.names().collect();
        trainer.note_input(name);
        Ok(trainer)
    }

    /// The name of the model that training started from.
    pub fn began_with(&self) -> Option<&str> {
        self.began_with.as_deref()
    }

    /// Builds the learner before the weights of the model are known.
    pub(super) fn before_model(
        settings: Settings,
        frame: LearnerOptions,
        reading: InputSchema,
        name: String,
    ) -> Result<Self, BuildError> {
        let learner = Box::new(rested(&settings, frame, &reading)?);
        let mut trainer = Self::around(learner, settings, frame, reading)?;
        trainer.began_with = Some(name);
        Ok(trainer)
    }
}

/// A learner of the change of a model, before the weights of the model are known.
fn rested(
    settings: &Settings,
    frame: LearnerOptions,
    reading: &InputSchema,
) -> Result<Begun, BuildError> {
    let learner = settings.build(frame, &reading.found_in_space())?;
    if !can_begin(settings, &*learner) {
        let works = ALGORITHMS.iter().filter(|a| begins(a.name)).map(|a| a.name);
        return Err(BuildError::new(
            "algorithm",
            format!(
                "{} cannot begin with a model: {}; these can: {}",
                settings.algorithm().name,
                match learner.takes_bases() && learner.is_linear() {
                    true => "its weights are bounded, and a change of the model's weights is not",
                    false => "it knows no base values, to which it would add",
                },
                works.collect::<Vec<_>>().join(", ")
            ),
        ));
    }
    Ok(begun(learner, frame.precision))
}

/// Whether a learner can learn the change of a model: it is zero at the origin, unbounded, and adds to a margin.
fn can_begin(settings: &Settings, learner: &dyn Online) -> bool {
    let can_add = learner.is_linear() && learner.takes_bases();
    can_add && !settings.bounds_weights() && learner.nonzeros() == 0
}

/// Whether an algorithm with its defaults can.
fn begins(algorithm: &str) -> bool {
    let found = Found { dimension: Some(1), rows: Some(1), ..Found::default() };
    let options = LearnerOptions { storage: Storage::Index, ..LearnerOptions::default() };
    let Ok(settings) = Spec::new(algorithm).resolve() else { return false };
    settings.build(options, &found).is_ok_and(|learner| can_begin(&settings, &*learner))
}

/// Refuses settings under which the weights of the model would mean something else.
fn check(settings: &Settings, model: &Model) -> Result<(), BuildError> {
    if model.dictionary().is_some() {
        let message = "a model of kernels has no weights to begin with; train anew";
        return Err(BuildError::new("algorithm", message));
    }
    let (name, found) = (settings.algorithm().name, &model.schema().found);
    if settings.is_normalized() != model.settings().is_normalized() {
        let message = match settings.is_normalized() {
            true => format!(
                "{name} standardizes features, and the model was trained without that; choose another method, such as ftrl"
            ),
            false => format!(
                "the model was trained on standardized features, which {name} does not do; choose another method, such as auto"
            ),
        };
        return Err(BuildError::new("normalize", message));
    }
    if settings.loss() != model.settings().loss()
        || settings.heads(found) != Some(model.heads().len())
        || settings.is_of_two_classes(found) != model.settings().is_of_two_classes(found)
    {
        let message = format!(
            "the model was trained with the loss {}, which {name} does not have; choose another method, such as ftrl",
            model.settings().loss_name()
        );
        return Err(BuildError::new("loss", message));
    }
    Ok(())
}
