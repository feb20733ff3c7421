//! Loss of a constant prediction, which learning must beat.

use parsimon_core::{BestConstant, LabelDomain, Loss};
use parsimon_eval::Mean;
use serde::{Deserialize, Serialize};

use crate::found::Found;
use crate::settings::Settings;

/// A prediction that uses no feature: the frequency of the classes, the mean, or an estimate of the quantile, depending on the
/// loss. Each row is predicted from the labels before it, so that the loss can be compared with a progressive loss. Before the
/// first label it predicts the margin 0, as most learners do.
///
/// ```
/// use parsimon::Spec;
/// use parsimon::workspace::Constant;
/// use parsimon::survey::Found;
///
/// let settings = Spec::new("sgd").set("loss", "squared").resolve()?;
/// let mut constant = Constant::new(&settings, &Found::default());
/// // Predicted are 0, 2 and 3.
/// let costs: Vec<f64> = [2.0, 4.0, 3.0].iter().map(|y| constant.learn(*y, 1.0)).collect();
/// assert_eq!(costs, [2.0, 2.0, 0.0]);
/// # Ok::<(), parsimon::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    loss: Loss,
    pub(super) labels: Labels,
}

/// Sums over the labels so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Labels {
    weight: f64,
    /// The weight of positive rows, for two classes.
    positive: f64,
    mean: f64,
    /// The weighted squares of deviations from the mean.
    squares: f64,
    /// The estimate of a quantile, or of the center of the Huber loss, and the mean distance of labels from it.
    center: f64,
    distance: f64,
    /// The weight of each class, if there are several, and the most frequent one.
    classes: Vec<f64>,
    most_frequent: usize,
}

impl Constant {
    /// A constant that has seen no label.
    pub fn new(settings: &Settings, found: &Found) -> Self {
        let is_multiclass = settings.is_multiclass();
        let classes = if is_multiclass { settings.heads(found).unwrap_or(1) } else { 0 };
        let labels = Labels { classes: vec![0.0; classes], ..Labels::default() };
        Self { loss: settings.loss(), labels }
    }

    /// The loss.
    pub(super) fn loss(&self) -> Loss {
        self.loss
    }

    /// Predicts a label from the labels before it, updates the constant, and returns the loss. For several classes the loss is 0 or
    /// 1.
    pub fn learn(&mut self, y: f64, weight: f64) -> f64 {
        let cost = self.cost(y);
        if weight > 0.0 {
            self.labels.take(self.loss, y, weight);
        }
        cost
    }

    /// Returns the cost of a label without learning it.
    pub(super) fn cost(&self, y: f64) -> f64 {
        let labels = &self.labels;
        if !labels.classes.is_empty() {
            return f64::from(u8::from(labels.most_frequent as f64 != y));
        }
        if self.loss == Loss::Logistic {
            // Computes the loss at the margin without an exponential.
            let positive = labels.share_of_positives();
            return -(if y > 0.0 { positive } else { 1.0 - positive }).ln();
        }
        self.loss.value(self.margin(), y)
    }

    /// Returns the prediction for every row: one margin, or one per class.
    pub fn margins(&self) -> Vec<f64> {
        let labels = &self.labels;
        if labels.classes.is_empty() {
            return vec![self.margin()];
        }
        let margin = |class: &f64| {
            let share = (class + 0.5) / (labels.weight + 1.0);
            match self.loss.best_constant() {
                BestConstant::LogOdds => (share / (1.0 - share)).ln(),
                BestConstant::Mean
                | BestConstant::Sign
                | BestConstant::LogMean
                | BestConstant::Center { .. } => share + (1.0 - share) * self.loss.other_label(),
            }
        };
        labels.classes.iter().map(margin).collect()
    }

    fn margin(&self) -> f64 {
        let labels = &self.labels;
        if labels.weight <= 0.0 {
            return 0.0;
        }
        match self.loss.best_constant() {
            BestConstant::LogOdds => {
                let positive = labels.share_of_positives();
                (positive / (1.0 - positive)).ln()
            }
            BestConstant::Mean => labels.mean,
            BestConstant::Sign if labels.mean == 0.0 => 0.0,
            BestConstant::Sign => labels.mean.signum(),
            BestConstant::Center { .. } => labels.center,
            // Half a count more than was seen: a mean of zero has no logarithm.
            BestConstant::LogMean => {
                ((labels.mean * labels.weight + 0.5) / (labels.weight + 1.0)).ln()
            }
        }
    }

    /// The standard deviation of the labels: the RMSE of their mean.
    pub fn deviation(&self) -> Option<f64> {
        let labels = &self.labels;
        let is_real = labels.classes.is_empty() && self.loss.domain() != LabelDomain::Binary;
        (is_real && labels.weight > 0.0).then(|| (labels.squares / labels.weight).sqrt())
    }

    /// The root mean square of labels that are numbers.
    pub(super) fn typical_number(&self) -> Option<f64> {
        let is_real = self.loss.domain() == LabelDomain::Real;
        self.deviation().filter(|_| is_real).map(|deviation| deviation.hypot(self.labels.mean))
    }

    /// The share of the most frequent class.
    pub fn accuracy(&self) -> Option<f64> {
        let labels = &self.labels;
        let most = match labels.classes.is_empty() {
            true if self.loss.domain() == LabelDomain::Binary => {
                labels.positive.max(labels.weight - labels.positive)
            }
            true => return None,
            false => labels.classes[labels.most_frequent],
        };
        (labels.weight > 0.0).then(|| most / labels.weight)
    }
}

impl Labels {
    /// Whether a constant for `classes` classes can continue from these sums.
    pub(super) fn fit(&self, classes: usize) -> bool {
        self.classes.len() == classes && self.most_frequent < classes.max(1)
    }

    /// The number of classes, 0 unless there are several.
    pub(super) fn classes(&self) -> usize {
        self.classes.len()
    }

    /// Smoothed, as Krichevsky and Trofimov do: it is never 0 or 1.
    fn share_of_positives(&self) -> f64 {
        (self.positive + 0.5) / (self.weight + 1.0)
    }

    fn take(&mut self, loss: Loss, y: f64, weight: f64) {
        self.weight += weight;
        if !self.classes.is_empty() {
            if let Some(class) = self.classes.get_mut(y as usize) {
                *class += weight;
                let most = *class;
                if most > self.classes[self.most_frequent] {
                    self.most_frequent = y as usize;
                }
            }
            return;
        }
        if y > 0.0 {
            self.positive += weight;
        }
        // Welford's update: labels such as years have a mean far above their deviation.
        let share = weight / self.weight;
        let before = y - self.mean;
        self.mean += share * before;
        self.squares += weight * before * (y - self.mean);
        if let BestConstant::Center { steepest, is_smooth } = loss.best_constant() {
            self.approach(y, share, loss, (steepest, is_smooth));
        }
    }

    /// Makes a step of stochastic approximation towards the minimum of the loss; `steepest` is the largest slope. The step shrinks
    /// like `t^(-3/4)`: fast enough to settle, slow enough to forget a poor first label.
    fn approach(&mut self, y: f64, share: f64, loss: Loss, (steepest, is_smooth): (f64, bool)) {
        if share >= 1.0 {
            self.center = y;
            return;
        }
        self.distance += share * ((y - self.center).abs() - self.distance);
        // If labels are within the parabola of a smooth loss, the slope is at most their distance.
        let steep = if is_smooth { steepest.min(self.distance) } else { steepest };
        if steep > 0.0 {
            let slope = (loss.slope(self.center, y) / steep).clamp(-1.0, 1.0);
            self.center -= 2.0 * self.distance * (share * share.sqrt()).sqrt() * slope;
        }
    }
}

/// A constant with its average loss.
#[derive(Clone, Debug)]
pub struct ConstantLoss {
    constant: Constant,
    cost: Mean,
    /// Whether the learners beside it take the origin of their predictions from the first label, for which they have no prediction.
    takes_origin: bool,
}

impl ConstantLoss {
    pub(super) fn new(settings: &Settings, found: &Found) -> Self {
        let takes_origin = settings.standardizes_labels(found);
        Self { constant: Constant::new(settings, found), cost: Mean::default(), takes_origin }
    }

    pub(super) fn learn(&mut self, y: f64, weight: f64) {
        let is_origin = self.takes_origin && self.constant.labels.weight <= 0.0;
        let cost = self.constant.learn(y, weight);
        if !is_origin {
            self.cost.record(cost, weight);
        }
    }

    /// Whether these settings have the same constant.
    pub(super) fn is_of(&self, settings: &Settings, found: &Found) -> bool {
        let is_multiclass = !self.constant.labels.classes.is_empty();
        self.constant.loss == settings.loss()
            && is_multiclass == settings.is_multiclass()
            && self.takes_origin == settings.standardizes_labels(found)
    }

    /// The average loss of predicting each row from the labels before it; for several classes, the share of errors.
    pub fn average(&self) -> Option<f64> {
        self.cost.value()
    }

    /// The constant after the last label.
    pub fn constant(&self) -> &Constant {
        &self.constant
    }
}

#[cfg(test)]
mod tests {
    use parsimon_testing::SplitMix64;

    use super::*;
    use crate::settings::Spec;

    fn constant(loss: &str) -> Constant {
        let settings = Spec::new("sgd").set("loss", loss).resolve().unwrap();
        Constant::new(&settings, &Found::default())
    }

    #[test]
    fn a_share_and_its_logarithm() {
        let mut classes = constant("logistic");
        assert_eq!(classes.learn(1.0, 1.0), 2f64.ln());
        // (1 + 1/2) / 2 of the rows are positive.
        assert_eq!(classes.learn(-1.0, 3.0), -(0.25f64).ln());
        let margin = classes.margins()[0];
        assert!((Loss::Logistic.value(margin, 1.0) - classes.cost(1.0)).abs() < 1e-15);
        assert_eq!(classes.accuracy(), Some(0.75));
    }

    /// Every loss: the margin in the end is about the best constant.
    #[test]
    fn the_constant_is_nearly_the_best_in_hindsight() {
        for loss in
            ["logistic", "squared", "hinge", "squared-hinge", "huber", "quantile", "poisson"]
        {
            let mut random = SplitMix64::new(5);
            let mut constant = constant(loss);
            let is_class = constant.loss.domain() == LabelDomain::Binary;
            let label = |u: f64| match (is_class, loss) {
                (true, _) => {
                    if u < 0.3 {
                        1.0
                    } else {
                        -1.0
                    }
                }
                (_, "poisson") => (4.0 * u).floor(),
                // A long tail to the right.
                _ => 100.0 + 7.0 * u * u * u,
            };
            let labels: Vec<f64> = (0..5000).map(|_| label(random.unit())).collect();
            let costs: Vec<f64> = labels.iter().map(|y| constant.learn(*y, 1.0)).collect();
            let paid = costs[1000..].iter().sum::<f64>() / 4000.0;
            let total = |p: f64| labels.iter().map(|y| constant.loss.value(p, *y)).sum::<f64>();
            let grid = if is_class || loss == "poisson" { -2.0..2.0 } else { 99.0..108.0 };
            let grid =
                (0..=2000).map(|k| grid.start + f64::from(k) * (grid.end - grid.start) / 2000.0);
            let best = grid.map(total).fold(f64::INFINITY, f64::min) / 5000.0;
            assert!(paid < best + 0.03 * best.abs() + 1e-3, "{loss}: {paid} against {best}");
        }
    }

    #[test]
    fn several_classes_are_counted() {
        let spec = r#"{"algorithm": "sgd", "multiclass": true, "classes": ["a", "b", "c"]}"#;
        let settings = Spec::from_json(spec).unwrap().resolve().unwrap();
        let mut constant = Constant::new(&settings, &Found::default());
        let wrong: Vec<f64> =
            [2.0, 2.0, 1.0, 2.0].iter().map(|y| constant.learn(*y, 1.0)).collect();
        assert_eq!(wrong, [1.0, 0.0, 1.0, 0.0]);
        let margins = constant.margins();
        assert!(margins[2] > margins[1] && margins[1] > margins[0], "{margins:?}");
        assert_eq!(constant.accuracy(), Some(0.75));
    }
}
