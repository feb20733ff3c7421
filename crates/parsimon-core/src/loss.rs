//! (A) The losses: one row of a table each, with the value and the slope at margin `p = w.x` and what else follows from the loss.

use crate::exponential::{exp, ln_1p};
use crate::softmax::Shares;
use crate::wide::{Work, wide};

/// The labels that a loss accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelDomain {
    /// Two classes, with the labels -1 and 1.
    Binary,
    /// Any finite number.
    Real,
    /// A number >= 0.
    NonNegative,
}

/// The function from margins to predictions.
///
/// ```
/// use parsimon_core::Link;
///
/// assert_eq!([Link::Identity, Link::Probability, Link::Mean].map(|link| link.apply(0.0)), [0.0, 0.5, 1.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The margin itself.
    Identity,
    /// `1 / (1 + e^-p)`: the probability of the label 1.
    Probability,
    /// `e^p`: the mean of a count.
    Mean,
}

impl Link {
    /// Returns the prediction at margin `p`.
    #[inline]
    pub fn apply(self, p: f64) -> f64 {
        match self {
            Link::Identity => p,
            Link::Probability => 1.0 / (1.0 + exp(-p)),
            Link::Mean => exp(p.min(MAX_EXPONENT)),
        }
    }
}

/// The margin that minimizes the mean of a loss when no feature is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BestConstant {
    /// The log odds of the positive class.
    LogOdds,
    /// The mean label.
    Mean,
    /// The sign of the mean label: the more frequent class.
    Sign,
    /// The logarithm of the mean label.
    LogMean,
    /// The point without a closed form where the slopes add up to zero; found by steps.
    Center {
        /// The largest slope.
        steepest: f64,
        /// Whether the slope near the center is the distance to the label.
        is_smooth: bool,
    },
}

// NUMERICS: e^p overflows near 709.8. A stream that gets this far has diverged; the slope must stay
// finite all the same so that the learner can report it instead of turning its state into NaN.
const MAX_EXPONENT: f64 = 700.0;

/// The log odds against a class that no learner has seen: its probability is as small as a probability is taken to be.
const UNKNOWN: f64 = 36.043_653_389_117_15;

/// Declares the losses: one row per loss. The fields of a row are in a fixed order, and a row without one of them does not compile.
macro_rules! losses {
    ($($(#[$about:meta])* $name:ident $(( $(#[$doc:meta])* $field:ident = $example:literal ))? {
        word: $word:literal,
        vw: $vw:expr,
        domain: $domain:ident,
        other_label: $other:literal,
        link: $link:ident,
        is_half_mse: $half:literal,
        constant: $constant:expr,
        value: |$p:ident, $y:ident| $value:expr,
        slope: |$q:ident, $z:ident| $slope:expr,
    })+) => {
        /// A convex loss of the margin `p` and the label `y`.
        ///
        /// It is evaluated once per row, hence an enum. Classification labels are -1 and 1.
        ///
        /// ```
        /// use parsimon_core::Loss;
        ///
        /// let loss = Loss::Logistic;
        /// assert_eq!(loss.slope(0.0, 1.0), -0.5);
        /// assert!((loss.value(0.0, 1.0) - 2f64.ln()).abs() < 1e-15);
        /// assert_eq!(loss.predict(0.0), 0.5);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Loss {
            $($(#[$about])* $name $({ $(#[$doc])* $field: f64 })?,)+
        }

        impl Loss {
            /// Every loss, with its default parameter.
            pub const ALL: &'static [Loss] = &[$(Loss::$name $({ $field: $example })?),+];

            /// Returns the loss at margin `p`.
            #[inline]
            pub fn value(&self, p: f64, y: f64) -> f64 {
                match *self {
                    $(Loss::$name $({ $field })? => {
                        let ($p, $y) = (p, y);
                        $value
                    })+
                }
            }

            /// Returns the derivative in `p`; at a kink, the value that the formulas of this library use.
            #[inline]
            pub fn slope(&self, p: f64, y: f64) -> f64 {
                match *self {
                    $(Loss::$name $({ $field })? => {
                        let ($q, $z) = (p, y);
                        $slope
                    })+
                }
            }

            /// Returns the name of the loss in settings.
            pub fn word(&self) -> &'static str {
                match self { $(Loss::$name { .. } => $word,)+ }
            }

            /// Returns the name of the loss in Vowpal Wabbit, if it has the loss.
            pub fn vw_name(&self) -> Option<&'static str> {
                match self { $(Loss::$name { .. } => $vw,)+ }
            }

            /// Returns the labels that the loss accepts.
            pub fn domain(&self) -> LabelDomain {
                match self { $(Loss::$name { .. } => LabelDomain::$domain,)+ }
            }

            /// Returns the label of a row of another class, for one of several learners.
            pub fn other_label(&self) -> f64 {
                match self { $(Loss::$name { .. } => $other,)+ }
            }

            /// Returns the function from margins to predictions.
            #[inline]
            pub fn link(&self) -> Link {
                match self { $(Loss::$name { .. } => Link::$link,)+ }
            }

            /// Returns whether the loss is half the squared error.
            pub fn is_half_mse(&self) -> bool {
                match self { $(Loss::$name { .. } => $half,)+ }
            }

            /// Returns the kind of the best constant margin.
            pub fn best_constant(&self) -> BestConstant {
                match *self { $(Loss::$name $({ $field })? => { $(let _ = $field;)? $constant })+ }
            }
        }
    };
}

losses! {
    /// `ln(1 + e^(-y p))`, `y` in {-1, 1}.
    Logistic {
        word: "logistic",
        vw: Some("logistic"),
        domain: Binary,
        other_label: -1.0,
        link: Probability,
        is_half_mse: false,
        constant: BestConstant::LogOdds,
        value: |p, y| logistic(y * p),
        slope: |p, y| logistic_slope(p, y),
    }
    /// `-ln p_y`, where `p_k = e^(m_k) / sum_j e^(m_j)`: the margins `m` of several classes are learned together. Of one margin alone
    /// it is the logistic loss: the other classes count as one, whose margin is zero.
    Softmax {
        word: "softmax",
        vw: None,
        domain: Binary,
        other_label: -1.0,
        link: Probability,
        is_half_mse: false,
        constant: BestConstant::LogOdds,
        value: |p, y| logistic(y * p),
        slope: |p, y| logistic_slope(p, y),
    }
    /// `(p - y)^2 / 2`.
    Squared {
        word: "squared",
        vw: Some("squared"),
        domain: Real,
        other_label: 0.0,
        link: Identity,
        is_half_mse: true,
        constant: BestConstant::Mean,
        value: |p, y| 0.5 * (p - y) * (p - y),
        slope: |p, y| p - y,
    }
    /// `max(0, 1 - y p)`, `y` in {-1, 1}.
    Hinge {
        word: "hinge",
        vw: Some("hinge"),
        domain: Binary,
        other_label: -1.0,
        link: Identity,
        is_half_mse: false,
        constant: BestConstant::Sign,
        value: |p, y| (1.0 - y * p).max(0.0),
        slope: |p, y| if y * p < 1.0 { -y } else { 0.0 },
    }
    /// `max(0, 1 - y p)^2 / 2`, `y` in {-1, 1}.
    SquaredHinge {
        word: "squared-hinge",
        vw: None,
        domain: Binary,
        other_label: -1.0,
        link: Identity,
        is_half_mse: false,
        constant: BestConstant::Mean,
        value: |p, y| {
            let r = (1.0 - y * p).max(0.0);
            0.5 * r * r
        },
        slope: |p, y| -y * (1.0 - y * p).max(0.0),
    }
    /// `r^2 / 2` for `|r| <= delta`, `delta (|r| - delta/2)` beyond, `r = p - y`.
    Huber (
        /// Error above which the parabola becomes a line.
        delta = 1.0
    ) {
        word: "huber",
        vw: None,
        domain: Real,
        other_label: 0.0,
        link: Identity,
        is_half_mse: false,
        constant: BestConstant::Center { steepest: delta, is_smooth: true },
        value: |p, y| {
            let r = (p - y).abs();
            if r <= delta { 0.5 * r * r } else { delta * (r - 0.5 * delta) }
        },
        slope: |p, y| (p - y).clamp(-delta, delta),
    }
    /// `tau (y - p)` above, `(1 - tau) (p - y)` below: the conditional `tau`-quantile.
    Quantile (
        /// The quantile, in (0, 1).
        tau = 0.5
    ) {
        word: "quantile",
        vw: Some("quantile"),
        domain: Real,
        other_label: 0.0,
        link: Identity,
        is_half_mse: false,
        constant: BestConstant::Center { steepest: 1.0, is_smooth: false },
        value: |p, y| {
            let r = y - p;
            if r >= 0.0 { tau * r } else { (tau - 1.0) * r }
        },
        slope: |p, y| {
            if p < y {
                -tau
            } else if p > y {
                1.0 - tau
            } else {
                0.0
            }
        },
    }
    /// `e^p - y p`: counts with mean `e^p`, `y >= 0`.
    Poisson {
        word: "poisson",
        vw: Some("poisson"),
        domain: NonNegative,
        other_label: 0.0,
        link: Mean,
        is_half_mse: false,
        constant: BestConstant::LogMean,
        value: |p, y| Link::Mean.apply(p) - y * p,
        slope: |p, y| Link::Mean.apply(p) - y,
    }
    /// `(p - y)^2 / 2` where `y` is a class, -1 or 1: Adaline's, whose class is the sign of `p`.
    Adaline {
        word: "squared",
        vw: None,
        domain: Binary,
        other_label: 0.0,
        link: Identity,
        is_half_mse: true,
        constant: BestConstant::Mean,
        value: |p, y| 0.5 * (p - y) * (p - y),
        slope: |p, y| p - y,
    }
}

impl Loss {
    /// Returns the prediction for a margin: a probability, a mean count, or the margin itself.
    #[inline]
    pub fn predict(&self, p: f64) -> f64 {
        self.link().apply(p)
    }

    /// Returns how far a row moves weights if its gradient is followed in infinitely many small steps of total length `h`, where the
    /// margin moves by `s` for each unit (Karampatziakis and Langford 2011, table 1). The margin ends at `p + flow * s` and never beyond
    /// the label; for small `h` it is the step of the gradient, `-h * slope`.
    ///
    /// ```
    /// use parsimon_core::Loss;
    ///
    /// // However important the row, the margin stops at the label.
    /// let u = Loss::Squared.flow(1.0, 3.0, 1e6, 4.0);
    /// assert_eq!(1.0 + 4.0 * u, 3.0);
    /// ```
    pub fn flow(&self, p: f64, y: f64, h: f64, s: f64) -> f64 {
        // NUMERICS: below this length the curve is a line in the last digits.
        if h * s < 1e-9 || s <= 0.0 {
            return -h * self.slope(p, y);
        }
        match *self {
            Loss::Squared | Loss::Adaline => (y - p) * approach(h * s) / s,
            Loss::SquaredHinge => y * (1.0 - y * p).max(0.0) * approach(h * s) / s,
            Loss::Hinge if y * p >= 1.0 => 0.0,
            Loss::Hinge => y * h.min((1.0 - y * p) / s),
            Loss::Quantile { tau } => {
                let pull = if y > p { tau } else { 1.0 - tau };
                (pull * h).min((y - p).abs() / s) * (y - p).signum()
            }
            Loss::Huber { delta } => {
                let (missing, side) = ((y - p).abs(), (y - p).signum());
                let line = ((missing - delta).max(0.0) / (delta * s)).min(h);
                let at = missing - line * delta * s;
                side * (delta * line + at.min(delta) * approach((h - line) * s) / s)
            }
            Loss::Logistic | Loss::Softmax => y * (logistic_flow(y * p, h * s) - y * p) / s,
            Loss::Poisson => poisson_flow(p, y, h * s) / s,
        }
    }

    /// Returns whether predictions are probabilities of classes.
    pub fn has_probabilities(&self) -> bool {
        self.link() == Link::Probability
    }

    /// Returns the probability of each class from the margins of all. One-against-all margins promise nothing about each other: their
    /// probabilities are divided by their sum.
    ///
    /// ```
    /// use parsimon_core::Loss;
    ///
    /// let margins = [6.0, 3.0];
    /// assert!((Loss::Softmax.probabilities(&margins)[0] - 0.953).abs() < 1e-3);
    /// assert!((Loss::Logistic.probabilities(&margins)[0] - 0.511).abs() < 1e-3);
    /// ```
    pub fn probabilities(&self, margins: &[f64]) -> Vec<f64> {
        if *self == Loss::Softmax {
            let shares = Shares::of(margins.iter().copied());
            return margins.iter().map(|m| shares.probability(*m)).collect();
        }
        let each: Vec<f64> = margins.iter().map(|p| self.predict(*p)).collect();
        let sum: f64 = each.iter().sum();
        // All probabilities may underflow.
        let equal = 1.0 / each.len() as f64;
        each.into_iter().map(|p| if sum > 0.0 { p / sum } else { equal }).collect()
    }

    /// Returns the loss of the margins of several classes, of which `class` is the right one: the sum of the losses of all classes where
    /// each was learned against all others.
    pub fn value_of_classes(&self, margins: &[f64], class: usize) -> f64 {
        match (self, margins.get(class)) {
            (Loss::Softmax, Some(m)) => Shares::of(margins.iter().copied()).value(*m),
            // A class that the learner does not know: as if its margin were so far below that it has next to no probability.
            (Loss::Softmax, None) => Loss::Softmax.value(-UNKNOWN, 1.0),
            _ => {
                let each = margins.iter().enumerate();
                each.map(|(k, m)| self.value(*m, own_label(class as f64, k, self.other_label())))
                    .sum()
            }
        }
    }

    /// Returns the [`slope`](Loss::slope) at several margins; the logistic one several at a time.
    #[inline(always)]
    pub(crate) fn slopes<const K: usize>(&self, p: &[f64; K], y: f64) -> [f64; K] {
        let mut slopes = [0.0; K];
        let pairs = slopes.iter_mut().zip(p);
        // PERF: without the branch inside, the compiler computes several exponentials at a time.
        if let Loss::Logistic | Loss::Softmax = self {
            pairs.for_each(|(slope, p)| *slope = logistic_slope(*p, y));
        } else {
            pairs.for_each(|(slope, p)| *slope = self.slope(*p, y));
        }
        slopes
    }

    /// Computes the [`value`](Loss::value) of every row at its margin and its label; the logistic one several at a time.
    ///
    /// ```
    /// use parsimon_core::Loss;
    ///
    /// let mut losses = Vec::new();
    /// Loss::Logistic.row_values(&[0.0, 2.0], &[1.0, -1.0], &mut losses);
    /// assert_eq!(losses, [Loss::Logistic.value(0.0, 1.0), Loss::Logistic.value(2.0, -1.0)]);
    /// ```
    pub fn row_values(&self, margins: &[f64], labels: &[f64], losses: &mut Vec<f64>) {
        losses.clear();
        losses.resize(margins.len(), 0.0);
        wide(RowValues { loss: *self, margins, labels, losses });
    }

    /// Computes the value of every row where all rows have one label.
    pub fn values(&self, margins: &[f64], label: f64, losses: &mut Vec<f64>) {
        losses.clear();
        losses.resize(margins.len(), label);
        wide(Values { loss: *self, margins, losses });
    }
}

struct RowValues<'a> {
    loss: Loss,
    margins: &'a [f64],
    labels: &'a [f64],
    losses: &'a mut [f64],
}

impl Work for RowValues<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Self { loss, margins, labels, losses } = self;
        let rows = losses.iter_mut().zip(margins).zip(labels);
        if let Loss::Logistic | Loss::Softmax = loss {
            rows.for_each(|((value, p), y)| *value = logistic(y * p));
        } else {
            rows.for_each(|((value, p), y)| *value = loss.value(*p, *y));
        }
    }
}

/// Values of rows with one label, which the slots of the losses hold at first.
struct Values<'a> {
    loss: Loss,
    margins: &'a [f64],
    losses: &'a mut [f64],
}

impl Work for Values<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Self { loss, margins, losses } = self;
        let rows = losses.iter_mut().zip(margins);
        if let Loss::Logistic | Loss::Softmax = loss {
            rows.for_each(|(y, p)| *y = logistic(*y * p));
        } else {
            rows.for_each(|(y, p)| *y = loss.value(*p, *y));
        }
    }
}

/// `ln(1 + e^-m)`.
///
/// NUMERICS: as `ln(1 + e^-|m|) + max(0, -m)`, where nothing overflows.
#[inline(always)]
fn logistic(m: f64) -> f64 {
    ln_1p(exp(-m.abs())) + (-m).max(0.0)
}

/// `1 - e^-x`, the share of the way to the label.
///
/// NUMERICS: by its series where the difference would cancel.
#[inline]
fn approach(x: f64) -> f64 {
    if x < 1e-4 { x * (1.0 - x * (0.5 - x / 6.0)) } else { 1.0 - exp(-x) }
}

/// The margin `z` that solves `z + e^z = m + e^m + length`, to which the logistic loss moves the margin `m`.
fn logistic_flow(m: f64, length: f64) -> f64 {
    let e = exp(m.min(MAX_EXPONENT));
    // With `z = m + way` this is `way + e^m (e^way - 1) = length`. Both terms are positive, so that each alone bounds the way.
    let mut way = (length / (1.0 + e)).min((length / e).ln_1p());
    for _ in 0..60 {
        let grown = e * way.exp_m1();
        let step = (way + grown - length) / (1.0 + e + grown);
        way -= step;
        if step.abs() <= 1e-15 * way.abs() {
            break;
        }
    }
    m + way
}

/// The way of the margin `p` towards the count `y`.
///
/// NUMERICS: `e^(-y s h)` where the formula has `e^(y s h)`, which overflows.
fn poisson_flow(p: f64, y: f64, length: f64) -> f64 {
    let mean = Link::Mean.apply(p);
    if y <= 0.0 {
        return -(mean * length).ln_1p();
    }
    let left = exp(-y * length);
    -(left + mean * approach(y * length) / y).ln()
}

/// The derivative of the logistic loss.
#[inline(always)]
fn logistic_slope(p: f64, y: f64) -> f64 {
    -y / (1.0 + exp(y * p))
}

/// The label that the learner of class `class` sees of a row whose label is the class at position `y`.
pub(crate) fn own_label(y: f64, class: usize, other: f64) -> f64 {
    if y == class as f64 { 1.0 } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_the_derivative() {
        for loss in Loss::ALL {
            for p in [-3.3, -0.7, 0.2, 0.9, 2.4] {
                let y = 1.0;
                let h = 1e-6;
                let numeric = (loss.value(p + h, y) - loss.value(p - h, y)) / (2.0 * h);
                assert!((numeric - loss.slope(p, y)).abs() < 1e-7, "{loss:?} at {p}");
            }
        }
    }

    #[test]
    fn no_margin_makes_a_slope_infinite() {
        for loss in Loss::ALL {
            for p in [-1e308, -800.0, 0.0, 800.0, 1e308] {
                assert!(loss.slope(p, 1.0).is_finite(), "{loss:?} at {p}");
            }
        }
    }

    #[test]
    fn logistic_is_exact_far_out() {
        assert_eq!(Loss::Logistic.value(-1000.0, 1.0), 1000.0);
        assert_eq!(Loss::Logistic.value(1000.0, 1.0), 0.0);
        assert_eq!(Loss::Logistic.slope(1000.0, 1.0), 0.0);
        assert_eq!(Loss::Logistic.slope(-1000.0, 1.0), -1.0);
    }

    /// The mean of the loss over a few labels is least at the best constant, where it has a closed form.
    #[test]
    fn the_best_constant_minimizes_the_mean() {
        for loss in Loss::ALL {
            let labels = match loss.domain() {
                LabelDomain::Binary => [1.0, -1.0, 1.0, 1.0],
                LabelDomain::Real | LabelDomain::NonNegative => [0.5, 3.0, 2.0, 4.0],
            };
            let mean = labels.iter().sum::<f64>() / 4.0;
            let best = match loss.best_constant() {
                BestConstant::LogOdds => 3f64.ln(),
                BestConstant::Mean => mean,
                BestConstant::Sign => mean.signum(),
                BestConstant::LogMean => mean.ln(),
                BestConstant::Center { .. } => continue,
            };
            let total = |p: f64| labels.iter().map(|y| loss.value(p, *y)).sum::<f64>();
            for p in [best - 0.1, best + 0.1] {
                assert!(total(best) <= total(p), "{loss:?} at {p}");
            }
        }
    }

    /// Predictions grow with the margin, and no margin makes one infinite.
    #[test]
    fn links_increase_and_stay_finite() {
        for loss in Loss::ALL {
            let at = [-1e3, -1.0, 0.0, 1.0, 699.0].map(|p| loss.predict(p));
            assert!(at.windows(2).all(|pair| pair[0] < pair[1]), "{loss:?}: {at:?}");
            assert!(loss.predict(1e308).is_finite(), "{loss:?}");
        }
    }
}
