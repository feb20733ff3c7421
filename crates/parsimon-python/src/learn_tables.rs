//! Tables that the readers read, learned and predicted.

use parsimon::data::Run;
use parsimon::job::{Events, Failed, Job, Notice, Noticing, PassChoice};
use parsimon::rows::Chunk;
use parsimon::serve::Undo;
use parsimon::settings::{Precision, Storage};
use parsimon::train::Outcome;
use parsimon::workspace::{Stop, Stopper};
use parsimon::{Error, InputSchema, Plan, Spec, Trainer};
use pyo3::prelude::*;

use crate::errors::{diverged, raised};
use crate::guard::detached;
use crate::inner::Inner;
use crate::notices::{Warning, warning};
use crate::table::{Table, warn};
use crate::tick::Tick;

/// A learner to be trained on a table.
pub(crate) struct Training {
    pub(crate) spec: Spec,
    pub(crate) precision: Precision,
    pub(crate) bias: bool,
    /// The classes, where Python knows them.
    pub(crate) classes: Option<Vec<String>>,
    /// The passes over the rows; `None` if rows that are held out decide.
    pub(crate) passes: Option<u32>,
    /// Whether rows whose order misleads may be learned again in random order.
    pub(crate) may_shuffle: bool,
}

/// A training that has ended.
pub(crate) struct Ended {
    /// The learner, if rows were learned and are to be kept.
    pub(crate) inner: Option<Inner>,
    pub(crate) warnings: Vec<Warning>,
    /// The error or signal that ended the training early.
    pub(crate) error: Option<PyErr>,
    /// The passes that were made.
    pub(crate) passes: usize,
}

/// Features that are hashed are met one by one: their weights are not laid out before they are.
fn storage(schema: &InputSchema) -> Storage {
    if schema.bits.is_some() { Storage::Index } else { Storage::Growing }
}

/// Trains a learner from the beginning. Rows before an error are learned, if they are of files and the weights are numbers.
pub(crate) fn train(
    py: Python<'_>,
    training: Training,
    table: &Table,
    tick: Tick,
) -> PyResult<Ended> {
    let settings = training.spec.resolve().map_err(raised)?;
    // The usual classes need no names, as where the program finds them.
    let are_usual = |classes: &Vec<String>| settings.is_binary() && *classes == ["-1", "1"];
    let classes = training.classes.map(|c| if are_usual(&c) { Vec::new() } else { c });
    let (stopper, stop) = Stop::new();
    let mut follower = Follower { stopper: Some(stopper), ..Follower::new(tick, None) };
    let (ended, follower) = detached(py, move || {
        let mut options = table.options();
        options.run = Run { stop: Some(stop), ..options.run };
        options.bounds.max_value = training.precision.max_value();
        let job = Job::new(table, training.spec, options);
        let job = Job {
            plan: Plan { passes: training.passes.unwrap_or(1), ..job.plan },
            passes: match training.passes {
                None => PassChoice::HeldOut,
                Some(_) => PassChoice::Planned,
            },
            classes,
            precision: training.precision,
            bias: training.bias,
            storage,
            may_shuffle: training.may_shuffle,
            ..job
        };
        (job.run(&mut follower), follower)
    })?;
    let Follower { mut notices, failure, mut tick, .. } = follower;
    match ended {
        Ok(trained) => {
            notices.extend(trained.notices());
            let settings = trained.trainer.settings();
            let warnings = notices.iter().map(|notice| warning(notice, settings)).collect();
            let loss = trained.trainer.progressive().average();
            let error = failure.map_or_else(|| tick.finish(py, loss).err(), Some);
            let inner = Inner { noticing: Some(trained.noticing), ..Inner::new(trained.trainer) };
            Ok(Ended { inner: Some(inner), warnings, error, passes: trained.outcome.passes.len() })
        }
        Err(Failed { error, trainer }) => {
            let is_kept = matches!(error, Error::Data(_)) && !table.is_in_memory();
            let settings = trainer.as_ref().map(|trainer| trainer.settings().clone());
            let words = |notice: &Notice| Some(warning(notice, settings.as_ref()?));
            let reason = notices.iter().rfind(|n| matches!(n, Notice::Diverged { .. }));
            let error = match (&error, reason.and_then(words)) {
                _ if failure.is_some() => failure,
                (Error::Diverged { row }, Some((_, words))) => Some(diverged(py, &words, *row)?),
                _ => Some(raised(error)),
            };
            let notices = notices.iter().filter(|n| !matches!(n, Notice::Diverged { .. }));
            let warnings = notices.filter_map(words).collect();
            let kept = trainer.filter(|t| is_kept && t.progressive().rows() > 0);
            let inner = kept.map(|trainer| Inner::new(*trainer));
            Ok(Ended { inner, warnings, error, passes: 1 })
        }
    }
}

/// Learns a table further in `passes` passes; returns the number of rows learned.
pub(crate) fn learn(
    py: Python<'_>,
    inner: &mut Inner,
    table: &Table,
    passes: u32,
    tick: Tick,
) -> PyResult<u64> {
    let is_undone = table.is_in_memory() && inner.undo.is_some();
    if !is_undone {
        detached(py, || inner.check_table(table))??;
    }
    // Rows that are learned more than once are not kept for undoing: the learner changes between passes.
    let cells = if passes == 1 { table.cells() } else { usize::MAX };
    detached(py, || inner.begin(cells))?;
    let (stopper, stop) = Stop::new();
    let Inner { trainer, undo, noticing, .. } = &mut *inner;
    let mut follower = Follower { stopper: Some(stopper), ..Follower::new(tick, undo.as_mut()) };
    let learned = detached(py, || {
        let mut options = table.options();
        options.run = Run { stop: Some(stop), ..options.run };
        let job = Job::new(table, Spec::default(), options);
        let job = Job { plan: Plan { passes, ..job.plan }, ..job };
        let noticing = noticing.get_or_insert_with(|| Noticing::new(trainer.settings()));
        let learned = job.learn_more(trainer, noticing, &mut follower);
        (learned, follower.notices, follower.failure, follower.tick)
    });
    let (learned, notices, failure, mut tick) = match learned {
        Ok(learned) => learned,
        Err(panic) => {
            detached(py, || inner.go_back())??;
            return Err(panic);
        }
    };
    let error = match (learned, failure) {
        (_, Some(failure)) => Some(failure),
        (Ok(rows), None) => {
            inner.end();
            inner.notices.extend(notices);
            tick.finish(py, inner.trainer.progressive().average())?;
            return Ok(rows);
        }
        // PERF: a bad row takes the learner back, instead of a pass over all rows before the first is learned.
        (Err(error), None) => {
            if is_undone || !matches!(error, Error::Data(_)) {
                detached(py, || inner.go_back())??;
            }
            Some(explained(py, error, &notices, &inner.trainer)?)
        }
    };
    inner.end();
    error.map_or(Ok(0), Err)
}

/// The exception for an error; that of a divergence has the reason.
fn explained(
    py: Python<'_>,
    error: Error,
    notices: &[Notice],
    trainer: &Trainer,
) -> PyResult<PyErr> {
    let reason = notices.iter().rfind(|notice| matches!(notice, Notice::Diverged { .. }));
    match (&error, reason) {
        (Error::Diverged { row }, Some(notice)) => {
            diverged(py, &warning(notice, trainer.settings()).1, *row)
        }
        _ => Ok(raised(error)),
    }
}

/// Follows a job without the interpreter, which it attaches for signals and progress.
struct Follower<'a> {
    tick: Tick,
    /// Keeps rows, so that a failure can be undone.
    undo: Option<&'a mut Undo>,
    notices: Vec<Notice>,
    loss: Option<f64>,
    /// Ends the reading when dropped.
    stopper: Option<Stopper>,
    /// A signal, or an error of the progress function.
    failure: Option<PyErr>,
}

impl<'a> Follower<'a> {
    fn new(tick: Tick, undo: Option<&'a mut Undo>) -> Self {
        Self { tick, undo, notices: Vec::new(), loss: None, stopper: None, failure: None }
    }
}

impl Events for Follower<'_> {
    fn notice(&mut self, notice: &Notice) {
        // The number of passes is an attribute of the estimator, and no reason for a warning.
        if !matches!(notice, Notice::SeveralPasses(_)) {
            self.notices.push(notice.clone());
        }
    }

    fn again(&mut self, _: &Outcome) {
        // The next learner notices what holds for it.
        let is_of_learner = |notice: &Notice| {
            matches!(notice, Notice::Leak { .. } | Notice::WorseThanConstant { .. })
        };
        self.notices.retain(|notice| !is_of_learner(notice));
    }

    fn loss(&mut self, average: f64) {
        self.loss = Some(average);
    }

    fn learned(&mut self, chunk: &Chunk) {
        if let Some(undo) = &mut self.undo {
            undo.learned(chunk);
        }
        if self.failure.is_some() {
            return;
        }
        let (tick, loss) = (&mut self.tick, self.loss);
        let heard = Python::attach(|py| {
            py.check_signals()?;
            tick.rows(py, chunk.len(), || loss)
        });
        if let Err(failure) = heard {
            self.failure = Some(failure);
            self.stopper = None;
        }
    }
}

/// The margins of every row of a table, one per head.
pub(crate) fn margins(py: Python<'_>, inner: &mut Inner, table: &Table) -> PyResult<Vec<f64>> {
    let (reading, settings) = (inner.trainer.schema(), inner.trainer.settings());
    let precision = inner.trainer.options().precision;
    let mut reader = table.reader_without_labels(reading, settings, precision)?;
    let mut margins = Vec::new();
    while detached(py, || reader.read(&mut inner.chunk))?.map_err(raised)? {
        detached(py, || inner.predict(&mut margins))?;
        py.check_signals()?;
    }
    warn(py, &reader)?;
    Ok(margins)
}
