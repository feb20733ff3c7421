//! Expectations: the conditions under which a claim holds.

use serde::{Deserialize, Serialize};

/// One condition under which the claim holds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// In words.
    pub says: String,
    /// Whether it is part of the core claim, which decides; in a file that marks none, all are.
    #[serde(default)]
    pub core: bool,
    /// Whether it is about every run, so that one trial refutes it, and not about the mean.
    #[serde(default)]
    pub every: bool,
    /// The scale of the comparison, if not that of the figure.
    #[serde(default)]
    pub scale: Option<Scale>,
    /// Upper limit of the right side for a meaningful comparison: a rival must have learned something.
    #[serde(default)]
    pub rival_below: Option<f64>,
    /// The measured value: `method.measure@place`, where the place is a number of rounds or `end`.
    pub left: String,
    /// Comparison.
    pub is: Relation,
    /// Right side, if it is not the paper's number.
    #[serde(default)]
    pub right: Option<String>,
    /// The number the paper prints.
    #[serde(default)]
    pub paper: Option<f64>,
    /// A bound of ours, where the paper prints no number.
    #[serde(default)]
    pub bound: Option<f64>,
    /// Least difference (below, above), or largest difference (near).
    #[serde(default)]
    pub margin: f64,
    /// Tolerance relative to the paper's number.
    #[serde(default)]
    pub within: Option<f64>,
    /// Reason for the tolerance: the spread of the paper's own rows, its rounding, its trials.
    #[serde(default)]
    pub reason: Option<String>,
    /// A factor on the right side.
    #[serde(default)]
    pub factor: Option<f64>,
    /// Whether it has to hold in every run; tests check it.
    #[serde(default)]
    pub must: Must,
}

impl Expectation {
    /// A number printed in the paper has a relative tolerance and a reason.
    pub(super) fn check_tolerance(&self) -> Result<(), String> {
        let is_printed = self.paper.is_some_and(|p| p != 0.0);
        if let (Some(within), false) = (self.within, is_printed) {
            return Err(format!(
                "within = {within} is a part of a number that the paper prints; there is none, or it is 0"
            ));
        }
        if self.is != Relation::Near || self.every {
            return Ok(());
        }
        if is_printed && (self.margin != 0.0 || self.within.is_none()) {
            return Err(
                "near a number that the paper prints needs a relative tolerance: within = 0.1"
                    .into(),
            );
        }
        if is_printed && self.reason.is_none() {
            return Err("a tolerance needs a reason: the spread of the paper's rows, its rounding, its trials".into());
        }
        if !is_printed && self.margin == 0.0 {
            return Err("near needs a margin, stated before: margin = 0.5; or every = true".into());
        }
        Ok(())
    }

    /// Largest deviation, or least difference.
    pub(crate) fn tolerance(&self) -> f64 {
        match (self.within, self.paper) {
            (Some(within), Some(paper)) => within * paper.abs(),
            _ => self.margin,
        }
    }
}

/// The scale on which two numbers are compared.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// By their difference.
    Linear,
    /// By their ratio.
    Log,
}

/// In which variants an expectation has to hold: `true` for all, or a variant's name.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Must {
    /// In all of them, or in none.
    All(bool),
    /// In the variant of this name.
    In(String),
}

impl Default for Must {
    fn default() -> Self {
        Must::All(false)
    }
}

impl Must {
    /// Whether it has to hold in the variant of that name.
    pub fn covers(&self, variant: &str) -> bool {
        match self {
            Must::All(all) => *all,
            Must::In(name) => name == variant,
        }
    }
}

/// Comparisons of two numbers.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Smaller, by the margin.
    Below,
    /// Larger, by the margin.
    Above,
    /// Within the margin.
    Near,
}
