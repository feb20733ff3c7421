//! Settings: as given ([`Spec`]), and complete and checked ([`Settings`]).
//!
//! A [`Spec`] names an algorithm and sets some of its settings, from code, from JSON or from TOML. [`Spec::resolve`] adds the
//! defaults and refuses unknown names, values out of range and combinations that make no sense. The error is a
//! [`BuildError`] that names the setting. [`LearnerOptions`] holds what is not part of a method: the precision, the bias and the
//! storage of the weights.
//!
//! ```
//! use parsimon::settings::{Loss, Spec};
//!
//! let spec = Spec::from_json(r#"{"algorithm": "ftrl", "loss": "squared", "l1": 0.5}"#)?;
//! let settings = spec.resolve()?;
//! assert_eq!(settings.loss(), Loss::Squared);
//! assert_eq!(settings.to_json()["rate"], 0.1);
//!
//! let error = Spec::new("ftrl").set("l1", -1.0).resolve().unwrap_err();
//! assert_eq!(error.parameter(), "l1");
//! assert_eq!(error.to_string(), "l1 must be a finite number >= 0, got -1.0");
//! # Ok::<(), parsimon::BuildError>(())
//! ```

#[doc(hidden)]
pub mod alias;
mod filter;
mod into_settings;
pub(crate) mod lanes;
mod spec;
pub(crate) mod wrappers;

#[doc(hidden)]
pub use filter::FilterPrecision;
pub use filter::Regularization;
#[doc(hidden)]
pub use into_settings::IntoSettings;
pub use spec::Spec;

pub use crate::options::{LearnerOptions, Storage};
#[doc(hidden)]
pub use parsimon_core::LabelDomain;
#[doc(hidden)]
pub use parsimon_core::kernel::Kernel;
#[doc(inline)]
pub use parsimon_core::{Link, Loss, Precision};

use std::collections::BTreeMap;

use parsimon_core::Online;
use parsimon_files::memory;
use serde_json::{Map, Value};

use crate::algorithm::auto::Auto;
use crate::algorithm::groups::switch_at;
use crate::algorithm::lanes::LaneGroup;
use crate::algorithm::objective::{Bound, FeasibleSet, Met, Objective};
use crate::algorithm::penalized::PENALTY_FACTOR;
use crate::algorithm::recipe::{Composed, LearnerPlan, Recipe};
use crate::algorithm::room::scales;
use crate::algorithm::setting::ClassWeight;
use crate::algorithm::{Algorithm, Configured, Nature};
use crate::error::BuildError;
use crate::found::Found;
use crate::room;

/// Settings that are complete and checked. They never change: what was found in the data is passed to [`build`](Settings::build).
///
/// ```
/// use parsimon::{Settings, Spec};
///
/// let settings: Settings = Spec::new("rda").set("l1", 0.01).resolve()?;
/// assert_eq!(settings.algorithm().name, "rda");
/// assert!(settings.is_binary() && !settings.needs_dimension());
/// assert_eq!(settings.to_spec().resolve()?.to_json(), settings.to_json());
/// # Ok::<(), parsimon::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    algorithm: &'static Algorithm,
    values: Map<String, Value>,
    configured: Configured,
    is_loss_given: bool,
}

impl Settings {
    pub(crate) fn new(
        algorithm: &'static Algorithm,
        values: Map<String, Value>,
        configured: Configured,
        is_loss_given: bool,
    ) -> Self {
        Self { algorithm, values, configured, is_loss_given }
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// A spec that resolves to these settings.
    pub fn to_spec(&self) -> Spec {
        Spec::from_values(self.values.clone())
    }

    /// The settings as a JSON object.
    pub fn to_json(&self) -> &Map<String, Value> {
        &self.values
    }

    /// The settings as a struct of [`algorithm::typed`](crate::algorithm::typed); `None` if they are of another algorithm.
    ///
    /// ```
    /// use parsimon::Spec;
    /// use parsimon::algorithm::typed::Ftrl;
    ///
    /// let settings = Spec::new("ftrl").set("l1", 0.5).resolve()?;
    /// assert_eq!(settings.typed::<Ftrl>().map(|ftrl| ftrl.penalized.l1), Some(0.5));
    /// # Ok::<(), parsimon::BuildError>(())
    /// ```
    pub fn typed<T: Recipe>(&self) -> Option<&T> {
        self.recipe().as_any().downcast_ref()
    }

    pub(crate) fn recipe(&self) -> &dyn Composed {
        &*self.configured.recipe
    }

    /// The loss.
    pub fn loss(&self) -> Loss {
        self.configured.loss
    }

    /// The name of the loss.
    pub fn loss_name(&self) -> &'static str {
        self.configured.loss_word
    }

    /// Whether there is one learner per class.
    pub fn is_multiclass(&self) -> bool {
        self.configured.classes.multiclass
    }

    /// The declared classes.
    pub fn classes(&self) -> Option<&[String]> {
        self.configured.classes.classes.as_deref()
    }

    /// The labels of the classes, the negative one of two first; `None` if labels are numbers.
    pub fn class_labels(&self, found: &Found) -> Option<Vec<String>> {
        let stated = self.classes().map_or(&found.classes[..], |classes| classes);
        match stated {
            [] if self.is_binary() => Some(vec!["-1".into(), "1".into()]),
            classes if self.is_multiclass() || self.is_of_two_classes(found) => {
                Some(classes.to_vec())
            }
            _ => None,
        }
    }

    /// Whether labels are two classes. This holds if the loss is for classes, and also if the method learns numbers and two classes
    /// were declared or found; they are then learned as -1 and 1.
    pub fn is_of_two_classes(&self, found: &Found) -> bool {
        let stated = self.classes().map_or(&found.classes[..], |classes| classes);
        self.is_binary() || (self.is_of_numbers() && stated.len() == 2)
    }

    /// Whether the loss takes any number as a label.
    fn is_of_numbers(&self) -> bool {
        !self.is_multiclass() && self.loss().domain() == LabelDomain::Real
    }

    /// Whether data with two distinct labels is treated as two classes. This holds if the method learns numbers and neither the
    /// loss nor the classes are set.
    pub fn may_find_two_classes(&self) -> bool {
        self.is_of_numbers() && !self.is_loss_given && self.classes().is_none()
    }

    /// The factors on the importance of rows by class, if they are set.
    pub fn class_weight(&self) -> Option<&ClassWeight> {
        self.configured.classes.class_weight.as_ref()
    }

    /// Whether every row updates every weight, so that a row costs time in proportion to the number of features.
    pub fn is_dense(&self) -> bool {
        self.recipe().nature(self.loss()) == Nature::Dense
    }

    /// Whether the model is a kernel expansion over a dictionary of rows, which is not linear.
    pub fn is_kernel(&self) -> bool {
        self.recipe().nature(self.loss()) == Nature::Kernel
    }

    /// The kernels of a multikernel filter: in the order of their words, and within a word in the order of its list. None for
    /// a linear model.
    ///
    /// ```
    /// use parsimon::Spec;
    /// use parsimon::settings::Kernel;
    ///
    /// let spec = r#"{"algorithm": "multikernel-pda", "kernel": ["linear", "gaussian"], "variances": [0.5]}"#;
    /// let settings = Spec::from_json(spec)?.resolve()?;
    /// assert_eq!(settings.kernels(), [Kernel::Linear, Kernel::Gaussian { variance: 0.5 }]);
    /// assert!(Spec::new("ftrl").resolve()?.kernels().is_empty());
    /// # Ok::<(), parsimon::BuildError>(())
    /// ```
    pub fn kernels(&self) -> Vec<Kernel> {
        self.recipe().kernels()
    }

    /// The comparison of the regret; `None` if the regret of this algorithm is not computed.
    pub fn objective(&self) -> Option<Objective> {
        // The best weights in hindsight would need the factors, too.
        self.recipe().objective().filter(|_| self.penalty_factors().next().is_none())
    }

    /// Whether weights are restricted to a set.
    pub(crate) fn bounds_weights(&self) -> bool {
        let objective = self.recipe().objective();
        objective.is_some_and(|objective| objective.set != FeasibleSet::Everything)
    }

    /// The bound of the regret from the analysis of the algorithm, if any.
    pub fn regret_bound(&self, met: &Met) -> Option<Bound> {
        self.recipe().regret_bound(met).filter(|_| self.penalty_factors().next().is_none())
    }

    /// Whether features are normalized to a common scale while learning.
    pub fn is_normalized(&self) -> bool {
        self.configured.is_normalized
    }

    /// Whether rows count less the longer ago they were learned.
    pub fn has_half_life(&self) -> bool {
        self.recipe().half_life().is_some() || self.races_half_lives().is_some()
    }

    /// The settings of a race of half-lives, if they are one.
    fn races_half_lives(&self) -> Option<&Auto> {
        self.typed::<Auto>().filter(|auto| auto.half_lives)
    }

    /// Whether predicted numbers are clipped to the range of the labels learned.
    pub fn clips_predictions(&self) -> bool {
        self.is_normalized() && self.configured.clips_predictions
    }

    /// For `auto`, the settings of the rate and penalty that were chosen; otherwise a copy.
    #[must_use]
    pub fn after_race(&self, chosen: Option<usize>) -> Self {
        let racer = |auto: &Auto| auto.racer(self.loss(), chosen?);
        let Some((rate, l1, loss, half_life)) = self.typed::<Auto>().and_then(racer) else {
            return self.clone();
        };
        let alone = self.raced(rate, l1, loss);
        let fading = half_life.map(|rows| alone.to_spec().set("half_life", rows).resolve());
        fading.and_then(Result::ok).unwrap_or(alone)
    }

    /// For `auto`, the settings of one of its learners alone.
    pub(crate) fn raced(&self, rate: f64, l1: f64, loss: Loss) -> Self {
        let kept = self
            .to_json()
            .iter()
            .filter(|(name, _)| !["rate", "l1", "metric", "half_lives"].contains(&name.as_str()));
        let spec = kept.fold(Spec::default(), |spec, (name, value)| spec.set(name, value.clone()));
        let spec = spec.set("algorithm", "ftrl").set("normalize", true);
        let spec = spec.set("rate", rate).set("l1", l1).set("beta", 0);
        // The race may have one-against-all models beside softmax.
        let spec = if loss == self.loss() { spec } else { spec.set("loss", loss.word()) };
        spec.resolve().unwrap_or_else(|_| self.clone())
    }

    /// Returns the way in which such settings share a learner, if they can.
    pub(crate) fn lanes(&self, precision: Precision) -> Option<LaneGroup> {
        // A learner has one set of class weights; settings with other class weights would see other importances.
        if self.is_multiclass() || self.class_weight().is_some() {
            None
        } else {
            self.recipe().lanes(precision, self.loss())
        }
    }

    /// Whether labels are two classes.
    pub fn is_binary(&self) -> bool {
        !self.is_multiclass() && self.loss().domain() == LabelDomain::Binary
    }

    /// Whether labels are counts, which cannot be negative.
    pub fn is_of_counts(&self) -> bool {
        !self.is_multiclass() && self.loss().domain() == LabelDomain::NonNegative
    }

    /// The name of the progressive loss: the loss, or `error` (the share of errors) for several classes.
    pub fn progressive_name(&self) -> &'static str {
        if self.is_multiclass() { "error" } else { self.loss_name() }
    }

    /// Whether the number of features is needed before training and is not set.
    pub fn needs_dimension(&self) -> bool {
        self.recipe().needs_dimension().is_some() && self.recipe().dimension().is_none()
    }

    /// Whether the number of rows is needed before training, because `switch` is not set.
    pub fn needs_rows(&self) -> bool {
        self.recipe().needs_rows()
    }

    /// The number of features, declared or found.
    pub fn dimension(&self, found: &Found) -> Option<u32> {
        self.recipe().dimension().or(found.dimension)
    }

    /// The number of heads (sets of weights): one, or one per class. `None` if the classes are not known.
    pub fn heads(&self, found: &Found) -> Option<usize> {
        let classes = || self.classes().map_or(found.classes.len(), <[String]>::len);
        if self.is_multiclass() { Some(classes()).filter(|n| *n > 0) } else { Some(1) }
    }

    /// The settings as a JSON object, completed by what was found in the data.
    pub fn completed(&self, found: &Found) -> Map<String, Value> {
        let mut values = self.values.clone();
        if self.is_multiclass() && self.classes().is_none() && !found.classes.is_empty() {
            values.insert("classes".into(), found.classes.clone().into());
        }
        if let Some(dimension) = found.dimension.filter(|_| self.needs_dimension()) {
            values.insert("dimension".into(), dimension.into());
        }
        if let Some(rows) = found.rows.filter(|_| self.needs_rows()) {
            values.insert("switch".into(), switch_at(rows).into());
        }
        self.algorithm.in_order(values)
    }

    /// Least length of the saved state of a learner in bytes. A shorter file is refused before memory is allocated.
    pub(crate) fn least_saved(&self, options: LearnerOptions, found: &Found) -> u64 {
        let found = &Found { dimension: self.dimension(found), ..found.clone() };
        let heads = self.heads(found);
        self.recipe().least_saved(&LearnerPlan { loss: self.loss(), heads, found, options })
    }

    /// The names of the features whose penalty has a factor, with the factors.
    pub(crate) fn penalty_factors(&self) -> impl Iterator<Item = &str> {
        let each = self.values.get(PENALTY_FACTOR).and_then(Value::as_object);
        each.into_iter().flat_map(|each| each.keys().map(String::as_str))
    }

    /// Refuses factors of features that have no id, and of several features with one id.
    fn check_factors(&self, found: &Found) -> Result<(), BuildError> {
        let mut names: BTreeMap<u32, &str> = BTreeMap::new();
        for name in self.penalty_factors() {
            let Some(id) = found.feature(name) else {
                let message = format!(
                    "penalty_factor names the feature {name:?}, but features are not hashed here: name them by their numbers"
                );
                return Err(BuildError::new(PENALTY_FACTOR, message));
            };
            if let Some(other) = names.insert(id, name) {
                let message = format!(
                    "penalty_factor names the features {other:?} and {name:?}, which share a slot: use more bits"
                );
                return Err(BuildError::new(PENALTY_FACTOR, message));
            }
        }
        Ok(())
    }

    /// Refuses a learner that the memory budget has no place for.
    fn check_room(&self, plan: &LearnerPlan<'_>) -> Result<(), BuildError> {
        let options = plan.options;
        let mut bytes = self.recipe().room(plan);
        if self.is_normalized() {
            bytes = bytes.saturating_add(match options.precision {
                Precision::F32 => scales::<f32>(options.storage),
                Precision::F64 => scales::<f64>(options.storage),
            });
        }
        memory::check(bytes).map_err(|shortage| {
            let dimension =
                plan.found.dimension.filter(|_| self.recipe().needs_dimension().is_some());
            let (name, heads) = (self.algorithm.name, plan.heads.unwrap_or(1));
            let words = room::to_build(shortage, name, options.storage, dimension, heads);
            BuildError::new("memory", words)
        })
    }

    /// Builds a learner whose weights are zero.
    ///
    /// ```
    /// use parsimon::{LearnerOptions, Spec};
    /// use parsimon::survey::Found;
    ///
    /// let settings = Spec::new("rda").set("rate", 0.3).set("l1", 0.01).resolve()?;
    /// let learner = settings.build(LearnerOptions::default(), &Found::default())?;
    /// assert_eq!(learner.nonzeros(), 0);
    /// # Ok::<(), parsimon::BuildError>(())
    /// ```
    pub fn build(
        &self,
        options: LearnerOptions,
        found: &Found,
    ) -> Result<Box<dyn Online>, BuildError> {
        let Some(heads) = self.heads(found) else {
            return Err(BuildError::new("classes", "multiclass needs classes, the list of labels"));
        };
        let dimension = self.dimension(found);
        if let Some(who) = self.recipe().needs_dimension() {
            let Some(features) = dimension else {
                return Err(BuildError::new(
                    "dimension",
                    format!(
                        "{who} needs dimension, the number of features (ids are counted from 1)"
                    ),
                ));
            };
            self.recipe().check_size(features.into())?;
        }
        if self.needs_rows() && found.rows.is_none() {
            return Err(BuildError::new(
                "switch",
                "the two-phase schedule needs switch, the round m of the change",
            ));
        }
        let found = Found { dimension, ..found.clone() };
        self.check_factors(&found)?;
        let heads = self.is_multiclass().then_some(heads);
        let options = LearnerOptions { storage: options.storage.for_heads(heads), ..options };
        let plan = LearnerPlan { loss: self.loss(), heads, found: &found, options };
        self.check_room(&plan)?;
        let learner = self.recipe().learner(&plan);
        Ok(if let Some(auto) = self.races_half_lives() {
            self.beside_half_lives(auto, learner, &plan)
        } else if self.is_normalized() {
            self.on_common_scale(learner, options, &found)
        } else {
            learner
        })
    }
}
