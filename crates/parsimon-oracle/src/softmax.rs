//! Several classes learned together by softmax, from the formula.
//!
//! ```text
//! p_k = exp(m_k) / sum_j exp(m_j)      m_k = w_k.x
//! d (-ln p_y) / d m_k = p_k - [k = y]
//! ```
//!
//! One method for each class; all margins of a row are made before the first method learns it.

use crate::loss::Loss;
use crate::method::{Method, Round, dot};
use crate::normalizer::Normalizer;
use crate::space::Space;
use crate::spec::Spec;
use crate::stream::{Outcome, Stream};
use serde_json::Value;

/// `exp(m_k) / sum_j exp(m_j)` for every class.
pub fn probabilities(margins: &[f64]) -> Vec<f64> {
    let share = |m: &f64| 1.0 / margins.iter().map(|other| (other - m).exp()).sum::<f64>();
    margins.iter().map(share).collect()
}

/// `-ln p_y`.
pub fn value(margins: &[f64], class: usize) -> f64 {
    -probabilities(margins)[class].ln()
}

/// Runs one method per class, with the slopes of softmax; labels are the positions of the classes.
///
/// # Panics
/// Like [`run`](crate::run).
pub fn run_softmax(spec: &Value, stream: &Stream, bias: bool, classes: usize) -> Vec<Outcome> {
    let spec = Spec::new(spec);
    let space = Space::new(stream.dimension, bias);
    let normalizes = spec.flag_or("normalize", false);
    let loss = Loss::from_spec(&spec);
    let mut methods: Vec<Box<dyn Method>> =
        (0..classes).map(|_| crate::methods::build(&spec, &space)).collect();
    let mut normalizer = Normalizer::new(&space);
    let (mut margins, mut t) = (vec![Vec::new(); classes], 0);
    for example in &stream.examples {
        let mut x = space.zeros();
        example.x.iter().for_each(|&(i, value)| x[i] = value);
        if bias {
            x[space.dimension] = 1.0;
        }
        if normalizes {
            if example.is_learned() {
                normalizer.count(&example.x, example.weight);
            }
            methods.iter_mut().for_each(|method| method.scale_penalty(normalizer.level()));
            x = normalizer.row(&example.x, example.is_learned());
        }
        let row: Vec<f64> = methods.iter().map(|method| dot(&method.point(), &x)).collect();
        margins.iter_mut().zip(&row).for_each(|(all, p)| all.push(*p));
        if !example.is_learned() {
            continue;
        }
        t += 1;
        let shares = probabilities(&row);
        for (k, method) in methods.iter_mut().enumerate() {
            // p_k - 1 is the probability of the others, negated; a difference would lose it where it is small.
            let others = || shares.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, p)| p);
            let is_own = k as f64 == example.y;
            let slope = example.weight * if is_own { -others().sum::<f64>() } else { shares[k] };
            let round = Round::new(t, &x, row[k], example.y, example.weight, &loss);
            method.learn(&round.at_slope(slope));
        }
    }
    let outcome = |(method, margins): (&dyn Method, Vec<f64>)| {
        let read = method.readout();
        let mut weights = if normalizes { normalizer.in_units_of_features(&read) } else { read };
        let bias = if bias { weights.pop().unwrap_or(0.0) } else { 0.0 };
        Outcome { margins, weights: weights.iter().map(|w| w + 0.0).collect(), bias }
    };
    methods.iter().map(AsRef::as_ref).zip(margins).map(outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_of_one_to_two_to_five() {
        let margins = [0.0, 2f64.ln(), 5f64.ln()];
        for (p, q) in probabilities(&margins).iter().zip([0.125, 0.25, 0.625]) {
            assert!((p - q).abs() < 1e-15);
        }
        assert!((value(&margins, 1) - 4f64.ln()).abs() < 1e-15);
    }

    /// One row of class 2 of three, a rate of 1: steps of -1/3, -1/3 and 2/3.
    #[test]
    fn one_row_by_hand() {
        let spec = serde_json::json!({"algorithm": "sgd", "loss": "softmax", "rate": 1.0, "schedule": "constant"});
        let examples = vec![crate::Example { x: vec![(0, 2.0)], y: 2.0, weight: 1.0 }];
        let heads = run_softmax(&spec, &Stream { dimension: 1, examples }, false, 3);
        for (head, w) in heads.iter().zip([-2.0 / 3.0, -2.0 / 3.0, 4.0 / 3.0]) {
            assert!((head.weights[0] - w).abs() < 1e-15 && head.margins == [0.0]);
        }
    }
}
