//! A learner with the settings that share it: a stretch of rows is learned and judged here.

use std::ops::Range;

use parsimon_core::workspace::Coming;
pub(super) use parsimon_core::workspace::arg_max;
use parsimon_core::{Chunk, Frozen, Loss, Online};
use parsimon_eval::Progressive;
use parsimon_files::memory::Claim;

use super::class_weights::ClassWeights;
use super::stretch::Stretch;
use crate::algorithm::lanes::Narrow;
use crate::error::{BuildError, Error};
use crate::options::{LearnerOptions, Storage};
use crate::room;
use crate::settings::Settings;
use crate::survey::InputSchema;

/// A learner of one setting, or of several that share it.
pub(super) struct SharedLearner {
    learner: Learner,
    loss: Loss,
    /// The name of the algorithm, and where coordinates live.
    name: &'static str,
    storage: Storage,
    /// The memory of the learner and of its models and checkpoints.
    claim: Claim,
    /// Features learned so far, with repetitions.
    met: u64,
    /// Largest number of features, for learners that have a limit.
    dimension: u64,
    /// Whether it standardizes number columns; otherwise their cells are ordinary features.
    is_normalized: bool,
    /// Rows are weighted by their class before they are learned.
    class_weights: Option<ClassWeights>,
    /// The rows of the last stretch with the cells of number columns as features, for a learner that does not standardize them.
    plain: Chunk,
    /// Margins of the last stretch, one per row and head.
    margins: Vec<f64>,
    /// Losses of the last stretch, one per row and setting.
    losses: Vec<f64>,
    /// Values of one row.
    row_losses: Vec<f64>,
    /// The row of the last stretch whose label sets the origin of predictions: its prediction counts as no error.
    origin: Option<usize>,
}

enum Learner {
    /// One setting: one head, or one per class.
    One(Box<dyn Online>),
    /// Several settings, each a head; there may be more heads.
    Many(Box<dyn Narrow>),
}

impl SharedLearner {
    /// A learner of one setting.
    pub(super) fn one(
        online: Box<dyn Online>,
        settings: &Settings,
        frame: LearnerOptions,
        schema: &InputSchema,
    ) -> Result<Self, BuildError> {
        let class_weights = ClassWeights::new(settings, &schema.found)?;
        let new = Self::new(Learner::One(online), settings, frame, schema)?;
        Ok(Self { class_weights, ..new })
    }

    /// A learner of several settings that have the loss of the one given.
    pub(super) fn many(
        many: Box<dyn Narrow>,
        settings: &Settings,
        frame: LearnerOptions,
        schema: &InputSchema,
    ) -> Result<Self, BuildError> {
        Self::new(Learner::Many(many), settings, frame, schema)
    }

    fn new(
        learner: Learner,
        settings: &Settings,
        frame: LearnerOptions,
        schema: &InputSchema,
    ) -> Result<Self, BuildError> {
        let mut new = Self {
            learner,
            name: settings.algorithm().name,
            storage: frame.storage,
            claim: Claim::default(),
            met: 0,
            loss: settings.loss(),
            dimension: settings.dimension(&schema.found).map_or(1, u64::from),
            is_normalized: settings.is_normalized(),
            class_weights: None,
            plain: Chunk::new(),
            margins: Vec::new(),
            losses: Vec::new(),
            row_losses: Vec::new(),
            origin: None,
        };
        new.reserve(Coming::default()).map_err(|e| BuildError::new("memory", e.to_string()))?;
        Ok(new)
    }

    /// Claims the memory that the learner takes once some rows are learned.
    pub(super) fn reserve(&mut self, coming: Coming) -> Result<(), Error> {
        let coming = Coming { before: self.met, ..coming };
        let bytes = self.online().room(coming);
        self.claim.set(bytes).map_err(|shortage| {
            Error::Memory(room::to_learn(shortage, self.name, coming, self.storage))
        })
    }

    /// Number of features that were learned, here or before the learner was saved.
    pub(super) fn note_met(&mut self, features: u64) {
        self.met = self.met.saturating_add(features);
    }

    pub(super) fn online(&self) -> &dyn Online {
        match &self.learner {
            Learner::One(one) => &**one,
            Learner::Many(many) => &**many,
        }
    }

    pub(super) fn online_mut(&mut self) -> &mut dyn Online {
        match &mut self.learner {
            Learner::One(one) => &mut **one,
            Learner::Many(many) => &mut **many,
        }
    }

    pub(super) fn class_weights(&self) -> Option<&ClassWeights> {
        self.class_weights.as_ref()
    }

    pub(super) fn class_weights_mut(&mut self) -> Option<&mut ClassWeights> {
        self.class_weights.as_mut()
    }

    pub(super) fn loss(&self) -> Loss {
        self.loss
    }

    /// Whether several settings share it.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.learner, Learner::Many(_))
    }

    /// The nonzero weights of every setting, and perhaps of more heads.
    pub(super) fn nonzeros(&self) -> Vec<usize> {
        match &self.learner {
            Learner::One(one) => vec![one.nonzeros()],
            Learner::Many(many) => many.nonzeros_by_head(),
        }
    }

    /// The part of the weights that belongs to a setting.
    pub(super) fn own(&self, frozen: &Frozen, setting: usize) -> Frozen {
        match (&self.learner, frozen) {
            (Learner::Many(_), Frozen::Linear(heads)) => {
                Frozen::Linear(vec![heads[setting].clone()])
            }
            _ => frozen.clone(),
        }
    }

    /// Continues with some of the settings alone, in a narrower learner, if that pays.
    pub(super) fn narrow(&mut self, settings: &[usize], storage: Storage) -> bool {
        match &mut self.learner {
            Learner::One(_) => false,
            Learner::Many(many) => many.narrow(settings, storage),
        }
    }

    /// Predicts and learns rows, and computes what each costs every setting.
    pub(super) fn learn(&mut self, chunk: &Chunk, rows: Range<usize>) -> Result<(), Error> {
        // A base value is a prediction of the caller.
        let lacks_labels = !chunk.has_bases() && self.online().lacks_labels();
        let sets_origin = |row: &usize| chunk.label(*row).is_some() && chunk.weight(*row) > 0.0;
        self.origin = if lacks_labels { rows.clone().find(sets_origin) } else { None };
        if self.is_normalized || chunk.columns().is_empty() {
            return self.learn_features(chunk, rows);
        }
        let mut plain = std::mem::take(&mut self.plain);
        chunk.plain_numbers(rows.clone(), &mut plain);
        let learned = self.learn_features(&plain, 0..rows.len());
        self.plain = plain;
        learned
    }

    fn learn_features(&mut self, chunk: &Chunk, rows: Range<usize>) -> Result<(), Error> {
        self.margins.clear();
        let coming = chunk.coming(rows.clone());
        self.reserve(coming)?;
        self.note_met(coming.features as u64);
        let learner: &mut dyn Online = match &mut self.learner {
            Learner::One(one) => &mut **one,
            Learner::Many(many) => &mut **many,
        };
        if chunk.has_bases() && !learner.takes_bases() {
            return Err(Error::Usage(
                "rows have a base value (the third number before the bar), which this method does not learn with; \
                 use another one, such as ftrl, or remove the number"
                    .into(),
            ));
        }
        match &mut self.class_weights {
            None => learner.learn_rows(chunk, rows.clone(), &mut self.margins),
            Some(class_weights) => {
                let weighted = class_weights.weigh(chunk, rows.clone())?;
                learner.learn_rows(weighted, 0..rows.len(), &mut self.margins);
            }
        }
        if let Some(feature) = learner.overflow() {
            return Err(Error::TooManyFeatures { feature, dimension: self.dimension });
        }
        let heads = learner.heads();
        let labels = &chunk.labels()[rows.clone()];
        if heads == 1 {
            self.loss.row_values(&self.margins, labels, &mut self.losses);
            return Ok(());
        }
        let is_shared = self.is_shared();
        self.losses.clear();
        for (row, margins) in rows.zip(self.margins.chunks_exact(heads)) {
            match chunk.label(row) {
                Some(y) if is_shared => {
                    self.loss.values(margins, y, &mut self.row_losses);
                    self.losses.extend_from_slice(&self.row_losses);
                }
                Some(y) => self.losses.push(error(margins, y)),
                None => {
                    let width = if is_shared { heads } else { 1 };
                    self.losses.resize(self.losses.len() + width, 0.0);
                }
            }
        }
        Ok(())
    }

    /// Records what the rows of the last stretch cost a setting; an error where its weights diverged.
    pub(super) fn judge(
        &self,
        stretch: &Stretch<'_>,
        setting: usize,
        progressive: &mut Progressive,
    ) -> Result<(), Error> {
        let per_row = if self.is_shared() { stretch.width } else { 1 };
        for (i, row) in stretch.rows().enumerate() {
            let diverged = Error::Diverged { row: progressive.rows() + 1 };
            // Diverged weights show in a row without a label, too.
            if !stretch.margins(row).iter().all(|p| p.is_finite()) {
                return Err(diverged);
            }
            if stretch.chunk.label(row).is_none() {
                continue;
            }
            let loss = self.losses[i * per_row + setting];
            // A finite margin with an infinite square: divergence, one row earlier.
            if !loss.is_finite() {
                return Err(diverged);
            }
            match self.origin == Some(row) {
                true => progressive.record(0.0, 0.0),
                false => progressive.record(loss, stretch.chunk.weight(row)),
            }
        }
        // Losses that are finite one by one, and their sum is not.
        match progressive.is_finite() {
            true => Ok(()),
            false => Err(Error::Diverged { row: progressive.rows() }),
        }
    }

    /// Costs of a setting on the labeled rows of the last stretch, with label and importance weight. The row that sets the origin of
    /// predictions has no cost.
    pub(super) fn losses<'a>(
        &'a self,
        stretch: &'a Stretch<'_>,
        setting: usize,
    ) -> impl Iterator<Item = (Option<f64>, f64, f64)> + 'a {
        let per_row = if self.is_shared() { stretch.width } else { 1 };
        stretch.rows().enumerate().filter_map(move |(i, row)| {
            let y = stretch.chunk.label(row)?;
            let loss = self.losses[i * per_row + setting];
            Some(((self.origin != Some(row)).then_some(loss), y, stretch.chunk.weight(row)))
        })
    }

    /// The rows of the last stretch, with the margins of a setting.
    pub(super) fn stretch<'a>(
        &'a self,
        chunk: &'a Chunk,
        rows: Range<usize>,
        setting: usize,
    ) -> Stretch<'a> {
        let width = self.online().heads();
        let own = if self.is_shared() { setting..setting + 1 } else { 0..width };
        Stretch { chunk, rows, margins: &self.margins, width, own, origin: self.origin }
    }
}

/// A filter over a dictionary has no bias.
pub(super) fn options_of(settings: &Settings, options: LearnerOptions) -> LearnerOptions {
    LearnerOptions { bias: options.bias && !settings.is_kernel(), ..options }
}

/// For several classes, whether the largest margin is another class.
pub(super) fn error(margins: &[f64], y: f64) -> f64 {
    f64::from(u8::from(arg_max(margins) as f64 != y))
}
