//! Merging learners whose rows and labels are brought to a common scale.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod common;

use common::{assert_close, ftrl, margins, predictions, rows, saved};
use parsimon_core::merge::{MergeRead, Parts, Share, Tally};
use parsimon_core::workspace::MomentsDelta;
use parsimon_core::{
    Chunk, ColumnMoments, Float, Loss, Normalized, Online, Repeats, StandardizedTarget, Table,
    TargetMoments,
};

type Scaled<F> = StandardizedTarget<Normalized<F, Box<dyn Online>>>;

fn new<F: Float>(l1: f64) -> Scaled<F> {
    let inner: Box<dyn Online> = Box::new(ftrl::<F>(l1, 0.1, Loss::Squared));
    StandardizedTarget::new(Normalized::new(inner, true, Table::growing()), false)
}

fn begun<F: Float>(l1: f64, start: &[u8]) -> Scaled<F> {
    let mut learner = new(l1);
    learner.restore(&mut &start[..]).unwrap();
    learner
}

/// The numbers of one coordinate in a tally.
fn find(tally: &Tally, id: u32) -> Parts {
    let at = tally.ids.binary_search(&id);
    at.map_or(Parts::default(), |at| Parts::from_slice(&tally.parts[2 * at..2 * at + 2]))
}

/// Makes one of the learners and the state they began at, in the order that is asked for.
fn merge<F: Float>(start: &mut Scaled<F>, ends: &[Scaled<F>], damped: bool) {
    let before = start.mergeable().unwrap();
    let (rounds, tally, moments) = (before.rounds(0), before.tally(0), before.moments());
    assert_eq!(before.shares(), [Share::Sum; 2]);
    drop(before);
    let ends: Vec<Box<dyn MergeRead + '_>> =
        ends.iter().map(|end| end.mergeable().unwrap()).collect();
    let mut added = MomentsDelta::default();
    ends.iter().for_each(|end| added.add(&end.moments().since(&moments)));
    let to = rounds + ends.iter().map(|end| end.rounds(0) - rounds).sum::<u64>();
    let mut state = start.mergeable_mut().unwrap();
    state.advance(0, to);
    state.take_moments(&added);
    for end in ends {
        let after = end.tally(0);
        for &id in &after.ids {
            let (from, to) = (find(&tally, id), find(&after, id));
            if damped {
                let exponent = end.overlap(id, &from, &to);
                let step = end.step(id, [rounds, end.rounds(0)], &from, &to, exponent);
                state.take_steps(0, rounds, &[id], &[step]);
            } else {
                let parts = vec![to.value - from.value, to.memory - from.memory];
                state.add(0, &Tally { ids: vec![id], parts });
            }
        }
    }
    state.settle(0);
}

fn one_learner_is_taken_to_its_end<F: Float>(tolerance: f64) {
    for damped in [false, true] {
        for begin in [0, 150] {
            let mut start = new::<F>(3.0);
            margins(&mut start, &rows(begin, 31, true, |k| f64::from(1 + k)));
            let mut end = begun::<F>(3.0, &saved(&start));
            margins(&mut end, &rows(200, 32, true, |k| f64::from(2 + k)));
            merge(&mut start, std::slice::from_ref(&end), damped);
            let what = format!("damped: {damped}, from row {begin}");
            assert_eq!(start.label_range(), end.label_range());
            assert_eq!(start.nonzeros(), end.nonzeros());
            assert!(end.nonzeros() > 0 && end.nonzeros() < 30, "the penalty must bite");
            let rest = rows(100, 33, true, |k| f64::from(1 + k));
            let read = predictions(&start, &rest);
            assert_close(&read, &predictions(&end, &rest), tolerance, &what);
            let (a, b) = (margins(&mut start, &rest), margins(&mut end, &rest));
            assert_close(&a, &b, 1e2 * tolerance, &what);
        }
    }
}

#[test]
fn the_delta_of_one_learner_takes_its_start_to_its_end() {
    one_learner_is_taken_to_its_end::<f64>(1e-11);
    one_learner_is_taken_to_its_end::<f32>(1e-4);
}

#[test]
fn moments_of_several_learners_are_those_of_all_their_rows() {
    let mut start = new::<f64>(3.0);
    margins(&mut start, &rows(100, 41, true, |_| 1.0));
    let mut sequential = begun::<f64>(3.0, &saved(&start));
    let mut ends = Vec::new();
    for seed in 42..46 {
        let chunk = rows(150, seed, true, |_| 1.0);
        let mut end = begun::<f64>(3.0, &saved(&start));
        margins(&mut end, &chunk);
        ends.push(end);
        margins(&mut sequential, &chunk);
    }
    merge(&mut start, &ends, true);
    let all = |learner: &Scaled<f64>| learner.mergeable().unwrap().moments();
    let (merged, expected) = (all(&start), all(&sequential));
    assert_close(&[merged.weight], &[expected.weight], 1e-12, "T");
    // S is a sum over rows that each learner has scaled by what it knew.
    assert!((merged.energy / expected.energy - 1.0).abs() < 0.3);
    let numbers = |t: &TargetMoments| [t.weight, t.mean, t.squares, t.low, t.high];
    assert_close(&numbers(&merged.target), &numbers(&expected.target), 1e-12, "labels");
    assert_eq!(merged.features.len(), expected.features.len());
    for ((j, own), (id, all)) in merged.features.iter().zip(&expected.features) {
        assert_eq!(j, id);
        assert_close(own, all, 1e-12, "n and s");
    }
}

#[test]
fn means_that_have_reached_the_horizon_are_averaged() {
    let column = |x: f64, n: u32| {
        let mut chunk = Chunk::new();
        for i in 0..n {
            chunk.push_feature(1, x * [1.0, -1.0][i as usize % 2]);
            chunk.finish_row(Some(f64::from(i % 3)), 1.0, Repeats::Refuse).unwrap();
        }
        chunk
    };
    let mut start = new::<f32>(0.1);
    margins(&mut start, &column(1.0, 5000));
    let scale = |learner: &Scaled<f32>| learner.inner().scale(1);
    assert!((scale(&start) - 1.0).abs() < 1e-3);
    let ends: Vec<_> = [3.0, 1e-3, 2.0]
        .into_iter()
        .map(|x| {
            let mut end = begun::<f32>(0.1, &saved(&start));
            margins(&mut end, &column(x, 20_000));
            end
        })
        .collect();
    let mean = ends.iter().map(|end| scale(end).powi(2)).sum::<f64>() / 3.0;
    merge(&mut start, &ends, false);
    assert!((scale(&start) / mean.sqrt() - 1.0).abs() < 1e-6);
}

/// Samples put together in another order, and labels far from zero.
#[test]
fn labels_far_from_zero_keep_their_deviation() {
    let sample = |from: u32, to: u32| {
        let mut sample = TargetMoments::default();
        (from..to).for_each(|i| sample.push(1.6e9 + f64::from(i % 10), 0.5 + f64::from(i % 3)));
        sample
    };
    let (all, start) = (sample(0, 3000), sample(0, 700));
    let parts = [sample(700, 1000), sample(1000, 2900), sample(2900, 3000)];
    for order in [[0, 1, 2], [2, 0, 1]] {
        let (mut fresh, mut merged) = (TargetMoments::default(), start);
        order.iter().for_each(|&k| fresh.add(&parts[k]));
        merged.add(&fresh);
        assert!((merged.deviation() / all.deviation() - 1.0).abs() < 1e-7);
        assert!((merged.mean - all.mean).abs() < 1e-5);
        let back = merged.since(&start);
        assert!((back.deviation() / fresh.deviation() - 1.0).abs() < 1e-6);
    }
    assert_eq!(start.since(&start), TargetMoments::default());
}

/// Columns of timestamps, of zeros and of one value; some are absent from some parts.
#[test]
fn columns_of_parts_are_those_of_all_rows() {
    let value = |key: u64, i: u32| match key {
        3 => 1.6e9 + f64::from(i % 60),
        7 => 0.0,
        11 => -2.5,
        _ => f64::from(i % 7) - 3.0,
    };
    let columns = |keys: &[u64], rows: std::ops::Range<u32>| {
        let of = |&key: &u64| {
            let mut column = ColumnMoments { key, id: 1, ..ColumnMoments::default() };
            for i in rows.clone() {
                column.push(value(key, i), 0.5 + f64::from(i % 3));
            }
            column
        };
        keys.iter().map(of).collect::<Vec<_>>()
    };
    let start = columns(&[3, 7], 0..500);
    let parts =
        [columns(&[3, 11], 500..700), columns(&[7, 12], 500..900), columns(&[3, 7, 12], 700..950)];
    let mut added = Vec::new();
    for part in &parts {
        let mut end = start.clone();
        ColumnMoments::add_all(&mut end, part);
        ColumnMoments::add_all(&mut added, &ColumnMoments::all_since(&end, &start));
    }
    let mut merged = start.clone();
    ColumnMoments::add_all(&mut merged, &added);
    assert_eq!(merged.iter().map(|c| c.key).collect::<Vec<_>>(), [3, 7, 11, 12]);
    for column in &merged {
        // The samples of a column, one row at a time.
        let mut rows: Vec<(f64, f64)> = Vec::new();
        let mut note = |range: std::ops::Range<u32>| {
            rows.extend(range.map(|i| (0.5 + f64::from(i % 3), value(column.key, i))));
        };
        match column.key {
            3 => [0..500, 500..700, 700..950].into_iter().for_each(&mut note),
            7 => [0..500, 500..900, 700..950].into_iter().for_each(&mut note),
            11 => note(500..700),
            _ => [500..900, 700..950].into_iter().for_each(&mut note),
        }
        let weight: f64 = rows.iter().map(|r| r.0).sum();
        let mean = rows.iter().map(|(h, x)| h * (x - rows[0].1)).sum::<f64>() / weight + rows[0].1;
        let squares: f64 = rows.iter().map(|(h, x)| h * (x - mean) * (x - mean)).sum();
        assert!((column.weight - weight).abs() < 1e-9);
        assert!((column.mean - mean).abs() <= 1e-12 * mean.abs().max(1.0), "{column:?} {mean}");
        assert!((column.squares - squares).abs() <= 1e-7 * squares, "{column:?} {squares}");
    }
    assert!(ColumnMoments::all_since(&start, &start).is_empty());
}
