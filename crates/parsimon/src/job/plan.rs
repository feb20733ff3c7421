//! A job: what is to be done with rows, and how it is done.

use std::fmt;

use parsimon_core::Precision;
use parsimon_data::{DataError, Options, Reader};
use parsimon_eval::Schedule;

use super::attempt::{Ended, until_it_fits};
use super::order;
use super::{curves, passes, refit};
use crate::error::{BuildError, Error};
use crate::options::{LearnerOptions, Storage};
use crate::settings::Spec;
use crate::survey::{self, Guess, Guessed, InputSchema, Opened, Source};
use crate::training::{
    Estimate, Events, Evidenced, Hindsight, Judged, Notice, Noticing, Outcome, Plan, Trainer,
    pass_over,
};

/// How a [`Job`] finds the number of passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassChoice {
    /// The passes of the plan.
    Planned,
    /// Several passes over small data where this is better on rows that are held out; else those of the plan.
    HeldOut,
}

/// Whether a [`Job`] fits the weights again that an l1 penalty has kept, without the penalty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefitChoice {
    /// It does not.
    Never,
    /// Where this is better on rows that are held out, and the rows are few.
    HeldOut,
    /// Also where it is not better.
    Always,
}

/// Rows, settings, and everything else that training needs.
#[derive(Clone)]
pub struct Job<'a> {
    /// The rows.
    pub source: &'a dyn Source,
    /// The settings. Where they have no loss, the labels decide.
    pub spec: Spec,
    /// The classes, where the caller knows them: the data is then not searched for them.
    pub classes: Option<Vec<String>>,
    /// The type of the weights.
    pub precision: Precision,
    /// Whether there is a bias.
    pub bias: bool,
    /// How weights are stored, for rows that are read in some way.
    pub storage: fn(&InputSchema) -> Storage,
    /// When to report.
    pub schedule: Schedule,
    /// Passes, holdout, checkpoint, and how rows are read.
    pub plan: Plan,
    /// Whether rows whose order misleads may be learned again in random order.
    pub may_shuffle: bool,
    /// How the number of passes is found.
    pub passes: PassChoice,
    /// Whether the weights that were kept are fitted again without l1.
    pub refit: RefitChoice,
    /// Whether everything that was reported can be taken back, so that learning can start again.
    pub is_repeatable: bool,
}

impl<'a> Job<'a> {
    /// One pass over the rows of a source. The order of the rows is kept.
    pub fn new(source: &'a dyn Source, spec: Spec, options: Options) -> Self {
        Self {
            source,
            spec,
            classes: None,
            precision: Precision::F64,
            bias: true,
            storage: InputSchema::storage,
            schedule: Schedule::doubling(),
            plan: Plan::new(source.inputs().to_vec(), options),
            may_shuffle: false,
            passes: PassChoice::Planned,
            refit: RefitChoice::Never,
            is_repeatable: true,
        }
    }

    /// Trains. An error comes with the learner, if rows were learned before it.
    pub fn run(&self, events: &mut dyn Events) -> Result<Trained, Failed> {
        let trained = self.penalized(events)?;
        let Some(choice) = refit::better(self, &trained)? else { return Ok(trained) };
        events.notice(&Notice::Refitted(choice.evidence));
        let (shuffle, passes, features) = (Some(choice.rows), choice.passes, Some(choice.features));
        let plan = Plan { passes, shuffle, features, ..self.plan.clone() };
        let trained = self.again(trained, plan, choice.settings.to_spec(), events)?;
        Ok(Trained { refitted: Some(choice.evidence), ..trained })
    }

    /// Trains, without a fit of the weights that an l1 penalty has kept.
    fn penalized(&self, events: &mut dyn Events) -> Result<Trained, Failed> {
        self.plan.check()?;
        let trained = match self.order_of_several(events)? {
            Some(plan) => self.attempts(&plan, events)?,
            None => self.attempts(&self.plan, events)?,
        };
        let trained = match order::again(self, &trained, events) {
            None => trained,
            Some(rows) => {
                let plan = Plan { shuffle: Some(rows), ..self.plan.clone() };
                self.again(trained, plan, self.spec.clone(), events)?
            }
        };
        let Some(choice) = passes::better(self, &trained)? else { return Ok(trained) };
        events.notice(&Notice::SeveralPasses(choice.evidence));
        let passes = choice.evidence.passes;
        let plan = Plan { shuffle: Some(choice.rows), passes, ..self.plan.clone() };
        let trained = self.again(trained, plan, choice.settings.to_spec(), events)?;
        Ok(Trained { repeated: Some(choice.evidence), ..trained })
    }

    /// Learns the rows again, by another plan or with other settings.
    fn again(
        &self,
        trained: Trained,
        mut plan: Plan,
        spec: Spec,
        events: &mut dyn Events,
    ) -> Result<Trained, Failed> {
        events.again(&trained.outcome);
        take_kinds(&mut plan.options, &trained.plan.options);
        let is_first = trained.plan.shuffle.is_none();
        let forgotten = trained.forgotten.or(trained.outcome.hindsight.filter(|_| is_first));
        let in_order = trained.in_order.or_else(|| InOrder::of(&trained));
        // The memory of the first learner serves the second.
        drop(trained);
        let job = Job { spec, ..self.clone() };
        Ok(Trained { forgotten, in_order, ..job.attempts(&plan, events)? })
    }

    /// The plan of several passes that were asked for, in random order where one pass would learn the rows so; `None` where their
    /// order is kept.
    fn order_of_several(&self, events: &mut dyn Events) -> Result<Option<Plan>, Failed> {
        let is_open = self.plan.passes > 1 && self.plan.shuffle.is_none() && self.may_shuffle;
        if !is_open || !self.is_repeatable || self.source.read_once().is_some() {
            return Ok(None);
        }
        let plan = Plan { passes: 1, holdout: None, patience: None, ..self.plan.clone() };
        let job = Job { plan: plan.clone(), ..self.clone() };
        let trained = job.attempts(&plan, &mut ())?;
        let Some(rows) = order::again(&job, &trained, events) else { return Ok(None) };
        let mut plan = Plan { shuffle: Some(rows), ..self.plan.clone() };
        take_kinds(&mut plan.options, &trained.plan.options);
        Ok(Some(plan))
    }

    /// Trains a learner that has a state, such as that of a checkpoint, on a reader that was opened with the options of the plan.
    pub fn go_on(
        &self,
        trainer: Trainer,
        reader: Reader,
        events: &mut dyn Events,
    ) -> Result<Trained, Failed> {
        self.plan.check()?;
        let trained = self.learn(trainer, self.plan.clone(), reader, events)?;
        let job = Job { may_shuffle: false, ..self.clone() };
        order::again(&job, &trained, events);
        Ok(trained)
    }

    /// Trains a learner further, such as one that learns a stream in pieces: the rows are read as it has read others. No model is
    /// made. Returns the number of rows.
    pub fn learn_more(
        &self,
        trainer: &mut Trainer,
        noticing: &mut Noticing,
        events: &mut dyn Events,
    ) -> Result<u64, Error> {
        let (settings, precision) = (trainer.settings(), trainer.options().precision);
        let options = trainer.schema().options(settings, precision, &self.plan.options);
        let plan = Plan { options, ..self.plan.clone() };
        let reader = self.source.open(&plan.reading())?;
        let passes = pass_over(trainer, &plan, self.source, reader, noticing, events)?;
        passes.notices().iter().for_each(|notice| events.notice(notice));
        Ok(passes.rows)
    }

    /// Inspects the data and guesses the loss, without learning.
    pub fn look(&self, events: &mut dyn Events) -> Result<Guessed, Error> {
        until_it_fits(self.source, &self.plan.options, events, |options, _| {
            self.open(options).map_err(ended)
        })
    }

    fn attempts(&self, plan: &Plan, events: &mut dyn Events) -> Result<Trained, Failed> {
        until_it_fits(self.source, &plan.reading(), events, |options, events| {
            let Guessed { settings, guess, opened } = self.open(options).map_err(ended)?;
            let (opened, decided) = curves::decide(self, &settings, opened).map_err(ended)?;
            events.opened(&opened, guess, &settings);
            decided.iter().for_each(|decided| events.decided(decided));
            let Opened { schema, options, reader } = opened;
            let learner = LearnerOptions {
                precision: self.precision,
                bias: self.bias,
                storage: (self.storage)(&schema),
            };
            let trainer = Trainer::new(settings, learner, schema)
                .map_err(|error| Ended::Other(Failed::from(error)))?;
            let plan = Plan { options, ..plan.clone() };
            let known = plan.options.clone();
            let is_declared = self.classes.is_some() || trainer.settings().classes().is_some();
            self.learn(trainer, plan, reader, events).map_err(|failed| match failed {
                Failed { error: Error::Data(error), trainer }
                    if self.is_repeatable && self.source.read_once().is_none() =>
                {
                    let is_wider = survey::widened(&known, &error).is_some();
                    match Ended::row(error, &known, is_declared) {
                        Ended::Data { error, .. } if !is_wider => {
                            Ended::Other(Failed { error: error.into(), trainer })
                        }
                        ended => ended,
                    }
                }
                failed => Ended::Other(failed),
            })
        })
    }

    /// Opens the data with settings that are complete.
    fn open(&self, options: &Options) -> Result<Guessed, Error> {
        match &self.classes {
            None => survey::open_guessing(&self.spec, self.source, options),
            Some(classes) => {
                let settings = self.spec.resolve()?;
                let opened = survey::open_with(&settings, classes.clone(), self.source, options)?;
                Ok(Guessed { settings, guess: None::<Guess>, opened })
            }
        }
    }

    fn learn(
        &self,
        mut trainer: Trainer,
        plan: Plan,
        reader: Reader,
        events: &mut dyn Events,
    ) -> Result<Trained, Failed> {
        trainer.report_when(self.schedule);
        events.begin(&trainer, &plan);
        let mut noticing = Noticing::new(trainer.settings());
        let passes = pass_over(&mut trainer, &plan, self.source, reader, &mut noticing, events);
        match passes.and_then(|passes| passes.finish(&mut trainer, &plan)) {
            Ok(outcome) => Ok(Trained {
                trainer,
                outcome,
                plan,
                noticing,
                forgotten: None,
                in_order: None,
                repeated: None,
                refitted: None,
            }),
            Err(error) => Err(Failed { error, trainer: Some(Box::new(trainer)) }),
        }
    }
}

/// An error before the first row was learned.
pub(super) fn ended<E: From<Error>>(error: Error) -> Ended<E> {
    match error {
        Error::Data(error) => Ended::data(error),
        error => Ended::Other(error.into()),
    }
}

/// Reads with the kinds of other options.
fn take_kinds(options: &mut Options, other: &Options) {
    options.reading.kinds.clone_from(&other.reading.kinds);
    options.reading.curves.clone_from(&other.reading.curves);
    options.reading.pairs.clone_from(&other.reading.pairs);
    options.reading.label_column.clone_from(&other.reading.label_column);
    options.reading.weight_column.clone_from(&other.reading.weight_column);
}

/// A finished job.
pub struct Trained {
    /// The learner.
    pub trainer: Trainer,
    /// The model, and what was counted.
    pub outcome: Outcome,
    /// The plan as it was carried out: with the kinds of the columns, and shuffling.
    pub plan: Plan,
    /// The observation of the rows, to be continued with later rows.
    pub noticing: Noticing,
    /// Evidence that the first model had forgotten rows; present if the rows were learned again in random order.
    pub forgotten: Option<Hindsight>,
    /// The losses of the first run, if the rows were learned again in random order.
    pub in_order: Option<InOrder>,
    /// Why the rows were learned in several passes, where that was not asked for.
    pub repeated: Option<Evidenced>,
    /// Why the weights that were kept were fitted again without l1, where this was done.
    pub refitted: Option<Evidenced>,
}

impl Trained {
    /// The estimate of the loss on new rows.
    pub fn estimate(&self) -> Estimate {
        let estimate = Estimate::of(&self.trainer, &self.outcome);
        match self.refitted.or(self.repeated) {
            Some(found) => Estimate { loss: found.estimate, rows: Judged::Chosen, ..estimate },
            None => estimate,
        }
    }
}

/// The progressive loss of a run that learned the rows in their order, beside what it must beat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InOrder {
    /// The progressive loss.
    pub progressive: f64,
    /// The loss of a constant, where it is known.
    pub constant: Option<f64>,
    /// The loss of the last label, where the rows are a series of numbers.
    pub last_label: Option<f64>,
}

impl InOrder {
    /// The losses of a run; `None` if it has learned the rows in another order, or several times.
    pub(super) fn of(trained: &Trained) -> Option<Self> {
        let Trained { trainer, plan, .. } = trained;
        let is_in_order = plan.shuffle.is_none() && plan.passes == 1;
        Some(Self {
            progressive: trainer.progressive().average().filter(|_| is_in_order)?,
            constant: trainer.constant_loss(),
            last_label: trainer.last_label_loss(),
        })
    }
}

/// A job that has failed.
pub struct Failed {
    /// The reason.
    pub error: Error,
    /// The learner, if there is one: it has learned the rows before the error.
    pub trainer: Option<Box<Trainer>>,
}

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.trainer.as_ref().map(|trainer| trainer.progressive().rows());
        f.debug_struct("Failed").field("error", &self.error).field("rows", &rows).finish()
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { error, trainer: None }
    }
}

impl From<DataError> for Failed {
    fn from(error: DataError) -> Self {
        Error::from(error).into()
    }
}

impl From<BuildError> for Failed {
    fn from(error: BuildError) -> Self {
        Error::from(error).into()
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        failed.error
    }
}
