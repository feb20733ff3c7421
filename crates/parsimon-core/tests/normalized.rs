//! Learning that does not depend on the units of features: the formulas written out, the law of scale, and the laws that
//! every learner keeps.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod common;

use std::collections::BTreeMap;

use common::{
    BETA, RATE, Random, assert_close, bits, ftrl, ftrl_rule, id, learners, margins, predictions,
    rows, saved,
};
use parsimon_core::kernel::{Kernel, Multikernel, Tuning, Update};
use parsimon_core::rule::leader::{Accrual, Iterate};
use parsimon_core::{
    Chunk, Float, Lane, Lanes, Learner, Loss, Normalized, OneVsAll, Online, Packed, Precision,
    Repeats, Table,
};

const L1: f64 = 3.0;
const L2: f64 = 0.1;

fn normalized<F: Float, O: Online>(inner: O) -> Normalized<F, O> {
    Normalized::new(inner, true, Table::growing())
}

type Boxed<F> = Normalized<F, Box<dyn Online>>;

/// One after the other: every kind of learner, normalized.
fn all<F: Float>(loss: Loss) -> Vec<(&'static str, Boxed<F>)> {
    learners::<F>(loss).into_iter().map(|(name, inner)| (name, normalized(inner))).collect()
}

/// Statistics and factor as the formulas say, in ordinary arrays and in `f64` or rounded to `F`.
#[derive(Default)]
struct Plain {
    features: BTreeMap<u32, (f64, f64)>,
    /// How many learned rows had a feature.
    times: BTreeMap<u32, u32>,
    t: f64,
    s: f64,
}

impl Plain {
    fn a(&self) -> f64 {
        if self.s == 0.0 { 1.0 } else { (self.t / self.s).sqrt() }
    }

    fn take_in<F: Float>(&mut self, chunk: &Chunk, i: usize) {
        let (h, round) = (chunk.weight(i), |x: f64| F::from_f64(x).to_f64());
        self.t += h;
        let mut energy = 0.0;
        for (j, x) in chunk.row(i).iter() {
            *self.times.entry(j).or_default() += 1;
            let (s, n) = self.features.entry(j).or_default();
            *n = round((*n + h).min(4096.0));
            *s = round((*s * *s + (h / *n).min(1.0) * (x * x - *s * *s)).sqrt());
            energy += (x / *s) * (x / *s);
        }
        self.s += h * (energy + 1.0);
    }

    fn row(&self, chunk: &Chunk, i: usize) -> Vec<(u32, f64)> {
        let scaled = |(j, x): (u32, f64)| match self.features.get(&j) {
            // A weight is read from the second row with its feature on.
            Some(_) if !is_learned(chunk, i) && self.times[&j] < 2 => (j, 0.0),
            Some(&(s, _)) if s > 0.0 => (j, self.a() * (x / s)),
            _ => (j, 0.0),
        };
        chunk.row(i).iter().map(scaled).collect()
    }

    fn chunk(&self, chunk: &Chunk, i: usize) -> Chunk {
        let mut row = Chunk::new();
        self.row(chunk, i).into_iter().for_each(|(j, x)| row.push_feature(j, x));
        row.finish_row(chunk.label(i), chunk.weight(i), Repeats::Refuse).unwrap();
        row
    }
}

fn is_learned(chunk: &Chunk, i: usize) -> bool {
    chunk.label(i).is_some() && chunk.weight(i) > 0.0
}

/// FTRL-Proximal with logistic loss from its formulas; feature 0 is the bias.
#[derive(Default)]
struct PlainFtrl {
    coords: BTreeMap<u32, (f64, f64)>,
}

impl PlainFtrl {
    fn h(n: f64) -> f64 {
        (BETA + n.sqrt()) / RATE
    }

    fn weight(&self, j: u32, a: f64) -> f64 {
        let a = if j == 0 { 0.0 } else { a };
        let &(z, n) = self.coords.get(&j).unwrap_or(&(0.0, 0.0));
        if z.abs() <= L1 * a { 0.0 } else { -(z - z.signum() * L1 * a) / (Self::h(n) + L2 * a) }
    }

    fn margin(&self, row: &[(u32, f64)], a: f64) -> f64 {
        row.iter().map(|&(j, x)| self.weight(j, a) * x).sum::<f64>() + self.weight(0, a)
    }

    fn learn(&mut self, row: &[(u32, f64)], y: f64, weight: f64, a: f64) -> f64 {
        let p = self.margin(row, a);
        let slope = weight * -y / (1.0 + (y * p).exp());
        for &(j, x) in row.iter().chain([&(0, 1.0)]) {
            let (w, g) = (self.weight(j, a), slope * x);
            let (z, n) = self.coords.entry(j).or_default();
            *z += g - (Self::h(*n + g * g) - Self::h(*n)) * w;
            *n += g * g;
        }
        p
    }
}

#[test]
fn ftrl_is_what_the_formulas_say() {
    let units = |k: u32| 10f64.powi(k as i32 % 7 - 3);
    let chunk = rows(600, 1, false, units);
    let mut learner = normalized::<f64, _>(ftrl::<f64>(L1, L2, Loss::Logistic));
    let (mut plain, mut twin) = (Plain::default(), PlainFtrl::default());
    let mut expected = Vec::new();
    for i in 0..chunk.len() {
        if is_learned(&chunk, i) {
            plain.take_in::<f64>(&chunk, i);
            let row = plain.row(&chunk, i);
            let y = chunk.label(i).unwrap();
            expected.push(twin.learn(&row, y, chunk.weight(i), plain.a()));
        } else {
            expected.push(twin.margin(&plain.row(&chunk, i), plain.a()));
        }
    }
    assert_close(&margins(&mut learner, &chunk), &expected, 1e-12, "progressive margins");
    let read: Vec<f64> =
        (0..chunk.len()).map(|i| twin.margin(&plain.row(&chunk, i), plain.a())).collect();
    assert_close(&predictions(&learner, &chunk), &read, 1e-12, "predictions");
    let head = &learner.freeze().into_heads()[0];
    assert_close(&[head.bias()], &[twin.weight(0, 0.0)], 1e-12, "bias");
    let mut nonzeros = 0;
    for (&j, &(s, _)) in &plain.features {
        let own = head.iter().find(|&(k, _)| k == j).map_or(0.0, |(_, w)| w);
        let w = twin.weight(j, plain.a());
        assert_eq!(own == 0.0, w == 0.0, "feature {j}");
        assert_close(&[own * s / plain.a()], &[w], 1e-12, "weight");
        nonzeros += usize::from(w != 0.0);
    }
    assert!((1..30).contains(&nonzeros), "{nonzeros} weights: the penalty must bite");
    assert_eq!((learner.nonzeros(), head.indices().len()), (nonzeros, nonzeros));
    // The penalty's factor matters here.
    assert!((plain.a() - 1.0).abs() > 0.2);
}

/// Rows normalized by hand, one at a time, and handed to the learner itself.
fn by_hand<F: Float>(mut bare: impl Online, chunk: &Chunk) -> Vec<f64> {
    let (mut plain, mut expected) = (Plain::default(), Vec::new());
    for i in 0..chunk.len() {
        if is_learned(chunk, i) {
            plain.take_in::<F>(chunk, i);
            bare.scale_penalty(plain.a());
        }
        bare.learn(&plain.chunk(chunk, i), &mut expected);
    }
    expected
}

fn every_learner_sees_normalized_rows<F: Float>() {
    let chunk = rows(400, 2, false, |k| f64::from(1 + k));
    for ((name, mut learner), (_, bare)) in
        all::<F>(Loss::Logistic).into_iter().zip(learners::<F>(Loss::Logistic))
    {
        let expected = by_hand::<F>(bare, &chunk);
        assert_eq!(bits(&margins(&mut learner, &chunk)), bits(&expected), "{name}");
    }
}

#[test]
fn every_learner_sees_normalized_rows_in_either_precision() {
    every_learner_sees_normalized_rows::<f32>();
    every_learner_sees_normalized_rows::<f64>();
}

#[test]
fn multiplying_features_changes_no_margin() {
    let mut random = Random(5);
    let units: Vec<f64> = (0..40).map(|_| 10f64.powf(12.0 * random.signed())).collect();
    let (plain, scaled) =
        (rows(500, 3, false, |_| 1.0), rows(500, 3, false, |k| units[k as usize]));
    for ((name, mut a), (_, mut b)) in
        all::<f64>(Loss::Logistic).into_iter().zip(all::<f64>(Loss::Logistic))
    {
        assert_close(&margins(&mut a, &plain), &margins(&mut b, &scaled), 1e-9, name);
        assert_close(&predictions(&a, &plain), &predictions(&b, &scaled), 1e-9, name);
        let score = |learner: &dyn Online, chunk: &Chunk| {
            let mut margins = Vec::new();
            learner.freeze().scorer(Precision::F64).margins(chunk, &mut margins);
            margins
        };
        assert_close(&score(&a, &plain), &score(&b, &scaled), 1e-9, name);
        assert_close(&predictions(&b, &scaled), &score(&b, &scaled), 1e-9, name);
        assert_eq!(a.nonzeros(), b.nonzeros());
    }
}

fn powers_of_two_change_no_bit<F: Float>() {
    let mut random = Random(6);
    let units: Vec<f64> = (0..40)
        .map(|_| 2f64.powi(random.below(81) as i32 - 40) * [1.0, -1.0][random.below(2) as usize])
        .collect();
    let (plain, scaled) =
        (rows(500, 4, false, |_| 1.0), rows(500, 4, false, |k| units[k as usize]));
    for ((name, mut a), (_, mut b)) in
        all::<F>(Loss::Logistic).into_iter().zip(all::<F>(Loss::Logistic))
    {
        assert_eq!(bits(&margins(&mut a, &plain)), bits(&margins(&mut b, &scaled)), "{name}");
        assert_eq!(bits(&predictions(&a, &plain)), bits(&predictions(&b, &scaled)), "{name}");
        let (a, b) = (a.freeze().into_heads(), b.freeze().into_heads());
        for k in 0..40 {
            let weight = |head: &parsimon_core::Head| {
                head.iter().find(|&(j, _)| j == id(k)).map_or(0.0, |(_, w)| w)
            };
            assert_eq!(weight(&a[0]), weight(&b[0]) * units[k as usize], "{name}, feature {k}");
        }
    }
}

#[test]
fn multiplying_features_by_powers_of_two_changes_no_bit() {
    powers_of_two_change_no_bit::<f32>();
    powers_of_two_change_no_bit::<f64>();
}

fn neither_chunks_nor_pauses_change_a_bit<F: Float>() {
    let chunk = rows(300, 7, false, |k| f64::from(1 + k * k));
    for kind in 0..learners::<F>(Loss::Logistic).len() {
        let new = || all::<F>(Loss::Logistic).remove(kind);
        let (name, mut whole) = new();
        let expected = margins(&mut whole, &chunk);
        for size in [1, 7, 63, 64, 65, 200] {
            let (mut learner, mut found) = (new().1, Vec::new());
            for start in (0..chunk.len()).step_by(size) {
                let end = (start + size).min(chunk.len());
                learner.learn_rows(&chunk, start..end, &mut found);
                // Saved, forgotten, taken up again.
                let bytes = saved(&learner);
                let read = bits(&predictions(&learner, &chunk));
                learner = new().1;
                let mut rest = &bytes[..];
                learner.restore(&mut rest).unwrap();
                assert!(rest.is_empty() && saved(&learner) == bytes, "{name}");
                assert_eq!(bits(&predictions(&learner, &chunk)), read, "{name}");
            }
            assert_eq!(bits(&found), bits(&expected), "{name}, chunks of {size}");
            assert_eq!(saved(&learner), saved(&whole), "{name}, chunks of {size}");
        }
    }
}

#[test]
fn neither_chunks_nor_pauses_change_a_bit_in_either_precision() {
    neither_chunks_nor_pauses_change_a_bit::<f32>();
    neither_chunks_nor_pauses_change_a_bit::<f64>();
}

#[test]
fn bytes_that_end_early_are_refused() {
    let (_, mut learner) = all::<f32>(Loss::Logistic).remove(0);
    margins(&mut learner, &rows(20, 8, false, |_| 1.0));
    let bytes = saved(&learner);
    for len in 0..bytes.len() {
        let (_, mut other) = all::<f32>(Loss::Logistic).remove(0);
        assert!(other.restore(&mut &bytes[..len]).is_err(), "{len} bytes");
    }
}

#[test]
fn reading_changes_nothing_and_neither_do_rows_that_are_not_learned() {
    let chunk = rows(100, 9, false, |_| 1.0);
    let mut silent = Chunk::new();
    for i in 0..chunk.len() {
        chunk.row(i).iter().for_each(|(j, x)| silent.push_feature(j + 1, 1e6 * x));
        let (label, weight) = if i % 2 == 0 { (None, 1.0) } else { (Some(1.0), 0.0) };
        silent.finish_row(label, weight, Repeats::Refuse).unwrap();
    }
    for (name, mut learner) in all::<f32>(Loss::Logistic) {
        let fresh = saved(&learner);
        assert!(margins(&mut learner, &silent).iter().all(|&p| p == 0.0));
        assert_eq!(saved(&learner), fresh, "{name}, at the origin");
        margins(&mut learner, &chunk);
        let before = saved(&learner);
        let told = margins(&mut learner, &silent);
        assert_eq!(told, predictions(&learner, &silent), "{name}");
        let _ = (learner.freeze(), learner.nonzeros(), learner.nonzeros_by_head());
        assert_eq!(saved(&learner), before, "{name}");
    }
}

#[test]
fn a_feature_never_seen_reads_as_zero() {
    let (_, mut learner) = all::<f64>(Loss::Logistic).remove(0);
    margins(&mut learner, &rows(100, 10, false, |_| 1.0));
    let mut chunk = Chunk::new();
    for features in [&[][..], &[(2, 1e9), (4_000_000_000, -1e-9)]] {
        features.iter().for_each(|&(j, x)| chunk.push_feature(j, x));
        chunk.finish_row(None, 1.0, Repeats::Refuse).unwrap();
    }
    let bias = learner.freeze().into_heads()[0].bias();
    assert_ne!(bias, 0.0);
    assert_eq!(predictions(&learner, &chunk), [bias, bias]);
}

#[test]
fn the_kind_of_table_changes_no_bit() {
    let chunk = rows(200, 11, false, |_| 1.0);
    let learned = |stats| {
        let inner = ftrl::<f32>(L1, L2, Loss::Logistic);
        let mut learner = Normalized::<f32, _>::new(inner, true, stats);
        margins(&mut learner, &chunk);
        (bits(&predictions(&learner, &chunk)), learner.freeze())
    };
    let growing = learned(Table::growing());
    assert_eq!(learned(Table::dense(16)), growing);
    assert_eq!(learned(Table::index()), growing);
}

#[test]
fn every_lane_is_the_learner_alone() {
    let lanes = [(0.0, 0.0), (0.3, 0.1), (2.0, 1.0), (0.1, 0.0)];
    let lane = |(l1, l2)| Lane { l1, l2, rate: RATE, delta: BETA };
    let chunk = rows(300, 12, false, |k| f64::from(1 + k));
    let new = || {
        let (accrual, loss) = (Accrual::Once, Loss::Logistic);
        Lanes::<f32, _, 4>::new(lanes.map(lane), accrual, Iterate, true, loss, Packed::growing())
    };
    let mut together = normalized::<f32, _>(new());
    let found = margins(&mut together, &chunk);
    let mut resumed = normalized::<f32, _>(new());
    resumed.restore(&mut &saved(&together)[..]).unwrap();
    let (read, heads) = (predictions(&resumed, &chunk), resumed.freeze().into_heads());
    assert_eq!(bits(&read), bits(&predictions(&together, &chunk)));
    let mut thinned = together.map(|lanes| lanes.keep([2, 1], Packed::index()));
    assert_eq!(thinned.freeze().heads(), [heads[2].clone(), heads[1].clone()]);
    let (rest, more) =
        (rows(50, 13, false, |_| 1.0), margins(&mut resumed, &rows(50, 13, false, |_| 1.0)));
    let thinned = margins(&mut thinned, &rest);
    for (k, &(l1, l2)) in lanes.iter().enumerate() {
        let mut alone = normalized::<f32, _>(ftrl::<f32>(l1, l2, Loss::Logistic));
        let column =
            |all: &[f64]| bits(&all.iter().skip(k).step_by(4).copied().collect::<Vec<_>>());
        assert_eq!(column(&found), bits(&margins(&mut alone, &chunk)), "lane {k}");
        assert_eq!(column(&read), bits(&predictions(&alone, &chunk)), "lane {k}");
        assert_eq!(heads[k], alone.freeze().into_heads()[0], "lane {k}");
        assert_eq!(column(&more), bits(&margins(&mut alone, &rest)), "lane {k}");
    }
    assert_eq!(
        bits(&thinned.iter().step_by(2).copied().collect::<Vec<_>>()),
        bits(&more.iter().skip(2).step_by(4).copied().collect::<Vec<_>>())
    );
}

#[test]
fn every_class_is_the_learner_alone() {
    let classes = 3;
    let with_labels = |own: &dyn Fn(u32) -> f64| {
        let (chunk, mut labelled) = (rows(300, 14, false, |k| f64::from(1 + k)), Chunk::new());
        for i in 0..chunk.len() {
            chunk.row(i).iter().for_each(|(j, x)| labelled.push_feature(j, x));
            let label = chunk.label(i).map(|_| own(i as u32 % classes));
            labelled.finish_row(label, chunk.weight(i), Repeats::Refuse).unwrap();
        }
        labelled
    };
    let bare = || ftrl::<f32>(L1, L2, Loss::Logistic);
    let mut together =
        normalized::<f32, _>(OneVsAll::new((0..classes).map(|_| bare()).collect(), -1.0));
    let found = margins(&mut together, &with_labels(&f64::from));
    let heads = together.freeze().into_heads();
    for k in 0..classes {
        let mut alone = normalized::<f32, _>(bare());
        let own = margins(&mut alone, &with_labels(&|class| if class == k { 1.0 } else { -1.0 }));
        let column: Vec<f64> = found.iter().skip(k as usize).step_by(3).copied().collect();
        assert_eq!(bits(&column), bits(&own), "class {k}");
        assert_eq!(heads[k as usize], alone.freeze().into_heads()[0], "class {k}");
    }
}

#[test]
fn a_learner_without_a_bias_counts_none() {
    let chunk = rows(50, 15, false, |_| 1.0);
    let bare = || Learner::<f64, _>::new(ftrl_rule(L1, L2), None, Loss::Logistic, Table::growing());
    let mut learner = Normalized::<f64, _>::new(bare(), false, Table::growing());
    margins(&mut learner, &chunk);
    let mut plain = Plain::default();
    for i in (0..chunk.len()).filter(|&i| is_learned(&chunk, i)) {
        plain.take_in::<f64>(&chunk, i);
        plain.s -= chunk.weight(i);
    }
    assert_close(&[learner.factor()], &[plain.a()], 1e-14, "factor");
    assert_eq!(learner.freeze().into_heads()[0].bias(), 0.0);
}

#[test]
fn a_plain_learner_saves_a_penalty_in_force_once_as_before() {
    let mut learner = ftrl::<f32>(L1, L2, Loss::Logistic);
    margins(&mut learner, &rows(10, 16, false, |_| 1.0));
    // The round, then how much of the penalty is in force.
    assert_eq!(saved(&learner)[8..16], 1f64.to_le_bytes());
}

/// Every row finite, whatever comes: one row per entry, with its features.
fn survives<F: Float>(what: &str, rows: &[Vec<(u32, f64)>]) {
    let mut chunk = Chunk::new();
    for (i, row) in rows.iter().enumerate() {
        row.iter().for_each(|&(j, x)| chunk.push_feature(j, x));
        chunk.finish_row(Some([1.0, -1.0][i % 2]), 1.0, Repeats::Refuse).unwrap();
    }
    for (name, mut learner) in all::<F>(Loss::Logistic) {
        let told = margins(&mut learner, &chunk);
        assert!(told.iter().all(|p| p.is_finite() && p.abs() < 1e3), "{what}, {name}: {told:?}");
        let read = predictions(&learner, &chunk);
        assert!(read.iter().all(|p| p.is_finite()), "{what}, {name}: {read:?}");
        for head in learner.freeze().into_heads() {
            assert!(head.bias().is_finite(), "{what}, {name}");
            assert!(head.iter().all(|(_, w)| w.is_finite() && w != 0.0), "{what}, {name}");
        }
    }
}

fn bad_data_is_survived<F: Float>() {
    let largest = F::PRECISION.max_value();
    let decades = largest.log10() as i32;
    survives::<F>("constant columns", &vec![vec![(1, 5.0), (2, -3e-9)]; 200]);
    survives::<F>("no features", &vec![Vec::new(); 50]);
    survives::<F>("one row", &[vec![(1, 3.0), (7, -1e6)]]);
    let growing = |k: i32| vec![(1, 10f64.powi(k - decades)), (2, 1.0)];
    survives::<F>("growing", &(0..=2 * decades).map(growing).collect::<Vec<_>>());
    survives::<F>("shrinking", &(0..=2 * decades).rev().map(growing).collect::<Vec<_>>());
    let alternating = |k: u32| vec![(1, [1.0, -1.0][k as usize % 2] * largest)];
    survives::<F>("alternating signs", &(0..300).map(alternating).collect::<Vec<_>>());
    let stamp = |k: u32| vec![(1, 1.6e9 + f64::from(k)), (2, f64::from(k % 7) + 1.0)];
    survives::<F>("timestamps", &(0..500).map(stamp).collect::<Vec<_>>());
    survives::<F>(
        "too small to square",
        &vec![vec![(1, 1e-200), (2, 1.0), (3, f64::MIN_POSITIVE)]; 50],
    );
    let once = |k: u32| vec![(k, if k.is_multiple_of(2) { largest } else { 1.0 / largest })];
    survives::<F>("features that occur once", &(1..300).map(once).collect::<Vec<_>>());
    let mut outlier = vec![vec![(1, 1.0 / largest), (2, 1.0)]; 5000];
    outlier.push(vec![(1, largest), (2, 1.0)]);
    outlier.extend(vec![vec![(1, 1.0 / largest), (2, -1.0)]; 100]);
    survives::<F>("an outlier", &outlier);
}

#[test]
fn bad_data_is_survived_in_either_precision() {
    bad_data_is_survived::<f32>();
    bad_data_is_survived::<f64>();
}

#[test]
fn weights_of_any_importance_are_survived() {
    for h in [1e-300, 1e-30, 1e-6, 1.0, 5e3, 1e6] {
        let mut chunk = Chunk::new();
        for i in 0..100u32 {
            chunk.push_feature(1, f64::from(i) + 0.5);
            chunk.push_feature(2, 1.0);
            let h = if i % 3 == 0 { 1.0 } else { h };
            chunk.finish_row(Some([1.0, -1.0][i as usize % 2]), h, Repeats::Refuse).unwrap();
        }
        let mut learner = normalized::<f32, _>(ftrl::<f32>(L1, L2, Loss::Logistic));
        assert!(margins(&mut learner, &chunk).iter().all(|p| p.is_finite()), "importance {h}");
        let heads = learner.freeze().into_heads();
        assert!(heads[0].iter().all(|(_, w)| w.is_finite()), "importance {h}");
    }
}

#[test]
#[should_panic(expected = "only linear learners")]
fn a_dictionary_is_refused() {
    let tuning = Tuning {
        update: Update::DualAveraging,
        rate: 0.3,
        l1: 0.01,
        delta: 1e-5,
        dictionary_max: 50,
        dictionary_threshold: 1e-3,
    };
    normalized::<f64, _>(Multikernel::<f64>::new(tuning, vec![Kernel::Linear]));
}
