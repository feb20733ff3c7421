//! The laws of normalized learning: the unit of a feature, and the unit and origin of the target, do not matter.

use parsimon::settings::{Precision, Storage};
use parsimon_oracle::Stream;
use parsimon_oracle::streams::SplitMix64;
use serde_json::{Value, json};

use crate::common::{LOSSES, chunk, is_number, learner, wild};

fn specs() -> Vec<Value> {
    let mut specs = vec![json!({"algorithm": "auto"})];
    for name in ["ftrl", "rda", "sgd", "truncated-gradient", "fobos", "adagrad-rda", "adam"] {
        let mut spec = json!({"algorithm": name, "normalize": true});
        if ["ftrl", "rda", "truncated-gradient", "fobos", "adagrad-rda"].contains(&name) {
            spec["l1"] = json!(0.01);
        }
        specs.push(spec);
    }
    specs
}

/// Margins and the number of nonzeros.
fn outcome(spec: &Value, stream: &Stream, precision: Precision) -> (Vec<f64>, usize) {
    let mut learner = learner(spec, precision, true, Storage::Growing);
    let mut margins = Vec::new();
    learner.learn(&chunk(stream), &mut margins);
    (margins, learner.nonzeros())
}

fn scaled(stream: &Stream, factors: &[f64]) -> Stream {
    let mut scaled = stream.clone();
    for (j, x) in scaled.examples.iter_mut().flat_map(|example| &mut example.x) {
        *x *= factors[*j];
    }
    scaled
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    let scale = a.iter().fold(1.0f64, |m, v| m.max(v.abs()));
    a.iter().zip(b).fold(0.0, |m, (p, q)| {
        let difference = (p - q).abs() / scale;
        if difference.is_nan() { f64::INFINITY } else { m.max(difference) }
    })
}

#[test]
fn the_unit_of_a_feature_does_not_matter() {
    let mut random = SplitMix64::new(8);
    let powers: Vec<f64> =
        (0..24).map(|_| 2f64.powi((120.0 * random.unit()) as i32 - 60)).collect();
    let any: Vec<f64> =
        (0..24).map(|_| random.normal() * 10f64.powf(20.0 * random.unit() - 10.0)).collect();
    for spec in specs() {
        for (seed, loss) in (31..).zip(LOSSES) {
            let mut spec = spec.clone();
            spec["loss"] = loss.into();
            let stream = wild(seed, 1300, 24, loss);
            let (own, nonzeros) = outcome(&spec, &stream, Precision::F64);
            let (margins, count) = outcome(&spec, &scaled(&stream, &powers), Precision::F64);
            let is_same = own.iter().zip(&margins).all(|(p, q)| p.to_bits() == q.to_bits());
            assert!(
                is_same && count == nonzeros,
                "powers of two: {spec}: {}",
                farthest(&own, &margins)
            );
            let (margins, count) = outcome(&spec, &scaled(&stream, &any), Precision::F64);
            let far = farthest(&own, &margins);
            assert!(far < 1e-9 && count == nonzeros, "any: {spec}: {far}, {nonzeros} and {count}");
        }
    }
}

/// In single precision powers of two change no bit either, as long as values stay in its range.
#[test]
fn powers_of_two_in_single_precision() {
    let mut random = SplitMix64::new(9);
    let powers: Vec<f64> = (0..24).map(|_| 2f64.powi((40.0 * random.unit()) as i32 - 20)).collect();
    for spec in specs() {
        let stream = wild(32, 1300, 24, "logistic");
        let own = outcome(&spec, &stream, Precision::F32);
        let other = outcome(&spec, &scaled(&stream, &powers), Precision::F32);
        assert_eq!(own, other, "{spec}");
    }
}

/// The squares of values have to be numbers that are neither 0 nor infinite: values between about 1e-150 and 1e150.
#[test]
fn extreme_units() {
    let stream = wild(33, 1300, 24, "logistic");
    for exponent in [-440, 440] {
        let factor = |j: usize| if j.is_multiple_of(2) { 1.0 } else { 2f64.powi(exponent) };
        let factors: Vec<f64> = (0..24).map(factor).collect();
        for spec in specs() {
            let own = outcome(&spec, &stream, Precision::F64);
            let other = outcome(&spec, &scaled(&stream, &factors), Precision::F64);
            assert_eq!(own, other, "2^{exponent}: {spec}");
        }
    }
}

#[test]
fn the_unit_and_origin_of_the_target_do_not_matter() {
    for spec in specs() {
        for (seed, loss) in (41..).zip(LOSSES).filter(|(_, loss)| is_number(loss)) {
            let mut spec = spec.clone();
            spec["loss"] = loss.into();
            let stream = wild(seed, 1300, 24, loss);
            // The first row learned is predicted before any label is known: 0, in any unit.
            let first = stream.examples.iter().position(|e| e.weight > 0.0 && !e.y.is_nan());
            let from = first.unwrap() + 1;
            let (own, nonzeros) = outcome(&spec, &stream, Precision::F64);
            // A quantile of the negative is another quantile.
            let factors = if loss == "quantile" { [1e-7, 3e5] } else { [1e-7, -3e5] };
            for factor in factors {
                for shift in [0.0, 7e3 * factor, -1e3] {
                    let mut moved = stream.clone();
                    moved.examples.iter_mut().for_each(|e| e.y = factor * e.y + shift);
                    let (margins, count) = outcome(&spec, &moved, Precision::F64);
                    let expected: Vec<_> = own.iter().map(|p| factor * p + shift).collect();
                    // Digits that the shift swallows are gone before anything is learned.
                    let lost = (shift / factor).abs().max(1e3) * 1e-16 / 30.0;
                    let tolerance = 1e-9_f64.max(1e4 * lost);
                    let unit = 1e3 * factor.abs();
                    let far = expected[from..]
                        .iter()
                        .zip(&margins[from..])
                        .fold(0.0f64, |m, (p, q)| m.max((p - q).abs() / unit));
                    assert!(
                        far < tolerance,
                        "{factor} y + {shift}: {spec}: {far} above {tolerance}"
                    );
                    assert!(tolerance > 1e-8 || count == nonzeros, "{factor} y + {shift}: {spec}");
                }
            }
        }
    }
}
