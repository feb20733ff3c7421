//! The algorithms: their names, papers, settings, defaults and usual grids.
//!
//! [`ALGORITHMS`] lists them, and [`find`] finds one by name. A [`Spec`](crate::Spec) names an algorithm and sets some of its
//! settings; [`Algorithm::parameters`] lists the settings with their kinds, defaults and help texts. The program's flags and help
//! and the Python classes are made from the same list.
//!
//! ```
//! use parsimon::algorithm::{Kind, filters, find};
//!
//! let ftrl = find("ftrl").unwrap();
//! assert_eq!(ftrl.cost, "O(nnz)");
//! let rate = ftrl.parameter("rate").unwrap();
//! assert_eq!((rate.kind, rate.default.unwrap().value()), (Kind::Positive, 0.1.into()));
//! assert!(filters().any(|name| name == "nlms"));
//! ```

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
mod learner;
mod lms;
mod multikernel;
mod nature;
mod nlms;
pub(crate) mod objective;
mod papa;
mod pda;
mod penalized;
mod projections;
mod proportionate;
mod race;
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

pub use nature::Nature;
pub use recipe::{Card, PENALTIES};
pub use setting::{ClassWeight, Default as DefaultValue, Kind, Parameter, scalar};

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
    /// The settings that say which loss.
    losses: Vec<Parameter>,
    /// Its own settings.
    own: Vec<Parameter>,
    /// The sweeps that `tune` tries by default.
    pub grid: &'static [&'static str],
    /// The sweeps that `tune` tries by default on normalized rows.
    pub normalized_grid: &'static [&'static str],
    aliases: &'static [(&'static str, &'static str)],
    retired: &'static [&'static str],
    is_filter: bool,
    signal_rate: Option<f64>,
    read: fn(Values<'_>) -> Result<Configured, BuildError>,
    complete: fn(&mut Map<String, Value>),
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
            retired: T::RETIRED,
            is_filter: filters_signals::<T>(),
            signal_rate: T::SIGNAL_RATE,
            read: read::<T>,
            complete: T::complete,
        }
    }

    /// The settings of this algorithm, without those of the loss and the classes.
    pub fn own_parameters(&self) -> &[Parameter] {
        &self.own
    }

    /// Every setting: of the loss, of the classes, and of this algorithm.
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.losses.iter().chain(CLASSES.iter()).chain(&self.own)
    }

    /// The setting of that name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters().find(|p| p.name == name)
    }

    /// Whether the algorithm has a setting of that name.
    pub fn has(&self, name: &str) -> bool {
        self.parameter(name).is_some()
    }

    /// Whether the algorithm can filter a signal sample by sample.
    pub fn is_filter(&self) -> bool {
        self.is_filter
    }

    /// The default rate for signals, if it differs from the default for tables.
    pub fn signal_rate(&self) -> Option<f64> {
        self.signal_rate
    }

    /// The setting that the paper of the algorithm calls `name`.
    pub fn alias(&self, name: &str) -> Option<&'static str> {
        self.aliases.iter().find(|(alias, _)| *alias == name).map(|(_, setting)| *setting)
    }

    /// Whether a file of an earlier version may carry a setting that it no longer has.
    pub(crate) fn has_retired(&self, name: &str) -> bool {
        self.retired.contains(&name)
    }

    /// Reads complete values.
    pub(crate) fn configure(
        &self,
        values: &mut Map<String, Value>,
    ) -> Result<Configured, BuildError> {
        (self.complete)(values);
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
    let default = |p: &Parameter| Some((p.name.to_owned(), p.default?.value()));
    let mut values: Map<String, Value> = parameters.iter().filter_map(default).collect();
    T::complete(&mut values);
    T::read(Values(&values)).is_ok_and(|own| own.filter::<f64, _>(filter::Probe).is_some())
}

/// The algorithm of that name.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|a| a.name == name)
}

/// The names of the algorithms that filter signals.
pub fn filters() -> impl Iterator<Item = &'static str> {
    ALGORITHMS.iter().filter(|a| a.is_filter()).map(|a| a.name)
}

/// The settings of all algorithms, each name once, with the parameters of every algorithm that has a setting of that name.
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
