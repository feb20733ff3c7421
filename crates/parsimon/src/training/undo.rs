//! Restoration of a learner to its state before rows that made it diverge.
//!
//! A copy of the state before every call would cost more than learning a small batch. Instead there is a copy from some calls ago, and the
//! rows that were learned since. Going back restores the copy and learns these rows again, which gives the same bits. When the rows
//! take as much memory as the state, another copy is made: per feature learned, a number or two are copied. A call that brings more
//! rows than that is not kept; a copy is made for it, and dropped when it ends.

use parsimon_core::workspace::Coming;
use parsimon_core::{Chunk, StateWriter};
use parsimon_eval::{LearningCurve, Progressive};

use super::baseline::Baseline;
use super::class_weights::ClassWeights;
use super::{Consumed, Progress, Trainer};
use crate::error::Error;

/// Cells of rows that are kept for any size of the state: 0.5 MB.
const LEAST_CELLS: usize = 1 << 15;
/// The bytes of an index and a value, in memory.
const CELL: usize = size_of::<u32>() + size_of::<f64>();

/// Restores a [`Trainer`] to the state before a call, if the rows of the call made it diverge.
///
/// ```
/// use parsimon::rows::{Chunk, Repeats};
/// use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
/// use parsimon::serve::Undo;
///
/// let settings = Spec::new("sgd").set("loss", "squared").set("rate", 100.0).resolve()?;
/// let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
/// let mut undo = Undo::default();
/// let mut chunk = Chunk::new();
/// for _ in 0..1000 {
///     chunk.push_feature(1, 10.0);
///     chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
/// }
/// undo.begin(&trainer, chunk.len());
/// assert!(trainer.learn(&chunk, &mut |_| {}).is_err(), "the weights diverge");
/// undo.go_back(&mut trainer)?;
/// assert_eq!((trainer.progressive().rows(), trainer.model().nonzeros()), (0, 0));
/// # Ok::<(), parsimon::Error>(())
/// ```
#[derive(Default)]
pub struct Undo {
    base: Option<Snapshot>,
    /// Rows learned since.
    rows: Chunk,
    /// Number of them that were learned before this call.
    before: usize,
    /// Whether rows of this call are kept.
    keeps: bool,
}

/// Everything that learning changes.
struct Snapshot {
    state: Vec<u8>,
    progressive: Progressive,
    curve: LearningCurve,
    baseline: Option<Baseline>,
    class_weights: Option<ClassWeights>,
    inputs: Vec<String>,
    consumed: Vec<Consumed>,
    last: Option<Progress>,
}

impl Undo {
    /// Begins a call that will learn about `cells` features.
    pub fn begin(&mut self, trainer: &Trainer, cells: usize) {
        if self.base.is_none() {
            self.copy(trainer);
        }
        let most = self.base.as_ref().map_or(0, |base| base.state.len() / CELL).max(LEAST_CELLS);
        self.keeps = cells <= most;
        if self.keeps && cells_of(&self.rows) + cells > most {
            self.copy(trainer);
        }
        self.before = self.rows.len();
    }

    /// Records rows that were learned in this call.
    pub fn learned(&mut self, chunk: &Chunk) {
        if self.keeps {
            (0..chunk.len()).for_each(|i| self.rows.copy_row(chunk, i));
        }
    }

    /// Ends the call. Its rows stay learned.
    pub fn end(&mut self) {
        if !self.keeps {
            self.forget();
        }
    }

    /// Discards everything recorded. Call it after the trainer was changed by other means.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Restores the trainer to the state at [`begin`](Undo::begin). A trainer that already had a number that is not finite is left
    /// unchanged.
    pub fn go_back(&mut self, trainer: &mut Trainer) -> Result<(), Error> {
        let Some(base) = self.base.take() else { return Ok(()) };
        let rows = std::mem::take(&mut self.rows);
        trainer.put_back(base)?;
        let mut again = Chunk::new();
        (0..self.before).for_each(|i| again.copy_row(&rows, i));
        self.forget();
        trainer.learn(&again, &mut |_| {})
    }

    fn copy(&mut self, trainer: &Trainer) {
        let memory = self.base.take().map(|base| base.state).unwrap_or_default();
        self.base = trainer.snapshot(memory);
        self.rows.clear();
    }
}

fn cells_of(rows: &Chunk) -> usize {
    rows.nonzeros() + rows.len() * (2 + rows.columns().len())
}

impl Trainer {
    /// None if a number is not finite: such a state cannot be restored.
    fn snapshot(&self, memory: Vec<u8>) -> Option<Snapshot> {
        let mut state = StateWriter::reusing(memory);
        self.online().save(&mut state);
        state.is_finite().then(|| Snapshot {
            state: state.into_bytes(),
            progressive: self.progressive.clone(),
            curve: self.curve.clone(),
            baseline: self.baseline.clone(),
            class_weights: self.learner.class_weights().cloned(),
            inputs: self.inputs.clone(),
            consumed: self.consumed.clone(),
            last: self.last.clone(),
        })
    }

    fn put_back(&mut self, snapshot: Snapshot) -> Result<(), Error> {
        let (settings, reading) = (self.settings.clone(), self.reading.clone());
        let Self { mut learner, .. } = match self.began_with.clone() {
            None => Self::new(settings, self.frame, reading)?,
            Some(model) => Self::before_model(settings, self.frame, reading, model)?,
        };
        let restored = learner.online_mut().restore(&mut &snapshot.state[..]);
        restored.map_err(|e| Error::usage(format!("the state before cannot be restored: {e}")))?;
        learner.reserve(Coming::default())?;
        self.learner = learner;
        if let (Some(now), Some(before)) =
            (self.learner.class_weights_mut(), snapshot.class_weights)
        {
            *now = before;
        }
        self.progressive = snapshot.progressive;
        self.curve = snapshot.curve;
        self.baseline = snapshot.baseline;
        self.inputs = snapshot.inputs;
        self.consumed = snapshot.consumed;
        self.last = snapshot.last;
        Ok(())
    }
}
