//! The race against the whole-history twin of one setting, and decisions that can be foreseen.

use parsimon_oracle::streams::{self, SplitMix64};
use parsimon_oracle::{Example, Stream, race, run};
use serde_json::json;

#[test]
fn a_race_of_one_setting_is_that_setting() {
    for loss in ["logistic", "squared", "quantile", "poisson"] {
        for bias in [false, true] {
            let stream = streams::random(6, 600, 20, loss, streams::Options::default());
            let raced = race(
                &json!({"algorithm": "auto", "loss": loss, "rate": 0.7, "l1": 0.5}),
                &stream,
                bias,
            );
            let spec = json!({"algorithm": "ftrl", "loss": loss, "rate": 0.7, "l1": 0.5, "beta": 0,
                              "normalize": true});
            let alone = run(&spec, &stream, bias);
            assert_eq!((raced.settings.len(), raced.settings[0]), (2, (0.7, 0.5)));
            assert_eq!((raced.chosen, raced.leaders), (0, vec![0]));
            let is_near = |p: f64, q: f64| (p - q).abs() <= 1e-10 * q.abs().max(1.0);
            assert!(raced.margins.iter().zip(&alone.margins).all(|(p, q)| is_near(*p, *q)));
            assert!(
                raced
                    .weights
                    .iter()
                    .zip(&alone.weights)
                    .all(|(v, w)| is_near(*v, *w) && (*v == 0.0) == (*w == 0.0))
            );
            assert!(is_near(raced.bias, alone.bias));
        }
    }
}

/// Features of noise, and a label that follows `signal` times the first.
fn stream(rounds: usize, signal: f64) -> Stream {
    let mut random = SplitMix64::new(2);
    let row = |_| {
        let x: Vec<_> = (0..20).map(|j| (j, random.normal())).collect();
        let y = if signal * x[0].1 + random.normal() > 0.0 { 1.0 } else { -1.0 };
        Example { x, y, weight: 1.0 }
    };
    Stream { dimension: 20, examples: (0..rounds).map(row).collect() }
}

#[test]
fn noise_is_left_to_the_constant_and_a_signal_is_not() {
    let spec = json!({"algorithm": "auto", "loss": "logistic"});
    let noise = race(&spec, &stream(2500, 0.0), true);
    assert_eq!((noise.chosen, noise.leaders), (15, vec![6, 15, 15]));
    assert!(noise.weights.iter().all(|w| *w == 0.0));
    let signal = race(&spec, &stream(2500, 2.0), true);
    assert!(!signal.is_left[15] && signal.weights[0] > 0.5, "{signal:?}");
}

/// Looks count learned rows: others, before or between them, do not move a look.
#[test]
fn rows_that_are_not_learned_do_not_exist() {
    let spec = json!({"algorithm": "auto", "loss": "logistic"});
    let plain = stream(1500, 0.7);
    let mut sparse = Stream { examples: Vec::new(), ..plain.clone() };
    for (i, example) in plain.examples.iter().enumerate() {
        if i % 3 == 0 {
            sparse.examples.push(Example { weight: 0.0, ..example.clone() });
            sparse.examples.push(Example { y: f64::NAN, ..example.clone() });
        }
        sparse.examples.push(example.clone());
    }
    let (plain, sparse) = (race(&spec, &plain, true), race(&spec, &sparse, true));
    assert_eq!((plain.leaders, plain.is_left), (sparse.leaders, sparse.is_left));
    assert_eq!((plain.weights, plain.bias), (sparse.weights, sparse.bias));
}
