//! Lanes beside learners alone.

use parsimon_testing::Lcg64;

use super::*;
use crate::penalty::ElasticNet;
use crate::rule::leader::{Iterate, Leader, Origin};
use crate::{Learner, Repeats, Table};

/// Rows of a few features out of some hundred, with rows that are only predicted and rows of weight 0.
fn rows() -> Chunk {
    let mut chunk = Chunk::new();
    let mut random = Lcg64::new(1);
    let mut draw = || random.bits31();
    for i in 0..500 {
        for _ in 0..draw() % 20 {
            chunk.push_feature(draw() % 120, f64::from(draw() % 1000) / 300.0 - 1.0);
        }
        let label = if draw() % 3 == 0 { 1.0 } else { -1.0 };
        let label = (i % 7 != 3).then_some(label);
        chunk.finish_row(label, f64::from(draw() % 3), Repeats::Add).unwrap();
    }
    chunk
}

/// Very different settings, as many as are wanted.
fn settings<const K: usize>() -> [Lane; K] {
    std::array::from_fn(|k| match k % 3 {
        0 => Lane { l1: 0.1 * k as f64, l2: 0.0, rate: 0.5, delta: 1.0 },
        1 => Lane { l1: 0.3, l2: 0.1, rate: 0.1 / k as f64, delta: 0.5 },
        _ => Lane { l1: 5.0, l2: 1.0 / k as f64, rate: 2.0, delta: 1e-3 },
    })
}

fn bits(margins: impl Iterator<Item = f64>) -> Vec<u64> {
    margins.map(f64::to_bits).collect()
}

fn each_lane_is_the_learner_alone<F: Float, C: Center<AdaGrad>, const K: usize>(
    center: C,
    accrual: Accrual,
    loss: Loss,
) {
    let chunk = rows();
    let new = || Lanes::<F, C, K>::new(settings(), accrual, center, true, loss, Packed::growing());
    let (mut lanes, mut margins, mut scores) = (new(), Vec::new(), Vec::new());
    lanes.learn(&chunk, &mut margins);
    let heads = lanes.freeze().into_heads();
    lanes.predict(&chunk, &mut scores);
    let mut half = new();
    half.learn_rows(&chunk, 0..250, &mut Vec::new());
    for k in 0..K {
        let of_lane = |all: &[f64]| bits(all.iter().skip(k).step_by(K).copied());
        // A learner at the origin is one lane of lanes at the origin.
        let mut alone = new().alone(k, Table::growing()).unwrap();
        let mut own = Vec::new();
        alone.learn(&chunk, &mut own);
        assert_eq!(of_lane(&margins), bits(own.iter().copied()), "margins of lane {k}");
        assert_eq!(heads[k], alone.freeze().into_heads()[0], "weights of lane {k}");
        own.clear();
        alone.predict(&chunk, &mut own);
        assert_eq!(of_lane(&scores), bits(own.iter().copied()), "scores of lane {k}");
        assert_eq!(lanes.nonzeros_by_head()[k], alone.nonzeros());
        let mut goes_on = half.alone(k, Table::index()).unwrap();
        goes_on.learn_rows(&chunk, 250..500, &mut Vec::new());
        assert_eq!(goes_on.freeze().into_heads()[0], heads[k], "lane {k} going on alone");
    }
}

#[test]
fn every_lane_is_the_learner_alone() {
    use Accrual::{EveryRound, Once};
    each_lane_is_the_learner_alone::<f32, _, 2>(Iterate, Once, Loss::Logistic);
    each_lane_is_the_learner_alone::<f32, _, 4>(Iterate, Once, Loss::Logistic);
    each_lane_is_the_learner_alone::<f32, _, 8>(Iterate, Once, Loss::Squared);
    each_lane_is_the_learner_alone::<f32, _, 16>(Origin, EveryRound, Loss::Squared);
    each_lane_is_the_learner_alone::<f64, _, 4>(Iterate, Once, Loss::Hinge);
    each_lane_is_the_learner_alone::<f64, _, 2>(Iterate, EveryRound, Loss::Logistic);
}

#[test]
fn the_learner_alone_is_a_learner() {
    let lane = settings::<2>()[1];
    let rule = |l1, l2| Leader {
        penalty: ElasticNet { l1, l2 },
        accrual: Accrual::EveryRound,
        center: Iterate,
        metric: AdaGrad { rate: lane.rate, delta: lane.delta },
    };
    let (rule, free) = (rule(lane.l1, lane.l2), rule(0.0, 0.0));
    let mut learner = Learner::<f32, _>::new(rule, Some(free), Loss::Logistic, Table::index());
    let lanes = Lanes::<f32, _, 2>::new(
        settings(),
        Accrual::EveryRound,
        Iterate,
        true,
        Loss::Logistic,
        Packed::index(),
    );
    let (mut alone, chunk) = (lanes.alone(1, Table::index()).unwrap(), rows());
    learner.learn(&chunk, &mut Vec::new());
    alone.learn(&chunk, &mut Vec::new());
    let (mut expected, mut found) = (StateWriter::new(), StateWriter::new());
    learner.save(&mut expected);
    alone.save(&mut found);
    assert_eq!(found.into_bytes(), expected.into_bytes());
}

#[test]
fn lanes_saved_resumed_and_thinned_go_on_as_they_were() {
    let chunk = rows();
    let new = |store| {
        let (accrual, loss) = (Accrual::EveryRound, Loss::Logistic);
        Lanes::<f32, _, 4>::new(settings(), accrual, Iterate, true, loss, store)
    };
    let (mut whole, mut half) = (new(Packed::growing()), new(Packed::dense(32)));
    let mut margins = Vec::new();
    whole.learn(&chunk, &mut margins);
    half.learn_rows(&chunk, 0..250, &mut margins);
    let mut bytes = StateWriter::new();
    half.save(&mut bytes);
    let mut resumed = new(Packed::index());
    resumed.restore(&mut bytes.as_bytes()).unwrap();
    resumed.learn_rows(&chunk, 250..500, &mut margins);
    assert_eq!(resumed.freeze(), whole.freeze());
    let (mut saved, mut expected) = (StateWriter::new(), StateWriter::new());
    resumed.save(&mut saved);
    whole.save(&mut expected);
    assert_eq!(saved.into_bytes(), expected.into_bytes());
    let mut kept = half.keep([2, 0], Packed::index());
    kept.learn_rows(&chunk, 250..500, &mut margins);
    let heads = whole.freeze().into_heads();
    assert_eq!(kept.freeze().into_heads(), [heads[2].clone(), heads[0].clone()]);
}
