//! Selection of some lanes, with which learning continues.

use super::{Lane, Lanes};
use crate::metric::AdaGrad;
use crate::packed::Packed;
use crate::penalty::ElasticNet;
use crate::rule::leader::{Center, Dual, Leader, LeaderClock};
use crate::share::Tally;
use crate::{Float, Learner, Table};

/// A copy of one lane.
pub type LaneLearner<F, C> = Learner<F, Leader<ElasticNet, C, AdaGrad>>;

impl<F: Float, C: Center<AdaGrad>, const K: usize> Lanes<F, C, K> {
    /// Continues with some of the lanes, in this order; the others are given up.
    pub fn keep<const J: usize>(
        &self,
        lanes: [usize; J],
        mut store: Packed<F, J>,
    ) -> Lanes<F, C, J> {
        let pick = |c: &[[F; K]; 2]| [lanes.map(|k| c[0][k]), lanes.map(|k| c[1][k])];
        for (j, c) in self.store.iter() {
            let place = store.place_or_new(j);
            *store.get_mut(place) = pick(c);
        }
        let kept = lanes.map(|k| self.lanes[k]);
        let bias = self.bias.is_some();
        let kept = Lanes::new(kept, self.accrual, self.center, bias, self.loss, store);
        let mut kept = kept.fading(self.half_life);
        kept.scale = self.scale;
        kept.set_rounds(self.t);
        kept.bias = self.bias.as_ref().map(pick);
        kept
    }

    /// Continues with one lane as a learner, which computes several features at a time; `None` where old rows fade, which is another
    /// rule.
    pub fn alone(&self, k: usize, table: Table<Dual<F, F>>) -> Option<LaneLearner<F, C>> {
        if self.fades() {
            return None;
        }
        let rule = |lane: Lane| Leader {
            penalty: ElasticNet { l1: lane.l1, l2: lane.l2 },
            accrual: self.accrual,
            center: self.center,
            metric: AdaGrad { rate: lane.rate, delta: lane.delta },
        };
        let (lane, coordinate) = (self.lanes[k], |c: &[[F; K]; 2]| Dual::new(c[0][k], c[1][k]));
        let bias = self.bias.map(|_| rule(lane.free()));
        let mut learner = Learner::new(rule(lane), bias, self.loss, table);
        for (j, c) in self.store.iter() {
            *learner.table.slot(j) = coordinate(c);
        }
        let accrued = self.accrual.amount(self.t);
        if self.t > 0 {
            learner.now = LeaderClock::after(self.t, self.amount_in_force());
        }
        if let (Some(bias), Some(c)) = (&mut learner.bias, &self.bias)
            && self.t > 0
        {
            bias.now = LeaderClock::after(self.t, accrued);
            *bias.table.slot(Tally::BIAS) = coordinate(c);
        }
        Some(learner)
    }
}
