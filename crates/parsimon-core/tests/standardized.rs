//! Learning that does not depend on the unit and the origin of the label.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod common;

use common::{assert_close, bits, ftrl, learners, margins, predictions, rows, saved};
use parsimon_core::{
    Chunk, Float, Loss, Normalized, Online, Precision, Repeats, StandardizedTarget, Table,
};

const LOSSES: [Loss; 3] = [Loss::Squared, Loss::Huber { delta: 1.0 }, Loss::Quantile { tau: 0.3 }];

type Scaled<F> = StandardizedTarget<Normalized<F, Box<dyn Online>>>;

/// As they are to be used: labels outside, rows inside.
fn all<F: Float>(loss: Loss) -> Vec<(&'static str, Scaled<F>)> {
    let around =
        |inner| StandardizedTarget::new(Normalized::new(inner, true, Table::growing()), false);
    learners::<F>(loss).into_iter().map(|(name, inner)| (name, around(inner))).collect()
}

fn relabel(chunk: &Chunk, label: impl Fn(f64) -> f64) -> Chunk {
    let mut other = Chunk::new();
    for i in 0..chunk.len() {
        chunk.row(i).iter().for_each(|(j, x)| other.push_feature(j, x));
        other.finish_row(chunk.label(i).map(&label), chunk.weight(i), Repeats::Refuse).unwrap();
    }
    other
}

#[test]
fn another_unit_and_origin_of_the_label_change_the_margins_alike() {
    let chunk = rows(400, 21, true, |k| f64::from(1 + k));
    for loss in LOSSES {
        for (c, d) in [(1e6, 0.0), (1e-6, 3.0), (2.5, -7e3), (1.0, 1e4)] {
            let moved = relabel(&chunk, |y| c * y + d);
            for ((name, mut a), (_, mut b)) in all::<f64>(loss).into_iter().zip(all::<f64>(loss)) {
                let close = |own: &[f64], other: &[f64]| {
                    let moved: Vec<f64> = own.iter().map(|p| c * p + d).collect();
                    // The digits that the origin takes are gone from the labels themselves.
                    let scale = 1.0 / (c * 1.0f64).max(1e-3 * d.abs());
                    let in_units =
                        |p: &[f64]| p.iter().map(|p| (p - d) * scale).collect::<Vec<_>>();
                    assert_close(&in_units(other), &in_units(&moved), 1e-9, name);
                };
                // Before the first label nothing is known of the unit.
                let taught = |&i: &usize| chunk.label(i).is_some() && chunk.weight(i) > 0.0;
                let known = 1 + (0..chunk.len()).find(taught).unwrap();
                close(&margins(&mut a, &chunk)[known..], &margins(&mut b, &moved)[known..]);
                close(&predictions(&a, &chunk), &predictions(&b, &moved));
            }
        }
    }
}

#[test]
fn labels_are_standardized_as_the_formulas_say() {
    let chunk = rows(300, 22, true, |_| 1.0);
    let mut learner = StandardizedTarget::new(ftrl::<f64>(0.1, 0.0, Loss::Squared), false);
    let mut bare = ftrl::<f64>(0.1, 0.0, Loss::Squared);
    let (mut n, mut m, mut m2, mut expected) = (0.0, 0.0, 0.0, Vec::new());
    for i in 0..chunk.len() {
        let h = chunk.weight(i);
        let before = (m, if m2 > 0.0 { f64::sqrt(m2 / n) } else { 1.0 });
        if let Some(y) = chunk.label(i).filter(|_| h > 0.0) {
            n += h;
            let d = y - m;
            m += h / n * d;
            m2 += h * d * (y - m);
        }
        let sigma = if m2 > 0.0 { f64::sqrt(m2 / n) } else { 1.0 };
        let mut row = Chunk::new();
        chunk.row(i).iter().for_each(|(j, x)| row.push_feature(j, x));
        row.finish_row(chunk.label(i).map(|y| (y - m) / sigma), h, Repeats::Refuse).unwrap();
        // The margin is made in the units known before the row.
        expected.push(before.0 + before.1 * margins(&mut bare, &row)[0]);
    }
    assert_eq!(bits(&margins(&mut learner, &chunk)), bits(&expected));
    let labels = (0..chunk.len()).filter(|&i| chunk.weight(i) > 0.0).filter_map(|i| chunk.label(i));
    let range = labels.fold((f64::MAX, f64::MIN), |(a, b), y| (a.min(y), b.max(y)));
    assert_eq!((learner.target().low, learner.target().high), range);
    let (own, head) =
        (learner.freeze().into_heads().remove(0), bare.freeze().into_heads().remove(0));
    let sigma = f64::sqrt(m2 / n);
    assert_eq!(own.bias(), m + sigma * head.bias());
    assert!(own.iter().eq(head.iter().map(|(j, w)| (j, sigma * w))));
    assert_eq!(learner.nonzeros(), head.indices().len());
}

#[test]
fn the_frozen_model_predicts_what_the_learner_does() {
    let chunk = rows(300, 23, true, |k| f64::from(1 + k));
    for (name, mut learner) in all::<f64>(Loss::Squared) {
        margins(&mut learner, &chunk);
        let mut frozen = Vec::new();
        learner.freeze().scorer(Precision::F64).margins(&chunk, &mut frozen);
        assert_close(&predictions(&learner, &chunk), &frozen, 1e-12, name);
    }
}

fn neither_chunks_nor_pauses_change_a_bit<F: Float>() {
    let chunk = relabel(&rows(200, 24, true, |k| f64::from(1 + k)), |y| 1e5 + 3.0 * y);
    for kind in 0..learners::<F>(Loss::Squared).len() {
        let new = || all::<F>(Loss::Squared).remove(kind);
        let (name, mut whole) = new();
        let expected = margins(&mut whole, &chunk);
        for size in [1, 63, 64, 65] {
            let (mut learner, mut found) = (new().1, Vec::new());
            for start in (0..chunk.len()).step_by(size) {
                learner.learn_rows(&chunk, start..(start + size).min(chunk.len()), &mut found);
                let bytes = saved(&learner);
                learner = new().1;
                learner.restore(&mut &bytes[..]).unwrap();
                assert_eq!(saved(&learner), bytes, "{name}");
            }
            assert_eq!(bits(&found), bits(&expected), "{name}, chunks of {size}");
            assert_eq!(saved(&learner), saved(&whole), "{name}, chunks of {size}");
            assert_eq!(learner.label_range(), whole.label_range());
        }
    }
}

#[test]
fn neither_chunks_nor_pauses_change_a_bit_in_either_precision() {
    neither_chunks_nor_pauses_change_a_bit::<f32>();
    neither_chunks_nor_pauses_change_a_bit::<f64>();
}

#[test]
fn the_order_of_the_two_does_not_matter() {
    let chunk = rows(300, 25, true, |k| f64::from(1 + k));
    let bare = || ftrl::<f64>(0.3, 0.1, Loss::Squared);
    let mut outside =
        StandardizedTarget::new(Normalized::<f64, _>::new(bare(), true, Table::growing()), false);
    let mut inside =
        Normalized::<f64, _>::new(StandardizedTarget::new(bare(), false), true, Table::growing());
    assert_eq!(bits(&margins(&mut outside, &chunk)), bits(&margins(&mut inside, &chunk)));
    assert_eq!(bits(&predictions(&outside, &chunk)), bits(&predictions(&inside, &chunk)));
    assert_eq!(outside.label_range(), inside.label_range());
    let (a, b) = (outside.freeze().into_heads(), inside.freeze().into_heads());
    assert_eq!((a[0].bias(), a[0].indices()), (b[0].bias(), b[0].indices()));
}

#[test]
fn labels_that_never_change_or_hardly_are_survived() {
    let streams: [&dyn Fn(u32) -> f64; 5] = [
        &|_| 0.1,
        &|i| 1.6e9 + f64::from(i % 2),
        &|i| if i == 70 { 1e100 } else { 1.0 },
        &|i| 10f64.powi(i as i32 % 100),
        &|i| [1.0, -1.0][i as usize % 2] * 1e-100,
    ];
    for (k, label) in streams.into_iter().enumerate() {
        for h in [1.0, 1e17] {
            let mut chunk = Chunk::new();
            for i in 0..200 {
                chunk.push_feature(1, f64::from(i % 9) - 4.0);
                let h = if i % 5 == 1 { h } else { 1.0 };
                chunk.finish_row(Some(label(i)), h, Repeats::Refuse).unwrap();
            }
            let mut learner = StandardizedTarget::new(
                Normalized::<f64, _>::new(
                    ftrl::<f64>(0.1, 0.0, Loss::Huber { delta: 1.0 }),
                    true,
                    Table::growing(),
                ),
                false,
            );
            assert!(margins(&mut learner, &chunk).iter().all(|p| p.is_finite()), "labels {k}");
            let head = learner.freeze().into_heads().remove(0);
            assert!(head.bias().is_finite() && head.iter().all(|(_, w)| w.is_finite()));
            if k == 0 {
                assert_eq!((head.bias(), head.indices().len()), (0.1, 0));
            }
        }
    }
}
