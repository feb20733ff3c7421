//! Models as files. Every field of a file is checked, and an error names the field.

use parsimon_core::kernel::Dictionary;
use parsimon_core::{ColumnMoments, Frozen, Head, Precision, State, StateWriter};
use serde_json::json;

use super::names::{FeatureNames, encode_names, numbers, push_names};
use super::{Model, Provenance};
use crate::calibration;
use crate::container::{Container, bytes_of};
use crate::settings::{Settings, Spec};
use crate::survey::InputSchema;

impl Model {
    /// The names of features as sections.
    pub(super) fn encoded_names(&self) -> [Vec<u8>; 3] {
        encode_names(self.names.iter())
    }

    pub(super) fn to_container<'a>(&self, names: &'a [Vec<u8>; 3]) -> Container<'a> {
        let mut settings = self.settings.to_json().clone();
        // Classes that were found in the data are those of the reading.
        if settings
            .get("classes")
            .is_some_and(|classes| *classes == json!(self.reading.found.classes))
        {
            settings.shift_remove("classes");
        }
        let mut container = Container::new(json!({
            "settings": settings,
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
            let mut out = StateWriter::new();
            self.columns.write(&mut out);
            container.push("columns", out.into_bytes());
        }
        if let Some(range) = self.range {
            container.about["range"] = json!(range);
        }
        if let Some(calibrator) = &self.calibration {
            calibration::push(&mut container, calibrator);
        }
        push_names(&mut container, names);
        container
    }

    pub(super) fn from_container(container: &Container<'_>) -> Result<Self, String> {
        let (settings, precision, reading) = read_common(container)?;
        let provenance: Provenance = serde_json::from_value(container.about["provenance"].clone())
            .map_err(|e| format!("provenance: {e}"))?;
        let frozen = match settings.is_kernel() {
            true => Frozen::Kernel(read_dictionary(container, &settings)?),
            false => Frozen::Linear(read_heads(container)?),
        };
        let expected = settings.heads(&reading.found).unwrap_or_default();
        if frozen.outputs() != expected {
            let found = frozen.outputs();
            return Err(format!("heads: there are {found}, and the settings want {expected}"));
        }
        if ![0, expected].contains(&provenance.constant.len()) {
            return Err("provenance: constant has another number of margins than the model".into());
        }
        let names = FeatureNames::read(container)?;
        if !names.are_unique() {
            return Err("names.slots: a slot comes twice".into());
        }
        let (columns, range) = (read_columns(container)?, read_range(container)?);
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

/// Numbers of a section that have to be finite.
fn finite(container: &Container<'_>, section: &str) -> Result<Vec<f64>, String> {
    // PERF: checked while they are copied; the one that is not finite is searched only if there is one.
    let mut all = true;
    let numbers = numbers(container, section, |bytes| {
        let number = f64::from_le_bytes(bytes);
        all &= number.is_finite();
        number
    })?;
    if all {
        return Ok(numbers);
    }
    let at = numbers.iter().take_while(|x| x.is_finite()).count();
    Err(format!("{section}: number {} is not finite", at + 1))
}

fn read_columns(container: &Container<'_>) -> Result<Vec<ColumnMoments>, String> {
    let mut bytes = container.section("columns");
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let columns = Vec::<ColumnMoments>::read(&mut bytes).map_err(|e| format!("columns: {e}"))?;
    match bytes.is_empty() && columns.iter().all(ColumnMoments::is_sound) {
        true => Ok(columns),
        false => Err("columns: these are no means and deviations".into()),
    }
}

fn read_range(container: &Container<'_>) -> Result<Option<(f64, f64)>, String> {
    let range: Option<(f64, f64)> = serde_json::from_value(container.about["range"].clone())
        .map_err(|_| "range: two numbers were expected")?;
    match range {
        Some((low, high)) if low > high => Err(format!("range: {low} is above {high}")),
        range => Ok(range),
    }
}

fn read_heads(container: &Container<'_>) -> Result<Vec<Head>, String> {
    let stated = container.about["heads"].as_array().ok_or("heads: a list was expected")?;
    let head = |(k, stated): (usize, &serde_json::Value)| {
        let (ids, values) = (format!("indices.{k}"), format!("weights.{k}"));
        let bias = stated["bias"].as_f64().filter(|b| b.is_finite());
        let bias = bias.ok_or_else(|| format!("heads: the bias of head {k} is not finite"))?;
        let indices = numbers(container, &ids, u32::from_le_bytes)?;
        let weights = finite(container, &values)?;
        let count = indices.len() as u64;
        if stated["nonzeros"].as_u64() != Some(count) || weights.len() as u64 != count {
            return Err(format!("{values}: there are other numbers of weights and indices"));
        }
        Head::from_parts(bias, indices, weights)
            .ok_or_else(|| format!("{ids}: the features are not in order"))
    };
    let heads: Vec<Head> = stated.iter().enumerate().map(head).collect::<Result<_, _>>()?;
    if heads.is_empty() { Err("heads: there are none".into()) } else { Ok(heads) }
}

/// The centers' features in flat arrays, and a coefficient per center and kernel. The kernels are in the settings.
fn push_dictionary(container: &mut Container<'_>, dictionary: &Dictionary) {
    let kernels = dictionary.kernels().iter().map(ToString::to_string);
    container.about["dictionary"] =
        json!({"centers": dictionary.len(), "kernels": kernels.collect::<Vec<_>>()});
    container.push("centers.ends", bytes_of(dictionary.ends(), u64::to_le_bytes));
    container.push("centers.indices", bytes_of(dictionary.indices(), u32::to_le_bytes));
    container.push("centers.values", bytes_of(dictionary.values(), f64::to_le_bytes));
    container.push("coefficients", bytes_of(dictionary.all_coefficients(), f64::to_le_bytes));
}

fn read_dictionary(container: &Container<'_>, settings: &Settings) -> Result<Dictionary, String> {
    let ends = numbers(container, "centers.ends", u64::from_le_bytes)?;
    if container.about["dictionary"]["centers"].as_u64() != Some(ends.len() as u64) {
        return Err("dictionary: there are other numbers of centers and centers.ends".into());
    }
    let indices = numbers(container, "centers.indices", u32::from_le_bytes)?;
    let values = finite(container, "centers.values")?;
    let coefficients = finite(container, "coefficients")?;
    Dictionary::from_parts(settings.kernels(), ends, indices, values, coefficients)
        .ok_or_else(|| "dictionary: centers and coefficients do not belong together".into())
}

/// Settings, precision and reading, which models and checkpoints both begin with.
pub(crate) fn read_common(
    container: &Container<'_>,
) -> Result<(Settings, Precision, InputSchema), String> {
    let about = &container.about;
    let settings = Spec::from_json(&about["settings"].to_string())
        .and_then(|spec| spec.resolve_stored())
        .map_err(|e| format!("settings: {e}"))?;
    let precision = about["precision"].as_str().unwrap_or("").parse();
    let precision = precision.map_err(|e: String| format!("precision: {e}"))?;
    let reading: InputSchema =
        serde_json::from_value(about["reading"].clone()).map_err(|e| format!("reading: {e}"))?;
    reading.space().check().map_err(|e| format!("reading: {e}"))?;
    Ok((settings, precision, reading))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::LearnerOptions;
    use crate::training::Trainer;
    use parsimon_core::{Chunk, Repeats};

    const NO_NAMES: &[Vec<u8>; 3] = &[Vec::new(), Vec::new(), Vec::new()];

    fn container() -> Container<'static> {
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
        trainer.model().to_container(NO_NAMES)
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
            assert!(
                error.contains("centers")
                    || error.contains("dictionary")
                    || error.contains("coefficients"),
                "{name}: {error}"
            );
        }
        let mut bad = container();
        bad.about["dictionary"]["centers"] = u64::MAX.into();
        assert!(Model::from_container(&bad).is_err());
    }
}
