//! Observation of rows while they are learned: leaks, divergence, learners that are worse than a constant.

use parsimon_core::Chunk;
use parsimon_data::Names;

use super::first_rows::{FirstRows, Leak};
use super::{Behind, Notice, Reason, Trainer};
use crate::error::Error;
use crate::settings::Settings;

/// Values that exceed those of other features by this factor are in another unit, and likely to spoil the learning.
const OTHER_UNIT: f64 = 1e3;
/// A learner that is worse than the constant by this share has learned noise; steps that are too large cost more.
const A_LITTLE: f64 = 0.1;

/// Watches the rows of one learner, in one run or over several calls. Every notice comes once.
///
/// ```
/// use parsimon::job::{Notice, Noticing};
/// use parsimon::rows::{Chunk, Repeats};
/// use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
///
/// let settings = Spec::new("sgd").resolve()?;
/// let mut noticing = Noticing::new(&settings);
/// let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
/// let mut chunk = Chunk::new();
/// for i in 0..2000 {
///     // The feature is the label.
///     let label = if i % 2 == 0 { 1.0 } else { -1.0 };
///     chunk.push_feature(7, label);
///     chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
/// }
/// let mut notices = Vec::new();
/// let names = parsimon::data::Names::default();
/// noticing.learn(&mut trainer, &chunk, &names, &mut notices, |trainer| trainer.learn(&chunk, &mut |_| {}))?;
/// noticing.end(&trainer, &names, &mut notices);
/// assert!(matches!(&notices[..], [Notice::Leak { feature, .. }] if feature == "7"));
/// # Ok::<(), parsimon::Error>(())
/// ```
pub struct Noticing {
    /// Statistics of the first rows, from which reasons follow.
    first: FirstRows,
    /// Whether the learner was found to be worse than a constant.
    is_warned: bool,
}

impl Noticing {
    /// Begins with the first row of a learner.
    pub fn new(settings: &Settings) -> Self {
        Self { first: FirstRows::new(settings), is_warned: false }
    }

    /// Learns rows by `learn`, and appends notices. `names` are those of the features of these rows, beside those that the
    /// trainer knows.
    pub fn learn(
        &mut self,
        trainer: &mut Trainer,
        chunk: &Chunk,
        names: &Names,
        notices: &mut Vec<Notice>,
        learn: impl FnOnce(&mut Trainer) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let leak = self.first.take(chunk);
        let learned = learn(trainer);
        if let Err(Error::Diverged { row }) = learned {
            let reason = self.reason(None, trainer, names);
            notices.push(Notice::Diverged { row, reason });
        }
        learned?;
        notices.extend(leak.map(|leak| leaked(leak, trainer, names)));
        self.note_behind(trainer.noticed_behind(), trainer, names, notices);
        Ok(())
    }

    /// Ends a data set, or a piece of a stream: appends the notices of the rows so far.
    pub fn end(&mut self, trainer: &Trainer, names: &Names, notices: &mut Vec<Notice>) {
        let leak = self.first.judge();
        notices.extend(leak.map(|leak| leaked(leak, trainer, names)));
        self.note_behind(trainer.behind_constant(), trainer, names, notices);
    }

    /// Ends the search for leaks: from now on rows come again.
    pub fn end_search(&mut self) {
        self.first.finish();
    }

    fn note_behind(
        &mut self,
        behind: Option<Behind>,
        trainer: &Trainer,
        names: &Names,
        notices: &mut Vec<Notice>,
    ) {
        if let Some(behind) = behind.filter(|_| !self.is_warned) {
            self.is_warned = true;
            let reason = self.reason(Some(behind), trainer, names);
            notices.push(Notice::WorseThanConstant { behind, reason });
        }
    }

    /// Returns why the learner is likely to be worse than the constant, or to have diverged.
    fn reason(&mut self, behind: Option<Behind>, trainer: &Trainer, names: &Names) -> Reason {
        let is_normalized = trainer.settings().is_normalized();
        let largest = self.first.largest().filter(|l| !is_normalized && l.times >= OTHER_UNIT);
        let is_close = |b: Behind| b.loss - b.constant < A_LITTLE * b.constant.abs();
        let number = trainer.baseline().and_then(|b| b.constant().typical_number());
        let number = number.filter(|typical| !is_normalized && *typical >= OTHER_UNIT);
        match (largest, behind) {
            (Some(largest), _) => Reason::Magnitude {
                feature: name(largest.feature, trainer, names),
                times: largest.times,
            },
            (None, Some(behind)) => match number {
                Some(typical) => Reason::LabelScale { typical },
                None if is_close(behind) => Reason::Labels,
                None => Reason::Rate,
            },
            (None, None) => Reason::Rate,
        }
    }
}

fn leaked(leak: Leak, trainer: &Trainer, names: &Names) -> Notice {
    let Leak { feature, rows, evidence } = leak;
    Notice::Leak { feature: name(feature, trainer, names), rows: rows as u64, evidence }
}

/// Returns a feature's name as the user writes it, or its id.
fn name(feature: u32, trainer: &Trainer, names: &Names) -> String {
    let known = names.name(feature).or_else(|| trainer.names().name(feature));
    match (known, trainer.schema().bits) {
        (Some(name), _) => name.to_owned(),
        (None, None) => feature.to_string(),
        (None, Some(_)) => format!("#{feature}"),
    }
}
