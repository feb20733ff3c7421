//! A model: it predicts, and cannot learn.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use parsimon_core::kernel::Dictionary;
use parsimon_core::{ColumnMoments, Frozen, Head, Loss, Online, Precision, Scorer, State};
use parsimon_data::Names;
use parsimon_eval::Calibrator;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::calibration;
use crate::container::{self, Container, Kind, bytes_of, numbers_of};
use crate::error::Refusal;
use crate::{FormatError, InputSchema, Settings, Spec};

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
        let scorer = self.frozen.scorer(self.precision);
        let scorer = scorer.with_range(self.range);
        if self.settings.is_normalized() { scorer.with_columns(&self.columns) } else { scorer }
    }

    /// Writes the model; an earlier file of that name stays whole until the new one is.
    pub fn save(&self, path: &Path) -> Result<(), FormatError> {
        container::write(&self.to_container(), path, Kind::Model)
    }

    /// Reads a model.
    pub fn load(path: &Path) -> Result<Self, FormatError> {
        let container = container::read(path, Kind::Model)?;
        Self::from_container(&container).map_err(|message| FormatError::new(path, message))
    }

    /// A model file's bytes, for those who keep them elsewhere.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_container().to_bytes(Kind::Model)
    }

    /// A model from such bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let container = Container::from_bytes(bytes, Kind::Model);
        container
            .map_err(Refusal::from)
            .and_then(|container| Ok(Self::from_container(&container)?))
            .map_err(|message| FormatError::new(Path::new("the model"), message))
    }

    fn to_container(&self) -> Container {
        let mut container = Container::new(json!({
            "settings": self.settings.to_json(),
            "precision": self.precision.to_string(),
            "reading": self.reading,
            "provenance": self.provenance,
            "heads": self.heads().iter().map(|h| json!({"bias": h.bias(), "nonzeros": h.indices().len()}))
                .collect::<Vec<_>>(),
        }));
        if let Some(dictionary) = self.dictionary() {
            push_dictionary(&mut container, dictionary);
        }
        for (k, head) in self.heads().iter().enumerate() {
            container.push(&format!("indices.{k}"), bytes_of(head.indices(), u32::to_le_bytes));
            container.push(&format!("weights.{k}"), bytes_of(head.weights(), f64::to_le_bytes));
        }
        if !self.columns.is_empty() {
            let mut bytes = Vec::new();
            self.columns.write(&mut bytes);
            container.push("columns", bytes);
        }
        if let Some(range) = self.range {
            container.about["range"] = json!(range);
        }
        if let Some(calibrator) = &self.calibration {
            calibration::push(&mut container, calibrator);
        }
        push_names(&mut container, self.names.iter().map(|(j, name)| (*j, name.as_str())));
        container
    }

    fn from_container(container: &Container) -> Result<Self, String> {
        let (settings, precision, reading) = read_common(container)?;
        let provenance = serde_json::from_value(container.about["provenance"].clone())
            .map_err(|e| format!("has a provenance that cannot be read: {e}"))?;
        let frozen = match settings.is_kernel() {
            true => Frozen::Kernel(
                read_dictionary(container, &settings)
                    .ok_or("has a dictionary that makes no sense")?,
            ),
            false => Frozen::Linear(read_heads(container).ok_or("has weights that make no sense")?),
        };
        let names = read_names(container).into_iter().collect();
        let columns = read_columns(container).ok_or("has columns that make no sense")?;
        let range = read_range(container)?;
        let calibration = calibration::read(container)?;
        Ok(Self {
            settings,
            precision,
            reading,
            frozen,
            columns,
            range,
            names,
            calibration,
            provenance,
        })
    }
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

fn read_columns(container: &Container) -> Option<Vec<ColumnMoments>> {
    let mut bytes = container.section("columns");
    if bytes.is_empty() {
        return Some(Vec::new());
    }
    let columns = Vec::<ColumnMoments>::read(&mut bytes)?;
    (bytes.is_empty() && columns.iter().all(ColumnMoments::is_sound)).then_some(columns)
}

fn read_range(container: &Container) -> Result<Option<(f64, f64)>, &'static str> {
    let range: Option<(f64, f64)> = serde_json::from_value(container.about["range"].clone())
        .map_err(|_| "has a range of predictions that is no pair of numbers")?;
    match range {
        Some((low, high)) if low > high => Err("has a range of predictions that is turned around"),
        range => Ok(range),
    }
}

fn read_heads(container: &Container) -> Option<Vec<Head>> {
    let stated = container.about["heads"].as_array().map_or(&[][..], |heads| heads);
    let heads = stated.iter().enumerate().map(|(k, stated)| {
        let indices = container.section(&format!("indices.{k}"));
        let weights = container.section(&format!("weights.{k}"));
        let bias = stated["bias"].as_f64()?;
        let indices = numbers_of(indices, u32::from_le_bytes);
        let weights = numbers_of(weights, f64::from_le_bytes);
        (stated["nonzeros"].as_u64()? == indices.len() as u64).then_some(())?;
        Head::from_parts(bias, indices, weights)
    });
    heads.collect::<Option<Vec<_>>>().filter(|heads| !heads.is_empty())
}

/// The centers' features in flat arrays, and a coefficient per center and kernel. The kernels are in the settings.
fn push_dictionary(container: &mut Container, dictionary: &Dictionary) {
    let kernels = dictionary.kernels().iter().map(ToString::to_string);
    container.about["dictionary"] =
        json!({"centers": dictionary.len(), "kernels": kernels.collect::<Vec<_>>()});
    container.push("centers.ends", bytes_of(dictionary.ends(), u64::to_le_bytes));
    container.push("centers.indices", bytes_of(dictionary.indices(), u32::to_le_bytes));
    container.push("centers.values", bytes_of(dictionary.values(), f64::to_le_bytes));
    container.push("coefficients", bytes_of(dictionary.all_coefficients(), f64::to_le_bytes));
}

fn read_dictionary(container: &Container, settings: &Settings) -> Option<Dictionary> {
    let ends = numbers_of(container.section("centers.ends"), u64::from_le_bytes);
    let stated = container.about["dictionary"]["centers"].as_u64()?;
    (stated == ends.len() as u64).then_some(())?;
    Dictionary::from_parts(
        settings.kernels(),
        ends,
        numbers_of(container.section("centers.indices"), u32::from_le_bytes),
        numbers_of(container.section("centers.values"), f64::from_le_bytes),
        numbers_of(container.section("coefficients"), f64::from_le_bytes),
    )
}

/// Settings, precision and reading, which models and checkpoints both begin with.
pub(crate) fn read_common(
    container: &Container,
) -> Result<(Settings, Precision, InputSchema), String> {
    let about = &container.about;
    let settings = Spec::from_json(&about["settings"].to_string())
        .and_then(|spec| spec.resolve_stored())
        .map_err(|e| format!("has settings this program does not know: {e}"))?;
    let precision = about["precision"].as_str().unwrap_or("").parse()?;
    let reading = serde_json::from_value(about["reading"].clone())
        .map_err(|e| format!("has a reading that cannot be read: {e}"))?;
    Ok((settings, precision, reading))
}

pub(crate) fn push_names<'a>(
    container: &mut Container,
    names: impl Iterator<Item = (u32, &'a str)>,
) {
    let (mut slots, mut ends, mut text) = (Vec::new(), Vec::new(), Vec::new());
    for (slot, name) in names {
        slots.push(slot);
        text.extend_from_slice(name.as_bytes());
        ends.push(text.len() as u64);
    }
    container.push("names.slots", bytes_of(&slots, u32::to_le_bytes));
    container.push("names.ends", bytes_of(&ends, u64::to_le_bytes));
    container.push("names.text", text);
}

pub(crate) fn read_names(container: &Container) -> Vec<(u32, String)> {
    let slots = numbers_of(container.section("names.slots"), u32::from_le_bytes);
    let ends = numbers_of(container.section("names.ends"), u64::from_le_bytes);
    let text = container.section("names.text");
    let mut start = 0;
    let mut names = Vec::new();
    for (slot, end) in slots.into_iter().zip(ends) {
        let Some(name) = text.get(start..end as usize) else { break };
        names.push((slot, String::from_utf8_lossy(name).into_owned()));
        start = end as usize;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LearnerOptions, Trainer};
    use parsimon_core::{Chunk, Repeats};

    fn container() -> Container {
        let settings = Spec::new("multikernel-pda").resolve().unwrap();
        let mut trainer =
            Trainer::new(settings, LearnerOptions::default(), InputSchema::default()).unwrap();
        let mut chunk = Chunk::new();
        for i in 1..4 {
            chunk.push_feature(i, 0.5);
            chunk.push_feature(9, f64::from(i));
            chunk.finish_row(Some(f64::from(i)), 1.0, Repeats::Refuse).unwrap();
        }
        trainer.learn(&chunk, &mut |_| {}).unwrap();
        trainer.model().to_container()
    }

    #[test]
    fn bytes_are_the_file() {
        let model = Model::from_container(&container()).unwrap();
        let bytes = model.to_bytes();
        assert_eq!(Model::from_bytes(&bytes).unwrap().to_bytes(), bytes);
        let mut damaged = bytes.clone();
        damaged[bytes.len() / 2] ^= 1;
        let error = Model::from_bytes(&damaged).unwrap_err().to_string();
        assert!(error.starts_with("the model: "), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.psm");
        model.save(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn a_dictionary_that_makes_no_sense_is_refused() {
        assert!(Model::from_container(&container()).is_ok());
        let mut forged = Vec::new();
        for name in ["centers.ends", "centers.indices", "centers.values", "coefficients"] {
            let bytes = container().section(name).to_vec();
            let len = bytes.len();
            forged.push((name, Vec::new()));
            forged.push((name, bytes[..len - 8].to_vec()));
            forged.push((name, [&bytes[..], &[1; 8]].concat()));
            // A huge number, or one that is none; and the numbers out of order.
            forged.push((name, [&bytes[..len - 8], &[0xFF; 8]].concat()));
            if name != "coefficients" && name != "centers.values" {
                forged.push((name, [&bytes[len - 4..], &bytes[..len - 4]].concat()));
            }
        }
        for (name, bytes) in forged {
            let mut bad = container();
            bad.replace(name, bytes);
            let error = Model::from_container(&bad).unwrap_err();
            assert_eq!(error, "has a dictionary that makes no sense", "{name}");
        }
        let mut bad = container();
        bad.about["dictionary"]["centers"] = u64::MAX.into();
        assert!(Model::from_container(&bad).is_err());
    }
}
