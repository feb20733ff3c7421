//! FOBOS that pays the penalty at the ends of blocks.

use parsimon_core::Float;
use parsimon_core::rule::blockwise::{Blockwise, PenaltySplit};
use parsimon_core::rule::grouped::Members;
use parsimon_core::rule::mirror::HalfStep;

use super::fobos::{Norm, compose_norm};
use super::groups::{AnyLoss, Steps};
use super::objective::Objective;
use super::recipe::{Card, Composer, Recipe};
use super::setting::{Natural, NonNegative, choice, settings};
use crate::found::Found;

choice! {
    /// The penalty at the end of a block.
    pub enum BlockPenalty {
        /// `|w|`
        L1 = "l1",
        /// The l2 norm of all weights.
        L2Norm = "l2-norm",
        /// The largest magnitude.
        Linf = "linf",
    }
}

settings! {
    /// Algorithm 1 of the lazy thesis (2014).
    pub struct LazyFobos {
        ..steps: Steps;
        l1: NonNegative = 0.0, "strength of the l1 penalty |w|";
        period: Natural = 1.0, "number of rounds from one shrinking of the weights to the next (k, K)";
        penalty: BlockPenalty = "l1", "the penalty, of strength l1";
    }
}

impl Recipe for LazyFobos {
    const CARD: Card = Card {
        name: "lazy-fobos",
        paper: "lazy thesis 2014, Algorithm 1",
        losses: "tangent",
        penalties: "l1, l2 norm or linf at block ends",
        center: "iterate, schedule",
        cost: "O(nnz); linf O(features) per block",
    };
    const FALLS_WITH_ENERGY: bool = true;
    const GRID: &'static [&'static str] = &["l1=1e-7..1e-4:4", "rate=0.05..5:4"];
    const L1: f64 = 1e-4;
    type Losses = AnyLoss;

    fn needs_rows(&self) -> bool {
        self.steps.needs_rows()
    }
    fn objective(&self) -> Option<Objective> {
        let is_separable = self.penalty == BlockPenalty::L1;
        is_separable.then(|| Objective::penalized(self.l1, 0.0))
    }
    fn compose<F: Float, C: Composer<F>>(&self, found: &Found, composer: C) -> C::Output {
        let (schedule, period, l1) = (self.steps.schedule(found), self.period, self.l1);
        let norm = match self.penalty {
            BlockPenalty::L1 => {
                let rule = |l1| Blockwise { schedule, period, l1, split: PenaltySplit::Loss };
                return composer.rule(rule(l1), rule(0.0));
            }
            BlockPenalty::L2Norm => Norm::L2(Members::All),
            BlockPenalty::Linf => Norm::Linf,
        };
        compose_norm(norm, schedule, l1, period, HalfStep::Same, composer)
    }
}
