//! A model that scores: fixed weights, or a learner between two rows.

use std::borrow::Cow;
use std::sync::Arc;

use parsimon::predict::Scorer;
use parsimon::rows::Chunk;
use parsimon::settings::Loss;
use parsimon::train::Stretch;
use parsimon::workspace::StateWriter;
use parsimon::{Model, Trainer};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::record::Paused;

/// A state of a model: the epoch and the last record that the state includes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema,
)]
pub struct Version {
    /// The epoch: rises when learning continues from an earlier state.
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
    /// Records that were not learned because of what they would have done to the weights.
    pub(crate) skipped: Skipped,
    /// Set while records are kept but not learned.
    pub(crate) paused: Option<Paused>,
    /// Whether rows are kept until the kinds of their columns are known.
    pub(crate) is_warming: bool,
    /// Counts for two classes since the start of the process.
    pub(crate) sums: ObservedSums,
}

/// Records that were skipped: weights that are not finite would have come of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Skipped {
    /// Count.
    pub(crate) records: u64,
    /// The last one.
    pub(crate) last: u64,
}

/// Why the rows of a record could not be learned. The learner is spoiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spoiled {
    /// The weights are not finite after a row. The record is skipped wherever it is learned.
    Diverged,
    /// The budget of the process has no more memory. The record is not at fault.
    Memory(String),
}

impl From<parsimon::Error> for Spoiled {
    fn from(error: parsimon::Error) -> Self {
        match error {
            parsimon::Error::Memory(words) => Self::Memory(words.to_string()),
            _ => Self::Diverged,
        }
    }
}

/// Numbers up to this size cannot make a step that overflows; after larger ones the weights are looked at.
const TAME: f64 = 1e6;

/// Sums of predictions and outcomes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ObservedSums {
    /// Probabilities of the second class, predicted before rows were learned.
    pub(crate) predicted: f64,
    /// Rows of the second class.
    pub(crate) happened: f64,
}

impl Live {
    pub(crate) fn new(trainer: Trainer, version: Version) -> Self {
        let (skipped, sums) = (Skipped::default(), ObservedSums::default());
        Self { trainer, version, skipped, paused: None, is_warming: false, sums }
    }

    /// A second copy, equal to the last bit: a checkpoint resumes so. An error if the state is spoiled.
    pub(crate) fn copied(&self) -> Result<Self, parsimon::Error> {
        let trainer = Trainer::from_checkpoint(&self.trainer.checkpoint())?;
        let (version, skipped, sums) = (self.version, self.skipped, self.sums);
        let (paused, is_warming) = (self.paused.clone(), self.is_warming);
        Ok(Self { trainer, version, skipped, paused, is_warming, sums })
    }

    /// Whether rows are learned when they come.
    pub(crate) fn learns_now(&self) -> bool {
        self.paused.is_none() && !self.is_warming
    }

    /// A record is not learned.
    pub(crate) fn skip(&mut self, seq: u64) {
        self.skipped = Skipped { records: self.skipped.records + 1, last: seq };
    }

    /// Learns the rows of a record, and appends the margins that were predicted before. After an error the learner is spoiled and
    /// has to be replaced by a copy from before; whether there is one depends on the state and the record alone.
    pub(crate) fn learn(
        &mut self,
        chunks: &[Chunk],
        mut margins: Option<&mut Vec<f64>>,
    ) -> Result<(), Spoiled> {
        let (loss, sums) = (self.trainer.settings().loss(), &mut self.sums);
        let is_logistic = loss == Loss::Logistic;
        let mut is_tame = chunks.iter().all(is_tame);
        for chunk in chunks {
            let mut watch = |stretch: &Stretch<'_>| {
                for row in stretch.rows() {
                    is_tame &= stretch.margins(row).iter().all(|margin| margin.abs() <= TAME);
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
            self.trainer.learn_watched(chunk, &mut |_| {}, &mut watch)?;
        }
        if is_tame {
            return Ok(());
        }
        // The rows that were learned show whether their weights are still numbers.
        let mut after = Vec::new();
        chunks.iter().for_each(|chunk| self.trainer.online().score(chunk, &mut after));
        if after.iter().all(|margin| margin.is_finite()) { Ok(()) } else { Err(Spoiled::Diverged) }
    }

    /// The margins of a record that is not learned.
    pub(crate) fn predict(&self, chunks: &[Chunk], margins: &mut Vec<f64>) {
        chunks.iter().for_each(|chunk| self.trainer.online().score(chunk, margins));
    }

    /// A number that two learners have in common only if they have learned the same rows in the same order.
    pub(crate) fn digest(&self) -> u64 {
        let mut state = StateWriter::new();
        self.trainer.online().save(&mut state);
        let mut hash = Xxh3::new();
        hash.update(state.as_bytes());
        hash.update(&serde_json::to_vec(self.trainer.progressive()).unwrap_or_default());
        hash.update(&self.skipped.records.to_le_bytes());
        hash.digest()
    }
}

/// Whether all numbers of the rows are of a usual size.
fn is_tame(chunk: &Chunk) -> bool {
    let is_small = |x: f64| x.is_nan() || x.abs() <= TAME;
    (0..chunk.len()).all(|i| {
        chunk.label(i).is_none_or(is_small)
            && is_small(chunk.weight(i))
            && is_small(chunk.base(i))
            && chunk.numbers(i).iter().all(|x| is_small(*x))
            && chunk.row(i).iter().all(|(_, x)| is_small(x))
    })
}

impl Replica {
    pub(crate) fn frozen(model: Model) -> Self {
        let scorer = model.scorer();
        Self::Frozen(Arc::new((model, scorer)))
    }

    /// Returns a copy of the model file; `None` for a learner.
    pub(crate) fn shared(&self) -> Option<Self> {
        match self {
            Self::Frozen(frozen) => Some(Self::Frozen(frozen.clone())),
            Self::Live(_) => None,
        }
    }

    /// Another copy.
    pub(crate) fn copied(&self) -> Result<Self, parsimon::Error> {
        match self {
            Self::Frozen(frozen) => Ok(Self::Frozen(frozen.clone())),
            Self::Live(live) => Ok(Self::Live(Box::new(live.copied()?))),
        }
    }

    pub(crate) fn version(&self) -> Version {
        match self {
            Self::Frozen(_) => Version::default(),
            Self::Live(live) => live.version,
        }
    }

    /// Whether the model collects its first rows.
    pub(crate) fn is_warming(&self) -> bool {
        self.live().is_some_and(|live| live.is_warming)
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

    /// Returns the rows with the cells of number columns as features with the ids of the weights.
    pub(crate) fn features<'a>(&self, chunk: &'a Chunk) -> Cow<'a, Chunk> {
        match self {
            Self::Frozen(frozen) => frozen.1.features(chunk),
            Self::Live(live) => {
                let scorer = Scorer::new(&[], live.trainer.options().precision);
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
