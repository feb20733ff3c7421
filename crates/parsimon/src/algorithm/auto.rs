//! Learning without knobs: normalized FTRL-Proximal, with a race of rates and penalties.

use parsimon_core::rule::leader::{Accrual, Iterate};
use parsimon_core::{Float, HalfLife, Lane, Loss};

use super::groups::AnyLoss;
use super::objective::{Charge, Objective};
use super::recipe::{Card, Composer, Racers, Recipe};
use super::setting::{Natural, NonNegative, Positive, settings};
use crate::found::Found;

settings! {
    /// FTRL-Proximal on normalized rows. Several rates and penalties learn side by side, and the data decides between them.
    pub struct Auto {
        rate: Option<Positive>, "learning rate (alpha); auto chooses it if not set";
        l1: Option<NonNegative>, "strength of the l1 penalty |w|; auto chooses it if not set";
        half_life: Option<Natural>, "number of learned rows after which a row counts half, for streams that drift; all rows count alike if not set";
    }
}

/// The rates of the race (record/ has how they were chosen).
const RATES: [f64; 3] = [0.25, 0.7, 2.0];
/// The penalties of the race.
const PENALTIES: [f64; 5] = [0.03, 0.1, 0.3, 1.0, 3.0];
/// What leads until the first look at the race.
const USUAL: (f64, f64) = (0.5, 0.1);
/// No weight survives this penalty: the setting is a constant.
const EVERYTHING: f64 = 1e30;

impl Auto {
    /// The pairs of rate and l1 that learn side by side; the last one is a constant prediction.
    pub fn racers(&self, loss: Loss) -> Vec<(f64, f64)> {
        let rates = self.rate.map_or(RATES.to_vec(), |rate| vec![rate]);
        let penalties = self.l1.map_or(PENALTIES.to_vec(), |l1| vec![l1]);
        let pairs = rates.iter().flat_map(|rate| penalties.iter().map(move |l1| (*rate, *l1)));
        pairs.chain([(constant_rate(loss), EVERYTHING)]).collect()
    }

    /// The racer that leads until the first look: the nearest to the usual setting.
    fn leader(&self, loss: Loss) -> usize {
        let racers = self.racers(loss);
        let far = |(rate, l1): (f64, f64)| {
            (rate / USUAL.0).ln().abs() + (l1.max(1e-9) / USUAL.1).ln().abs()
        };
        (0..racers.len() - 1)
            .min_by(|a, b| far(racers[*a]).total_cmp(&far(racers[*b])))
            .unwrap_or(0)
    }
}

/// The rate of the constant's bias. Noise in it is all that separates the constant from the best one: it takes smaller steps
/// than weights do, and very small ones where labels are standardized, for then the best constant is near zero.
fn constant_rate(loss: Loss) -> f64 {
    match loss {
        Loss::Squared | Loss::Huber { .. } => 0.002,
        _ => 0.05,
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
    const ALIASES: &'static [(&'static str, &'static str)] = &[("alpha", "rate")];
    type Losses = AnyLoss;

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
        let lane = |&(rate, l1): &(f64, f64)| Lane { rate, l1, l2: 0.0, delta: 0.0 };
        let lanes = racers.iter().map(lane).collect();
        let (leader, half_life) = (self.leader(loss), Recipe::half_life(self));
        composer.race(Racers { lanes, constant, leader, half_life }, Accrual::Once, Iterate)
    }
}
