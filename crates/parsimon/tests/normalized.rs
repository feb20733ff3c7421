//! Normalized rows and labels equal their twin: dense, eager, from the whole history, written from the formulas by other
//! hands. Weights that are exactly zero are zero in both.

use parsimon::LearnerOptions;
use parsimon::rows::Chunk;
use parsimon::settings::{Precision, Storage};
use parsimon::survey::Found;
use parsimon::train::Online;
use parsimon::workspace::Head;
use parsimon_oracle::streams::SplitMix64;
use parsimon_oracle::{Outcome, Stream, run, run_classes};
use serde_json::{Value, json};

use crate::common::{
    LOSSES, chunk, family, implicit_family, is_number, labels_of, learner, projecting_family,
    settings, wild, with,
};

const DIMENSION: usize = 24;
const TOLERANCE: f64 = 1e-9;

/// The largest value of every feature: weights times these are comparable.
fn units(stream: &Stream) -> Vec<f64> {
    let mut units = vec![0.0f64; stream.dimension];
    for &(j, x) in stream.examples.iter().flat_map(|example| &example.x) {
        units[j] = units[j].max(x.abs());
    }
    units
}

fn size(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(1.0, |m, v| m.max(v.abs()))
}

/// What differs between a learner and its twin, in words.
pub(crate) fn differences(
    stream: &Stream,
    twin: &Outcome,
    margins: &[f64],
    head: &Head,
) -> Vec<String> {
    let mut found = Vec::new();
    let scale = size(twin.margins.iter().copied());
    for (i, (p, q)) in margins.iter().zip(&twin.margins).enumerate() {
        let difference = (p - q).abs() / scale;
        if difference.is_nan() || difference > TOLERANCE {
            found.push(format!("margin {i}: {p} and {q}"));
            break;
        }
    }
    let units = units(stream);
    let scale = size(twin.weights.iter().zip(&units).map(|(w, u)| w * u));
    for (j, (w, unit)) in twin.weights.iter().zip(&units).enumerate() {
        let ours = head.weight(u32::try_from(j).unwrap());
        let difference = (ours - w).abs() * unit / scale;
        if difference.is_nan() || difference > TOLERANCE || (ours == 0.0) != (*w == 0.0) {
            found.push(format!("weight {j}: {ours:e} and {w:e}"));
        }
    }
    let difference = (head.bias() - twin.bias).abs() / size([twin.bias].into_iter());
    if difference.is_nan() || difference > TOLERANCE {
        found.push(format!("bias: {} and {}", head.bias(), twin.bias));
    }
    found
}

fn learned(spec: &Value, bias: bool, chunk: &Chunk) -> (Box<dyn Online>, Vec<f64>) {
    let mut learner = learner(spec, Precision::F64, bias, Storage::Growing);
    let mut margins = Vec::new();
    learner.learn(chunk, &mut margins);
    (learner, margins)
}

/// The margins of a model without any normalizing: its weights are in the units of the rows.
pub(crate) fn raw_margins(head: &Head, chunk: &Chunk) -> Vec<f64> {
    let weighted = |i: usize| chunk.row(i).iter().map(|(j, x)| head.weight(j) * x).sum::<f64>();
    (0..chunk.len()).map(|i| head.bias() + weighted(i)).collect()
}

/// What is read from a learner agrees with itself: the weights, the count, and what is predicted.
pub(crate) fn misread(learner: &dyn Online, chunk: &Chunk) -> Vec<String> {
    let head = learner.freeze().into_heads().remove(0);
    let mut found = Vec::new();
    if learner.nonzeros() != head.indices().len() {
        found.push(format!("{} nonzeros of {}", learner.nonzeros(), head.indices().len()));
    }
    let (mut predicted, mut raw) = (Vec::new(), raw_margins(&head, chunk));
    if let Some((low, high)) = learner.label_range() {
        raw.iter_mut().for_each(|p| *p = p.clamp(low, high));
    }
    learner.predict(chunk, &mut predicted);
    let scale = size(raw.iter().copied());
    for (i, (p, q)) in predicted.iter().zip(&raw).enumerate() {
        if (p - q).abs().is_nan() || (p - q).abs() / scale > TOLERANCE {
            found.push(format!("row {i} is predicted as {p}, its weights give {q}"));
            break;
        }
    }
    found
}

/// The loss that a stream's labels should suit.
fn labels(spec: &Value) -> &str {
    let loss = spec["loss"].as_str().unwrap();
    let is_common = LOSSES.contains(&loss) || loss == "poisson";
    let is_adaline = spec["algorithm"].as_str().is_some_and(|name| name.ends_with("adaline"));
    if is_common && !is_adaline { loss } else { labels_of(spec) }
}

/// The twin knows the dimension from the stream.
fn without_dimension(spec: &Value) -> Value {
    let mut spec = spec.clone();
    spec.as_object_mut().unwrap().remove("dimension");
    spec
}

/// Compares every spec with its twin. Returns how many weights of features seen were exactly zero in both.
fn check(specs: &[Value], losses: &[&str], rounds: usize) -> usize {
    let (mut zeros, mut failures) = (0, Vec::new());
    for spec in specs {
        for loss in losses {
            let spec = with(&with(spec, "loss", *loss), "normalize", true);
            for (seed, bias) in [(1, false), (2, true)] {
                let stream = wild(seed, rounds, DIMENSION, labels(&spec));
                let chunk = chunk(&stream);
                let twin = run(&without_dimension(&spec), &stream, bias);
                let (learner, margins) = learned(&spec, bias, &chunk);
                let head = learner.freeze().into_heads().remove(0);
                let mut found = differences(&stream, &twin, &margins, &head);
                found.extend(misread(&*learner, &chunk));
                if !found.is_empty() {
                    failures.push(format!("bias {bias} {spec}: {}", found.join("; ")));
                }
                let seen = units(&stream).iter().filter(|unit| **unit > 0.0).count();
                zeros += seen.saturating_sub(head.indices().len());
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    zeros
}

/// The methods whose weights start at zero.
fn methods() -> Vec<Value> {
    // Scales that fade have a twin of their own, in the tests of parsimon-core.
    let has_twin = |spec: &Value| spec["ball"] != "simplex-kl" && spec["half_life"].is_null();
    family().into_iter().filter(has_twin).collect()
}

#[test]
fn ftrl_with_every_loss() {
    let specs = [
        json!({"algorithm": "ftrl", "rate": 0.7, "l1": 0.1, "beta": 0}),
        json!({"algorithm": "ftrl", "rate": 2, "l1": 3, "beta": 0}),
        json!({"algorithm": "ftrl", "rate": 0.5, "l1": 1, "beta": 1}),
        json!({"algorithm": "ftrl", "rate": 0.5, "l1": 0, "beta": 0}),
    ];
    let losses: Vec<_> = LOSSES.into_iter().chain(["poisson"]).collect();
    let zeros = check(&specs, &losses, 700);
    assert!(zeros > 150, "{zeros} zeros test little");
}

#[test]
fn ftrl_with_l2() {
    check(
        &[json!({"algorithm": "ftrl", "rate": 0.5, "l1": 0.3, "l2": 0.7, "beta": 0})],
        &["logistic", "squared"],
        300,
    );
}

#[test]
fn every_method_of_classes() {
    let zeros = check(&methods(), &["logistic", "hinge"], 200);
    assert!(zeros > 500, "{zeros} zeros test little");
}

#[test]
fn every_method_of_numbers() {
    check(&methods(), &["squared", "quantile"], 200);
}

#[test]
fn implicit_methods() {
    check(&implicit_family(), &["logistic", "squared"], 150);
}

/// Constraints, projections and least squares, which have a reading of the loss of their own.
#[test]
fn projecting_methods() {
    for spec in projecting_family() {
        let loss = spec["loss"].as_str().unwrap().to_owned();
        // The penalty of PDA takes a scale in its sparse form alone.
        let is_dense = spec["algorithm"] == "pda" && spec.get("dimension").is_some();
        let spec = if is_dense { with(&spec, "l1", 0) } else { spec };
        check(&[spec], &[&loss], 200);
    }
}

/// Long enough for the memory of the mean squares to be full, with weights that fill it at once.
#[test]
fn a_full_memory() {
    let mut stream = wild(7, 600, DIMENSION, "logistic");
    for (i, example) in stream.examples.iter_mut().enumerate() {
        example.weight *= if i % 100 == 50 { 5000.0 } else { 20.0 };
    }
    let spec = json!({"algorithm": "ftrl", "rate": 0.7, "l1": 3, "beta": 0, "loss": "logistic", "normalize": true});
    let twin = run(&spec, &stream, true);
    let (learner, margins) = learned(&spec, true, &chunk(&stream));
    let head = learner.freeze().into_heads().remove(0);
    assert_eq!(differences(&stream, &twin, &margins, &head), Vec::<String>::new());
}

#[test]
fn several_classes() {
    let mut random = SplitMix64::new(3);
    let mut stream = wild(4, 400, DIMENSION, "quantile");
    for example in stream.examples.iter_mut().filter(|example| !example.y.is_nan()) {
        let noise = f64::from(u8::from(random.chance(0.2)));
        example.y = if example.y < 485.0 { noise } else { 2.0 - noise };
    }
    let chunk = chunk(&stream);
    let methods = [
        json!({"algorithm": "ftrl", "rate": 0.7, "l1": 1, "beta": 0}),
        json!({"algorithm": "rda", "rate": 0.5, "l1": 0.01}),
        json!({"algorithm": "truncated-gradient", "rate": 0.3, "l1": 0.02, "period": 5, "theta": 0.2}),
    ];
    for spec in methods {
        for loss in ["logistic", "hinge", "squared"] {
            let spec = with(&with(&spec, "loss", loss), "normalize", true);
            let twins = run_classes(&spec, &stream, true, 3);
            let ours = with(&with(&spec, "multiclass", true), "classes", json!(["a", "b", "c"]));
            let frame =
                LearnerOptions { precision: Precision::F64, bias: true, storage: Storage::Growing };
            let mut learner = settings(&ours).build(frame, &Found::default()).unwrap();
            let mut margins = Vec::new();
            learner.learn(&chunk, &mut margins);
            let heads = learner.freeze().into_heads();
            assert_eq!((heads.len(), margins.len()), (3, 3 * chunk.len()));
            for (k, (twin, head)) in twins.iter().zip(&heads).enumerate() {
                let own: Vec<_> = margins.iter().skip(k).step_by(3).copied().collect();
                let found = differences(&stream, twin, &own, head);
                assert!(found.is_empty(), "class {k} of {spec}: {}", found.join("; "));
            }
        }
    }
}

/// Labels that are all equal have the deviation 1, whatever their weights do to a running mean.
#[test]
fn equal_labels() {
    for loss in LOSSES.into_iter().filter(|loss| is_number(loss)) {
        let mut stream = wild(5, 300, DIMENSION, loss);
        for example in stream.examples.iter_mut().filter(|example| !example.y.is_nan()) {
            example.y = 0.1;
        }
        // One label at the end differs.
        let last = stream.examples.last_mut().unwrap();
        (last.y, last.weight) = (0.7, 0.3);
        for count in [299, 300] {
            let prefix = Stream { examples: stream.examples[..count].to_vec(), ..stream.clone() };
            let spec = json!({"algorithm": "ftrl", "rate": 0.7, "l1": 0.1, "beta": 0, "loss": loss, "normalize": true});
            let twin = run(&spec, &prefix, true);
            let (learner, margins) = learned(&spec, true, &chunk(&prefix));
            let head = learner.freeze().into_heads().remove(0);
            let found = differences(&prefix, &twin, &margins, &head);
            assert!(found.is_empty(), "{count} rows, {loss}: {}", found.join("; "));
        }
    }
}
