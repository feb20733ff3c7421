//! Results of a survey of the data.

use parsimon_data::hash;
use serde::{Deserialize, Serialize};

/// Findings in the data before training: classes, number of features, number of rows. Values in the settings take precedence.
///
/// ```
/// use parsimon::{LearnerOptions, Spec};
/// use parsimon::survey::Found;
///
/// let settings = Spec::new("rls").resolve()?;
/// assert!(settings.needs_dimension());
/// let found = Found { dimension: Some(3), ..Found::default() };
/// assert!(settings.build(LearnerOptions::default(), &found).is_ok());
/// # Ok::<(), parsimon::BuildError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Found {
    /// The two labels, negative first, or the classes; empty for numbers and for the usual -1 (or 0) and 1.
    pub classes: Vec<String>,
    /// The number of features: the largest id, or how many slots of hashed features are in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimension: Option<u32>,
    /// The number of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// The number of bits of hashed features; `None` if ids are kept. Models keep it as [`InputSchema::bits`](crate::InputSchema).
    #[serde(skip)]
    pub slot_bits: Option<u8>,
}

impl Found {
    /// The id of the feature of that name: its slot, or the number itself where features are not hashed.
    pub(crate) fn feature(&self, name: &str) -> Option<u32> {
        match self.slot_bits {
            Some(bits) => Some(hash::slot(hash::feature(0, name.as_bytes()), bits)),
            None => name.parse().ok().filter(|id| *id < u32::MAX),
        }
    }
}
