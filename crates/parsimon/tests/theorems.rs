//! Theorems between methods, played by the fast engine, and the regret bounds (algorithms, section 3).

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::common;

use common::{chunk, learner, settings, with};
use parsimon::data::{Input, Options};
use parsimon::rows::Repeats;
use parsimon::settings::{Precision, Storage};
use parsimon::study::Regret;
use parsimon::{InputSchema, LearnerOptions, Plan, Trainer};
use parsimon_oracle::{Stream, run as run_twin, streams};
use serde_json::{Value, json};

const DIMENSION: usize = 24;
const LOSSES: [&str; 3] = ["logistic", "hinge", "squared"];

/// Ordinary values, importance weights and empty rows: sizes at which 1e-12 means something.
fn stream(seed: u64, rounds: usize, loss: &str) -> Stream {
    let options = streams::Options { huge: false, ..streams::Options::default() };
    streams::random(seed, rounds, DIMENSION, loss, options)
}

/// The weights after every row, the bias last.
fn trajectory(spec: &Value, stream: &Stream, bias: bool) -> Vec<Vec<f64>> {
    let mut online = learner(spec, Precision::F64, bias, Storage::Growing);
    let rows = chunk(stream);
    let read = |i: usize| {
        online.learn_rows(&rows, i..i + 1, &mut Vec::new());
        let head = online.freeze().into_heads().remove(0);
        let weights = (0..stream.dimension).map(|j| head.weight(j as u32));
        weights.chain([head.bias()]).collect()
    };
    (0..rows.len()).map(read).collect()
}

/// The largest difference of two trajectories over seeds, losses, with and without a bias.
fn apart(losses: &[&str], a: &Value, b: &Value) -> f64 {
    let mut worst: f64 = 0.0;
    for loss in losses {
        let (a, b) = (with(a, "loss", *loss), with(b, "loss", *loss));
        for seed in 0..4 {
            let stream = stream(seed, 300, loss);
            for bias in [false, true] {
                let (a, b) = (trajectory(&a, &stream, bias), trajectory(&b, &stream, bias));
                let weights = || a.iter().flatten().zip(b.iter().flatten());
                assert!(weights().any(|(a, _)| a.abs() > 0.1), "nothing moved, nothing was tested");
                assert!(weights().all(|(a, b)| a.is_finite() && b.is_finite()));
                worst = weights().fold(worst, |m, (a, b)| m.max((a - b).abs()));
            }
        }
    }
    worst
}

#[track_caller]
fn assert_equal(losses: &[&str], a: &Value, b: &Value, tolerance: f64) {
    let measured = apart(losses, a, b);
    println!("{measured:.1e}: {a} and {b}");
    assert!(measured <= tolerance, "{measured:e} apart, {tolerance:e} allowed:\n{a}\n{b}");
}

/// The engine's learner of one method beside the twin of another: for pairs that are one rule in the engine, where
/// comparing learners would compare a rule with itself.
#[track_caller]
fn assert_equals_the_twin_of(losses: &[&str], ours: &Value, other: &Value, tolerance: f64) {
    let mut worst: f64 = 0.0;
    for loss in losses {
        let (ours, other) = (with(ours, "loss", *loss), with(other, "loss", *loss));
        for seed in 0..4 {
            let stream = stream(seed, 300, loss);
            for bias in [false, true] {
                // The twin leaves no trace of rows without a weight, and has no bias where there is none.
                let counts = stream.examples.iter().map(|example| example.weight != 0.0);
                let ours = trajectory(&ours, &stream, bias);
                let ours: Vec<_> = ours.iter().zip(counts).filter(|(_, counts)| *counts).collect();
                let twin = parsimon_oracle::trajectory(&other, &stream, bias);
                assert_eq!(ours.len(), twin.len());
                for ((a, _), b) in ours.into_iter().zip(&twin) {
                    for (a, b) in a.iter().zip(b) {
                        assert!(a.is_finite() && b.is_finite());
                        worst = worst.max((a - b).abs());
                    }
                }
                let moved = twin.iter().flatten().any(|w| w.abs() > 0.1);
                assert!(moved, "nothing moved, nothing was tested");
            }
        }
    }
    println!("{worst:.1e}: {ours} and the twin of {other}");
    assert!(worst <= tolerance, "{worst:e} apart, {tolerance:e} allowed:\n{ours}\n{other}");
}

/// Equal to the last bit: a tolerance of zero lets nothing but a sign of zero pass.
#[test]
fn fobos_is_the_truncated_gradient_with_period_1_to_the_bit() {
    for schedule in ["constant", "sqrt", "inverse"] {
        let fobos = json!({"algorithm": "fobos", "rate": 0.4, "l1": 0.02, "schedule": schedule});
        let truncated = json!({"algorithm": "truncated-gradient", "rate": 0.4, "l1": 0.02, "period": 1,
                               "theta": "inf", "schedule": schedule});
        assert_equal(&LOSSES, &fobos, &truncated, 0.0);
    }
}

#[test]
fn with_period_1_the_lazy_thesis_is_fobos() {
    for schedule in ["constant", "sqrt"] {
        let spec = |algorithm: &str| json!({"algorithm": algorithm, "rate": 0.3, "l1": 0.02, "schedule": schedule});
        for algorithm in ["lazy-fobos", "lazy-splitting", "lazy-sparse"] {
            assert_equal(&LOSSES, &with(&spec(algorithm), "period", 1), &spec("fobos"), 1e-12);
        }
    }
    for penalty in ["l2-norm", "linf"] {
        let spec = |algorithm: &str| json!({"algorithm": algorithm, "rate": 0.3, "l1": 0.1, "penalty": penalty});
        let lazy = with(&spec("lazy-fobos"), "period", 1);
        assert_equals_the_twin_of(&LOSSES, &lazy, &spec("fobos"), 1e-12);
    }
}

/// And with a longer period it is not.
#[test]
fn with_another_period_it_is_another_method() {
    let fobos = json!({"algorithm": "fobos", "rate": 0.3, "l1": 0.02});
    for algorithm in ["lazy-fobos", "lazy-splitting", "lazy-sparse"] {
        let lazy = json!({"algorithm": algorithm, "rate": 0.3, "l1": 0.02, "period": 10});
        assert!(apart(&["logistic"], &lazy, &fobos) > 1e-3, "{algorithm}");
    }
}

#[test]
fn without_penalties_ftrl_is_adaptive_gradient_descent() {
    for beta in [0.0, 0.5, 1.0] {
        let ftrl = json!({"algorithm": "ftrl", "rate": 0.3, "l1": 0, "l2": 0, "beta": beta});
        let descent = json!({"algorithm": "adagrad-fobos", "rate": 0.3, "l1": 0, "delta": beta});
        assert_equal(&LOSSES, &ftrl, &descent, 1e-12);
    }
}

#[test]
fn rows_of_the_unified_table_have_their_own_names() {
    let comid =
        json!({"algorithm": "comid", "rate": 0.3, "l1": 0.01, "metric": "adagrad", "beta": 0.5});
    let fobos = json!({"algorithm": "adagrad-fobos", "rate": 0.3, "l1": 0.01, "delta": 0.5});
    assert_equals_the_twin_of(&LOSSES, &comid, &fobos, 1e-12);

    let comid = json!({"algorithm": "comid", "rate": 0.3, "l1": 0.01, "metric": "sqrt"});
    let fobos = json!({"algorithm": "fobos", "rate": 0.3, "l1": 0.01, "schedule": "sqrt"});
    assert_equals_the_twin_of(&LOSSES, &comid, &fobos, 1e-12);

    let unified = json!({"algorithm": "unified-rda", "rate": 0.3, "l1": 0.01, "metric": "sqrt"});
    let rda = json!({"algorithm": "rda", "rate": 0.3, "l1": 0.01});
    assert_equals_the_twin_of(&LOSSES, &unified, &rda, 1e-12);

    let unified = json!({"algorithm": "unified-rda", "rate": 0.3, "l1": 0.01, "metric": "adagrad", "beta": 0.5});
    let rda = json!({"algorithm": "adagrad-rda", "rate": 0.3, "l1": 0.01, "delta": 0.5});
    assert_equals_the_twin_of(&LOSSES, &unified, &rda, 1e-12);

    let generalized =
        json!({"algorithm": "generalized-rda", "rate": 0.3, "l1": 0.01, "a": 0.5, "b": 0.5});
    let rda = json!({"algorithm": "rda", "rate": 0.3, "l1": 0.01});
    assert_equal(&LOSSES, &generalized, &rda, 1e-12);
}

/// Theorem 4 and Corollary 6 without a penalty, where accumulating it and linearizing it are the same.
#[test]
fn without_a_penalty_comid_is_the_proximal_leader() {
    for implicit in [false, true] {
        for metric in ["sqrt", "adagrad"] {
            let spec = |algorithm: &str| {
                json!({"algorithm": algorithm, "rate": 0.3, "l1": 0, "metric": metric,
                       "implicit": implicit})
            };
            assert_equal(&LOSSES, &spec("comid"), &spec("ftprl"), 1e-10);
        }
    }
}

/// The theorem with the origin in the center (Theorem 7).
#[test]
fn without_a_penalty_aogd_is_dual_averaging() {
    for implicit in [false, true] {
        for metric in ["sqrt", "adagrad"] {
            let spec = |algorithm: &str| {
                json!({"algorithm": algorithm, "rate": 0.3, "l1": 0, "metric": metric,
                       "implicit": implicit})
            };
            assert_equal(&LOSSES, &spec("aogd"), &spec("unified-rda"), 1e-10);
        }
    }
}

/// With one, they part: the theorems above are about something.
#[test]
fn with_a_penalty_the_rows_of_the_table_differ() {
    for metric in ["sqrt", "adagrad"] {
        let spec = |algorithm: &str| json!({"algorithm": algorithm, "rate": 0.3, "l1": 0.02, "metric": metric});
        for (a, b) in [("comid", "ftprl"), ("aogd", "unified-rda"), ("comid", "aogd")] {
            assert!(apart(&["logistic"], &spec(a), &spec(b)) > 1e-3, "{a} {b} {metric}");
        }
    }
}

/// 20,000 rows of 5 features out of 300, penalties paid for all of them on every round by the twin.
#[test]
fn lazy_is_eager_on_a_long_stream() {
    let mut random = streams::SplitMix64::new(20);
    for (loss, schedule, l2) in
        [("logistic", "sqrt", 0.0), ("hinge", "constant", 0.0), ("squared", "sqrt", 0.01)]
    {
        let examples = (0..20_000).map(|_| {
            let mut x: Vec<(usize, f64)> = Vec::new();
            while x.len() < 5 {
                let j = 1 + (random.bits() % 300).min(random.bits() % 300) as usize;
                if x.iter().all(|&(k, _)| k != j) {
                    x.push((j, random.normal()));
                }
            }
            x.sort_by_key(|&(j, _)| j);
            let score: f64 = x.iter().filter(|(j, _)| j % 10 == 0).map(|(_, v)| v).sum();
            let y = if score + 0.3 * random.normal() > 0.0 { 1.0 } else { -1.0 };
            parsimon_oracle::Example { x, y, weight: 1.0 }
        });
        let stream = Stream { dimension: 301, examples: examples.collect() };
        let rate = if schedule == "constant" { 0.02 } else { 0.3 };
        let spec = json!({"algorithm": "fobos", "loss": loss, "rate": rate, "l1": 0.01, "l2": l2,
                          "schedule": schedule});
        let twin = run_twin(&spec, &stream, true);
        let mut online = learner(&spec, Precision::F64, true, Storage::Growing);
        let mut margins = Vec::new();
        online.learn(&chunk(&stream), &mut margins);
        let head = online.freeze().into_heads().remove(0);
        let mut worst = (head.bias() - twin.bias).abs();
        for (p, q) in margins.iter().zip(&twin.margins) {
            worst = worst.max((p - q).abs());
        }
        for (j, w) in twin.weights.iter().enumerate() {
            let ours = head.weight(j as u32);
            worst = worst.max((ours - w).abs());
            assert_eq!(ours == 0.0, *w == 0.0, "{spec}: weight {j} is {ours:e} here, {w:e} there");
        }
        println!("{worst:.1e}, {} of 300 not zero: {spec}", head.indices().len());
        assert!(worst <= 1e-9, "{worst:e}: {spec}");
        let zeros = 300 - head.indices().len();
        assert!((30..270).contains(&zeros), "{zeros} zeros test little: {spec}");
    }
}

/// Algorithm 3 as printed takes its gradients at weights that have not paid, and charges a feature for the time
/// before it was first seen.
#[test]
fn the_thesis_order_is_not_fobos() {
    let spec = |algorithm: &str| json!({"algorithm": algorithm, "rate": 0.1, "l1": 0.02, "schedule": "constant"});
    assert!(apart(&["logistic"], &spec("lazy-sparse"), &spec("fobos")) > 1e-3);

    let mut rows = parsimon::rows::Chunk::new();
    for t in 1..=51 {
        rows.push_feature(if t == 51 { 2 } else { 1 }, 1.0);
        rows.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
    }
    let late = |algorithm: &str| {
        let spec = with(&spec(algorithm), "loss", "hinge");
        let mut online = learner(&spec, Precision::F64, false, Storage::Growing);
        online.learn(&rows, &mut Vec::new());
        online.freeze().heads()[0].weight(2)
    };
    assert_eq!(late("lazy-sparse"), 0.0);
    // One step of 0.1 and one shrink of 0.1 * 0.02.
    assert!((late("fobos") - 0.098).abs() < 1e-15);
}

/// A run over the stream as svmlight text, with the books kept.
fn regret(spec: &Value, stream: &Stream, bias: bool) -> Regret {
    let mut text = String::new();
    for example in &stream.examples {
        text += &format!("{:?}", example.y);
        for (j, v) in &example.x {
            text += &format!(" {j}:{v:?}");
        }
        text.push('\n');
    }
    let settings = settings(spec);
    let frame = LearnerOptions { precision: Precision::F64, bias, storage: Storage::Growing };
    let options = InputSchema::default().options(&settings, Precision::F64, &Options::default());
    let input = Input::Bytes { name: "stream.svm".into(), bytes: text.into_bytes() };
    let mut trainer = Trainer::new(settings, frame, InputSchema::default()).unwrap();
    let plan = Plan { regret: true, ..Plan::new(vec![input], options) };
    parsimon::run(&mut trainer, &plan, &mut ()).unwrap().regret.unwrap()
}

/// No importance weights: svmlight has none.
fn unweighted(seed: u64, rounds: usize, loss: &str) -> Stream {
    let options = streams::Options { weights: false, huge: false, ..streams::Options::default() };
    streams::random(seed, rounds, DIMENSION, loss, options)
}

/// Regret over bound at its worst, over the whole curve.
fn worst_ratio(spec: &Value, stream: &Stream, bias: bool) -> f64 {
    let books = regret(spec, stream, bias);
    let rounds = stream.examples.len();
    assert_eq!(books.rounds, rounds as u64);
    assert!(books.curve.len() > rounds.ilog2() as usize, "1, 2, 4, ... and the last");
    let mut worst: f64 = 0.0;
    for (t, regret, bound) in &books.curve {
        let bound = bound.unwrap_or_else(|| panic!("no bound: {spec}"));
        assert!(bound.is_finite() && bound > 0.0, "{bound} at {t}: {spec}");
        assert!(*regret <= bound, "round {t}: {regret} > {bound}: {spec}");
        worst = worst.max(regret / bound);
    }
    let last = books.curve.last().unwrap().1;
    assert!((last - books.regret).abs() <= 1e-9 * books.paid, "{spec}");
    worst
}

/// One feature of value 1, and labels by the round.
fn single(rounds: usize, label: impl Fn(usize) -> f64) -> Stream {
    let example = |t| parsimon_oracle::Example { x: vec![(1, 1.0)], y: label(t), weight: 1.0 };
    Stream { dimension: DIMENSION, examples: (0..rounds).map(example).collect() }
}

fn alternating(rounds: usize) -> Stream {
    single(rounds, |t| if t % 2 == 0 { 1.0 } else { -1.0 })
}

#[test]
fn the_regret_of_rda_stays_below_its_bound() {
    for loss in ["logistic", "hinge"] {
        for bias in [false, true] {
            for rate in [0.02, 0.3, 5.0] {
                let spec = json!({"algorithm": "rda", "loss": loss, "rate": rate, "l1": 0.01});
                for seed in 0..3 {
                    worst_ratio(&spec, &unweighted(seed, 300, loss), bias);
                }
            }
        }
    }
}

/// Labels that change sides make the weight step out and be punished for it: the bound's second term is used up.
/// A small rate that is late at the best weight uses up two thirds of the first.
#[test]
fn the_bound_of_rda_is_almost_reached() {
    let spec = |rate: f64| json!({"algorithm": "rda", "loss": "hinge", "rate": rate, "l1": 1e-6});
    for bias in [false, true] {
        let ratio = worst_ratio(&spec(3.0), &alternating(1000), bias);
        println!("regret/bound {ratio}");
        assert!(ratio > 0.9, "{ratio}");
    }
    let ratio = worst_ratio(&spec(0.05), &single(400, |_| 1.0), false);
    println!("regret/bound {ratio}");
    assert!(ratio > 0.6, "{ratio}");
}

#[test]
fn the_bound_of_strongly_convex_rda_is_almost_reached() {
    for (beta, least) in [("constant", 0.9), ("log", 0.5), ("zero", 0.5)] {
        let spec =
            json!({"algorithm": "rda", "loss": "hinge", "l1": 1e-9, "l2": 0.5, "beta": beta});
        let ratio = worst_ratio(&spec, &alternating(1000), false);
        println!("regret/bound {ratio}: {beta}");
        assert!(ratio > least, "{ratio}: {beta}");
    }
}

#[test]
fn the_regret_of_strongly_convex_rda_stays_below_its_bound() {
    for beta in ["constant", "log", "zero"] {
        for prox in ["half", "psi"] {
            for l2 in [0.02, 0.5] {
                let spec = json!({"algorithm": "rda", "loss": "logistic", "l1": 0.01, "l2": l2,
                                  "beta": beta, "prox": prox});
                for seed in 0..3 {
                    worst_ratio(&spec, &unweighted(seed, 300, "logistic"), false);
                }
            }
        }
    }
}

/// What was paid is what the twin's points cost, and the best weights are no worse than any point it played.
#[test]
fn the_books_are_right() {
    let spec = json!({"algorithm": "rda", "loss": "logistic", "rate": 0.3, "l1": 0.01});
    let stream = unweighted(7, 200, "logistic");
    let books = regret(&spec, &stream, true);
    let points = parsimon_oracle::trajectory(&spec, &stream, true);
    let log_loss = |w: &[f64], t: usize| {
        let example = &stream.examples[t];
        let margin: f64 = example.x.iter().map(|&(j, v)| w[j] * v).sum::<f64>() + w[DIMENSION];
        (-example.y * margin).exp().ln_1p()
    };
    let psi = |w: &[f64]| 0.01 * w[..DIMENSION].iter().map(|w| w.abs()).sum::<f64>();
    let origin = vec![0.0; DIMENSION + 1];
    let played = |t: usize| if t == 0 { &origin } else { &points[t - 1] };
    let paid: f64 = (0..200).map(|t| log_loss(played(t), t) + psi(played(t))).sum();
    assert!((paid - books.paid).abs() < 1e-9, "{paid} {}", books.paid);
    for w in points.iter().step_by(10) {
        let fixed: f64 = (0..200).map(|t| log_loss(w, t) + psi(w)).sum();
        assert!(books.best < fixed, "{} is not the best: {fixed}", books.best);
    }
    assert!((books.regret - (paid - books.best)).abs() < 1e-9);
    assert!((books.average - books.regret / 200.0).abs() < 1e-12);
}

#[test]
fn the_average_regret_of_fobos_falls() {
    for seed in 0..3 {
        let spec = json!({"algorithm": "fobos", "loss": "logistic", "rate": 0.5, "l1": 0.005});
        let stream = unweighted(seed, 2000, "logistic");
        let average = |rounds: usize| {
            let examples = stream.examples[..rounds].to_vec();
            regret(&spec, &Stream { dimension: DIMENSION, examples }, true).average
        };
        let averages = [60, 250, 1000, 2000].map(average);
        println!("{averages:?}");
        assert!(averages.is_sorted_by(|a, b| a > b), "{averages:?}");
        assert!(averages[3] > 0.0 && averages[3] < averages[0] / 4.0, "{averages:?}");
    }
}
