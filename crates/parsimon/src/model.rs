//! A model: it predicts, and cannot learn.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use parsimon_core::{Head, LabelDomain, Precision, Scorer};
use parsimon_data::Names;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::container::{Container, Kind, bytes_of, numbers_of};
use crate::{FormatError, Reading, Settings, Spec};

/// The nonzero weights and everything needed to use and to repeat them.
#[derive(Clone, Debug)]
pub struct Model {
    settings: Settings,
    precision: Precision,
    reading: Reading,
    heads: Vec<Head>,
    names: BTreeMap<u32, String>,
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
}

impl Model {
    pub(crate) fn new(
        settings: Settings,
        precision: Precision,
        reading: Reading,
        heads: Vec<Head>,
        names: &Names,
        provenance: Provenance,
    ) -> Self {
        let used = heads.iter().flat_map(|head| head.indices().iter().copied());
        let names = used.filter_map(|j| Some((j, names.name(j)?.to_owned()))).collect();
        Self { settings, precision, reading, heads, names, provenance }
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
    pub fn reading(&self) -> &Reading {
        &self.reading
    }
    /// The weights: one head, or one per class.
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }
    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }
    /// The nonzero weights of all heads.
    pub fn nonzeros(&self) -> usize {
        self.heads.iter().map(|head| head.indices().len()).sum()
    }
    /// Whether there is a head per class.
    pub fn is_multiclass(&self) -> bool {
        self.settings.flag("multiclass")
    }
    /// Whether it tells two classes apart.
    pub fn is_binary(&self) -> bool {
        !self.is_multiclass() && self.settings.loss().domain() == LabelDomain::Binary
    }
    /// The two labels (negative first) or the classes, as texts.
    pub fn classes(&self) -> Vec<String> {
        match &self.reading.classes[..] {
            [] if self.is_binary() => vec!["-1".into(), "1".into()],
            classes => classes.to_vec(),
        }
    }
    /// A feature as the user calls it: its name, its id, or its slot when the name was not kept.
    pub fn name(&self, j: u32) -> Cow<'_, str> {
        match (self.names.get(&j), self.reading.bits) {
            (Some(name), _) => Cow::Borrowed(name),
            (None, None) => Cow::Owned(j.to_string()),
            (None, Some(_)) => Cow::Owned(format!("#{j}")),
        }
    }
    /// The weights laid out for prediction.
    pub fn scorer(&self) -> Scorer {
        Scorer::new(&self.heads, self.precision)
    }

    /// Writes the model; an earlier file of that name stays whole until the new one is.
    pub fn save(&self, path: &Path) -> Result<(), FormatError> {
        self.to_container().write(path, Kind::Model)
    }

    /// Reads a model.
    pub fn load(path: &Path) -> Result<Self, FormatError> {
        let container = Container::read(path, Kind::Model)?;
        Self::from_container(&container).map_err(|message| FormatError::new(path, message))
    }

    fn to_container(&self) -> Container {
        let mut container = Container::new(json!({
            "settings": self.settings.to_json(),
            "precision": self.precision.to_string(),
            "reading": self.reading,
            "provenance": self.provenance,
            "heads": self.heads.iter().map(|h| json!({"bias": h.bias(), "nonzeros": h.indices().len()}))
                .collect::<Vec<_>>(),
        }));
        for (k, head) in self.heads.iter().enumerate() {
            container.push(&format!("indices.{k}"), bytes_of(head.indices(), u32::to_le_bytes));
            container.push(&format!("weights.{k}"), bytes_of(head.weights(), f64::to_le_bytes));
        }
        push_names(&mut container, self.names.iter().map(|(j, name)| (*j, name.as_str())));
        container
    }

    fn from_container(container: &Container) -> Result<Self, String> {
        let (settings, precision, reading) = read_common(container)?;
        let provenance = serde_json::from_value(container.about["provenance"].clone())
            .map_err(|e| format!("has a provenance that cannot be read: {e}"))?;
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
        let heads = heads.collect::<Option<Vec<_>>>().filter(|heads| !heads.is_empty());
        let heads = heads.ok_or("has weights that make no sense")?;
        let names = read_names(container).into_iter().collect();
        Ok(Self { settings, precision, reading, heads, names, provenance })
    }
}

/// Settings, precision and reading, which models and checkpoints both begin with.
pub(crate) fn read_common(container: &Container) -> Result<(Settings, Precision, Reading), String> {
    let about = &container.about;
    let settings = Spec::from_json(&about["settings"].to_string())
        .and_then(|spec| spec.resolve())
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
