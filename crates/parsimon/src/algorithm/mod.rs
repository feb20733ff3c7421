//! The algorithms: their names, papers, settings, defaults and usual grids.
//!
//! [`ALGORITHMS`] lists them, and [`find`] finds one by name. A [`Spec`](crate::Spec) names an algorithm and sets some of its
//! settings; [`Algorithm::parameters`] lists the settings with their kinds, defaults and help texts. The program's flags and help
//! and the Python classes are made from the same list.
//!
//! ```
//! use parsimon::algorithm::{ALGORITHMS, Algorithm, Parameter, find, typed};
//!
//! let ftrl: &Algorithm = find("ftrl").unwrap();
//! assert_eq!(ftrl.cost, "O(nnz)");
//! let rate: &Parameter = ftrl.parameter("rate").unwrap();
//! assert_eq!(rate.default.unwrap().value(), 0.1);
//! assert!(ALGORITHMS.iter().any(|algorithm| algorithm.name == "nlms"));
//!
//! // The settings of each algorithm are also a struct.
//! let settings = parsimon::Spec::new("ftrl").resolve()?;
//! assert_eq!(settings.typed::<typed::Ftrl>().unwrap().rate, 0.1);
//! # Ok::<(), parsimon::BuildError>(())
//! ```

use std::any::TypeId;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};

use crate::error::BuildError;

mod adadelta;
mod adagrad;
mod adaline;
mod adam;
mod apa;
mod apfbs;
pub(crate) mod auto;
mod c_adaline;
mod csgd;
mod dual_averaging;
pub(crate) mod filter;
mod fobos;
mod ftl;
mod ftrl;
mod generalized_rda;
pub(crate) mod groups;
pub(crate) mod lanes;
mod lazy_fobos;
mod lazy_sparse;
mod lazy_splitting;
pub(crate) mod learner;
mod lms;
mod margin;
mod multikernel;
mod nag;
pub(crate) mod nature;
mod nlms;
pub(crate) mod objective;
mod papa;
mod pda;
pub(crate) mod penalized;
mod projections;
mod proportionate;
pub(crate) mod race;
mod rda;
pub(crate) mod recipe;
mod rls;
pub(crate) mod room;
pub(crate) mod setting;
mod sgd;
mod subgradient_l1;
mod truncated_gradient;
mod truncation;
pub mod typed;
mod unified;

pub use setting::Parameter;

pub(crate) use nature::Nature;
pub(crate) use recipe::{Card, PENALTIES};

use groups::{Classes, Losses, Scaling};
use parsimon_core::Loss;
use recipe::{Composed, Recipe};
use setting::{Configuration, Values};

/// Every algorithm.
pub static ALGORITHMS: LazyLock<Vec<Algorithm>> = LazyLock::new(|| {
    vec![
        Algorithm::of::<auto::Auto>(),
        Algorithm::of::<sgd::Sgd>(),
        Algorithm::of::<sgd::Asgd>(),
        Algorithm::of::<subgradient_l1::SubgradientL1>(),
        Algorithm::of::<truncation::Truncation>(),
        Algorithm::of::<truncated_gradient::TruncatedGradient>(),
        Algorithm::of::<fobos::Fobos>(),
        Algorithm::of::<lazy_fobos::LazyFobos>(),
        Algorithm::of::<lazy_splitting::LazySplitting>(),
        Algorithm::of::<lazy_sparse::LazySparse>(),
        Algorithm::of::<rda::Rda>(),
        Algorithm::of::<generalized_rda::GeneralizedRda>(),
        Algorithm::of::<dual_averaging::DualAveraging>(),
        Algorithm::of::<adagrad::AdaGradRda>(),
        Algorithm::of::<adagrad::AdaGradFobos>(),
        Algorithm::of::<ftrl::Ftrl>(),
        Algorithm::of::<unified::Comid>(),
        Algorithm::of::<unified::Ftprl>(),
        Algorithm::of::<unified::Aogd>(),
        Algorithm::of::<unified::UnifiedRda>(),
        Algorithm::of::<adam::Adam>(),
        Algorithm::of::<adadelta::AdaDelta>(),
        Algorithm::of::<nag::Nag>(),
        Algorithm::of::<margin::Pa>(),
        Algorithm::of::<margin::Arow>(),
        Algorithm::of::<margin::Scw>(),
        Algorithm::of::<ftl::Ftl>(),
        Algorithm::of::<csgd::Csgd>(),
        Algorithm::of::<csgd::Ncsgd>(),
        Algorithm::of::<rls::Rls>(),
        Algorithm::of::<adaline::Adaline>(),
        Algorithm::of::<c_adaline::CAdaline>(),
        Algorithm::of::<lms::Lms>(),
        Algorithm::of::<nlms::Nlms>(),
        Algorithm::of::<apa::Apa>(),
        Algorithm::of::<papa::Papa>(),
        Algorithm::of::<proportionate::Pnlms>(),
        Algorithm::of::<proportionate::Ipnlms>(),
        Algorithm::of::<apfbs::Apfbs>(),
        Algorithm::of::<pda::Pda>(),
        Algorithm::of::<multikernel::MultikernelPda>(),
        Algorithm::of::<multikernel::MultikernelApfbs>(),
    ]
});

/// One algorithm of [`ALGORITHMS`]. It dereferences to its [`Card`].
///
/// ```
/// use parsimon::algorithm::ALGORITHMS;
///
/// // Every algorithm with a setting l1, and its default.
/// for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.has("l1")) {
///     let l1 = algorithm.parameter("l1").unwrap();
///     println!("{:20} {:?}", algorithm.name, l1.default.map(|default| default.value()));
/// }
/// ```
pub struct Algorithm {
    /// Its card.
    card: Card,
    /// Settings of the loss.
    losses: Vec<Parameter>,
    /// Its own settings.
    own: Vec<Parameter>,
    /// The sweeps that `tune` tries by default.
    pub grid: &'static [&'static str],
    /// The sweeps that `tune` tries by default on normalized rows.
    pub normalized_grid: &'static [&'static str],
    aliases: &'static [(&'static str, &'static str)],
    is_filter: bool,
    signal_rate: Option<f64>,
    loss_of_classes: Option<Loss>,
    falls_with_energy: bool,
    read: fn(Values<'_>) -> Result<Configured, BuildError>,
    complete: fn(&mut Map<String, Value>),
    settings: TypeId,
}

/// The card's fields are the algorithm's.
impl std::ops::Deref for Algorithm {
    type Target = Card;
    fn deref(&self) -> &Card {
        &self.card
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Algorithm").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Checked settings of some algorithm.
#[derive(Clone, Debug)]
pub(crate) struct Configured {
    pub(crate) loss: Loss,
    pub(crate) loss_word: &'static str,
    pub(crate) classes: Classes,
    pub(crate) is_normalized: bool,
    pub(crate) clips_predictions: bool,
    pub(crate) recipe: Arc<dyn Composed>,
}

impl Algorithm {
    fn of<T: Recipe>() -> Self {
        let (mut losses, mut own) = (Vec::new(), Vec::new());
        T::Losses::parameters(&mut losses);
        T::parameters(&mut own);
        for parameter in own.iter_mut().filter(|p| p.name == "l1" && T::L1 > 0.0) {
            parameter.default = Some(T::L1.into());
        }
        Self {
            card: T::CARD,
            losses,
            own,
            grid: T::GRID,
            normalized_grid: T::NORMALIZED_GRID,
            aliases: T::ALIASES,
            is_filter: filters_signals::<T>(),
            signal_rate: T::SIGNAL_RATE,
            loss_of_classes: T::LOSS_OF_CLASSES,
            falls_with_energy: T::FALLS_WITH_ENERGY,
            read: read::<T>,
            complete: T::complete,
            settings: TypeId::of::<T>(),
        }
    }

    /// Whether `C` are the settings of this algorithm.
    pub(crate) fn is_of<C: Configuration>(&self) -> bool {
        self.settings == TypeId::of::<C>()
    }

    /// Fills in defaults that depend on other settings.
    pub(crate) fn complete(&self, values: &mut Map<String, Value>) {
        (self.complete)(values);
    }

    /// The settings of this algorithm, without those of the loss and the classes.
    pub fn own_parameters(&self) -> &[Parameter] {
        &self.own
    }

    /// Every setting: of the loss, of the classes, and of this algorithm.
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.losses.iter().chain(CLASSES.iter()).chain(&self.own)
    }

    /// Values in the order of the settings, whether they were given, filled in or found: equal settings are equal bytes.
    pub(crate) fn in_order(&self, mut values: Map<String, Value>) -> Map<String, Value> {
        let names = std::iter::once("algorithm").chain(self.parameters().map(|p| p.name));
        names.filter_map(|name| values.remove_entry(name)).collect()
    }

    /// The setting of that name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters().find(|p| p.name == name)
    }

    /// Whether the algorithm has a setting of that name.
    pub fn has(&self, name: &str) -> bool {
        self.parameter(name).is_some()
    }

    /// The default loss for several classes, if it differs from the default for others.
    pub(crate) fn loss_of_classes(&self) -> Option<Loss> {
        self.loss_of_classes
    }

    /// Whether the algorithm can filter a signal sample by sample.
    pub fn is_filter(&self) -> bool {
        self.is_filter
    }

    /// The default rate for signals, if it differs from the default for tables.
    pub fn signal_rate(&self) -> Option<f64> {
        self.signal_rate
    }

    /// Whether the default rate is for rows near length 1 and longer rows need a smaller one.
    #[doc(hidden)]
    pub fn falls_with_energy(&self) -> bool {
        self.falls_with_energy
    }

    /// The setting that the paper of the algorithm calls `name`.
    pub fn alias(&self, name: &str) -> Option<&'static str> {
        self.aliases.iter().find(|(alias, _)| *alias == name).map(|(_, setting)| *setting)
    }

    /// Reads complete values.
    pub(crate) fn configure(
        &self,
        values: &mut Map<String, Value>,
    ) -> Result<Configured, BuildError> {
        self.complete(values);
        // The loss is one of several classes.
        if values.get("loss").is_some_and(|loss| loss == Loss::Softmax.word()) {
            values.insert("multiclass".into(), true.into());
        }
        (self.read)(Values(values))
    }
}

/// The settings of classes and scales, which every algorithm has.
static CLASSES: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
    let mut list = Vec::new();
    Classes::parameters(&mut list);
    Scaling::parameters(&mut list);
    list
});

fn read<T: Recipe>(values: Values<'_>) -> Result<Configured, BuildError> {
    let losses = T::Losses::read(values)?;
    let classes = Classes::read(values)?;
    let scaling = Scaling::read(values)?;
    let own = T::read(values)?;
    if values.0.contains_key("power") && values.0.get("schedule") != Some(&"power".into()) {
        return Err(BuildError::new("power", "power is a setting of the schedule power"));
    }
    losses.check()?;
    own.check(&losses)?;
    let (loss, loss_word) = (losses.loss(), losses.word());
    if loss == Loss::Poisson && classes.multiclass {
        let message = "multiclass needs a loss for classes or the squared loss";
        return Err(BuildError::new("loss", message));
    }
    if !own.kernels().is_empty() && classes.multiclass {
        let name = T::CARD.name;
        let message = format!("{name} predicts numbers and knows no classes; leave out multiclass");
        return Err(BuildError::new("multiclass", message));
    }
    if !own.kernels().is_empty() && scaling.normalize {
        let message = format!("{} is not linear and cannot be normalized", T::CARD.name);
        return Err(BuildError::new("normalize", message));
    }
    let is_normalized = scaling.normalize || T::NORMALIZES;
    if scaling.no_clip_predictions && !is_normalized {
        let message =
            "without normalize, predictions are not clipped; leave out no_clip_predictions";
        return Err(BuildError::new("no_clip_predictions", message));
    }
    let clips_predictions = !scaling.no_clip_predictions;
    let recipe = Arc::new(own);
    Ok(Configured { loss, loss_word, classes, is_normalized, clips_predictions, recipe })
}

/// Whether the algorithm with its defaults offers a method for filtering.
fn filters_signals<T: Recipe>() -> bool {
    let mut parameters = Vec::new();
    T::parameters(&mut parameters);
    let mut values = setting::defaults(&parameters);
    T::complete(&mut values);
    T::read(Values(&values)).is_ok_and(|own| own.filter::<f64, _>(filter::Probe).is_some())
}

/// The algorithm of that name.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|a| a.name == name)
}

/// The names of the algorithms that filter signals.
#[doc(hidden)]
pub fn filters() -> impl Iterator<Item = &'static str> {
    ALGORITHMS.iter().filter(|a| a.is_filter()).map(|a| a.name)
}

/// The settings of all algorithms, each name once, with the parameters of every algorithm that has a setting of that name.
#[doc(hidden)]
pub fn all_parameters() -> Vec<(&'static Parameter, Vec<&'static Parameter>)> {
    let mut all: Vec<(&Parameter, Vec<&Parameter>)> = Vec::new();
    for parameter in ALGORITHMS.iter().flat_map(Algorithm::parameters) {
        match all.iter_mut().find(|(first, _)| first.name == parameter.name) {
            Some((_, same)) => same.push(parameter),
            None => all.push((parameter, vec![parameter])),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_acceptable_and_every_name_unique() {
        let mut names: Vec<_> = ALGORITHMS.iter().map(|a| a.name).collect();
        for algorithm in ALGORITHMS.iter() {
            for parameter in algorithm.parameters() {
                if let Some(default) = parameter.default {
                    parameter.check(&default.value()).unwrap();
                }
            }
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALGORITHMS.len());
    }
}
