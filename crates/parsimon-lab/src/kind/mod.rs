//! The loops: how a trial of an experiment is run. An experiment names one; adding an experiment adds no loop.

mod batch;
mod clock;
mod constrained;
mod cost;
mod digits;
mod echo;
mod embedding;
mod equivalence;
mod front;
mod geometry;
mod growth;
mod hindsight;
mod identification;
mod importance;
mod leader;
mod least_squares;
mod multikernel;
mod proximal;
mod regret;
pub mod search;
mod stream;
mod table;
mod topics;

use std::collections::BTreeMap;
use std::path::Path;

use parsimon::Spec;
use serde::{Deserialize, Serialize};

use crate::experiment::{Effort, Experiment, Kind, Method, Variant};
use crate::picture::Picture;

/// Points of one measure, in order of the round.
pub type Curve = Vec<(f64, f64)>;

/// The measurements of one trial: for every method, the curve of every measure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// By method, then by measure.
    pub curves: BTreeMap<String, BTreeMap<String, Curve>>,
    /// Values chosen during the trial (such as a rate found by search), by method.
    #[serde(default)]
    pub chosen: BTreeMap<String, String>,
    /// The result of its part of the search for a counterexample.
    #[serde(default)]
    pub searched: Vec<search::Searched>,
    /// Data generated in the place of a missing set.
    #[serde(default)]
    pub stand_in: Option<String>,
    /// Pictures besides the curves; only the first trial has any.
    #[serde(default)]
    pub pictures: Vec<Picture>,
}

/// One trial to be run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Which way.
    pub variant: &'a Variant,
    /// Effort of the run.
    pub effort: Effort,
    /// Its number among the trials.
    pub number: u64,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Whether it is the trial whose pictures are shown.
    pub is_first: bool,
    /// The folder of real data.
    pub data: &'a Path,
    /// Whether only its settings are read.
    pub is_probe: bool,
}

/// Error with which a trial that only reads its settings ends.
const PROBED: &str = "the settings are good";

impl Run<'_> {
    /// Settings of the loop: the experiment's, overwritten by the variant's.
    fn settings<T: serde::de::DeserializeOwned>(&self) -> Result<T, String> {
        let mut table = self.experiment.settings.clone();
        table.extend(self.variant.settings.clone());
        let settings = table.try_into().map_err(|e| format!("settings: {e}"))?;
        if self.is_probe { Err(PROBED.into()) } else { Ok(settings) }
    }

    /// Reads the settings that a variant of an experiment gives its loop, and runs nothing.
    pub(crate) fn check_settings(experiment: &Experiment, variant: &Variant) -> Result<(), String> {
        // These two loops have no settings.
        if matches!(experiment.kind, Kind::Search | Kind::Equivalence) {
            return Ok(());
        }
        let (effort, data) = (Effort::Quick, Path::new(""));
        let probe = Run {
            experiment,
            variant,
            effort,
            number: 0,
            seed: 0,
            is_first: false,
            data,
            is_probe: true,
        };
        match probe.measured() {
            Err(why) if why != PROBED => Err(why),
            _ => Ok(()),
        }
    }

    /// Runs the trial; an error is a line for the report.
    pub fn trial(&self) -> Result<Trial, String> {
        let mut trial = self.measured()?;
        let is_printed =
            self.experiment.variants.first().is_some_and(|v| v.name == self.variant.name);
        if is_printed && !self.experiment.searches.is_empty() {
            trial.searched = search::trial(self, self.experiment.configurations(self.effort))?;
        }
        Ok(trial)
    }

    fn measured(&self) -> Result<Trial, String> {
        match self.experiment.kind {
            Kind::Batch => batch::trial(self),
            Kind::Constrained => constrained::trial(self),
            Kind::Cost => cost::trial(self),
            Kind::Digits => digits::trial(self),
            Kind::Echo => echo::trial(self),
            Kind::Equivalence => equivalence::trial(self),
            Kind::Front => front::trial(self),
            Kind::Geometry => geometry::trial(self),
            Kind::Growth => growth::trial(self),
            Kind::Identification => identification::trial(self),
            Kind::Importance => importance::trial(self),
            Kind::Leader => leader::trial(self),
            Kind::LeastSquares => least_squares::trial(self),
            Kind::Multikernel => multikernel::trial(self),
            Kind::Proximal => proximal::trial(self),
            Kind::Regret => regret::trial(self),
            Kind::Search => Ok(Trial::default()),
            Kind::Stream => stream::trial(self),
            Kind::Table => table::trial(self),
            Kind::Topics => topics::trial(self),
        }
    }
}

/// Rates to choose from: the powers of two from one to the other.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rates {
    from: i32,
    to: i32,
}

impl Rates {
    fn powers(self) -> impl Iterator<Item = i32> {
        self.from..=self.to
    }
}

/// A method's settings, as far as they can be checked before the rows are known: a period of 0 stands for the number of rows.
pub(crate) fn complete(method: &Method) -> Spec {
    let spec = spec(method);
    if spec.get("period").is_some() { spec.set("period", 1) } else { spec }
}

/// A method's settings.
pub(crate) fn spec(method: &Method) -> Spec {
    spec_of(&method.spec)
}

/// Settings from a table.
pub(crate) fn spec_of(table: &toml::Table) -> Spec {
    let fields = serde_json::to_value(table).unwrap_or_default();
    let fields = fields.as_object().cloned().unwrap_or_default();
    let set = |spec: Spec, (name, value): (String, _)| spec.set(&name, value);
    // An experiment lists its methods.
    fields.into_iter().fold(Spec::default(), set).for_signals()
}
