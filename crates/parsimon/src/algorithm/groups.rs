//! Settings that several algorithms share.

use parsimon_core::rule::mirror::HalfStep as CoreHalfStep;
use parsimon_core::{Loss, Schedule};

use super::setting::{
    ClassWeights, Configuration, Dimension, Flag, Fraction, NonNegative, Positive, Share, Texts,
    choice, settings,
};
use crate::error::BuildError;
use crate::found::Found;

/// Settings of the loss.
pub trait Losses: Configuration {
    /// The loss.
    fn loss(&self) -> Loss;
    /// The word of the loss.
    fn word(&self) -> &'static str;
    /// Refuses settings of another loss.
    fn check(&self) -> Result<(), BuildError> {
        Ok(())
    }
}

choice! {
    /// The losses.
    pub enum LossName {
        /// `ln(1 + e^{-yp})`
        Logistic = "logistic",
        /// `-ln p_y` of several classes, with `p_k = e^{m_k} / sum_j e^{m_j}`.
        Softmax = "softmax",
        /// `(p - y)^2 / 2`
        Squared = "squared",
        /// `max(0, 1 - yp)`
        Hinge = "hinge",
        /// `max(0, 1 - yp)^2 / 2`
        SquaredHinge = "squared-hinge",
        /// A parabola near zero, a line beyond `huber_delta`.
        Huber = "huber",
        /// The pinball loss.
        Quantile = "quantile",
        /// `e^p - yp`
        Poisson = "poisson",
    }
}

settings! {
    /// Any loss.
    pub struct AnyLoss {
        loss: LossName = "logistic", "loss function";
        huber_delta: Option<Positive>, "error above which the Huber loss is linear (loss huber only; 1 if not set)";
        quantile: Option<Fraction>, "quantile to predict (loss quantile only; 0.5 if not set)";
    }
}

impl Losses for AnyLoss {
    fn loss(&self) -> Loss {
        match self.loss {
            LossName::Logistic => Loss::Logistic,
            LossName::Softmax => Loss::Softmax,
            LossName::Squared => Loss::Squared,
            LossName::Hinge => Loss::Hinge,
            LossName::SquaredHinge => Loss::SquaredHinge,
            LossName::Huber => Loss::Huber { delta: self.huber_delta.unwrap_or(1.0) },
            LossName::Quantile => Loss::Quantile { tau: self.quantile.unwrap_or(0.5) },
            LossName::Poisson => Loss::Poisson,
        }
    }
    fn word(&self) -> &'static str {
        self.loss.word()
    }
    fn check(&self) -> Result<(), BuildError> {
        let is_foreign = [
            ("huber_delta", "huber", self.huber_delta.is_some() && self.loss != LossName::Huber),
            ("quantile", "quantile", self.quantile.is_some() && self.loss != LossName::Quantile),
        ];
        match is_foreign.into_iter().find(|(_, _, is_foreign)| *is_foreign) {
            Some((name, loss, _)) => {
                Err(BuildError::new(name, format!("{name} is a setting of the loss {loss}")))
            }
            None => Ok(()),
        }
    }
}

impl AnyLoss {
    /// Refuses losses whose exact step has no closed form here.
    pub(crate) fn check_exact(&self, is_exact: bool) -> Result<(), BuildError> {
        use LossName::{Hinge, Logistic, Squared};
        match is_exact && ![Squared, Logistic, Hinge].contains(&self.loss) {
            true => Err(BuildError::new(
                "implicit",
                "implicit updates are for the losses squared, logistic and hinge",
            )),
            false => Ok(()),
        }
    }
}

choice! {
    /// The squared loss alone.
    pub enum OnlySquared {
        /// `(p - y)^2 / 2`
        Squared = "squared",
    }
}

settings! {
    /// The squared error.
    pub struct SquaredLoss {
        loss: OnlySquared = "squared", "the squared error";
    }
}

impl Losses for SquaredLoss {
    fn loss(&self) -> Loss {
        Loss::Squared
    }
    fn word(&self) -> &'static str {
        self.loss.word()
    }
}

settings! {
    /// The squared error of two classes as the numbers -1 and 1.
    pub struct AdalineLoss {
        loss: OnlySquared = "squared", "the squared error";
    }
}

impl Losses for AdalineLoss {
    fn loss(&self) -> Loss {
        Loss::Adaline
    }
    fn word(&self) -> &'static str {
        self.loss.word()
    }
}

choice! {
    /// The hinge loss alone.
    pub enum OnlyHinge {
        /// `max(0, 1 - yp)`
        Hinge = "hinge",
    }
}

settings! {
    /// The hinge loss, in which margin methods are measured.
    pub struct HingeLoss {
        loss: OnlyHinge = "hinge", "the hinge loss, in which progress is measured";
    }
}

impl Losses for HingeLoss {
    fn loss(&self) -> Loss {
        Loss::Hinge
    }
    fn word(&self) -> &'static str {
        self.loss.word()
    }
}

choice! {
    /// The set of weights that a row allows.
    pub enum RowSet {
        /// `w.x = y`
        Projection = "projection",
        /// `y w.x >= 1`
        Halfspace = "halfspace",
    }
}

settings! {
    /// The distance to the weights that a row allows.
    pub struct ProjectionLoss {
        loss: RowSet = "projection", "condition that a row sets for the weights: w.x = y (projection, for numbers) or y w.x >= 1 (halfspace, for classes)";
    }
}

impl Losses for ProjectionLoss {
    fn loss(&self) -> Loss {
        match self.loss {
            RowSet::Projection => Loss::Squared,
            RowSet::Halfspace => Loss::SquaredHinge,
        }
    }
    fn word(&self) -> &'static str {
        self.loss.word()
    }
}

choice! {
    /// Hyperplanes alone.
    pub enum OnlyProjection {
        /// `w.x = y`
        Projection = "projection",
    }
}

settings! {
    /// The distance to the hyperplane of a row.
    pub struct HyperplaneLoss {
        loss: OnlyProjection = "projection", "condition that a row sets for the weights: w.x = y";
    }
}

impl Losses for HyperplaneLoss {
    fn loss(&self) -> Loss {
        Loss::Squared
    }
    fn word(&self) -> &'static str {
        self.loss.word()
    }
}

settings! {
    /// One learner per class.
    pub struct Classes {
        multiclass: Flag = false, "learn several classes, with a set of weights for each: together (loss softmax, which auto uses if no loss is set), or each against all others (any other loss)";
        classes: Option<Texts>, "names of the classes; found by a scan of the data if not set";
        class_weight: Option<ClassWeights>, "factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10";
    }
}

settings! {
    /// Rows on a common scale.
    pub struct Scaling {
        normalize: Flag = false, "bring features, and numeric labels, to a common scale while learning";
        no_clip_predictions: Flag = false, "do not clip predicted numbers to the range of the learned labels (with normalize)";
    }
}

choice! {
    /// Schedule of the step size.
    pub enum ScheduleName {
        /// `eta`
        Constant = "constant",
        /// `eta / sqrt(t)`
        Sqrt = "sqrt",
        /// `eta / t`
        Inverse = "inverse",
        /// `eta / t^alpha`
        Power = "power",
        /// Constant, then falling.
        TwoPhase = "two-phase",
    }
}

settings! {
    /// Steps that depend on the round.
    pub struct Steps {
        rate: Positive = 0.5, "learning rate (eta, or eta_0 of a schedule)";
        schedule: ScheduleName = "sqrt", "how the learning rate decreases";
        switch: Option<Positive>, "round in which the two-phase schedule changes (m); half the rows if not set";
        power: Option<Share>, "exponent of the power schedule (alpha in eta_0/t^alpha; 0.5 if not set)";
    }
}

impl Steps {
    /// The schedule.
    pub(crate) fn schedule(&self, found: &Found) -> Schedule {
        match self.schedule {
            ScheduleName::Power => power(self.rate, self.power),
            name => schedule(name, self.rate, self.switch, found),
        }
    }
    /// Whether the number of rows must be known.
    pub(crate) fn needs_rows(&self) -> bool {
        self.schedule == ScheduleName::TwoPhase && self.switch.is_none()
    }
}

/// The round of the two-phase schedule's switch: half the rows, as in its paper.
pub(crate) fn switch_at(rows: u64) -> u64 {
    (rows / 2).max(1)
}

/// The power schedule; that of the square root unless an exponent is given.
pub(crate) fn power(rate: f64, exponent: Option<f64>) -> Schedule {
    Schedule::Power { rate, exponent: exponent.unwrap_or(0.5) }
}

/// A schedule by its name; the switch of the two-phase one is half the rows unless it is given, and the exponent of the power
/// schedule is its default.
pub(crate) fn schedule(
    name: ScheduleName,
    rate: f64,
    switch: Option<f64>,
    found: &Found,
) -> Schedule {
    match name {
        ScheduleName::Constant => Schedule::Constant { rate },
        ScheduleName::Sqrt => Schedule::Sqrt { rate },
        ScheduleName::Inverse => Schedule::Inverse { rate },
        ScheduleName::Power => power(rate, None),
        ScheduleName::TwoPhase => {
            let half = || switch_at(found.rows.unwrap_or(0)) as f64;
            Schedule::TwoPhase { rate, switch: switch.unwrap_or_else(half) }
        }
    }
}

choice! {
    /// `eta` of the proximal half of a round.
    pub enum HalfStep {
        /// `eta_t`
        Same = "same",
        /// `eta_{t+1}`
        Next = "next",
    }
}

impl From<HalfStep> for CoreHalfStep {
    fn from(step: HalfStep) -> Self {
        match step {
            HalfStep::Same => CoreHalfStep::Same,
            HalfStep::Next => CoreHalfStep::Next,
        }
    }
}

settings! {
    /// The number of features, for methods that need it before the first row.
    pub struct Features {
        dimension: Option<Dimension>, "number of features; found by a scan of the data if not set";
    }
}

settings! {
    /// A small number that keeps a metric finite.
    pub struct Regularized {
        delta: NonNegative = 1e-5, "added to the normalizer";
    }
}
