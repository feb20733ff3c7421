//! A model: it predicts, and cannot learn.

mod file;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use parsimon_core::kernel::Dictionary;
use parsimon_core::{ColumnMoments, Frozen, Head, Loss, Online, Precision, Scorer};
use parsimon_data::Names;
use parsimon_eval::Calibrator;
use parsimon_files::memory::Claim;
use serde::{Deserialize, Serialize};

pub(crate) use file::{encode_names, push_names, read_common, read_names};

use crate::container::{self, Kind};
use crate::{FormatError, InputSchema, Settings};

/// The nonzero weights, or a dictionary with its coefficients, and everything needed to use and to repeat them.
#[derive(Clone, Debug)]
pub struct Model {
    settings: Settings,
    precision: Precision,
    reading: InputSchema,
    frozen: Frozen,
    /// How the cells of number columns become features.
    columns: Vec<ColumnMoments>,
    /// The range of predictions that are numbers.
    range: Option<(f64, f64)>,
    names: BTreeMap<u32, String>,
    pub(crate) calibration: Option<Calibrator>,
    provenance: Provenance,
}

/// Where a model comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The version of this program.
    pub version: String,
    /// Rows learned, over all passes.
    pub rows: u64,
    /// The inputs' names.
    pub inputs: Vec<String>,
    /// Whether there is a bias.
    pub bias: bool,
    /// The progressive loss.
    pub progressive_loss: Option<f64>,
    /// Slots that more than one name fell into.
    pub collisions: u64,
    /// Distinct feature names met.
    pub names_met: u64,
    /// The margins, one or one per class, that predict the labels without any feature. Empty in models of earlier versions and
    /// in merged ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
        let used = frozen.used().filter_map(|j| Some((j, names.name(j)?.to_owned())));
        let names = used.collect();
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
    /// The precision it was learned in, which is the one it predicts in.
    pub fn precision(&self) -> Precision {
        self.precision
    }
    /// How rows are to be read for it.
    pub fn schema(&self) -> &InputSchema {
        &self.reading
    }
    /// The weights: one head, or one per class. None if the model is not linear.
    pub fn heads(&self) -> &[Head] {
        self.frozen.heads()
    }
    /// How the cells of number columns become features; none if rows have no such columns.
    pub fn columns(&self) -> &[ColumnMoments] {
        &self.columns
    }
    /// The range that predicted numbers are clipped to.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.range
    }
    /// The weights of [`heads`](Model::heads) in the units of the data: of a number column, per unit of its cells instead of per
    /// standard deviation, with the bias to match. Predictions differ from this linear view where a cell is clipped, and where two
    /// names share a slot.
    pub fn heads_in_units(&self) -> Vec<Head> {
        self.heads().iter().map(|head| head.in_units(&self.columns)).collect()
    }
    /// The dictionary of a multikernel filter; `None` if the model is linear.
    pub fn dictionary(&self) -> Option<&Dictionary> {
        self.frozen.dictionary()
    }
    /// How many margins a row gets: 1, or the number of classes.
    pub fn outputs(&self) -> usize {
        self.frozen.outputs()
    }
    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }
    /// Whether all weights are finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.frozen.is_finite()
    }
    /// The nonzero weights of all heads; of a dictionary, its rows with a coefficient that is not zero.
    pub fn nonzeros(&self) -> usize {
        self.frozen.nonzeros()
    }
    /// Whether there is a head per class.
    pub fn is_multiclass(&self) -> bool {
        self.settings.is_multiclass()
    }
    /// Whether it tells two classes apart.
    pub fn is_binary(&self) -> bool {
        self.settings.is_of_two_classes(&self.reading.found)
    }
    /// The two labels (negative first) or the classes, as texts.
    pub fn classes(&self) -> Vec<String> {
        match &self.reading.found.classes[..] {
            [] if self.is_binary() => vec!["-1".into(), "1".into()],
            classes => classes.to_vec(),
        }
    }
    /// The calibration, if there is one.
    pub fn calibration(&self) -> Option<&Calibrator> {
        self.calibration.as_ref()
    }

    /// The model with another calibration, or without.
    #[must_use]
    pub fn with_calibration(self, calibration: Option<Calibrator>) -> Self {
        Self { calibration, ..self }
    }

    /// Replaces margins by calibrated log odds; leaves them where there is no calibration.
    pub fn calibrate(&self, margins: &mut [f64]) {
        if let Some(calibrator) = &self.calibration {
            margins.iter_mut().for_each(|margin| *margin = calibrator.log_odds(*margin));
        }
    }

    /// Whether predictions are probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.calibration.is_some() || self.settings().loss() == Loss::Logistic
    }
    /// The names that were kept, with the slots of their features.
    pub(crate) fn names(&self) -> impl Iterator<Item = (u32, &str)> {
        self.names.iter().map(|(slot, name)| (*slot, name.as_str()))
    }
    /// Whether it has the names of its features.
    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }
    /// The features that count, with repetitions.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        self.frozen.used()
    }
    /// A feature as the user calls it: its name, its id, or its slot when the name was not kept.
    pub fn name(&self, j: u32) -> Cow<'_, str> {
        match (self.names.get(&j), self.reading.bits) {
            (Some(name), _) => Cow::Borrowed(name),
            (None, None) => Cow::Owned(j.to_string()),
            (None, Some(_)) => Cow::Owned(format!("#{j}")),
        }
    }
    /// The model laid out for prediction.
    pub fn scorer(&self) -> Scorer {
        laid_out(&self.frozen, &self.columns, self.range, &self.settings, self.precision)
    }

    /// Writes the model; an earlier file of that name stays whole until the new one is. A model that could not be read back, because a
    /// weight is not finite, is refused.
    pub fn save(&self, path: &Path) -> Result<(), FormatError> {
        let names = self.encoded_names();
        let container = self.to_container(&names);
        Self::from_container(&container)
            .map_err(|message| FormatError::new(path, format!("was not written: {message}")))?;
        container::write(&container, path, Kind::Model)
    }

    /// Reads a model.
    pub fn load(path: &Path) -> Result<Self, FormatError> {
        Self::take(&parsimon_files::read_file(path)?, path)
    }

    /// A model file's bytes, for those who keep them elsewhere.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_container(&self.encoded_names()).to_bytes(Kind::Model)
    }

    /// A model from such bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        Self::take(bytes, Path::new("the model"))
    }

    fn take(bytes: &[u8], path: &Path) -> Result<Self, FormatError> {
        let container = container::parse(bytes, path, Kind::Model)?;
        Self::from_container(&container)
            .map_err(|why| FormatError::new(path, format!("cannot be used: {why}")))
    }
}

/// Weights laid out for prediction, with what the settings do to rows and margins.
pub(crate) fn laid_out(
    frozen: &Frozen,
    columns: &[ColumnMoments],
    range: Option<(f64, f64)>,
    settings: &Settings,
    precision: Precision,
) -> Scorer {
    // An array for the largest index may be far larger than the model.
    let scorer = match (frozen, Claim::of(Scorer::room(frozen.heads()))) {
        (frozen, Ok(claim)) => frozen.scorer(precision).keeping(claim),
        (Frozen::Linear(heads), Err(_)) => Scorer::compact(heads, precision),
        (frozen, Err(_)) => frozen.scorer(precision),
    };
    let scorer = scorer.with_range(range);
    if settings.is_normalized() { scorer.with_columns(columns) } else { scorer }
}

/// What a learner has learned, as far as prediction needs it.
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
