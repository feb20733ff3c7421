//! Recommended runs: the best one, and the sparsest one that is nearly as good.

use parsimon::eval::Evaluation;
use parsimon::settings::Loss;
use parsimon::workspace::Measure;

use super::{Comparison, Finish, Score};

/// The sparsest run may cost this share more than the best.
pub(crate) const TOLERANCE: f64 = 0.01;

/// Criteria that rank runs; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Criterion {
    /// The loss that was trained, when it is the same in all runs.
    Loss,
    /// The loss if it is half the squared error.
    Mse,
    /// The share of errors, for several classes.
    Error,
    /// Two classes and different losses, which are not to be compared.
    Auc,
    /// Numbers and different losses.
    Rmse,
}

impl Criterion {
    pub(crate) fn of(comparison: &Comparison) -> Self {
        let losses: Vec<Loss> = comparison.finishes.iter().map(|f| f.settings.loss()).collect();
        let same = losses.windows(2).all(|w| w[0] == w[1]);
        let mut scores = comparison.finishes.iter().filter_map(|f| f.result.as_ref().ok());
        match scores.find_map(Score::evaluation) {
            _ if comparison.finishes.iter().any(|f| f.settings.is_multiclass()) => Self::Error,
            _ if same => match losses.first().is_some_and(|loss| Measure::of(*loss).is_mse()) {
                true => Self::Mse,
                false => Self::Loss,
            },
            Some(Evaluation::Binary(_)) => Self::Auc,
            _ => Self::Rmse,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Loss => "mean loss",
            Self::Mse => "MSE",
            Self::Error => "error rate",
            Self::Auc => "1 - AUC",
            Self::Rmse => "RMSE",
        }
    }

    /// The metric that decides, as a column of the table.
    pub(crate) fn column(self) -> &'static str {
        match self {
            Self::Loss => "mean loss",
            Self::Mse => "MSE",
            Self::Error => "accuracy",
            Self::Auc => "AUC",
            Self::Rmse => "RMSE",
        }
    }

    /// Returns the cost of a run, on the test data if there is any.
    pub(crate) fn cost(self, score: &Score) -> Option<f64> {
        let metric = |name: &str| metric(score.evaluation()?, name);
        let cost = match (self, &score.test) {
            // Loss over all rows, even if the other metrics are of the last rows.
            (Self::Loss | Self::Error, None) => Some(score.loss),
            (Self::Mse, None) => Some(2.0 * score.loss),
            (Self::Loss, Some(test)) => test.mean_loss(),
            (Self::Mse, Some(test)) => test.mean_loss().map(|loss| 2.0 * loss),
            (Self::Error, Some(_)) => metric("accuracy").map(|accuracy| 1.0 - accuracy),
            (Self::Auc, _) => metric("AUC").map(|auc| 1.0 - auc),
            (Self::Rmse, _) => metric("RMSE"),
        };
        cost.filter(|cost| cost.is_finite())
    }

    /// Like the method above, for a run that may have failed.
    pub(crate) fn cost_of(self, finish: &Finish) -> Option<f64> {
        self.cost(finish.result.as_ref().ok()?)
    }
}

/// One metric by its name.
pub(crate) fn metric(evaluation: &Evaluation, name: &str) -> Option<f64> {
    evaluation.metrics().into_iter().find(|m| m.0 == name).and_then(|m| m.1)
}

/// Indices of the recommended runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) best: usize,
    pub(crate) sparsest: usize,
}

impl Choice {
    /// The run of lowest cost, and of those within the tolerance the one with the fewest weights. Of equals the
    /// sparser, the cheaper, the first.
    pub(crate) fn of(points: &[Option<Tradeoff>]) -> Option<Self> {
        let known = || points.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?)));
        let by_cost = |a: &Tradeoff, b: &Tradeoff| a.cost.total_cmp(&b.cost);
        let by_weights = |a: &Tradeoff, b: &Tradeoff| a.nonzeros.cmp(&b.nonzeros);
        let (best, least) =
            known().min_by(|(_, a), (_, b)| by_cost(a, b).then(by_weights(a, b)))?;
        let enough = least.cost + TOLERANCE * least.cost.abs();
        let (sparsest, _) = known()
            .filter(|(_, p)| p.cost <= enough)
            .min_by(|(_, a), (_, b)| by_weights(a, b).then(by_cost(a, b)))?;
        Some(Self { best, sparsest })
    }
}

/// Coordinates of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tradeoff {
    pub(crate) nonzeros: usize,
    pub(crate) cost: f64,
}

/// The standing of every run; none of those that failed.
pub(crate) fn points(comparison: &Comparison, criterion: Criterion) -> Vec<Option<Tradeoff>> {
    let point = |finish: &Finish| {
        let score = finish.result.as_ref().ok()?;
        Some(Tradeoff { nonzeros: score.nonzeros, cost: criterion.cost(score)? })
    };
    comparison.finishes.iter().map(point).collect()
}

/// Marks the points of the front: no other point has fewer weights and costs no more, or costs less with no more weights.
pub(crate) fn front(points: &[Option<Tradeoff>]) -> Vec<bool> {
    let beats = |p: &Tradeoff, q: &Tradeoff| {
        p.nonzeros <= q.nonzeros && p.cost <= q.cost && (p.nonzeros < q.nonzeros || p.cost < q.cost)
    };
    let is_beaten = |q: &Tradeoff| points.iter().flatten().any(|p| beats(p, q));
    points.iter().map(|q| q.as_ref().is_some_and(|q| !is_beaten(q))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(all: &[Option<(usize, f64)>]) -> Vec<Option<Tradeoff>> {
        all.iter().map(|p| p.map(|(nonzeros, cost)| Tradeoff { nonzeros, cost })).collect()
    }

    #[test]
    fn the_sparsest_is_within_one_percent_of_the_best() {
        let all = [Some((900, 0.5)), None, Some((70, 0.504)), Some((60, 0.506)), Some((800, 0.5))];
        assert_eq!(Choice::of(&points(&all)), Some(Choice { best: 4, sparsest: 2 }));
        assert_eq!(Choice::of(&[None]), None);
        // A cost may be negative, as of counts.
        let all = [Some((900, -2.0)), Some((7, -1.99)), Some((3, -1.9))];
        assert_eq!(Choice::of(&points(&all)), Some(Choice { best: 0, sparsest: 1 }));
    }

    #[test]
    fn the_front_is_what_nothing_beats() {
        let all = [Some((10, 0.5)), Some((20, 0.4)), Some((20, 0.45)), None, Some((30, 0.4))];
        assert_eq!(front(&points(&all)), [true, true, false, false, false]);
    }
}
