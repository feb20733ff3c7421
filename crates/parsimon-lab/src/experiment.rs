//! Experiments as data: the run, the claim of the paper, and the conditions under which the claim holds.

mod check;
mod expectation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::expectation::{Expectation, Must, Relation, Scale};
use crate::kind::search::{FEWEST, Search};

/// The experiments that come with the program, by id, as TOML.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// Effort of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Minutes for everything.
    Quick,
    /// Enough trials for a spread.
    Standard,
    /// The papers' own numbers of trials.
    Full,
}

/// A number that depends on the effort.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PerEffort {
    /// For [`Effort::Quick`].
    pub quick: u64,
    /// For [`Effort::Standard`].
    pub standard: u64,
    /// For [`Effort::Full`].
    pub full: u64,
}

impl PerEffort {
    /// The number for an effort.
    pub fn at(&self, effort: Effort) -> u64 {
        match effort {
            Effort::Quick => self.quick,
            Effort::Standard => self.standard,
            Effort::Full => self.full,
        }
    }
}

/// One experiment of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// `paper/name`.
    #[serde(skip)]
    pub id: String,
    /// Its file.
    #[serde(skip)]
    pub(crate) text: String,
    /// Title.
    pub title: String,
    /// Place in the paper.
    pub printed: String,
    /// Claim of the paper in one sentence.
    pub claim: String,
    /// Loop that runs it.
    pub kind: Kind,
    /// Sort of the claim. Default: an experiment of a paper.
    #[serde(default)]
    pub category: Category,
    /// Whether the rows are those of the paper, or made as the paper says; a variant may differ.
    #[serde(default)]
    pub data: Origin,
    /// Information that the claim depends on and the paper does not give: the verdict is undecided for every measurement.
    #[serde(default)]
    pub open: Option<String>,
    /// Changes after a result was seen, with the verdict before.
    #[serde(default)]
    pub changed: Option<Changed>,
    /// The measures and what their axes are called.
    #[serde(default)]
    pub axes: BTreeMap<String, String>,
    /// Remarks on the settings.
    #[serde(default)]
    pub note: Option<String>,
    /// Number of trials.
    pub trials: PerEffort,
    /// Settings of the loop; they differ by kind.
    #[serde(default)]
    pub settings: toml::Table,
    /// Figures. Default: every measure against the rounds.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Drawn>,
    /// The methods; a variant may replace them.
    #[serde(default, rename = "method")]
    pub methods: Vec<Method>,
    /// Methods that should be one another.
    #[serde(default, rename = "pair")]
    pub pairs: Vec<Pair>,
    /// Variants of the run; the first has the paper's settings.
    #[serde(default, rename = "variant")]
    pub variants: Vec<Variant>,
    /// The statements whose counterexamples are searched for.
    #[serde(default, rename = "search")]
    pub searches: Vec<Search>,
    /// Core of the claim.
    #[serde(default, rename = "expect")]
    pub expectations: Vec<Expectation>,
}

/// Sorts of claims. The headline counts each sort separately.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// A theorem: checked, because a proof may be wrong and a program even more so.
    Theorem,
    /// An experiment that the paper describes.
    #[default]
    Experiment,
    /// A comparison of ours.
    Own,
}

/// Origin of the rows of an experiment. A claim on the paper's rows is judged on these only.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The paper's own data, or its construction.
    #[default]
    Paper,
    /// Other rows: what agrees with the paper and what differs is shown, without a verdict on the paper.
    Other,
}

/// A change of a file after its result was seen.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// The change.
    pub what: String,
    /// The verdict before.
    pub earlier: String,
}

/// Loops that run experiments.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Batch methods and their distance from the certified minimum.
    Batch,
    /// The theorems on CSGD, round by round.
    Constrained,
    /// Cost of an update by the number of features.
    Cost,
    /// MNIST, one against all.
    Digits,
    /// Speech through an echo path.
    Echo,
    /// Two methods that should be one.
    Equivalence,
    /// Held-out AUC against the nonzeros, over strengths of the penalty.
    Front,
    /// One step, as figures illustrate it.
    Geometry,
    /// Growth of the regret with the rounds.
    Growth,
    /// A synthetic sparse system, row by row.
    Identification,
    /// A row of large weight, learned at once or bit by bit.
    Importance,
    /// Linear losses that turn against the leader.
    Leader,
    /// Generated least squares, rows drawn with replacement.
    LeastSquares,
    /// A nonlinear function by multikernel filters.
    Multikernel,
    /// Steps of a penalty one by one and put together.
    Proximal,
    /// Regret against the best fixed weights, and its bound.
    Regret,
    /// Only the search for counterexamples.
    Search,
    /// Online prediction on a real set.
    Stream,
    /// Passes over the rows of a real set.
    Table,
    /// Documents with topics, one against all.
    Topics,
}

/// A method under a name of the paper's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Its name in figures.
    pub name: String,
    /// Its settings.
    pub spec: toml::Table,
}

/// A figure: a measure against the rounds or against another measure, a curve for every method.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// Name in the paper: `Figure 4.4, left`.
    #[serde(default)]
    pub number: Option<String>,
    /// The measure along the vertical axis.
    pub y: String,
    /// The measure along the horizontal axis; the rounds, if absent.
    #[serde(default)]
    pub x: Option<String>,
    /// Title of the horizontal axis, if it is neither the rounds nor a measure.
    #[serde(default)]
    pub across: Option<String>,
    /// A measure drawn beside it, dashed: a bound.
    #[serde(default)]
    pub also: Option<String>,
    /// Logarithmic axes: `x`, `y` or `xy`.
    #[serde(default)]
    pub log: String,
    /// Marks where the measures end, instead of curves.
    #[serde(default)]
    pub ends: bool,
}

/// Two methods that should be one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The theorem.
    pub name: String,
    /// The losses it holds for; the methods' own, if there are none.
    #[serde(default)]
    pub losses: Vec<String>,
    /// Whether the rows have a bias.
    #[serde(default)]
    pub bias: bool,
    /// One side.
    pub a: toml::Table,
    /// The other.
    pub b: toml::Table,
}

/// One way to run an experiment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Difference from the experiment.
    pub name: String,
    /// Origin of its rows, if it differs from that of the experiment.
    #[serde(default)]
    pub data: Option<Origin>,
    /// Settings over those of the experiment.
    #[serde(default)]
    pub settings: toml::Table,
    /// Its own methods.
    #[serde(default)]
    pub methods: Vec<Method>,
}

impl Kind {
    /// Whether the settings of a method are those of `parsimon train`, and not of the loop.
    pub(crate) fn has_learners(self) -> bool {
        !matches!(
            self,
            Kind::Batch
                | Kind::Constrained
                | Kind::Cost
                | Kind::Geometry
                | Kind::Proximal
                | Kind::Search
        )
    }
}

impl Experiment {
    /// Number of configurations that a trial searches, so that all trials together search enough.
    pub(crate) fn configurations(&self, effort: Effort) -> usize {
        let all = match effort {
            Effort::Quick => FEWEST / 50,
            Effort::Standard => FEWEST,
            Effort::Full => 2 * FEWEST,
        };
        all.div_ceil(self.trials.at(effort).max(1)) as usize
    }

    /// Whether an expectation of it is part of the core claim.
    pub(crate) fn is_core(&self, expectation: &Expectation) -> bool {
        expectation.core || !self.expectations.iter().any(|e| e.core)
    }

    /// The scale on which figures draw a measure.
    pub(crate) fn scale_of(&self, measure: &str) -> Scale {
        let draws = |d: &Drawn| d.y == measure || d.also.as_deref() == Some(measure);
        match self.figures.iter().any(|d| draws(d) && d.log.contains('y')) {
            true => Scale::Log,
            false => Scale::Linear,
        }
    }

    /// The settings of a variant that depend on the effort: `rounds 16384`. A verdict is at this horizon.
    pub fn horizon(&self, variant: &Variant, effort: Effort) -> Option<String> {
        let mut settings = self.settings.clone();
        settings.extend(variant.settings.clone());
        let differing = |(name, value): (String, toml::Value)| {
            let per: PerEffort = value.try_into().ok()?;
            let is_one = per.quick == per.standard && per.standard == per.full;
            (!is_one).then(|| format!("{name} {}", per.at(effort)))
        };
        let parts: Vec<String> = settings.into_iter().filter_map(differing).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Origin of the rows of a variant.
    pub fn origin(&self, variant: &Variant) -> Origin {
        variant.data.unwrap_or(self.data)
    }

    /// The respect in which the trials of a variant differ, which is what their spread measures.
    pub fn trials_differ_in(&self, variant: &Variant) -> &'static str {
        let has_set = |table: &toml::Table| table.contains_key("set");
        match self.kind {
            Kind::Stream | Kind::Table => ORDER,
            Kind::Digits | Kind::Front | Kind::Topics => SPLIT,
            Kind::Regret if has_set(&self.settings) || has_set(&variant.settings) => ORDER,
            Kind::Echo => "in the stretch of one recording, the echo path and the noise",
            _ => "in everything that is drawn",
        }
    }

    /// The paper's short name.
    pub fn paper(&self) -> &str {
        self.id.split('/').next().unwrap_or(&self.id)
    }

    /// Names with a curve in the variant, in the order of the file.
    pub(crate) fn names_of(&self, variant: &str) -> Vec<&str> {
        let variant = self.variants.iter().find(|v| v.name == variant);
        let methods = variant.map_or(&self.methods[..], |v| self.methods_of(v));
        let pairs = self.pairs.iter().map(|p| p.name.as_str());
        methods.iter().map(|m| m.name.as_str()).chain(pairs).chain(self.peers()).collect()
    }

    /// Names of other programs that the experiment runs on its rows.
    pub(crate) fn peers(&self) -> impl Iterator<Item = &str> {
        let list = self.settings.get("peers").and_then(toml::Value::as_array);
        list.into_iter().flatten().filter_map(toml::Value::as_str)
    }

    /// The methods of a variant.
    pub fn methods_of<'a>(&'a self, variant: &'a Variant) -> &'a [Method] {
        if variant.methods.is_empty() { &self.methods } else { &variant.methods }
    }
}

const ORDER: &str = "in the order of the rows of one data set: the spread measures the order only, not what other data would give";
const SPLIT: &str = "in the order and the split of one data set: the spread measures these only, not what other data would give";

/// Every experiment that comes with the program.
///
/// ```
/// let all = parsimon_lab::experiments()?;
/// assert!(all.iter().any(|e| e.id == "pda-thesis/identification"));
/// # Ok::<(), String>(())
/// ```
pub fn experiments() -> Result<Vec<Experiment>, String> {
    FILES.iter().map(|(id, text)| Experiment::parse(id, text)).collect()
}
