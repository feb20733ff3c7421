//! Learning without settings: normalized FTRL-Proximal, with a race of rates and penalties.

use parsimon_core::rule::leader::{Accrual, Iterate};
use parsimon_core::{Float, HalfLife, Lane, Loss};

use super::groups::{AnyLoss, Losses};
use super::objective::{Charge, Objective};
use super::recipe::{Card, Composer, Racers, Recipe};
use super::setting::{Flag, Natural, NonNegative, Positive, choice, settings};
use crate::error::BuildError;
use crate::found::Found;

choice! {
    /// Criterion of the race.
    pub enum RaceMetric {
        /// The mean loss.
        Loss = "loss",
        /// The share of rows whose class is the predicted one.
        Accuracy = "accuracy",
    }
}

settings! {
    /// FTRL-Proximal on normalized rows. Several rates and penalties learn side by side, and the data decides between them.
    pub struct Auto {
        rate: Option<Positive>, "learning rate (alpha); auto chooses it if not set";
        l1: Option<NonNegative>, "strength of the l1 penalty |w|; auto chooses it if not set";
        half_life: Option<Natural>, "number of learned rows after which a row counts half, for streams that drift; all rows count alike if not set";
        half_lives: Flag = false, "let half-lives of 300, 3000 and 30000 rows race beside none, for streams that may drift";
        metric: RaceMetric = "loss", "what the race chooses by: the loss, or for several classes the accuracy (then one-against-all models race beside softmax)";
    }
}

/// The rates of the race (record/ has how they were chosen).
const RATES: [f64; 3] = [0.25, 0.7, 2.0];
/// The penalties of the race.
const PENALTIES: [f64; 5] = [0.03, 0.1, 0.3, 1.0, 3.0];
/// Rates of softmax, whose slopes decrease with the number of classes (record/classes.md has the choice).
const SOFTMAX_RATES: [f64; 4] = [0.25, 0.7, 2.0, 5.0];
const SOFTMAX_PENALTIES: [f64; 5] = [0.03, 0.1, 0.3, 1.0, 3.0];
/// The settings beside them that learn each class against all others, where accuracy decides.
const APART: [(f64, f64); 4] = [(0.7, 0.1), (0.7, 1.0), (2.0, 0.1), (2.0, 1.0)];
/// The setting that is read until the first look at the race.
const USUAL: (f64, f64) = (0.5, 0.1);
/// Usual setting of softmax.
const USUAL_SOFTMAX: (f64, f64) = (2.0, 0.3);
/// The half-lives that race beside none, the longest first.
pub(crate) const HALF_LIVES: [u64; 3] = [30_000, 3_000, 300];
/// The settings of each, as many as a learner of eight lanes has.
const FADING: [(f64, f64); 8] = [
    (0.25, 0.1),
    (0.7, 0.1),
    (2.0, 0.1),
    (0.25, 1.0),
    (0.7, 1.0),
    (2.0, 1.0),
    (0.7, 3.0),
    (2.0, 3.0),
];
/// Half-lives of softmax, where every class costs as much as another setting.
const FADING_SOFTMAX: [(f64, f64); 4] = [(0.7, 0.3), (2.0, 0.3), (5.0, 0.3), (2.0, 1.0)];
/// No weight survives this penalty: the setting is a constant.
const EVERYTHING: f64 = 1e30;

impl Auto {
    /// Each rate and l1 that learn side by side, with the loss; the last one is a constant prediction.
    pub fn racers(&self, loss: Loss) -> Vec<(f64, f64, Loss)> {
        let (rates, penalties) = match loss {
            Loss::Softmax => (&SOFTMAX_RATES[..], &SOFTMAX_PENALTIES[..]),
            _ => (&RATES[..], &PENALTIES[..]),
        };
        let rates = self.rate.map_or(rates.to_vec(), |rate| vec![rate]);
        let penalties = self.l1.map_or(penalties.to_vec(), |l1| vec![l1]);
        let pairs =
            rates.iter().flat_map(|rate| penalties.iter().map(move |l1| (*rate, *l1, loss)));
        let apart = match (loss, self.metric) {
            (Loss::Softmax, RaceMetric::Accuracy) => &APART[..],
            _ => &[],
        };
        let own = |(rate, l1): &(f64, f64)| {
            (self.rate.unwrap_or(*rate), self.l1.unwrap_or(*l1), Loss::Logistic)
        };
        let constant = (constant_rate(loss), EVERYTHING, loss);
        pairs.chain(apart.iter().map(own)).chain([constant]).collect()
    }

    /// The rates and penalties that learn side by side with each half-life, the usual one at the second place.
    fn fading(&self, loss: Loss) -> Vec<(f64, f64)> {
        let all = if loss == Loss::Softmax { &FADING_SOFTMAX[..] } else { &FADING[..] };
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        for &(rate, l1) in all {
            let own = (self.rate.unwrap_or(rate), self.l1.unwrap_or(l1));
            if !pairs.contains(&own) {
                pairs.push(own);
            }
        }
        pairs
    }

    /// The race of the settings that share a half-life.
    pub(crate) fn fading_race(&self, loss: Loss, half_life: u64) -> Racers {
        let lane = |(rate, l1)| (Lane { rate, l1, l2: 0.0, delta: 0.0 }, loss);
        let lanes: Vec<_> = self.fading(loss).into_iter().map(lane).collect();
        Racers {
            wanted: (0..lanes.len()).collect(),
            by_errors: self.metric == RaceMetric::Accuracy,
            constant: None,
            leader: 1.min(lanes.len() - 1),
            half_life: HalfLife::new(half_life),
            lanes,
        }
    }

    /// The setting at a place of the race: those of [`racers`](Self::racers), and behind them those of each half-life.
    pub(crate) fn racer(&self, loss: Loss, place: usize) -> Option<(f64, f64, Loss, Option<u64>)> {
        let racers = self.racers(loss);
        if let Some((rate, l1, loss)) = racers.get(place) {
            return Some((*rate, *l1, *loss, None));
        }
        let (fading, place) = (self.fading(loss), place - racers.len());
        let half_life = HALF_LIVES.get(place / fading.len()).filter(|_| self.half_lives)?;
        let (rate, l1) = fading[place % fading.len()];
        Some((rate, l1, loss, Some(*half_life)))
    }

    /// The racer that leads until the first look: the nearest to the usual setting.
    fn leader(&self, loss: Loss) -> usize {
        self.by_distance(loss).first().copied().unwrap_or(0)
    }

    /// The racers by their distance from the usual setting, with the constant behind the first one.
    fn by_distance(&self, loss: Loss) -> Vec<usize> {
        let racers = self.racers(loss);
        let usual = if loss == Loss::Softmax { USUAL_SOFTMAX } else { USUAL };
        let far = |k: usize| {
            let (rate, l1, _) = racers[k];
            (rate / usual.0).ln().abs() + (l1.max(1e-9) / usual.1).ln().abs()
        };
        let mut order: Vec<usize> = (0..racers.len() - 1).collect();
        order.sort_by(|a, b| far(*a).total_cmp(&far(*b)));
        order.insert(order.len().min(1), racers.len() - 1);
        order
    }
}

/// The rate of the constant's bias. Only the noise of its bias separates it from the best constant: it takes smaller steps
/// than weights do, and very small ones where labels are standardized, for then the best constant is near zero.
fn constant_rate(loss: Loss) -> f64 {
    match loss {
        Loss::Squared | Loss::Huber { .. } => 0.002,
        Loss::Logistic
        | Loss::Softmax
        | Loss::Hinge
        | Loss::SquaredHinge
        | Loss::Quantile { .. }
        | Loss::Poisson
        | Loss::Adaline => 0.05,
    }
}

impl Recipe for Auto {
    const CARD: Card = Card {
        name: "auto",
        paper: "FTRL-Proximal on normalized rows (Ross et al. 2013), rate and l1 by a race",
        losses: "tangent",
        penalties: "once",
        center: "iterate, AdaGrad",
        cost: "O(nnz), 16 times at first and once at the end",
    };
    const NORMALIZES: bool = true;
    const LOSS_OF_CLASSES: Option<Loss> = Some(Loss::Softmax);
    const ALIASES: &'static [(&'static str, &'static str)] = &[("alpha", "rate")];
    type Losses = AnyLoss;

    fn check(&self, losses: &AnyLoss) -> Result<(), BuildError> {
        if self.metric == RaceMetric::Accuracy && losses.loss() != Loss::Softmax {
            let message = "metric accuracy is for several classes and the loss softmax";
            return Err(BuildError::new("metric", message));
        }
        if self.half_lives && self.half_life.is_some() {
            let message = "half_lives chooses the half-life; leave out half_life";
            return Err(BuildError::new("half_lives", message));
        }
        Ok(())
    }
    fn objective(&self) -> Option<Objective> {
        let l1 = self.l1.unwrap_or(USUAL.1);
        Some(Objective { charge: Charge::Once, ..Objective::penalized(l1, 0.0) })
    }
    fn half_life(&self) -> Option<HalfLife> {
        self.half_life.and_then(HalfLife::new)
    }
    fn compose<F: Float, C: Composer<F>>(&self, _: &Found, composer: C) -> C::Output {
        let loss = composer.loss();
        let racers = self.racers(loss);
        let constant = Some(racers.len() - 1);
        let lane =
            |&(rate, l1, loss): &(f64, f64, Loss)| (Lane { rate, l1, l2: 0.0, delta: 0.0 }, loss);
        let racers = Racers {
            lanes: racers.iter().map(lane).collect(),
            wanted: self.by_distance(loss),
            by_errors: self.metric == RaceMetric::Accuracy,
            constant,
            leader: self.leader(loss),
            half_life: Recipe::half_life(self),
        };
        composer.race(racers, Accrual::Once, Iterate)
    }
}
