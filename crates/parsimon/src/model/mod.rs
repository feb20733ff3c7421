//! A model: it predicts, and cannot learn.

mod file;
mod names;

use std::borrow::Cow;
use std::path::Path;

use parsimon_core::kernel::Dictionary;
use parsimon_core::{ColumnMoments, Frozen, Head, Online, Precision, Scorer};
use parsimon_data::Names;
use parsimon_eval::Calibrator;
use parsimon_files::PreparedFile;
use parsimon_files::memory::Claim;
use serde::{Deserialize, Serialize};

pub(crate) use file::read_common;
pub(crate) use names::{FeatureNames, encode_names, push_names};

use crate::container::{self, Kind};
use crate::error::FormatError;
use crate::settings::Settings;
use crate::survey::InputSchema;

/// A trained model: nonzero weights (or a dictionary with coefficients), settings, the schema of the inputs, and names.
///
/// ```
/// use parsimon::data::{Input, Labels, Options, Reading};
/// use parsimon::{InputSchema, LearnerOptions, Model, Plan, Spec, Trainer, run};
///
/// let input = Input::Bytes { name: "d.svm".into(), bytes: b"1 1:1 3:2\n-1 2:1\n".repeat(100) };
/// let settings = Spec::new("ftrl").set("l1", 0.1).resolve()?;
/// let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
/// let options = Options::from(Reading { labels: Labels::binary(), ..Reading::default() });
/// let model = run(&mut trainer, &Plan::new(vec![input], options), &mut ())?.model;
///
/// assert_eq!((model.nonzeros(), model.outputs()), (3, 1));
/// assert_eq!(model.classes(), ["-1", "1"]);
/// assert_eq!(model.provenance().rows, 200);
/// let copy = Model::from_bytes(&model.to_bytes())?;
/// assert_eq!(copy.heads(), model.heads());
/// # Ok::<(), parsimon::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    settings: Settings,
    precision: Precision,
    reading: InputSchema,
    frozen: Frozen,
    /// Conversion of the cells of number columns to features.
    columns: Vec<ColumnMoments>,
    /// The range of predictions that are numbers.
    range: Option<(f64, f64)>,
    names: FeatureNames,
    pub(crate) calibration: Option<Calibrator>,
    provenance: Provenance,
}

/// Provenance of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of parsimon that trained the model.
    pub version: String,
    /// Rows learned, over all passes.
    pub rows: u64,
    /// The inputs' names.
    pub inputs: Vec<String>,
    /// Whether there is a bias.
    pub bias: bool,
    /// The progressive loss.
    pub progressive_loss: Option<f64>,
    /// Hash slots that are shared by several names.
    pub collisions: u64,
    /// Distinct feature names in the training data.
    pub names_met: u64,
    /// The margins, one or one per class, that predict the labels without any feature. Empty in
    /// merged models.
    pub constant: Vec<f64>,
}

impl Model {
    pub(crate) fn new(
        settings: Settings,
        precision: Precision,
        reading: InputSchema,
        learned: Learned,
        names: &Names,
        provenance: Provenance,
    ) -> Self {
        let Learned { frozen, columns, range } = learned;
        let mut kept = FeatureNames::default();
        if !names.is_empty() {
            let used = distinct(&frozen);
            let named = used.iter().filter_map(|&j| Some((j, names.name(j)?)));
            named.for_each(|(j, name)| kept.push(j, name));
        }
        let names = kept;
        Self {
            settings,
            precision,
            reading,
            frozen,
            columns,
            range,
            names,
            calibration: None,
            provenance,
        }
    }

    /// The settings it was learned with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
    /// The precision of training, which is also the precision of prediction.
    pub fn precision(&self) -> Precision {
        self.precision
    }
    /// Returns how rows must be read for this model.
    pub fn schema(&self) -> &InputSchema {
        &self.reading
    }
    /// The weights: one head, or one per class. Empty if the model is not linear.
    pub fn heads(&self) -> &[Head] {
        self.frozen.heads()
    }
    /// The means and scales of number columns, by which their cells are standardized. Empty if there are no such columns.
    pub fn columns(&self) -> &[ColumnMoments] {
        &self.columns
    }
    /// The range to which predicted numbers are clipped, if they are.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.range
    }
    /// The weights of [`heads`](Model::heads) in the units of the data: the weight of a number column is per unit instead of per
    /// standard deviation, and the bias is adjusted. These weights predict like the model, except where a cell is clipped or two
    /// names share a slot.
    pub fn heads_in_units(&self) -> Vec<Head> {
        self.heads().iter().map(|head| head.in_units(&self.columns)).collect()
    }
    /// The dictionary of a multikernel filter; `None` if the model is linear.
    pub fn dictionary(&self) -> Option<&Dictionary> {
        self.frozen.dictionary()
    }
    /// The number of margins per row: 1, or the number of classes.
    pub fn outputs(&self) -> usize {
        self.frozen.outputs()
    }
    /// Returns how the model was trained.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }
    /// Whether all weights are finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.frozen.is_finite()
    }
    /// The number of nonzero weights of all heads. For a dictionary, the number of rows with a nonzero coefficient.
    pub fn nonzeros(&self) -> usize {
        self.frozen.nonzeros()
    }
    /// Whether there is a head per class.
    pub fn is_multiclass(&self) -> bool {
        self.settings.is_multiclass()
    }
    /// Whether the model predicts one of two classes.
    pub fn is_binary(&self) -> bool {
        self.settings.is_of_two_classes(&self.reading.found)
    }
    /// The labels of the classes. Of two classes, the negative one is first.
    pub fn classes(&self) -> Vec<String> {
        match &self.reading.found.classes[..] {
            [] if self.is_binary() => vec!["-1".into(), "1".into()],
            classes => classes.to_vec(),
        }
    }
    /// The calibration, if any.
    pub fn calibration(&self) -> Option<&Calibrator> {
        self.calibration.as_ref()
    }

    /// The model with another calibration, or without.
    #[must_use]
    pub fn with_calibration(self, calibration: Option<Calibrator>) -> Self {
        Self { calibration, ..self }
    }

    /// Replaces margins by calibrated log odds. Without a calibration, margins are unchanged.
    pub fn calibrate(&self, margins: &mut [f64]) {
        if let Some(calibrator) = &self.calibration {
            margins.iter_mut().for_each(|margin| *margin = calibrator.log_odds(*margin));
        }
    }

    /// Whether predictions are probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.calibration.is_some() || self.settings().loss().has_probabilities()
    }
    /// The names that were kept, with the slots of their features.
    pub fn names(&self) -> impl Iterator<Item = (u32, &str)> {
        self.names.iter()
    }
    /// Whether it has the names of its features.
    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }
    /// The features with a nonzero weight. A feature is repeated for every class that has a weight for it.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        self.frozen.used()
    }
    /// The features that count, in order.
    pub(crate) fn distinct_used(&self) -> Vec<u32> {
        distinct(&self.frozen)
    }
    /// The name of a feature; its id if ids were kept; `#` and its slot if the name is not in the model.
    pub fn name(&self, j: u32) -> Cow<'_, str> {
        match (self.names.get(j), self.reading.bits) {
            (Some(name), _) => Cow::Borrowed(name),
            (None, None) => Cow::Owned(j.to_string()),
            (None, Some(_)) => Cow::Owned(format!("#{j}")),
        }
    }
    /// The weights laid out for fast prediction.
    pub fn scorer(&self) -> Scorer {
        laid_out(&self.frozen, &self.columns, self.range, &self.settings, self.precision)
    }

    /// Writes the model. An earlier file of that name is replaced only when the new one is complete. A model with a weight that is
    /// not finite is refused.
    pub fn save(&self, path: &Path) -> Result<(), FormatError> {
        Ok(self.prepare(path)?.commit()?)
    }

    /// As [`save`](Self::save), but the file has no name before it is committed.
    pub fn prepare(&self, path: &Path) -> Result<PreparedFile, FormatError> {
        let names = self.encoded_names();
        let container = self.to_container(&names);
        Self::from_container(&container)
            .map_err(|message| FormatError::new(path, format!("was not written: {message}")))?;
        container::prepare(&container, path, Kind::Model)
    }

    /// Reads a model.
    pub fn load(path: &Path) -> Result<Self, FormatError> {
        Self::take(&parsimon_files::read_file(path)?, path)
    }

    /// The bytes of a model file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_container(&self.encoded_names()).to_bytes(Kind::Model)
    }

    /// Reads a model from the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        Self::take(bytes, Path::new("the model"))
    }

    fn take(bytes: &[u8], path: &Path) -> Result<Self, FormatError> {
        let container = container::parse(bytes, path, Kind::Model)?;
        Self::from_container(&container)
            .map_err(|why| FormatError::new(path, format!("cannot be used: {why}")))
    }
}

/// The features that count, in order.
fn distinct(frozen: &Frozen) -> Vec<u32> {
    // PERF: the weights of one head are in order already.
    if let [head] = frozen.heads() {
        return head.indices().to_vec();
    }
    let mut used: Vec<u32> = frozen.used().collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// The bytes of the arrays of several classes, at most.
const MOST_ARRAYS: u64 = 32 << 20;

/// Weights laid out for prediction, with the transformations of rows and margins by the settings.
pub(crate) fn laid_out(
    frozen: &Frozen,
    columns: &[ColumnMoments],
    range: Option<(f64, f64)>,
    settings: &Settings,
    precision: Precision,
) -> Scorer {
    // An array up to the largest index may be far larger than the model, and each class has one.
    let (room, heads) = (Scorer::room(frozen.heads()), frozen.heads());
    let scorer = match (frozen, Claim::of(room)) {
        (Frozen::Linear(_), Ok(_)) if heads.len() > 1 && room > MOST_ARRAYS => {
            Scorer::compact(heads, precision)
        }
        (frozen, Ok(claim)) => frozen.scorer(precision).keeping(claim),
        (Frozen::Linear(heads), Err(_)) => Scorer::compact(heads, precision),
        (frozen, Err(_)) => frozen.scorer(precision),
    };
    let scorer = scorer.with_range(range);
    if settings.is_normalized() { scorer.with_columns(columns) } else { scorer }
}

/// Parameters of a learner that prediction needs.
pub(crate) struct Learned {
    pub(crate) frozen: Frozen,
    pub(crate) columns: Vec<ColumnMoments>,
    pub(crate) range: Option<(f64, f64)>,
}

impl Learned {
    /// The weights of a learner, or those of its settings that are given.
    pub(crate) fn of(online: &dyn Online, frozen: Frozen) -> Self {
        Self { frozen, columns: online.columns().to_vec(), range: online.label_range() }
    }
}
