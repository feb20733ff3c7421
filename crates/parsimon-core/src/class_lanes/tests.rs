//! Lanes of several classes beside a learner per class.

use parsimon_testing::Lcg64;

use super::*;
use crate::Repeats;
use crate::rule::leader::{Iterate, Origin};

const CLASSES: usize = 5;

/// Rows of a few features out of some hundred, with rows that are only predicted and rows of weight 0.
fn rows() -> Chunk {
    let mut chunk = Chunk::new();
    let mut random = Lcg64::new(1);
    let mut draw = || random.bits31();
    for i in 0..500 {
        for _ in 0..draw() % 20 {
            chunk.push_feature(draw() % 120, f64::from(draw() % 1000) / 300.0 - 1.0);
        }
        let class = f64::from(draw() % CLASSES as u32);
        let label = (i % 7 != 3).then_some(class);
        chunk.finish_row(label, f64::from(draw() % 3), Repeats::Add).unwrap();
    }
    chunk
}

/// Very different settings.
fn settings() -> Vec<(Lane, Loss)> {
    vec![
        (Lane { l1: 0.1, l2: 0.0, rate: 0.5, delta: 1.0 }, Loss::Softmax),
        (Lane { l1: 0.3, l2: 0.1, rate: 0.1, delta: 0.5 }, Loss::Logistic),
        (Lane { l1: 5.0, l2: 1.0, rate: 2.0, delta: 1e-3 }, Loss::Softmax),
        (Lane { l1: 0.0, l2: 0.0, rate: 5.0, delta: 0.0 }, Loss::Softmax),
        (Lane { l1: 0.2, l2: 0.0, rate: 0.7, delta: 0.0 }, Loss::Hinge),
    ]
}

fn bits(margins: impl Iterator<Item = f64>) -> Vec<u64> {
    margins.map(f64::to_bits).collect()
}

fn each_setting_is_a_learner_per_class<F: Float, C: Center<AdaGrad>>(center: C, accrual: Accrual) {
    let (chunk, count) = (rows(), settings().len());
    let new = |blocks| ClassLanes::<F, C>::new(settings(), CLASSES, accrual, center, true, blocks);
    let (mut lanes, mut margins, mut scores) = (new(Blocks::index()), Vec::new(), Vec::new());
    lanes.learn(&chunk, &mut margins);
    lanes.predict(&chunk, &mut scores);
    let heads = lanes.freeze().into_heads();
    let mut half = new(Blocks::new(Table::dense(64)));
    half.learn_rows(&chunk, 0..250, &mut Vec::new());
    for k in 0..count {
        let own = |all: &[f64]| bits(all.iter().skip(k).step_by(count).copied());
        let mut alone = new(Blocks::index()).alone(k, Table::growing).unwrap();
        let (mut other, mut other_scores) = (Vec::new(), Vec::new());
        alone.learn(&chunk, &mut other);
        alone.predict(&chunk, &mut other_scores);
        assert_eq!(own(&margins), bits(other.into_iter()), "margins of setting {k}");
        assert_eq!(own(&scores), bits(other_scores.into_iter()), "scores of setting {k}");
        let of_classes = alone.freeze().into_heads();
        for (class, head) in of_classes.iter().enumerate() {
            assert_eq!(heads[class * count + k], *head, "weights of setting {k}");
        }
        assert_eq!(lanes.freeze_setting(k).into_heads(), of_classes);
        let nonzeros: usize = lanes.nonzeros_by_head().iter().skip(k).step_by(count).sum();
        assert_eq!(nonzeros, alone.nonzeros());
        // Going on alone, or with some of the others, from the middle.
        let mut goes_on = half.alone(k, Table::index).unwrap();
        goes_on.learn_rows(&chunk, 250..500, &mut Vec::new());
        assert_eq!(goes_on.freeze().into_heads(), of_classes, "setting {k} going on alone");
        let mut few = new(Blocks::index());
        few.learn_rows(&chunk, 0..250, &mut Vec::new());
        few.retain(&[k, (k + 1) % count]);
        few.learn_rows(&chunk, 250..500, &mut Vec::new());
        assert_eq!(few.freeze_setting(0).into_heads(), of_classes, "setting {k} with another");
    }
}

#[test]
fn every_setting_is_a_learner_per_class() {
    each_setting_is_a_learner_per_class::<f32, _>(Iterate, Accrual::Once);
    each_setting_is_a_learner_per_class::<f64, _>(Iterate, Accrual::Once);
    each_setting_is_a_learner_per_class::<f64, _>(Origin, Accrual::EveryRound);
}

fn lanes(half_life: Option<HalfLife>) -> ClassLanes<f32, Iterate> {
    ClassLanes::new(settings(), CLASSES, Accrual::Once, Iterate, true, Blocks::index())
        .fading(half_life)
}

fn saved(lanes: &ClassLanes<f32, Iterate>) -> Vec<u8> {
    let mut out = StateWriter::new();
    lanes.save(&mut out);
    out.into_bytes()
}

#[test]
fn neither_chunks_nor_a_saved_state_show() {
    let (chunk, scales) = (rows(), vec![0.7; 500]);
    for half_life in [None, HalfLife::new(7)] {
        let mut whole = lanes(half_life);
        whole.learn_rows_scaled(&chunk, 0..500, &scales, &mut Vec::new());
        let mut parts = lanes(half_life);
        for start in (0..500).step_by(50) {
            let end = start + 50;
            parts.learn_rows_scaled(&chunk, start..end, &scales[start..end], &mut Vec::new());
            let bytes = saved(&parts);
            parts = lanes(half_life);
            parts.restore(&mut &bytes[..]).unwrap();
        }
        assert_eq!(saved(&parts), saved(&whole));
        parts.scale_penalty(0.7);
        assert_eq!(parts.freeze(), whole.freeze());
        for cut in [0, 8, 16, 20, 2000] {
            let bytes = saved(&whole);
            assert!(lanes(half_life).restore(&mut &bytes[..cut]).is_err());
        }
    }
}

/// With fading, a setting of one class is the same as a lane of one that is not of classes.
#[test]
fn rows_fade_as_in_lanes_of_one_class() {
    let (mut chunk, mut random) = (Chunk::new(), Lcg64::new(3));
    for _ in 0..300 {
        (0..4).for_each(|_| chunk.push_feature(random.bits31() % 30, 1.0));
        let class = f64::from(random.bits31() % 2);
        chunk.finish_row(Some(class), 1.0, Repeats::Add).unwrap();
    }
    let mut relabeled = chunk.clone();
    for i in 0..chunk.len() {
        relabeled.set_label(i, chunk.label(i).map(|y| own_label(y, 1, -1.0)));
    }
    let lane = |l1| Lane { l1, l2: 0.0, rate: 0.5, delta: 1.0 };
    let half_life = HalfLife::new(9);
    let both = vec![(lane(0.1), Loss::Logistic), (lane(0.5), Loss::Logistic)];
    let mut lanes =
        ClassLanes::<f64, _>::new(both, 2, Accrual::Once, Iterate, true, Blocks::index())
            .fading(half_life);
    let mut one = crate::Lanes::<f64, _, 2>::new(
        [lane(0.1), lane(0.5)],
        Accrual::Once,
        Iterate,
        true,
        Loss::Logistic,
        crate::Packed::index(),
    )
    .fading(half_life);
    let (mut margins, mut expected) = (Vec::new(), Vec::new());
    lanes.learn(&chunk, &mut margins);
    one.learn(&relabeled, &mut expected);
    let second = margins.chunks_exact(4).flat_map(|row| row[2..].to_vec());
    assert_eq!(bits(second), bits(expected.into_iter()));
    assert!(lanes.alone(0, Table::index).is_none());
}

/// The memory is that of the features that were seen, not of their numbers.
#[test]
fn blocks_are_allocated_for_features_that_occur() {
    let mut lanes = lanes(None);
    let mut chunk = Chunk::new();
    for j in 0..50u32 {
        chunk.push_feature(j * 40_000_000, 1.0);
        chunk.finish_row(Some(0.0), 1.0, Repeats::Refuse).unwrap();
    }
    lanes.learn(&chunk, &mut Vec::new());
    assert_eq!(lanes.blocks.len(), 50);
    let coming = chunk.coming(0..0);
    assert!(lanes.room(coming) < 1 << 20, "{}", lanes.room(coming));
}
