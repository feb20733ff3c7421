//! The race of `auto` equals its twin, in which every setting learns to the end and every look adds up all losses again.

use parsimon::settings::{Precision, Storage};
use parsimon_oracle::streams::SplitMix64;
use parsimon_oracle::{Example, Outcome, Raced, Stream, race};
use serde_json::{Value, json};

use crate::common::{chunk, learner, rows, wild, with};
use crate::normalized::{differences, misread};

/// Learns a stream, stopping at some rows to compare everything that can be read with the twin's race over the rows so far.
fn compare(spec: &Value, stream: &Stream, bias: bool, stops: &[usize]) -> Raced {
    let whole = chunk(stream);
    let mut learner = learner(spec, Precision::F64, bias, Storage::Growing);
    let (mut margins, mut start, mut last) = (Vec::new(), 0, None);
    for &stop in stops.iter().chain([&stream.examples.len()]) {
        learner.learn(&rows(&whole, start..stop), &mut margins);
        start = stop;
        let prefix = Stream { examples: stream.examples[..stop].to_vec(), ..stream.clone() };
        let raced = race(spec, &prefix, bias);
        let twin = Outcome {
            margins: raced.margins.clone(),
            weights: raced.weights.clone(),
            bias: raced.bias,
        };
        let name = format!("{spec}, bias {bias}, after {stop} rows");
        assert_eq!(learner.chosen(), Some(raced.chosen), "{name}: leaders {:?}", raced.leaders);
        let head = learner.freeze().into_heads().remove(0);
        let mut found = differences(&prefix, &twin, &margins, &head);
        found.extend(misread(&*learner, &chunk(&prefix)));
        assert!(found.is_empty(), "{name}: {}; leaders {:?}", found.join("; "), raced.leaders);
        last = Some(raced);
    }
    last.unwrap()
}

/// The rows after which a count of learned rows is reached.
fn after(stream: &Stream, learned: &[usize]) -> Vec<usize> {
    let (mut count, mut stops) = (0, Vec::new());
    for (i, example) in stream.examples.iter().enumerate() {
        count += usize::from(example.weight > 0.0 && !example.y.is_nan());
        let is_new = stops.last() != Some(&(i + 1));
        if is_new && learned.contains(&count) && stops.len() < learned.len() {
            stops.push(i + 1);
        }
    }
    stops
}

/// Nothing to learn at first, then a few features that matter: settings that left early would be wanted later.
fn late_signal(seed: u64, rounds: usize) -> Stream {
    let mut random = SplitMix64::new(seed);
    let dimension = 60;
    let examples = (0..rounds)
        .map(|t| {
            let mut x = Vec::new();
            for j in 1..dimension {
                if random.chance(0.3) {
                    x.push((j, 10f64.powi(j as i32 % 7 - 3) * random.normal()));
                }
            }
            let signal: f64 =
                x.iter().filter(|(j, _)| j % 3 == 0).map(|(_, x)| x.signum() * 0.4).sum();
            let signal = if t < rounds / 3 { 0.0 } else { signal };
            let y = if signal + random.normal() > 0.0 { 1.0 } else { -1.0 };
            let weight = if random.chance(0.2) { 3.0 * random.unit() } else { 1.0 };
            Example { x, y, weight }
        })
        .collect();
    Stream { dimension, examples }
}

const COUNTS: [usize; 10] = [1, 700, 1023, 1024, 1025, 1500, 2047, 2048, 3000, 4096];

#[test]
fn every_loss() {
    for (seed, loss) in (11..).zip([
        "logistic",
        "squared",
        "hinge",
        "squared-hinge",
        "huber",
        "quantile",
        "poisson",
    ]) {
        let is_first = loss == "logistic";
        let stream = wild(seed, if is_first { 6000 } else { 3600 }, 40, loss);
        let stops = after(&stream, if is_first { &COUNTS } else { &[1024, 2047] });
        let spec = json!({"algorithm": "auto", "loss": loss});
        let raced = compare(&spec, &stream, true, &stops);
        let left = raced.is_left.iter().filter(|is_left| **is_left).count();
        println!("{loss}: {left} left, leaders {:?}, chosen {}", raced.leaders, raced.chosen);
    }
}

#[test]
fn without_a_bias() {
    let stream = wild(21, 3000, 40, "squared");
    compare(&json!({"algorithm": "auto", "loss": "squared"}), &stream, false, &[1800]);
}

#[test]
fn one_axis_may_be_fixed() {
    let stream = wild(22, 3500, 40, "logistic");
    let spec = json!({"algorithm": "auto", "loss": "logistic"});
    compare(&with(&spec, "rate", 0.4), &stream, true, &[1800]);
    compare(&with(&spec, "l1", 0.5), &stream, true, &[1800]);
    compare(&with(&with(&spec, "l1", 0.5), "rate", 1.5), &stream, true, &[1800]);
}

#[test]
fn what_left_is_not_chosen_again() {
    for seed in 1..3 {
        let stream = late_signal(seed, 9000);
        let stops = after(&stream, &[2048, 4096, 5000]);
        let spec = json!({"algorithm": "auto", "loss": "logistic"});
        let raced = compare(&spec, &stream, true, &stops);
        let left = raced.is_left.iter().filter(|is_left| **is_left).count();
        println!("{left} left, leaders {:?}, chosen {}", raced.leaders, raced.chosen);
        assert!(left < raced.is_left.len(), "none left the race");
    }
}

/// Before the first look the usual setting is read, unless it is worse than the constant: on noise it is, with a signal it is not.
#[test]
fn few_rows() {
    let spec = json!({"algorithm": "auto", "loss": "logistic"});
    let counts = [1, 63, 64, 65, 100, 127, 128, 129, 255, 256, 300, 511, 512, 600];
    let usual = race(&spec, &late_signal(1, 1), true).chosen;
    for seed in 1..4 {
        let noise = late_signal(seed, 2300);
        let noise = Stream { examples: noise.examples[..766].to_vec(), ..noise };
        let raced = compare(&spec, &noise, true, &after(&noise, &counts));
        assert_ne!(raced.chosen, usual, "noise of seed {seed}");
        let signal = wild(seed, 900, 40, "logistic");
        let raced = compare(&spec, &signal, true, &after(&signal, &counts));
        assert_eq!(raced.chosen, usual, "signal of seed {seed}");
    }
}

#[test]
fn noise_and_constants() {
    let mut stream = late_signal(5, 3000);
    for example in &mut stream.examples {
        example.y = example.y.abs();
    }
    // One class: every setting learns it.
    compare(&json!({"algorithm": "auto", "loss": "logistic"}), &stream, true, &[1024, 2048]);
    stream.examples.iter_mut().for_each(|example| example.y = 3.7);
    compare(&json!({"algorithm": "auto", "loss": "squared"}), &stream, true, &[1024, 2048]);
}

/// One feature matters at first, with `early`; in the second half the others do too, with `late`.
fn late_demand(early: f64, late: f64) -> Stream {
    let (mut random, dimension, rounds) = (SplitMix64::new(0), 60, 5000);
    let row = |t| {
        let mut x = vec![(0, random.normal())];
        for j in 1..dimension {
            if random.chance(0.3) {
                x.push((j, random.normal()));
            }
        }
        let others: f64 = x[1..].iter().map(|&(j, x)| if j % 2 == 0 { x } else { -x }).sum();
        let demand = if t < rounds / 2 { 0.0 } else { late * others };
        let y = if early * x[0].1 + demand + random.normal() > 0.0 { 1.0 } else { -1.0 };
        let weight = if random.chance(0.3) { 4.0 * random.unit() } else { 1.0 };
        Example { x, y, weight }
    };
    Stream { dimension, examples: (0..rounds).map(row).collect() }
}

/// Settings 12 and 7 would be chosen at the end had they not left for being denser and no better.
#[test]
fn a_denser_setting_leaves_unless_it_is_better() {
    let spec = json!({"algorithm": "auto", "loss": "logistic"});
    assert_eq!(compare(&spec, &late_demand(4.0, 0.3), true, &[2500]).chosen, 13);
    assert_eq!(compare(&spec, &late_demand(1.0, 1.0), true, &[2500]).chosen, 8);
}
