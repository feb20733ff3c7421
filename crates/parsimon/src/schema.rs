//! How rows are to be read, as a model remembers it: prediction must read as training did.

use parsimon_core::{LabelDomain, Precision};
use parsimon_data::{Input, Labels, Options, Space};
use serde::{Deserialize, Serialize};

use crate::{Error, Settings, Storage};

/// The part of the reading that belongs to the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputSchema {
    /// The logarithm of the number of slots when features are hashed; `None` when ids are kept.
    pub bits: Option<u8>,
    /// The two labels, negative first, or the classes; empty for numbers.
    pub classes: Vec<String>,
    /// Products of namespaces.
    pub interactions: Vec<Vec<String>>,
    /// The label's column.
    pub label_column: Option<String>,
    /// The importance weight's column.
    pub weight_column: Option<String>,
    /// Columns that are not features.
    pub ignored_columns: Vec<String>,
    /// Columns whose numbers are categories.
    pub text_columns: Vec<String>,
}

/// How many rows are looked at to see whether the labels are the usual -1, 0 and 1.
const GLANCE: usize = 1000;
/// More classes than this are taken for numbers.
const MOST_CLASSES: usize = 10_000;

impl InputSchema {
    /// What the options say, with the space the reader found.
    pub fn new(options: &Options, space: Space, classes: Vec<String>) -> Self {
        Self {
            bits: match space {
                Space::Ids => None,
                Space::Hashed { bits } => Some(bits),
            },
            classes,
            interactions: options.interactions.clone(),
            label_column: options.label_column.clone(),
            weight_column: options.weight_column.clone(),
            ignored_columns: options.ignored_columns.clone(),
            text_columns: options.text_columns.clone(),
        }
    }

    /// The feature space.
    pub fn space(&self) -> Space {
        self.bits.map_or(Space::Ids, |bits| Space::Hashed { bits })
    }

    /// The store that suits the space.
    pub fn storage(&self) -> Storage {
        self.bits.map_or(Storage::Growing, |bits| Storage::Slots(1 << bits))
    }

    /// The labels a learner with these settings expects.
    pub fn labels(&self, settings: &Settings) -> Labels {
        match (settings.is_multiclass(), settings.loss().domain(), &self.classes[..]) {
            (true, _, classes) => Labels::Classes(classes.to_vec()),
            (_, LabelDomain::Real, _) => Labels::Real,
            (_, LabelDomain::NonNegative, _) => Labels::NonNegative,
            (_, LabelDomain::Binary, [negative, positive]) => {
                Labels::Binary { negative: negative.clone(), positive: positive.clone() }
            }
            (_, LabelDomain::Binary, _) => Labels::binary(),
        }
    }

    /// Options that read as the model was trained; the rest is taken from `options`.
    pub fn options(&self, settings: &Settings, precision: Precision, options: &Options) -> Options {
        Options {
            space: Some(self.space()),
            labels: self.labels(settings),
            interactions: self.interactions.clone(),
            label_column: options.label_column.clone().or_else(|| self.label_column.clone()),
            weight_column: options.weight_column.clone().or_else(|| self.weight_column.clone()),
            ignored_columns: self.ignored_columns.clone(),
            text_columns: self.text_columns.clone(),
            max_value: precision.max_value(),
            ..options.clone()
        }
    }
}

/// The labels of the data as the settings want them: declared, or found by looking.
///
/// Two labels come back negative first: smaller numbers before larger ones, texts in alphabetical order. Nothing
/// comes back when the labels are numbers, or the usual -1, 0 and 1.
pub fn find_classes(
    settings: &Settings,
    inputs: &[Input],
    options: &Options,
) -> Result<Vec<String>, Error> {
    let multiclass = settings.is_multiclass();
    let binary = settings.loss().domain() == LabelDomain::Binary;
    if let Some(classes) = settings.classes() {
        if !multiclass && binary && classes.len() != 2 {
            return Err(Error::Usage(format!(
                "classes names {} labels; say multiclass for more than two",
                classes.len()
            )));
        }
        return Ok(classes);
    }
    if !multiclass && !binary {
        return Ok(Vec::new());
    }
    let is_stdin = inputs.iter().any(|input| matches!(input, Input::Stdin));
    if is_stdin {
        if multiclass {
            return Err(Error::Usage(
                "standard input cannot be scanned for its labels; declare them with --classes"
                    .into(),
            ));
        }
        return Ok(Vec::new());
    }
    if !multiclass && let Some(classes) = usual_labels(inputs, options)? {
        return Ok(classes);
    }
    let scan = parsimon_data::scan_labels(inputs, options, MOST_CLASSES)?;
    let mut classes: Vec<String> = scan.labels.into_iter().map(|(label, _)| label).collect();
    sort_labels(&mut classes);
    if classes.len() < 2 {
        return Err(Error::Usage(format!(
            "all rows have the label {:?}; nothing to learn",
            classes.concat()
        )));
    }
    if !multiclass && classes.len() > 2 {
        let shown: Vec<_> = classes.iter().take(5).map(String::as_str).collect();
        let name = settings.algorithm().name;
        let (who, numbers) = match settings.loss_name() {
            _ if name.ends_with("adaline") => (name.to_owned(), "-a lms"),
            "halfspace" => ("the loss halfspace".into(), "--loss projection"),
            loss => (format!("the loss {loss}"), "--loss squared"),
        };
        return Err(Error::Usage(format!(
            "{who} is for two classes and the data has {} labels ({}, ...); use --multiclass, or {numbers} for numbers",
            classes.len(),
            shown.join(", ")
        )));
    }
    Ok(classes)
}

fn sort_labels(labels: &mut [String]) {
    let number = |s: &String| s.parse::<f64>().ok();
    labels.sort_by(|a, b| match (number(a), number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y),
        _ => a.cmp(b),
    });
}

/// Looks at the first rows: nothing to declare if labels are -1 and 1, `0` and `1` if they are those.
fn usual_labels(inputs: &[Input], options: &Options) -> Result<Option<Vec<String>>, Error> {
    let glance = Options { labels: Labels::Any, threads: 1, keep_names: false, ..options.clone() };
    let mut reader = parsimon_data::Reader::open(inputs, &glance)?;
    let mut chunk = parsimon_core::Chunk::new();
    let (mut rows, mut zeros, mut minus_ones) = (0, false, false);
    while rows < GLANCE && reader.read(&mut chunk)? {
        rows += chunk.len();
        for y in (0..chunk.len()).filter_map(|i| chunk.label(i)) {
            zeros |= y == 0.0;
            minus_ones |= y == -1.0;
            if y != 1.0 && y != 0.0 && y != -1.0 {
                return Ok(None);
            }
        }
    }
    let spelled = if zeros && !minus_ones { vec!["0".into(), "1".into()] } else { Vec::new() };
    Ok(Some(spelled))
}
