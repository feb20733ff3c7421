//! Many settings learned in one pass over the rows.

use std::time::Duration;

use parsimon_core::{Chunk, Frozen, Head};
use parsimon_data::{Message, Names, Remedy};
use parsimon_eval::{LearningCurve, Progressive, Schedule};
use parsimon_files::{memory, threads};

use super::constant::ConstantLoss;
use super::early_stopping::Trend;
use super::shared::{SharedLearner, options_of};
use super::stretch::{self, Watch};
use super::sweep_course::SweepCourse;
use super::trainer::ModelParts;
use super::{EarlyStopping, Standing, Stopped};
use crate::algorithm::lanes::WIDEST;
use crate::algorithm::room;
use crate::error::BuildError;
use crate::model::{Learned, Model};
use crate::options::LearnerOptions;
use crate::settings::Settings;
use crate::settings::lanes::{family, shared_learner};
use crate::survey::InputSchema;

/// Trains many settings on the same rows, and keeps the progressive loss of each.
///
/// Settings of one algorithm that can share a learner (FTRL-Proximal, AdaGrad-RDA and their kin, up to sixteen) lie side by side in
/// memory: a row is read, and a coordinate found, once for all of them. The others learn one after the other. Either way each
/// setting ends with the same bits as if it were trained alone.
///
/// ```
/// use parsimon::rows::{Chunk, Repeats};
/// use parsimon::{InputSchema, LearnerOptions, Spec};
/// use parsimon::tune::{Grid, Sweep};
///
/// let specs = Grid::parse(["l1=0,0.1,100"])?.expand(&Spec::new("ftrl"))?;
/// let settings = specs.iter().map(Spec::resolve).collect::<Result<_, _>>()?;
/// let mut sweep = Sweep::new(settings, LearnerOptions::default(), InputSchema::default())?;
/// let mut chunk = Chunk::new();
/// for i in 0..100 {
///     chunk.push_feature(1 + i % 2, 1.0);
///     chunk.finish_row(Some(if i % 2 == 0 { 1.0 } else { -1.0 }), 1.0, Repeats::Refuse).unwrap();
/// }
/// sweep.learn(&chunk, &mut |_| {});
/// assert_eq!(sweep.nonzeros(), [2, 2, 0]);
/// assert_eq!(sweep.best(), Some(0));
/// assert_eq!(sweep.model(0).unwrap().nonzeros(), 2);
/// # Ok::<(), parsimon::BuildError>(())
/// ```
pub struct Sweep {
    frame: LearnerOptions,
    reading: InputSchema,
    names: Names,
    inputs: Vec<String>,
    schedule: Schedule,
    early_stopping: Option<EarlyStopping>,
    pub(super) threads: usize,
    pub(super) rows: u64,
    pub(super) entries: Vec<Entry>,
    pub(super) groups: Vec<Group>,
    /// A constant for every loss among the settings.
    pub(super) constants: Vec<ConstantLoss>,
}

/// One setting with its results.
pub(super) struct Entry {
    settings: Settings,
    pub(super) progressive: Progressive,
    curve: LearningCurve,
    /// The reason why the setting was stopped.
    pub(super) stopped: Option<Stopped>,
    /// The position of its weights: the group, and the place within the group.
    place: (usize, usize),
}

/// Settings that share a learner.
pub(super) struct Group {
    /// None when all of them have stopped.
    pub(super) learner: Option<SharedLearner>,
    is_shared: bool,
    /// Positions of its entries.
    pub(super) members: Vec<usize>,
    /// The time it took to learn.
    pub(super) time: Duration,
}

impl Sweep {
    /// Starts training of some settings.
    pub fn new(
        settings: Vec<Settings>,
        frame: LearnerOptions,
        reading: InputSchema,
    ) -> Result<Self, BuildError> {
        let mut sweep = Self::empty(frame, reading);
        sweep.entries = settings.into_iter().map(Entry::new).collect();
        sweep.assign()?;
        (0..sweep.entries.len()).for_each(|k| sweep.note_constant(k));
        Ok(sweep)
    }

    /// A sweep without settings.
    pub fn empty(frame: LearnerOptions, reading: InputSchema) -> Self {
        Self {
            frame,
            reading,
            names: Names::default(),
            inputs: Vec::new(),
            schedule: Schedule::doubling(),
            early_stopping: None,
            threads: 1,
            rows: 0,
            entries: Vec::new(),
            groups: Vec::new(),
            constants: Vec::new(),
        }
    }

    /// Adds one setting with a separate learner, so that its training time can be measured.
    pub fn add(&mut self, settings: Settings) -> Result<(), BuildError> {
        let learner = self.alone(&settings)?;
        let mut entry = Entry::new(settings);
        entry.place = (self.groups.len(), 0);
        self.groups.push(Group::new(learner, vec![self.entries.len()]));
        self.entries.push(entry);
        self.note_constant(self.entries.len() - 1);
        Ok(())
    }

    /// Creates the constant for a setting, if it does not exist.
    fn note_constant(&mut self, setting: usize) {
        let settings = &self.entries[setting].settings;
        if !self.constants.iter().any(|constant| constant.is_of(settings, &self.reading.found)) {
            self.constants.push(ConstantLoss::new(settings, &self.reading.found));
        }
    }

    /// The constant prediction for the loss of a setting.
    pub fn constant(&self, setting: usize) -> Option<&ConstantLoss> {
        let settings = &self.entries.get(setting)?.settings;
        self.constants.iter().find(|constant| constant.is_of(settings, &self.reading.found))
    }

    /// The constant of a setting as a model without weights.
    pub fn constant_model(&self, setting: usize) -> Option<Model> {
        let entry = self.entries.get(setting)?;
        let margins = self.constant(setting)?.constant().margins();
        let head = |bias: &f64| Head::from_parts(*bias, Vec::new(), Vec::new());
        let heads = margins.iter().map(head).collect::<Option<Vec<_>>>()?;
        let learned = Learned { frozen: Frozen::Linear(heads), columns: Vec::new(), range: None };
        Some(self.tested(entry, &entry.settings).model(learned))
    }

    fn alone(&self, settings: &Settings) -> Result<SharedLearner, BuildError> {
        self.reading.check_factors(settings)?;
        let found = self.reading.found_in_space();
        let online = settings.build(options_of(settings, self.frame), &found)?;
        SharedLearner::one(online, settings, self.frame, &self.reading)
    }

    /// Puts every entry into a group.
    fn assign(&mut self) -> Result<(), BuildError> {
        let mut families: Vec<(Option<String>, Vec<usize>)> = Vec::new();
        for (k, entry) in self.entries.iter().enumerate() {
            let family = family(&entry.settings, self.frame);
            let known = families.iter_mut().find(|(other, members)| {
                family.is_some() && *other == family && members.len() < WIDEST
            });
            match known {
                Some((_, members)) => members.push(k),
                None => families.push((family, vec![k])),
            }
        }
        for (_, members) in families {
            let settings: Vec<&Settings> =
                members.iter().map(|&k| &self.entries[k].settings).collect();
            let places = room::places(self.frame.storage);
            memory::check(places).map_err(|shortage| {
                let what = format!("a learner of {} settings", members.len());
                BuildError::new("memory", Message::shortage(&shortage, &what, &[Remedy::FewerBits]))
            })?;
            // A single setting is faster in a separate learner.
            let many = if members.len() > 1 {
                shared_learner(&settings, self.frame, &self.reading.found_in_space())
            } else {
                None
            };
            let learner = match many {
                Some(many) => SharedLearner::many(many, settings[0], self.frame, &self.reading)?,
                None => self.alone(settings[0])?,
            };
            for (place, &k) in members.iter().enumerate() {
                self.entries[k].place = (self.groups.len(), place);
            }
            self.groups.push(Group::new(learner, members));
        }
        Ok(())
    }

    /// Sets when to report.
    pub fn report_when(&mut self, schedule: Schedule) {
        self.schedule = schedule;
    }

    /// Stops settings at reports by a rule. By default none is stopped.
    pub fn give_up_when(&mut self, rule: EarlyStopping) {
        self.early_stopping = Some(rule);
    }

    /// Sets the number of threads. Settings that do not share a learner are trained in parallel. The results do not depend on it.
    ///
    /// At most four threads for each core are started; returns a sentence about it if more were requested.
    pub fn use_threads(&mut self, threads: usize) -> Option<String> {
        self.threads = threads::usable(threads);
        threads::notice(threads)
    }

    /// Number of settings.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Rows learned so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// A setting, after defaults.
    pub fn settings(&self, setting: usize) -> &Settings {
        &self.entries[setting].settings
    }

    /// The reading of rows, with the findings of the survey.
    pub fn schema(&self) -> &InputSchema {
        &self.reading
    }

    /// The loss of a setting so far.
    pub fn progressive(&self, setting: usize) -> &Progressive {
        &self.entries[setting].progressive
    }

    /// The reports of a setting so far.
    pub fn curve(&self, setting: usize) -> &LearningCurve {
        &self.entries[setting].curve
    }

    /// The learning curves, to the last row each setting learned.
    pub fn curves_so_far(&self) -> Vec<LearningCurve> {
        let curve = |(entry, nonzeros): (&Entry, usize)| {
            let (mut curve, progressive) = (entry.curve.clone(), &entry.progressive);
            let is_told = curve.points.last().is_some_and(|p| p.rows == progressive.rows());
            if !is_told && entry.stopped.is_none() && progressive.rows() > 0 {
                curve.report(&mut progressive.clone(), nonzeros as u64);
            }
            curve
        };
        self.entries.iter().zip(self.nonzeros()).map(curve).collect()
    }

    /// The reason why a setting was stopped; `None` if it is still trained.
    pub fn stopped(&self, setting: usize) -> Option<&Stopped> {
        self.entries[setting].stopped.as_ref()
    }

    /// The training time of a setting; `None` if the setting shares a learner with others.
    pub fn time(&self, setting: usize) -> Option<Duration> {
        let group = &self.groups[self.entries[setting].place.0];
        (!group.is_shared).then_some(group.time)
    }

    /// Records the name of an input in the provenance of the models.
    pub fn note_input(&mut self, name: &str) {
        if !self.inputs.iter().any(|known| known == name) {
            self.inputs.push(name.to_owned());
        }
    }

    /// Adds the names of a reader to those of the models.
    pub fn note_names(&mut self, names: Names) {
        self.names = names;
    }

    /// The number of nonzero weights of every setting. For a stopped setting, the number at its last report.
    pub fn nonzeros(&self) -> Vec<usize> {
        let counts: Vec<Vec<usize>> = self.groups.iter().map(Group::nonzeros).collect();
        let count = |entry: &Entry| match entry.stopped {
            Some(_) => entry.curve.points.last().map_or(0, |p| p.nonzeros as usize),
            None => counts[entry.place.0].get(entry.place.1).copied().unwrap_or(0),
        };
        self.entries.iter().map(count).collect()
    }

    /// The state of every setting.
    pub fn standings(&self) -> Vec<Standing> {
        let nonzeros = self.nonzeros();
        let standing = |(setting, entry): (usize, &Entry)| Standing {
            setting,
            rows: entry.progressive.rows(),
            average: entry.progressive.average(),
            since_last: entry.progressive.since_last(),
            nonzeros: nonzeros[setting],
            stopped: entry.stopped.clone(),
        };
        self.entries.iter().enumerate().map(standing).collect()
    }

    /// The setting with the smallest progressive loss; `None` before the first row.
    pub fn best(&self) -> Option<usize> {
        let alive = self.entries.iter().enumerate().filter(|(_, e)| e.stopped.is_none());
        let losses = alive.filter_map(|(k, e)| Some((k, e.progressive.average()?)));
        losses.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
    }

    /// Predicts and then learns every row with every setting. Reports come at the same rows for any division into chunks. A setting
    /// that diverges stops; the others continue.
    pub fn learn(&mut self, chunk: &Chunk, report: &mut dyn FnMut(&[Standing])) {
        self.learn_watched::<()>(chunk, report, &mut []);
    }

    /// Like [`learn`](Sweep::learn), and passes the margins of each setting to the element of `watches` at the same position, if
    /// there is one.
    pub fn learn_watched<W: Watch + Send>(
        &mut self,
        chunk: &Chunk,
        report: &mut dyn FnMut(&[Standing]),
        watches: &mut [W],
    ) {
        let schedule = self.schedule;
        let mut course = SweepCourse { sweep: self, report, watches };
        let Ok(()) = stretch::learn(&mut course, schedule, chunk);
    }

    /// Records the losses of every setting, and stops settings by the rule.
    pub(super) fn reported(&mut self) -> Vec<Standing> {
        let mut standings = self.standings();
        for (entry, standing) in self.entries.iter_mut().zip(&standings) {
            if entry.stopped.is_none() {
                entry.curve.report(&mut entry.progressive, standing.nonzeros as u64);
            }
        }
        for (k, why) in self.to_stop() {
            self.give_up(k, why);
            standings[k].stopped.clone_from(&self.entries[k].stopped);
        }
        standings
    }

    /// The settings to be given up now, with the reason.
    fn to_stop(&self) -> Vec<(usize, String)> {
        let (Some(rule), Some(best)) = (self.early_stopping, self.best()) else {
            return Vec::new();
        };
        let Some(least) = Trend::of(&self.entries[best].curve.points) else { return Vec::new() };
        let judge = |(k, entry): (usize, &Entry)| {
            let own = Trend::of(&entry.curve.points)?;
            let settings = &entry.settings;
            let is_of_classes = settings.is_multiclass() || settings.is_binary();
            let is_alive = k != best && entry.stopped.is_none();
            (is_alive && rule.is_met(&own, &least, is_of_classes)).then(|| {
                (
                    k,
                    format!(
                        "its loss {:.6} is far above the best, {:.6}",
                        own.average(),
                        least.average()
                    ),
                )
            })
        };
        self.entries.iter().enumerate().filter_map(judge).collect()
    }

    /// Stops a setting and records the reason.
    pub fn give_up(&mut self, setting: usize, why: impl Into<String>) {
        if let Some(entry) = self.entries.get_mut(setting)
            && entry.stopped.is_none()
        {
            let rows = entry.progressive.rows();
            entry.stopped = Some(Stopped::GivenUp { rows, why: why.into() });
        }
    }

    /// Makes learners narrower when half of their settings have stopped, and drops those where all have.
    pub(super) fn thin(&mut self) {
        for (place, group) in self.groups.iter_mut().enumerate() {
            let alive = |k: &usize| self.entries[*k].stopped.is_none();
            let heads: Vec<usize> =
                (0..group.members.len()).filter(|&h| alive(&group.members[h])).collect();
            if heads.is_empty() {
                group.learner = None;
            }
            let Some(learner) = &mut group.learner else { continue };
            if learner.narrow(&heads, self.frame.storage) {
                group.members = heads.iter().map(|&h| group.members[h]).collect();
                for (head, &k) in group.members.iter().enumerate() {
                    self.entries[k].place = (place, head);
                }
            }
        }
    }

    /// The current model of a setting; `None` if the setting was stopped.
    pub fn model(&self, setting: usize) -> Option<Model> {
        self.models(&[setting]).pop().flatten()
    }

    /// The models of some settings; weights that are kept together are read once for all of them.
    pub fn models(&self, settings: &[usize]) -> Vec<Option<Model>> {
        let mut models: Vec<Option<Model>> = settings.iter().map(|_| None).collect();
        for (place, group) in self.groups.iter().enumerate() {
            let Some(learner) = &group.learner else { continue };
            let is_here = |k: &usize| {
                let entry = self.entries.get(*k);
                entry.is_some_and(|e| e.place.0 == place && e.stopped.is_none())
            };
            if !settings.iter().any(is_here) {
                continue;
            }
            let frozen = learner.online().freeze();
            for (&k, model) in settings.iter().zip(&mut models).filter(|(k, _)| is_here(k)) {
                let entry = &self.entries[k];
                let own = learner.own(&frozen, entry.place.1);
                let settings = entry.settings.after_race(learner.online().chosen());
                *model =
                    Some(self.tested(entry, &settings).model(Learned::of(learner.online(), own)));
            }
        }
        models
    }

    fn tested<'a>(&'a self, entry: &'a Entry, settings: &'a Settings) -> ModelParts<'a> {
        ModelParts {
            settings,
            frame: options_of(&entry.settings, self.frame),
            reading: &self.reading,
            progressive: &entry.progressive,
            inputs: &self.inputs,
            names: &self.names,
            constant: self
                .constants
                .iter()
                .find(|c| c.is_of(&entry.settings, &self.reading.found))
                .map(|c| c.constant().margins()),
        }
    }
}

impl Entry {
    fn new(settings: Settings) -> Self {
        Self {
            curve: LearningCurve::new(settings.progressive_name()),
            settings,
            progressive: Progressive::new(),
            stopped: None,
            place: (0, 0),
        }
    }
}

impl Group {
    fn new(learner: SharedLearner, members: Vec<usize>) -> Self {
        let is_shared = learner.is_shared();
        Self { learner: Some(learner), is_shared, members, time: Duration::ZERO }
    }

    /// The nonzero weights of every member, and perhaps of more heads.
    fn nonzeros(&self) -> Vec<usize> {
        self.learner.as_ref().map_or_else(Vec::new, SharedLearner::nonzeros)
    }
}
