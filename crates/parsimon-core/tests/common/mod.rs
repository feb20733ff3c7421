//! What the tests of scaled learning share: learners, and rows with everything that rows may have.

#![allow(dead_code, reason = "every test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use parsimon_core::metric::AdaGrad;
use parsimon_core::penalty::{ElasticNet, L1};
use parsimon_core::rule::leader::{Accrual, Iterate, Leader, Origin};
use parsimon_core::rule::mirror::{Adaptive, HalfStep, Scheduled};
use parsimon_core::{Chunk, Float, Learner, Loss, Online, Repeats, Schedule, StateWriter, Table};

/// Numbers that look random, from a linear congruential generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as u32) % n
    }
    /// In [-1, 1), never zero.
    pub(crate) fn signed(&mut self) -> f64 {
        (f64::from(self.below(1 << 20)) + 0.5) / f64::from(1 << 19) - 1.0
    }
}

pub(crate) type Ftrl = Leader<ElasticNet, Iterate, AdaGrad>;

pub(crate) const RATE: f64 = 0.5;
pub(crate) const BETA: f64 = 0.25;

pub(crate) fn ftrl_rule(l1: f64, l2: f64) -> Ftrl {
    Leader {
        penalty: ElasticNet { l1, l2 },
        accrual: Accrual::Once,
        center: Iterate,
        metric: AdaGrad { rate: RATE, delta: BETA },
    }
}

pub(crate) fn ftrl<F: Float>(l1: f64, l2: f64, loss: Loss) -> Learner<F, Ftrl> {
    Learner::new(ftrl_rule(l1, l2), Some(ftrl_rule(0.0, 0.0)), loss, Table::growing())
}

/// Learners of several kinds, each with a bias.
pub(crate) fn learners<F: Float>(loss: Loss) -> Vec<(&'static str, Box<dyn Online>)> {
    let rda = |l1| Leader {
        penalty: ElasticNet { l1, l2: 0.0 },
        accrual: Accrual::EveryRound,
        center: Origin,
        metric: AdaGrad { rate: RATE, delta: BETA },
    };
    let (schedule, half_step) = (Schedule::Sqrt { rate: 0.2 }, HalfStep::Same);
    let fobos = |l1| Scheduled { penalty: L1 { l1 }, schedule, half_step };
    let metric = AdaGrad { rate: RATE, delta: BETA };
    let adaptive = |l1| Adaptive { penalty: L1 { l1 }, metric };
    let table = || Table::growing();
    vec![
        ("ftrl", Box::new(ftrl::<F>(3.0, 0.1, loss))),
        (
            "implicit ftrl",
            Box::new(Learner::<F, _>::implicit(
                ftrl_rule(3.0, 0.1),
                Some(ftrl_rule(0.0, 0.0)),
                loss,
                table(),
            )),
        ),
        (
            "adagrad-rda",
            Box::new(Learner::<F, _>::new(rda(1e-3), Some(rda(0.0)), loss, Table::growing())),
        ),
        (
            "fobos",
            Box::new(Learner::<F, _>::new(fobos(1e-3), Some(fobos(0.0)), loss, Table::growing())),
        ),
        (
            "adagrad-fobos",
            Box::new(Learner::<F, _>::new(
                adaptive(1e-3),
                Some(adaptive(0.0)),
                loss,
                Table::growing(),
            )),
        ),
    ]
}

/// The features of [`rows`]; those from the 30th on are only in rows without a label.
pub(crate) fn id(k: u32) -> u32 {
    if k % 10 == 9 { 3_000_000_000 + k } else { 1 + 3 * k }
}

/// Rows of some features out of forty, feature `k` times `unit(k)`; with rows that are only predicted, rows of weight 0, rows
/// without features, and weights that are no round numbers.
pub(crate) fn rows(count: u32, seed: u64, regression: bool, unit: impl Fn(u32) -> f64) -> Chunk {
    let (mut chunk, mut random) = (Chunk::new(), Random(seed));
    for i in 0..count {
        let labelled = i % 7 != 3;
        let weight = [1.0, 1.0, 0.0, 0.3, 2.7][random.below(5) as usize];
        let mut sum = 0.2;
        for k in 0..if labelled && weight > 0.0 { 30 } else { 40 } {
            if random.below(3) == 0 && i % 31 != 0 {
                let x = random.signed() * f64::from(1 + k % 5);
                chunk.push_feature(id(k), x * unit(k));
                sum += x * f64::from(k % 3) - x;
            }
        }
        let noise = random.signed();
        let label = match regression {
            true => sum + noise,
            false if sum + noise > 0.0 => 1.0,
            false => -1.0,
        };
        chunk.finish_row(labelled.then_some(label), weight, Repeats::Refuse).unwrap();
    }
    chunk
}

pub(crate) fn margins(learner: &mut dyn Online, chunk: &Chunk) -> Vec<f64> {
    let mut margins = Vec::new();
    learner.learn(chunk, &mut margins);
    margins
}

pub(crate) fn predictions(learner: &dyn Online, chunk: &Chunk) -> Vec<f64> {
    let mut margins = Vec::new();
    learner.predict(chunk, &mut margins);
    margins
}

pub(crate) fn saved(learner: &dyn Online) -> Vec<u8> {
    let mut out = StateWriter::new();
    learner.save(&mut out);
    out.into_bytes()
}

pub(crate) fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

#[track_caller]
pub(crate) fn assert_close(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        let scale = a.abs().max(b.abs()).max(1.0);
        assert!((a - b).abs() <= tolerance * scale, "{what}: number {i} is {a:e}, not {b:e}");
    }
}
