//! The loops: how a trial of an experiment is run. An experiment names one; adding an experiment adds no loop.

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
mod least_squares;
mod multikernel;
mod proximal;
mod regret;
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

/// What one trial measured: for every method, every measure's curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// By method, then by measure.
    pub curves: BTreeMap<String, BTreeMap<String, Curve>>,
    /// What was chosen on the way (a rate found by search), by method.
    #[serde(default)]
    pub chosen: BTreeMap<String, String>,
    /// What was generated in the place of a set that is not there.
    #[serde(default)]
    pub stand_in: Option<String>,
    /// What it shows beside its curves; only the first trial has any.
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
    /// How much of it.
    pub effort: Effort,
    /// It alone decides what is drawn.
    pub seed: u64,
    /// Whether it is the trial whose pictures are shown.
    pub is_first: bool,
    /// Where real data is.
    pub data: &'a Path,
}

impl Run<'_> {
    /// What its loop wants to know: the experiment's settings, and the variant's over them.
    fn settings<T: serde::de::DeserializeOwned>(&self) -> Result<T, String> {
        let mut table = self.experiment.settings.clone();
        table.extend(self.variant.settings.clone());
        table.try_into().map_err(|e| format!("settings: {e}"))
    }

    /// Runs it; the error is a line for the report.
    pub fn trial(&self) -> Result<Trial, String> {
        match self.experiment.kind {
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
            Kind::LeastSquares => least_squares::trial(self),
            Kind::Multikernel => multikernel::trial(self),
            Kind::Proximal => proximal::trial(self),
            Kind::Regret => regret::trial(self),
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

/// A method's settings.
pub(crate) fn spec(method: &Method) -> Spec {
    spec_of(&method.spec)
}

/// Settings from a table.
pub(crate) fn spec_of(table: &toml::Table) -> Spec {
    let fields = serde_json::to_value(table).unwrap_or_default();
    let fields = fields.as_object().cloned().unwrap_or_default();
    let set = |spec: Spec, (name, value): (String, _)| spec.set(&name, value);
    // An experiment states what it is made of.
    fields.into_iter().fold(Spec::default(), set).for_signals()
}
