//! Many settings learned in one pass over the rows.

use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use parsimon_core::{Chunk, Frozen, LabelDomain, Loss, Online};
use parsimon_data::Names;
use parsimon_eval::{LearningCurve, Progressive, Schedule};

use crate::algorithm::lanes::{SideBySide, WIDEST, family, shared_learner};
use crate::early_stopping::Trend;
use crate::trainer::{ModelParts, progressive_loss};
use crate::{BuildError, EarlyStopping, Error, InputSchema, LearnerOptions, Model, Settings};

/// Learns many settings together and keeps each one's score.
///
/// Settings of one algorithm that can share a learner (FTRL-Proximal, AdaGrad-RDA and their kin, up to sixteen) lie side by
/// side in memory: a row is read, and a coordinate found, once for all of them. The others learn one after the other. Either
/// way each ends with the bits it would have alone.
///
/// ```
/// use parsimon::core::{Chunk, Repeats};
/// use parsimon::{LearnerOptions, Grid, InputSchema, Spec, Sweep};
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
    threads: usize,
    rows: u64,
    entries: Vec<Entry>,
    groups: Vec<Group>,
}

/// One setting and how it does.
struct Entry {
    settings: Settings,
    tally: Tally,
    curve: LearningCurve,
    /// Where its weights are: the group, and the head within it.
    place: (usize, usize),
}

/// What changes with every row, apart from the weights.
#[derive(Default)]
struct Tally {
    progressive: Progressive,
    /// Why it learns no more.
    stopped: Option<Stopped>,
}

/// Settings that share a learner.
struct Group {
    /// None when all of them have stopped.
    learner: Option<SharedLearner>,
    loss: Loss,
    /// How many features there may be, for learners that have a limit.
    dimension: u64,
    /// Which entry each head is; there may be more heads.
    members: Vec<usize>,
    margins: Vec<f64>,
}

enum SharedLearner {
    Many(Box<dyn SideBySide>),
    One(Box<dyn Online>),
}

impl SharedLearner {
    fn online(&self) -> &dyn Online {
        match self {
            SharedLearner::Many(many) => &**many,
            SharedLearner::One(one) => &**one,
        }
    }

    fn online_mut(&mut self) -> &mut dyn Online {
        match self {
            SharedLearner::Many(many) => &mut **many,
            SharedLearner::One(one) => &mut **one,
        }
    }
}

/// Why a setting learns no more.
#[derive(Clone, Debug, PartialEq)]
pub enum Stopped {
    /// Others do better, or somebody said so.
    GivenUp {
        /// The rows it had learned.
        rows: u64,
        /// The reason.
        why: String,
    },
    /// Its weights grew beyond all bounds, or there was a feature it has no place for.
    Failed(String),
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::GivenUp { rows, why } => write!(f, "given up after {rows} rows: {why}"),
            Stopped::Failed(why) => f.write_str(why),
        }
    }
}

/// How a setting stands after some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Which of the settings.
    pub setting: usize,
    /// The rows it has learned.
    pub rows: u64,
    /// The average progressive loss.
    pub average: Option<f64>,
    /// The average since the last report.
    pub since_last: Option<f64>,
    /// Nonzero weights now.
    pub nonzeros: usize,
    /// Why it learns no more, if it does not.
    pub stopped: Option<Stopped>,
}

impl Sweep {
    /// Learners at the origin.
    pub fn new(
        settings: Vec<Settings>,
        frame: LearnerOptions,
        reading: InputSchema,
    ) -> Result<Self, BuildError> {
        let mut sweep = Self {
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
        };
        for settings in settings {
            let settings = settings.with_classes_of(&sweep.reading);
            let loss = if settings.is_multiclass() { "error" } else { settings.loss_name() };
            sweep.entries.push(Entry {
                curve: LearningCurve::new(loss),
                settings,
                tally: Tally::default(),
                place: (0, 0),
            });
        }
        sweep.assign()?;
        Ok(sweep)
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
            // One by itself is better off with a learner of its own.
            let many = if members.len() > 1 { shared_learner(&settings, self.frame) } else { None };
            let learner = match many {
                Some(many) => SharedLearner::Many(many),
                None => SharedLearner::One(settings[0].build(self.frame_of(settings[0]))?),
            };
            let loss = settings[0].loss();
            let dimension = settings[0].natural("dimension");
            for (head, &k) in members.iter().enumerate() {
                self.entries[k].place = (self.groups.len(), head);
            }
            let (learner, margins) = (Some(learner), Vec::new());
            self.groups.push(Group { learner, loss, dimension, members, margins });
        }
        Ok(())
    }

    /// A filter over a dictionary has no bias, as in [`Trainer`](crate::Trainer).
    fn frame_of(&self, settings: &Settings) -> LearnerOptions {
        LearnerOptions { bias: self.frame.bias && !settings.is_kernel(), ..self.frame }
    }

    /// When to report.
    pub fn report_when(&mut self, schedule: Schedule) {
        self.schedule = schedule;
    }

    /// Gives up settings by a rule, at reports. Nothing is given up otherwise.
    pub fn give_up_when(&mut self, rule: EarlyStopping) {
        self.early_stopping = Some(rule);
    }

    /// Learns with so many threads: learners that settings do not share learn at the same time. No number depends on it.
    pub fn use_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    /// How many settings there are.
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

    /// The loss of a setting so far.
    pub fn progressive(&self, setting: usize) -> &Progressive {
        &self.entries[setting].tally.progressive
    }

    /// The reports of a setting so far.
    pub fn curve(&self, setting: usize) -> &LearningCurve {
        &self.entries[setting].curve
    }

    /// The learning curves, to the last row each setting learned.
    pub fn curves_so_far(&self) -> Vec<LearningCurve> {
        let curve = |(entry, nonzeros): (&Entry, usize)| {
            let (mut curve, progressive) = (entry.curve.clone(), &entry.tally.progressive);
            let is_told = curve.points.last().is_some_and(|p| p.rows == progressive.rows());
            if !is_told && entry.tally.stopped.is_none() && progressive.rows() > 0 {
                curve.report(&mut progressive.clone(), nonzeros as u64);
            }
            curve
        };
        self.entries.iter().zip(self.nonzeros()).map(curve).collect()
    }

    /// Why a setting learns no more; none while it does.
    pub fn stopped(&self, setting: usize) -> Option<&Stopped> {
        self.entries[setting].tally.stopped.as_ref()
    }

    /// Takes note of an input, for the models' provenance.
    pub fn note_input(&mut self, name: &str) {
        if !self.inputs.iter().any(|known| known == name) {
            self.inputs.push(name.to_owned());
        }
    }

    /// Takes the names a reader has met.
    pub fn note_names(&mut self, names: Names) {
        self.names = names;
    }

    /// Nonzero weights of every setting; of one that was given up, those it had at the last report.
    pub fn nonzeros(&self) -> Vec<usize> {
        let counts: Vec<Vec<usize>> = self.groups.iter().map(Group::nonzeros).collect();
        let count = |entry: &Entry| match entry.tally.stopped {
            Some(_) => entry.curve.points.last().map_or(0, |p| p.nonzeros as usize),
            None => counts[entry.place.0].get(entry.place.1).copied().unwrap_or(0),
        };
        self.entries.iter().map(count).collect()
    }

    /// How every setting stands.
    pub fn standings(&self) -> Vec<Standing> {
        let nonzeros = self.nonzeros();
        let standing = |(setting, entry): (usize, &Entry)| Standing {
            setting,
            rows: entry.tally.progressive.rows(),
            average: entry.tally.progressive.average(),
            since_last: entry.tally.progressive.since_last(),
            nonzeros: nonzeros[setting],
            stopped: entry.tally.stopped.clone(),
        };
        self.entries.iter().enumerate().map(standing).collect()
    }

    /// The setting with the least progressive loss, the first of equals; none before any row.
    pub fn best(&self) -> Option<usize> {
        let alive = self.entries.iter().enumerate().filter(|(_, e)| e.tally.stopped.is_none());
        let losses = alive.filter_map(|(k, e)| Some((k, e.tally.progressive.average()?)));
        losses.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
    }

    /// Predicts, judges and learns every row with every setting. Reports come at the same rows whatever the chunks. A setting
    /// that diverges stops; the others go on.
    pub fn learn(&mut self, chunk: &Chunk, report: &mut dyn FnMut(&[Standing])) {
        let mut start = 0;
        while start < chunk.len() {
            let until_report = self.schedule.next_after(self.rows).saturating_sub(self.rows).max(1);
            let most = usize::try_from(until_report).unwrap_or(usize::MAX);
            let end = chunk.len().min(start.saturating_add(most));
            self.learn_rows(chunk, start..end);
            self.thin();
            let labelled = (start..end).filter(|&i| chunk.label(i).is_some()).count() as u64;
            self.rows += labelled;
            if labelled > 0 && self.schedule.due(self.rows) {
                report(&self.reported());
            }
            start = end;
        }
    }

    /// Every learner learns the rows, each by one thread.
    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>) {
        let mut tallies: Vec<Vec<Tally>> = Vec::new();
        for group in &self.groups {
            let take = |&k: &usize| std::mem::take(&mut self.entries[k].tally);
            tallies.push(group.members.iter().map(take).collect());
        }
        let work = self.groups.iter_mut().zip(&mut tallies);
        let threads = self.threads.min(work.len());
        if threads < 2 {
            work.for_each(|(group, tallies)| group.learn(chunk, rows.clone(), tallies));
        } else {
            let queue = Mutex::new(work);
            // A thread that panics takes the others with it: what it held is never seen.
            let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        while let Some((group, tallies)) = next() {
                            group.learn(chunk, rows.clone(), tallies);
                        }
                    });
                }
            });
        }
        for (group, tallies) in self.groups.iter().zip(tallies) {
            for (&k, tally) in group.members.iter().zip(tallies) {
                self.entries[k].tally = tally;
            }
        }
    }

    /// Notes where every setting stands, and gives up those that are hopeless.
    fn reported(&mut self) -> Vec<Standing> {
        let mut standings = self.standings();
        for (entry, standing) in self.entries.iter_mut().zip(&standings) {
            if entry.tally.stopped.is_none() {
                entry.curve.report(&mut entry.tally.progressive, standing.nonzeros as u64);
            }
        }
        for (k, why) in self.to_stop() {
            self.give_up(k, why);
            standings[k].stopped.clone_from(&self.entries[k].tally.stopped);
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
            let is_of_classes =
                settings.is_multiclass() || settings.loss().domain() == LabelDomain::Binary;
            let is_alive = k != best && entry.tally.stopped.is_none();
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

    /// Stops a setting for a reason, such as that others do better.
    pub fn give_up(&mut self, setting: usize, why: impl Into<String>) {
        if let Some(entry) = self.entries.get_mut(setting)
            && entry.tally.stopped.is_none()
        {
            let rows = entry.tally.progressive.rows();
            entry.tally.stopped = Some(Stopped::GivenUp { rows, why: why.into() });
        }
    }

    /// Makes learners narrower when half of their settings have stopped, and drops those where all have.
    fn thin(&mut self) {
        for (place, group) in self.groups.iter_mut().enumerate() {
            let alive = |k: &usize| self.entries[*k].tally.stopped.is_none();
            let heads: Vec<usize> =
                (0..group.members.len()).filter(|&h| alive(&group.members[h])).collect();
            if heads.is_empty() {
                group.learner = None;
            }
            let Some(SharedLearner::Many(many)) = &group.learner else { continue };
            if heads.len() > 8 || many.heads() <= 8 {
                continue;
            }
            group.learner = Some(SharedLearner::Many(many.keep(&heads, self.frame.storage)));
            group.members = heads.iter().map(|&h| group.members[h]).collect();
            for (head, &k) in group.members.iter().enumerate() {
                self.entries[k].place = (place, head);
            }
        }
    }

    /// The model of a setting as it is now; none of one that has stopped.
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
                entry.is_some_and(|e| e.place.0 == place && e.tally.stopped.is_none())
            };
            if !settings.iter().any(is_here) {
                continue;
            }
            let frozen = learner.online().freeze();
            for (&k, model) in settings.iter().zip(&mut models).filter(|(k, _)| is_here(k)) {
                let entry = &self.entries[k];
                let own = match (learner, &frozen) {
                    (SharedLearner::Many(_), Frozen::Linear(heads)) => {
                        Frozen::Linear(vec![heads[entry.place.1].clone()])
                    }
                    _ => frozen.clone(),
                };
                *model = Some(self.tested(entry).model(own));
            }
        }
        models
    }

    fn tested<'a>(&'a self, entry: &'a Entry) -> ModelParts<'a> {
        ModelParts {
            settings: &entry.settings,
            frame: self.frame_of(&entry.settings),
            reading: &self.reading,
            progressive: &entry.tally.progressive,
            inputs: &self.inputs,
            names: &self.names,
        }
    }
}

impl Group {
    /// The nonzero weights of every member, and perhaps of more heads.
    fn nonzeros(&self) -> Vec<usize> {
        match &self.learner {
            None => Vec::new(),
            Some(SharedLearner::Many(many)) => many.nonzeros_by_head(),
            Some(SharedLearner::One(one)) => vec![one.nonzeros()],
        }
    }

    fn learn(&mut self, chunk: &Chunk, rows: Range<usize>, tallies: &mut [Tally]) {
        let Some(learner) = &mut self.learner else { return };
        if tallies.iter().all(|tally| tally.stopped.is_some()) {
            return;
        }
        let is_many = matches!(learner, SharedLearner::Many(_));
        let learner = learner.online_mut();
        self.margins.clear();
        learner.learn_rows(chunk, rows.clone(), &mut self.margins);
        if let Some(feature) = learner.overflow() {
            let why = Error::TooManyFeatures { feature, dimension: self.dimension }.to_string();
            tallies.iter_mut().for_each(|tally| tally.stopped = Some(Stopped::Failed(why.clone())));
            return;
        }
        let heads = learner.heads();
        let mut losses = Vec::new();
        for (row, margins) in rows.zip(self.margins.chunks(heads)) {
            let label = chunk.label(row);
            losses.clear();
            match label {
                // Weights that are lost show in a row without a label, too.
                None => losses.resize(tallies.len(), 0.0),
                Some(y) if is_many => self.loss.values(margins, y, &mut losses),
                Some(y) => losses.push(progressive_loss(self.loss, margins, y)),
            }
            for (k, (tally, &loss)) in tallies.iter_mut().zip(&losses).enumerate() {
                let own = if is_many { &margins[k..=k] } else { margins };
                match (&tally.stopped, label) {
                    (Some(_), _) => {}
                    _ if !loss.is_finite() || own.iter().any(|p| !p.is_finite()) => {
                        let row = tally.progressive.rows() + 1;
                        tally.stopped = Some(Stopped::Failed(Error::Diverged { row }.to_string()));
                    }
                    (None, Some(_)) => tally.progressive.record(loss, chunk.weight(row)),
                    (None, None) => {}
                }
            }
        }
    }
}
