//! A model as it is read for scores: weights that stay, or a learner between two rows.

use std::borrow::Cow;
use std::sync::Arc;

use parsimon::core::{Chunk, Loss, Scorer, StateWriter};
use parsimon::{Model, Stretch, Trainer};
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

/// Which state of a model a score was made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Version {
    /// The epoch: rises when learning goes on from an earlier state.
    pub epoch: u32,
    /// The last record of the log that the state includes; 0 for a model that does not learn.
    pub seq: u64,
}

/// One copy of a model.
pub(crate) enum Replica {
    /// A model file.
    Frozen(Arc<(Model, Scorer)>),
    /// A learner, with the version of its state.
    Live(Box<Live>),
}

/// A learner.
pub(crate) struct Live {
    pub(crate) trainer: Trainer,
    pub(crate) version: Version,
    /// Why it learns no more: its weights are not finite after a row.
    pub(crate) diverged: Option<String>,
    /// Of two classes, since the start of the process.
    pub(crate) sums: Sums,
}

/// What was predicted and what happened, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    /// Probabilities of the second class, predicted before rows were learned.
    pub(crate) predicted: f64,
    /// Rows of the second class.
    pub(crate) happened: f64,
}

impl Live {
    pub(crate) fn new(trainer: Trainer, version: Version) -> Self {
        Self { trainer, version, diverged: None, sums: Sums::default() }
    }

    /// Learns a chunk, and appends the margins that were predicted before. A learner whose weights diverged stays as it is, so
    /// that a replay ends in the same state.
    pub(crate) fn learn(&mut self, chunk: &Chunk, mut margins: Option<&mut Vec<f64>>) {
        if self.diverged.is_some() {
            return;
        }
        let (loss, sums) = (self.trainer.settings().loss(), &mut self.sums);
        let is_logistic = loss == Loss::Logistic;
        let mut watch = |stretch: &Stretch<'_>| {
            for row in stretch.rows() {
                if let Some(margins) = &mut margins {
                    margins.extend_from_slice(stretch.margins(row));
                }
                if let (true, [margin], Some(y)) =
                    (is_logistic, stretch.margins(row), chunk.label(row))
                {
                    sums.predicted += loss.predict(*margin) * chunk.weight(row);
                    sums.happened += f64::from(u8::from(y > 0.0)) * chunk.weight(row);
                }
            }
        };
        if let Err(error) = self.trainer.learn_watched(chunk, &mut |_| {}, &mut watch) {
            self.diverged = Some(error.to_string());
        }
    }

    /// A number that two learners have in common only if they have learned the same rows in the same order.
    pub(crate) fn digest(&self) -> u64 {
        let mut state = StateWriter::new();
        self.trainer.online().save(&mut state);
        let mut hash = Xxh3::new();
        hash.update(state.as_bytes());
        hash.update(&serde_json::to_vec(self.trainer.progressive()).unwrap_or_default());
        hash.update(&[u8::from(self.diverged.is_some())]);
        hash.digest()
    }
}

impl Replica {
    pub(crate) fn frozen(model: Model) -> Self {
        let scorer = model.scorer();
        Self::Frozen(Arc::new((model, scorer)))
    }

    /// The same model file once more; `None` for a learner.
    pub(crate) fn shared(&self) -> Option<Self> {
        match self {
            Self::Frozen(frozen) => Some(Self::Frozen(frozen.clone())),
            Self::Live(_) => None,
        }
    }

    pub(crate) fn version(&self) -> Version {
        match self {
            Self::Frozen(_) => Version::default(),
            Self::Live(live) => live.version,
        }
    }

    /// Appends the margins of every row, one per class.
    pub(crate) fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        match self {
            Self::Frozen(frozen) => {
                let start = margins.len();
                frozen.1.margins(chunk, margins);
                frozen.0.calibrate(&mut margins[start..]);
            }
            Self::Live(live) => live.trainer.online().score(chunk, margins),
        }
    }

    /// Appends for each index a weight per class; nothing where the model is not linear.
    pub(crate) fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        match self {
            Self::Frozen(frozen) => frozen.1.weights_of(indices, weights),
            Self::Live(live) if live.trainer.online().is_linear() => {
                live.trainer.online().weights_of(indices, weights);
            }
            Self::Live(_) => {}
        }
    }

    /// The rows with the cells of number columns as the features that the weights belong to.
    pub(crate) fn features<'a>(&self, chunk: &'a Chunk) -> Cow<'a, Chunk> {
        match self {
            Self::Frozen(frozen) => frozen.1.features(chunk),
            Self::Live(live) => {
                let scorer = Scorer::new(&[], live.trainer.frame().precision);
                let scorer = match live.trainer.settings().is_normalized() {
                    true => scorer.with_columns(live.trainer.online().columns()),
                    false => scorer,
                };
                Cow::Owned(scorer.features(chunk).into_owned())
            }
        }
    }

    /// The learner, if the model learns.
    pub(crate) fn live(&self) -> Option<&Live> {
        match self {
            Self::Frozen(_) => None,
            Self::Live(live) => Some(live),
        }
    }

    pub(crate) fn live_mut(&mut self) -> Option<&mut Live> {
        match self {
            Self::Frozen(_) => None,
            Self::Live(live) => Some(live),
        }
    }
}
