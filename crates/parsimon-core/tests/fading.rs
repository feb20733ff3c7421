//! Rows that fade: every number from the whole past by its formula, and the laws that every learner keeps.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{BETA, RATE, Random, assert_close, bits, margins, predictions, rows, saved};
use parsimon_core::metric::AdaGrad;
use parsimon_core::penalty::ElasticNet;
use parsimon_core::rule::fading::Fading;
use parsimon_core::rule::leader::{Accrual, Iterate};
use parsimon_core::{
    Chunk, Float, HalfLife, Lane, Lanes, Learner, Loss, Normalized, NumberColumn, OneVsAll, Online,
    Packed, Repeats, StandardizedColumns, StandardizedTarget, Table,
};

const LANE: Lane = Lane { l1: 0.7, l2: 0.1, rate: RATE, delta: BETA };

fn half_life(rows: u64) -> HalfLife {
    HalfLife::new(rows).unwrap()
}

fn ftrl<F: Float>(lane: Lane, rows: u64, loss: Loss) -> Learner<F, Fading<ElasticNet>> {
    let rule = |Lane { l1, l2, rate, delta }| Fading {
        penalty: ElasticNet { l1, l2 },
        metric: AdaGrad { rate, delta },
        half_life: half_life(rows),
    };
    Learner::new(rule(lane), Some(rule(lane.free())), loss, Table::growing())
}

fn scaled<F: Float, O: Online>(inner: O, rows: u64) -> StandardizedTarget<Normalized<F, O>> {
    let rows = Some(half_life(rows));
    let normalized = Normalized::new(inner, true, Table::growing()).fading(rows);
    StandardizedTarget::new(normalized, false).fading(rows)
}

fn is_learned(chunk: &Chunk, i: usize) -> bool {
    chunk.label(i).is_some() && chunk.weight(i) > 0.0
}

/// What one learned row leaves behind.
struct Past {
    h: f64,
    y: f64,
    x: BTreeMap<u32, f64>,
    /// `h (sum_j u_j^2 + 1)` with the scales of its time.
    energy: f64,
    /// Gradients and the weights they were taken at, by feature; 0 is the bias.
    gradients: BTreeMap<u32, (f64, f64)>,
}

/// All learned rows; nothing is summed up before it is wanted.
struct WholePast {
    half_life: f64,
    rows: Vec<Past>,
}

impl WholePast {
    /// Every row with what it counts now.
    fn faded(&self) -> impl Iterator<Item = (f64, &Past)> {
        let ages = (0..self.rows.len()).rev();
        let fade = |age: usize| (-(age as f64) / self.half_life).exp2();
        ages.map(fade).zip(&self.rows)
    }

    /// The mean and the deviation of the labels.
    fn target(&self) -> (f64, f64) {
        let weight: f64 = self.faded().map(|(f, row)| f * row.h).sum();
        if weight == 0.0 {
            return (0.0, 1.0);
        }
        let mean = self.faded().map(|(f, row)| f * row.h * row.y).sum::<f64>() / weight;
        let squares: f64 = self.faded().map(|(f, row)| f * row.h * (row.y - mean).powi(2)).sum();
        let first = self.rows[0].y;
        let is_constant = self.rows.iter().all(|row| row.y == first);
        (mean, if is_constant { 1.0 } else { (squares / weight).sqrt() })
    }

    fn scale(&self, j: u32) -> f64 {
        let having = || self.faded().filter_map(|(f, row)| row.x.get(&j).map(|x| (f * row.h, *x)));
        let weight: f64 = having().map(|(h, _)| h).sum();
        if weight == 0.0 {
            return 0.0;
        }
        (having().map(|(h, x)| h * x * x).sum::<f64>() / weight).sqrt()
    }

    fn a(&self) -> f64 {
        let weight: f64 = self.faded().map(|(f, row)| f * row.h).sum();
        let energy: f64 = self.faded().map(|(f, row)| f * row.energy).sum();
        if energy > 0.0 { (weight / energy).sqrt() } else { 1.0 }
    }

    /// A weight is read from the second row with its feature on.
    fn is_read(&self, j: u32) -> bool {
        self.rows.iter().filter(|row| row.x.contains_key(&j)).count() >= 2
    }

    fn row(&self, x: &BTreeMap<u32, f64>, is_learned: bool) -> BTreeMap<u32, f64> {
        let a = self.a();
        let scaled = |(&j, &x): (&u32, &f64)| match self.scale(j) {
            _ if !is_learned && !self.is_read(j) => (j, 0.0),
            0.0 => (j, 0.0),
            s => (j, a * (x / s)),
        };
        x.iter().map(scaled).collect()
    }

    /// The minimizer of `sum gamma^age (g w + sigma/2 (w - w_s)^2) + a (l1 |w| + l2/2 w^2) + beta/(2 rate) w^2`.
    fn weight(&self, j: u32, a: f64) -> f64 {
        let a = if j == 0 { 0.0 } else { a };
        let gamma = (-1.0 / self.half_life).exp2();
        let (mut n, mut z, mut sigmas) = (0.0f64, 0.0, 0.0);
        for (fade, row) in self.faded() {
            let Some(&(g, w)) = row.gradients.get(&j) else {
                n *= gamma * gamma;
                continue;
            };
            let before = gamma * n.sqrt();
            n = gamma * gamma * n + g * g;
            let sigma = (n.sqrt() - before) / RATE;
            z += fade * (g - sigma * w);
            sigmas += fade * sigma;
        }
        let over = z.abs() - a * LANE.l1;
        if over <= 0.0 { 0.0 } else { -z.signum() * over / (BETA / RATE + sigmas + a * LANE.l2) }
    }

    fn margin(&self, row: &BTreeMap<u32, f64>, a: f64) -> f64 {
        row.iter().map(|(&j, &x)| self.weight(j, a) * x).sum::<f64>() + self.weight(0, a)
    }

    /// Learns a row of the squared loss; its margin in the units known before it.
    fn learn(&mut self, x: BTreeMap<u32, f64>, y: f64, h: f64) -> f64 {
        let (mean, deviation) = self.target();
        // The statistics include the row; its gradients come later.
        self.rows.push(Past { h, y, x: x.clone(), energy: 0.0, gradients: BTreeMap::new() });
        let last = self.rows.len() - 1;
        let u = |(&j, &x): (&u32, &f64)| (x / self.scale(j)).powi(2);
        self.rows[last].energy = h * (x.iter().map(u).sum::<f64>() + 1.0);
        let (row, a, (m, sigma)) = (self.row(&x, true), self.a(), self.target());
        // The weights are those before the row.
        let present = self.rows.pop().unwrap();
        let p = self.margin(&row, a);
        let slope = h * (p - (y - m) / sigma);
        let gradient = |(&j, &x): (&u32, &f64)| (j, (slope * x, self.weight(j, a)));
        let bias = BTreeMap::from([(0, 1.0)]);
        let gradients = row.iter().chain(&bias).map(gradient).collect();
        self.rows.push(Past { gradients, ..present });
        mean + deviation * p
    }
}

/// The learner against the formulas; how many weights are zero, and how many are not.
fn compare(rows_of_half_life: u64, chunk: &Chunk) -> (usize, usize) {
    let inner = ftrl::<f64>(LANE, rows_of_half_life, Loss::Squared);
    let mut learner = scaled::<f64, _>(inner, rows_of_half_life);
    let mut past = WholePast { half_life: rows_of_half_life as f64, rows: Vec::new() };
    let (mut expected, mut seen) = (Vec::new(), BTreeSet::new());
    for i in 0..chunk.len() {
        let x: BTreeMap<u32, f64> = chunk.row(i).iter().collect();
        if is_learned(chunk, i) {
            seen.extend(x.keys().copied());
            expected.push(past.learn(x, chunk.label(i).unwrap(), chunk.weight(i)));
        } else {
            let (m, sigma) = past.target();
            expected.push(m + sigma * past.margin(&past.row(&x, false), past.a()));
        }
    }
    let what = format!("half-life {rows_of_half_life}");
    assert_close(&margins(&mut learner, chunk), &expected, 1e-9, &what);
    let (a, (m, sigma)) = (past.a(), past.target());
    let head = &learner.freeze().into_heads()[0];
    assert_close(&[head.bias()], &[m + sigma * past.weight(0, a)], 1e-9, &what);
    let mut zeros = 0;
    for &j in &seen {
        let own = head.iter().find(|&(k, _)| k == j).map_or(0.0, |(_, w)| w);
        let w = past.weight(j, a);
        assert_eq!(own == 0.0, w == 0.0, "{what}: feature {j}: {own:e} {w:e}");
        assert_close(&[own], &[sigma * w * a / past.scale(j)], 1e-9, &what);
        zeros += usize::from(w == 0.0);
    }
    let labels = past.rows.iter().map(|row| row.y);
    let range = labels.fold((f64::MAX, f64::MIN), |(a, b), y| (a.min(y), b.max(y)));
    assert_eq!((learner.target().low, learner.target().high), range);
    (zeros, seen.len() - zeros)
}

#[test]
fn everything_is_what_the_formulas_say() {
    let chunk = rows(250, 31, true, |k| 10f64.powi(k as i32 % 5 - 2));
    let (mut zeros, mut nonzeros) = (0, 0);
    // One row: the sums are divided every 16 learned rows.
    for rows in [1, 2, 5, 30, 1000, 1 << 40] {
        let (zero, nonzero) = compare(rows, &chunk);
        zeros += zero;
        nonzeros += nonzero;
    }
    assert!(zeros > 10 && nonzeros > 10, "{zeros} zeros and {nonzeros} others test little");
}

/// Every kind of learner that rows can fade in.
fn all<F: Float>(rows: u64) -> Vec<(&'static str, Box<dyn Online>)> {
    let lanes = [LANE, Lane { l1: 0.05, delta: 0.0, ..LANE }, Lane { rate: 2.0, ..LANE }];
    let side_by_side = || {
        let (accrual, table) = (Accrual::Once, Packed::growing());
        Lanes::<F, _, 3>::new(lanes, accrual, Iterate, true, Loss::Squared, table)
            .fading(Some(half_life(rows)))
    };
    let alone = || ftrl::<F>(LANE, rows, Loss::Squared);
    vec![
        ("alone", Box::new(alone())),
        ("lanes", Box::new(side_by_side())),
        ("normalized", Box::new(scaled::<F, _>(alone(), rows))),
        ("normalized lanes", Box::new(scaled::<F, _>(side_by_side(), rows))),
    ]
}

fn neither_chunks_nor_pauses_change_a_bit<F: Float>() {
    let chunk = rows(200, 24, true, |k| f64::from(1 + k));
    for half_life in [1, 3, 10, 1000] {
        for kind in 0..all::<F>(1).len() {
            let new = || all::<F>(half_life).remove(kind);
            let (name, mut whole) = new();
            let expected = margins(&mut whole, &chunk);
            for size in [1, 16, 63, 65] {
                let (mut learner, mut found) = (new().1, Vec::new());
                for start in (0..chunk.len()).step_by(size) {
                    learner.learn_rows(&chunk, start..(start + size).min(chunk.len()), &mut found);
                    let read = predictions(&learner, &chunk);
                    let bytes = saved(&learner);
                    learner = new().1;
                    learner.restore(&mut &bytes[..]).unwrap();
                    assert_eq!(saved(&learner), bytes, "{name}");
                    assert_eq!(bits(&predictions(&learner, &chunk)), bits(&read), "{name}");
                }
                assert_eq!(bits(&found), bits(&expected), "{name}, chunks of {size}");
                assert_eq!(saved(&learner), saved(&whole), "{name}, chunks of {size}");
            }
        }
    }
}

#[test]
fn neither_chunks_nor_pauses_change_a_bit_in_either_precision() {
    neither_chunks_nor_pauses_change_a_bit::<f32>();
    neither_chunks_nor_pauses_change_a_bit::<f64>();
}

fn lanes_and_classes_are_the_learner_alone<F: Float>() {
    let numbers = rows(300, 7, true, |k| f64::from(1 + k % 4));
    let lanes = [LANE, Lane { l1: 0.05, delta: 0.0, ..LANE }, Lane { rate: 2.0, ..LANE }];
    for rows in [2, 9, 400] {
        let (accrual, table) = (Accrual::Once, Packed::growing());
        let both = Lanes::<F, _, 3>::new(lanes, accrual, Iterate, true, Loss::Squared, table)
            .fading(Some(half_life(rows)));
        let mut both = scaled::<F, _>(both, rows);
        let (mut of_all, mut of_two) = (Vec::new(), Vec::new());
        both.learn_rows(&numbers, 0..150, &mut of_all);
        let keep = |lanes: Lanes<F, Iterate, 3>| lanes.keep([2, 0], Packed::index());
        let mut two = both.map(|normalized| normalized.map(keep));
        two.learn_rows(&numbers, 150..300, &mut of_two);
        for (k, lane) in lanes.into_iter().enumerate() {
            let mut alone = scaled::<F, _>(ftrl::<F>(lane, rows, Loss::Squared), rows);
            let expected = bits(&margins(&mut alone, &numbers));
            let own: Vec<f64> = of_all.iter().skip(k).step_by(3).copied().collect();
            assert_eq!(bits(&own), expected[..150], "lane {k}, half-life {rows}");
            if let Some(place) = [2, 0].iter().position(|kept| *kept == k) {
                let own: Vec<f64> = of_two.iter().skip(place).step_by(2).copied().collect();
                assert_eq!(bits(&own), expected[150..], "lane {k}, half-life {rows}");
            }
        }
        // Classes: the sign of the label is the class.
        let labelled = |label: &dyn Fn(f64) -> f64| {
            let mut chunk = Chunk::new();
            for i in 0..numbers.len() {
                numbers.row(i).iter().for_each(|(j, x)| chunk.push_feature(j, x));
                let label = numbers.label(i).map(label);
                chunk.finish_row(label, numbers.weight(i), Repeats::Refuse).unwrap();
            }
            chunk
        };
        let learner = || ftrl::<F>(LANE, rows, Loss::Logistic);
        let mut classes = OneVsAll::new(vec![learner(), learner()], -1.0);
        let of_classes = margins(&mut classes, &labelled(&|y| if y > 0.0 { 1.0 } else { 0.0 }));
        let alone = margins(&mut learner(), &labelled(&f64::signum));
        let own: Vec<f64> = of_classes.iter().skip(1).step_by(2).copied().collect();
        assert_eq!(bits(&own), bits(&alone));
    }
}

#[test]
fn lanes_and_classes_are_the_learner_alone_in_either_precision() {
    lanes_and_classes_are_the_learner_alone::<f32>();
    lanes_and_classes_are_the_learner_alone::<f64>();
}

/// Rows of two number columns, with cells that are missing, rows without a label and rows of no importance.
fn cells(count: u32, seed: u64) -> Chunk {
    let (mut chunk, mut random) = (Chunk::new(), Random(seed));
    chunk.set_columns(&[NumberColumn { key: 5, id: 1 }, NumberColumn { key: 9, id: 2 }]);
    for i in 0..count {
        for (k, cell) in chunk.open_numbers().iter_mut().enumerate() {
            if random.below(4) > 0 {
                *cell = 1e6 * k as f64 + random.signed();
            }
        }
        let weight = [1.0, 0.0, 2.5, 0.3][random.below(4) as usize];
        let label = (i % 6 != 4).then(|| random.signed());
        chunk.finish_row(label, weight, Repeats::Refuse).unwrap();
    }
    chunk
}

#[test]
fn means_and_deviations_of_columns_fade() {
    for rows in [1, 3, 40, 1000] {
        let new = || {
            let inner = scaled::<f64, _>(ftrl::<f64>(LANE, rows, Loss::Squared), rows);
            StandardizedColumns::new(inner).fading(Some(half_life(rows)))
        };
        // Rows without number columns between those that have some.
        let chunks = [cells(100, 1), common::rows(50, 2, true, |_| 1.0), cells(60, 3)];
        let mut learner = new();
        let expected: Vec<f64> =
            chunks.iter().flat_map(|chunk| margins(&mut learner, chunk)).collect();
        let all = || chunks.iter().flat_map(|chunk| (0..chunk.len()).map(move |i| (chunk, i)));
        let learned: Vec<_> = all().filter(|(chunk, i)| is_learned(chunk, *i)).collect();
        for (k, moments) in learner.columns().iter().enumerate() {
            let faded = || {
                let ages = (0..learned.len()).rev();
                let having =
                    ages.zip(&learned).filter(|(_, (chunk, _))| !chunk.columns().is_empty());
                let cells = having.map(|(age, (chunk, i))| {
                    let fade = (-(age as f64) / rows as f64).exp2();
                    (fade * chunk.weight(*i), chunk.numbers(*i)[k])
                });
                cells.filter(|(_, x)| !x.is_nan())
            };
            let weight: f64 = faded().map(|(h, _)| h).sum();
            let mean = faded().map(|(h, x)| h * x).sum::<f64>() / weight;
            let squares: f64 = faded().map(|(h, x)| h * (x - mean).powi(2)).sum();
            let read = [moments.mean, moments.deviation()];
            assert_close(&read, &[mean, (squares / weight).sqrt()], 1e-9, "column");
        }
        let (mut parts, mut found) = (new(), Vec::new());
        for (chunk, i) in all() {
            parts.learn_rows(chunk, i..i + 1, &mut found);
            let bytes = saved(&parts);
            parts = new();
            parts.restore(&mut &bytes[..]).unwrap();
        }
        assert_eq!(bits(&found), bits(&expected));
        assert_eq!(saved(&parts), saved(&learner));
    }
}

/// The root mean square of a feature remembers an importance of 4096 at most, whatever the growth.
#[test]
fn the_horizon_of_scales_grows_with_the_rows() {
    for rows in [3, 300, 100_000] {
        let inner = ftrl::<f64>(LANE, rows, Loss::Squared);
        let mut learner =
            Normalized::<f64, _>::new(inner, true, Table::growing()).fading(Some(half_life(rows)));
        let (mut chunk, mut random) = (Chunk::new(), Random(8));
        let gamma = (-1.0 / rows as f64).exp2();
        let (mut n, mut square) = (0.0, 0.0);
        for i in 0..500 {
            let (x, h) = (random.signed() * f64::from(1 + i), f64::from(1 + random.below(900)));
            n *= gamma;
            if i % 3 > 0 {
                chunk.push_feature(1, x);
                n = f64::min(n + h, 4096.0);
                square += h / n * (x * x - square);
            }
            chunk.finish_row(Some(random.signed()), h, Repeats::Refuse).unwrap();
        }
        learner.learn(&chunk, &mut Vec::new());
        assert_close(&[learner.scale(1)], &[square.sqrt()], 1e-9, "root mean square");
    }
}

/// Feature 1 in every row, its meaning turned over now and then; feature 2 in the first ten rows only.
fn endless(count: u32, turn: u32) -> Chunk {
    let (mut chunk, mut random) = (Chunk::new(), Random(3));
    for i in 0..count {
        let x = random.signed();
        let sign = if (i / turn).is_multiple_of(2) { 1.0 } else { -1.0 };
        chunk.push_feature(1, x);
        if i < 10 {
            chunk.push_feature(2, 1.0);
        }
        let y = sign * x + f64::from(u8::from(i < 10));
        chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

fn endless_streams_stay_finite<F: Float>(lane: Lane) {
    for rows in [1, 7, 100, 300] {
        let chunk = endless(100 * rows, 25 * rows);
        let learner = ftrl::<F>(lane, rows.into(), Loss::Squared);
        let mut learner = scaled::<F, _>(learner, rows.into());
        let margins = margins(&mut learner, &chunk);
        assert!(margins.iter().all(|p| p.is_finite()));
        let head = &learner.freeze().into_heads()[0];
        assert!(head.bias().is_finite() && head.iter().all(|(_, w)| w.is_finite()));
        // What was not seen for a hundred half-lives is forgotten.
        assert!(head.iter().all(|(j, _)| j != 2), "half-life {rows}: {head:?}");
        // The fourth quarter has the sign of the second.
        let w = head.iter().find(|&(j, _)| j == 1).map_or(0.0, |(_, w)| w);
        assert!(rows < 100 || (w + 1.0).abs() < 0.2, "half-life {rows}: {w}");
    }
}

#[test]
fn endless_streams_stay_finite_in_either_precision() {
    for l1 in [0.01, 0.3] {
        endless_streams_stay_finite::<f32>(Lane { l1, l2: 0.0, rate: 0.5, delta: 0.0 });
        endless_streams_stay_finite::<f64>(Lane { l1, l2: 0.0, rate: 0.5, delta: 0.0 });
    }
    endless_streams_stay_finite::<f32>(Lane { l1: 0.0, l2: 0.0, rate: 0.5, delta: 0.0 });
}

#[test]
fn an_absent_feature_shrinks_to_an_exact_zero() {
    let mut learner = ftrl::<f64>(Lane { l1: 0.1, ..LANE }, 10, Loss::Squared);
    let chunk = endless(200, 1000);
    let mut sizes = Vec::new();
    for i in 0..chunk.len() {
        learner.learn_rows(&chunk, i..i + 1, &mut Vec::new());
        sizes.push(learner.weight(2).abs());
    }
    assert!(sizes[9] > 0.1, "{sizes:?}");
    assert!(sizes[9..].windows(2).all(|w| w[1] <= w[0]), "{sizes:?}");
    let zero = sizes.iter().skip(9).position(|w| *w == 0.0).unwrap();
    assert!((10..150).contains(&zero), "{zero}");
    // Rows that are only predicted, or have no importance, do not age the past.
    let mut idle = Chunk::new();
    for (label, weight) in [(None, 1.0), (Some(1.0), 0.0)] {
        idle.push_feature(2, 1.0);
        idle.finish_row(label, weight, Repeats::Refuse).unwrap();
    }
    let mut learner = ftrl::<f64>(LANE, 1, Loss::Squared);
    learner.learn_rows(&chunk, 0..10, &mut Vec::new());
    let before = saved(&learner);
    learner.learn(&idle, &mut Vec::new());
    assert_eq!(saved(&learner), before);
}

#[test]
fn a_half_life_far_beyond_the_stream_changes_next_to_nothing() {
    let chunk = rows(300, 5, false, |_| 1.0);
    let mut fading = ftrl::<f64>(LANE, 1 << 50, Loss::Logistic);
    let rule = |Lane { l1, l2, rate, delta }| parsimon_core::rule::leader::Leader {
        penalty: ElasticNet { l1, l2 },
        accrual: Accrual::Once,
        center: Iterate,
        metric: AdaGrad { rate, delta },
    };
    let mut plain = Learner::<f64, _>::new(
        rule(LANE),
        Some(rule(LANE.free())),
        Loss::Logistic,
        Table::growing(),
    );
    assert_close(&margins(&mut fading, &chunk), &margins(&mut plain, &chunk), 1e-10, "margins");
}

#[test]
fn merging_is_refused() {
    let why = scaled::<f64, _>(ftrl::<f64>(LANE, 5, Loss::Squared), 5).mergeable().err();
    assert!(why.unwrap().contains("half-life"));
}
