//! Many settings learned in one pass over the rows.

use parsimon_core::{Chunk, Frozen, Loss, Online};
use parsimon_data::Names;
use parsimon_eval::{LearningCurve, Progressive, Schedule};

use crate::build::lanes::{SideBySide, WIDEST, family, side_by_side};
use crate::trainer::{Tested, progressive_loss};
use crate::{BuildError, Error, Frame, Model, Reading, Settings};

/// Learns many settings together and keeps each one's score.
///
/// Settings of one algorithm that can share a learner (FTRL-Proximal, AdaGrad-RDA and their kin, up to sixteen) lie side by
/// side in memory: a row is read, and a coordinate found, once for all of them. The others learn one after the other. Either
/// way each ends with the bits it would have alone.
///
/// ```
/// use parsimon::core::{Chunk, Repeats};
/// use parsimon::{Frame, Grid, Reading, Spec, Sweep};
///
/// let specs = Grid::parse(["l1=0,0.1,100"])?.expand(&Spec::new("ftrl"))?;
/// let settings = specs.iter().map(Spec::resolve).collect::<Result<_, _>>()?;
/// let mut sweep = Sweep::new(settings, Frame::default(), Reading::default())?;
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
    frame: Frame,
    reading: Reading,
    names: Names,
    inputs: Vec<String>,
    schedule: Schedule,
    rows: u64,
    entries: Vec<Entry>,
    groups: Vec<Group>,
}

/// One setting and how it does.
struct Entry {
    settings: Settings,
    loss: Loss,
    progressive: Progressive,
    curve: LearningCurve,
    /// Where its weights are: the group, and the head within it.
    place: (usize, usize),
    /// Why it learns no more.
    stopped: Option<String>,
}

/// Settings that share a learner.
struct Group {
    learner: Together,
    /// Which entry each head is; there may be more heads.
    members: Vec<usize>,
    margins: Vec<f64>,
}

enum Together {
    Many(Box<dyn SideBySide>),
    One(Box<dyn Online>),
}

impl Together {
    fn online(&self) -> &dyn Online {
        match self {
            Together::Many(many) => &**many,
            Together::One(one) => &**one,
        }
    }

    fn online_mut(&mut self) -> &mut dyn Online {
        match self {
            Together::Many(many) => &mut **many,
            Together::One(one) => &mut **one,
        }
    }
}

/// How a setting stands after some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Which of the settings.
    pub setting: usize,
    /// The average progressive loss.
    pub average: Option<f64>,
    /// The average since the last report.
    pub since_last: Option<f64>,
    /// Nonzero weights now.
    pub nonzeros: usize,
    /// Why it learns no more, if it does not.
    pub stopped: Option<String>,
}

impl Sweep {
    /// Learners at the origin.
    pub fn new(
        settings: Vec<Settings>,
        frame: Frame,
        reading: Reading,
    ) -> Result<Self, BuildError> {
        let mut sweep = Self {
            frame,
            reading,
            names: Names::default(),
            inputs: Vec::new(),
            schedule: Schedule::doubling(),
            rows: 0,
            entries: Vec::new(),
            groups: Vec::new(),
        };
        for settings in settings {
            let settings = settings.with_classes_of(&sweep.reading);
            let loss = if settings.flag("multiclass") { "error" } else { settings.word("loss") };
            sweep.entries.push(Entry {
                curve: LearningCurve::new(loss),
                loss: settings.loss(),
                settings,
                progressive: Progressive::new(),
                place: (0, 0),
                stopped: None,
            });
        }
        sweep.assign()?;
        Ok(sweep)
    }

    /// Puts every entry into a group.
    fn assign(&mut self) -> Result<(), BuildError> {
        let mut families: Vec<(Option<String>, Vec<usize>)> = Vec::new();
        for (k, entry) in self.entries.iter().enumerate() {
            let family = family(&entry.settings);
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
            let many = if members.len() > 1 { side_by_side(&settings, self.frame) } else { None };
            let learner = match many {
                Some(many) => Together::Many(many),
                None => Together::One(settings[0].build(self.frame)?),
            };
            for (head, &k) in members.iter().enumerate() {
                self.entries[k].place = (self.groups.len(), head);
            }
            self.groups.push(Group { learner, members, margins: Vec::new() });
        }
        Ok(())
    }

    /// When to report.
    pub fn report_when(&mut self, schedule: Schedule) {
        self.schedule = schedule;
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
        &self.entries[setting].progressive
    }

    /// The reports of a setting so far.
    pub fn curve(&self, setting: usize) -> &LearningCurve {
        &self.entries[setting].curve
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
        let counts: Vec<_> =
            self.groups.iter().map(|g| g.learner.online().nonzeros_by_head()).collect();
        let count = |entry: &Entry| match entry.stopped {
            Some(_) => entry.curve.points.last().map_or(0, |p| p.nonzeros as usize),
            None if entry.settings.flag("multiclass") => counts[entry.place.0].iter().sum(),
            None => counts[entry.place.0].get(entry.place.1).copied().unwrap_or(0),
        };
        self.entries.iter().map(count).collect()
    }

    /// How every setting stands.
    pub fn standings(&self) -> Vec<Standing> {
        let nonzeros = self.nonzeros();
        let standing = |(setting, entry): (usize, &Entry)| Standing {
            setting,
            average: entry.progressive.average(),
            since_last: entry.progressive.since_last(),
            nonzeros: nonzeros[setting],
            stopped: entry.stopped.clone(),
        };
        self.entries.iter().enumerate().map(standing).collect()
    }

    /// The setting with the least progressive loss, the first of equals; none before any row.
    pub fn best(&self) -> Option<usize> {
        let alive = self.entries.iter().enumerate().filter(|(_, e)| e.stopped.is_none());
        let losses = alive.filter_map(|(k, e)| Some((k, e.progressive.average()?)));
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
            for group in &mut self.groups {
                group.learn(chunk, start..end, &mut self.entries);
            }
            self.thin();
            let labelled = (start..end).filter(|&i| chunk.label(i).is_some()).count() as u64;
            self.rows += labelled;
            if labelled > 0 && self.schedule.due(self.rows) {
                let standings = self.standings();
                for (entry, standing) in self.entries.iter_mut().zip(&standings) {
                    if entry.stopped.is_none() {
                        entry.curve.report(&mut entry.progressive, standing.nonzeros as u64);
                    }
                }
                report(&standings);
            }
            start = end;
        }
    }

    /// Stops a setting for a reason, such as that others do better.
    pub fn give_up(&mut self, setting: usize, why: impl Into<String>) {
        if let Some(entry) = self.entries.get_mut(setting)
            && entry.stopped.is_none()
        {
            entry.stopped = Some(why.into());
        }
    }

    /// Makes learners narrower when half of their settings have stopped, and drops those where all have.
    fn thin(&mut self) {
        for (place, group) in self.groups.iter_mut().enumerate() {
            let alive = |k: &usize| self.entries[*k].stopped.is_none();
            let heads: Vec<usize> =
                (0..group.members.len()).filter(|&h| alive(&group.members[h])).collect();
            let Together::Many(many) = &group.learner else { continue };
            if heads.is_empty() || heads.len() > 8 || many.heads() <= 8 {
                continue;
            }
            group.learner = Together::Many(many.keep(&heads, self.frame.storage));
            group.members = heads.iter().map(|&h| group.members[h]).collect();
            for (head, &k) in group.members.iter().enumerate() {
                self.entries[k].place = (place, head);
            }
        }
    }

    /// The model of a setting as it is now; none of one that has stopped.
    pub fn model(&self, setting: usize) -> Option<Model> {
        let entry = self.entries.get(setting).filter(|e| e.stopped.is_none())?;
        let (group, head) = entry.place;
        let learner = &self.groups.get(group)?.learner;
        let frozen = match (learner, learner.online().freeze()) {
            (Together::Many(_), Frozen::Linear(mut heads)) => {
                Frozen::Linear(vec![heads.swap_remove(head)])
            }
            (_, frozen) => frozen,
        };
        let tested = Tested {
            settings: &entry.settings,
            frame: self.frame,
            reading: &self.reading,
            progressive: &entry.progressive,
            inputs: &self.inputs,
            names: &self.names,
        };
        Some(tested.model(frozen))
    }
}

impl Group {
    fn learn(&mut self, chunk: &Chunk, rows: std::ops::Range<usize>, entries: &mut [Entry]) {
        if self.members.iter().all(|&k| entries[k].stopped.is_some()) {
            return;
        }
        let learner = self.learner.online_mut();
        self.margins.clear();
        learner.learn_rows(chunk, rows.clone(), &mut self.margins);
        let heads = learner.heads();
        let is_many = matches!(self.learner, Together::Many(_));
        let (loss_of, mut losses) = (entries[self.members[0]].loss, Vec::new());
        for (row, margins) in rows.zip(self.margins.chunks(heads)) {
            let Some(y) = chunk.label(row) else { continue };
            if is_many {
                loss_of.values(margins, y, &mut losses);
            } else {
                losses.clear();
                losses.push(progressive_loss(loss_of, margins, y));
            }
            for (&k, &loss) in self.members.iter().zip(&losses) {
                let entry = &mut entries[k];
                if entry.stopped.is_some() {
                    continue;
                }
                if loss.is_finite() {
                    entry.progressive.record(loss, chunk.weight(row));
                } else {
                    let row = entry.progressive.rows() + 1;
                    entry.stopped = Some(Error::Diverged { row }.to_string());
                }
            }
        }
    }
}
