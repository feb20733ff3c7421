//! Factors on the penalty of single features: by which names they are found, where they are refused, and what they are for.
//!
//! That the weights are those of the formula, by any chunks, stores and processes, is tested with all other settings: the specs are in
//! `common::factor_family`.

use parsimon::algorithm::ALGORITHMS;
use parsimon::data::{Input, Options};
use parsimon::rows::{Chunk, Repeats};
use parsimon::{InputSchema, LearnerOptions, Spec, Trainer, survey};
use parsimon_oracle::streams::SplitMix64;
use serde_json::{Value, json};

/// The trainer of a table with the columns bought, price and city.
fn of_table(factors: Value) -> Result<Trainer, String> {
    let mut bytes = b"bought,price,city\n".to_vec();
    for i in 0..60 {
        let (label, city) = (["no", "yes"][i % 2], ["Rome", "Oslo", "Bern"][i % 3]);
        bytes.extend(format!("{label},{}.5,{city}\n", i * 7 % 11).into_bytes());
    }
    let inputs = [Input::Bytes { name: "shop.csv".into(), bytes }];
    let spec = Spec::new("ftrl").set("l1", 1e6).set("penalty_factor", factors);
    let settings = spec.resolve().map_err(|e| e.to_string())?;
    let mut options = Options::default();
    options.reading.kinds = parsimon_data::Kinds::Found;
    options.reading.label_column = Some("bought".into());
    let opened = survey::open(std::slice::from_ref(&settings), &inputs[..], &options)
        .map_err(|e| e.to_string())?;
    let frame = LearnerOptions { storage: opened.schema.storage(), ..LearnerOptions::default() };
    let trainer = Trainer::new(settings, frame, opened.schema).map_err(|e| e.to_string())?;
    // What is read from the checkpoint knows the factors again.
    Trainer::from_checkpoint(&trainer.checkpoint()).map_err(|e| e.to_string())
}

fn slot(name: &str, bits: u8) -> u32 {
    parsimon_data::hash::slot(parsimon_data::hash::feature(0, name.as_bytes()), bits)
}

#[test]
fn names_of_a_table_are_those_of_its_features() {
    let mut trainer = of_table(json!({"price": 0, "city=Rome": 0})).unwrap();
    let bits = trainer.schema().bits.unwrap();
    let [price, rome, oslo] = ["price", "city=Rome", "city=Oslo"].map(|name| slot(name, bits));
    let mut chunk = Chunk::new();
    for i in 0..50 {
        let mut ids = [price, if i % 2 == 0 { rome } else { oslo }];
        ids.sort_unstable();
        ids.iter().for_each(|&j| chunk.push_feature(j, 1.0));
        let label = if i % 2 == 0 { 1.0 } else { -1.0 };
        chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
    }
    trainer.learn(&chunk, &mut |_| {}).unwrap();
    let model = trainer.model();
    let weight = |j| model.heads()[0].weight(j);
    assert!(weight(price) != 0.0 && weight(rome) > 0.0, "without a penalty");
    assert_eq!(weight(oslo), 0.0, "a penalty that no weight survives");
}

#[test]
fn a_name_without_effect_is_an_error() {
    let error = of_table(json!({"prize": 0})).err().unwrap();
    assert!(error.contains("\"prize\", and the table has no such column"), "{error}");
    assert!(error.contains("price"), "{error}");
    let error = of_table(json!({"city": 0})).err().unwrap();
    assert!(error.contains("city=value"), "{error}");
    let ids = Spec::new("ftrl").set("penalty_factor", json!({"price": 0}));
    let new = Trainer::new(ids, LearnerOptions::default(), InputSchema::default());
    assert!(new.err().unwrap().to_string().contains("not hashed here"));
    let twice = Spec::new("ftrl").set("penalty_factor", json!({"1": 0, "01": 0}));
    let new = Trainer::new(twice, LearnerOptions::default(), InputSchema::default());
    assert!(new.err().unwrap().to_string().contains("share a slot"));
    for bad in [json!({"price": -1}), json!({}), json!(0), json!({"price": "none"})] {
        let error = of_table(bad).err().unwrap();
        assert!(error.starts_with("penalty_factor must be a finite number >= 0"), "{error}");
    }
}

#[test]
fn other_methods_refuse_factors_by_name() {
    let can = ["fobos", "rda", "adagrad-rda", "adagrad-fobos", "ftrl"];
    for algorithm in ALGORITHMS.iter() {
        let spec = Spec::new(algorithm.name).set("penalty_factor", json!({"1": 0}));
        match spec.resolve() {
            Ok(_) => assert!(can.contains(&algorithm.name), "{}", algorithm.name),
            Err(error) => {
                assert!(!can.contains(&algorithm.name), "{}: {error}", algorithm.name);
                assert!(error.to_string().contains("has no setting \"penalty_factor\""), "{error}");
            }
        }
    }
    let curved = Spec::new("fobos").set("l2", 0.1).set("penalty_factor", json!({"1": 0}));
    assert!(curved.resolve().unwrap_err().to_string().contains("with l1 alone"));
    let convex = Spec::new("rda").set("l2", 0.1).set("beta", "log");
    let error = convex.set("penalty_factor", json!({"1": 0})).resolve().unwrap_err().to_string();
    assert!(error.contains("beta sqrt"), "{error}");
}

/// Two features decide, and eighteen are noise.
fn rows(count: u64, seed: u64) -> Chunk {
    let (mut random, mut chunk) = (SplitMix64::new(seed), Chunk::new());
    for _ in 0..count {
        let x: Vec<f64> = (0..20).map(|_| 2.0 * random.unit() - 1.0).collect();
        (1..).zip(&x).for_each(|(j, x)| chunk.push_feature(j, *x));
        let noise = random.unit() - 0.5;
        chunk.finish_row(Some(2.0 * x[0] - 1.5 * x[1] + noise), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

/// The weights that a fit of some passes ends with.
fn fit(spec: Spec) -> Vec<f64> {
    let spec = spec.set("loss", "squared").set("rate", 0.5).set("l1", 0.1);
    let new = Trainer::new(spec, LearnerOptions::default(), InputSchema::default());
    let mut trainer = new.unwrap();
    trainer.learn(&rows(2000, 5), &mut |_| {}).unwrap();
    let model = trainer.model();
    (1..=20).map(|j| model.heads()[0].weight(j)).collect()
}

#[test]
fn weights_of_a_first_fit_make_the_second_sparser_and_less_biased() {
    let first = fit(Spec::new("fobos"));
    let factor = |w: f64| 1.0 / w.abs().max(1e-3);
    let factors: serde_json::Map<String, Value> =
        (1..).zip(&first).map(|(j, w): (u32, _)| (j.to_string(), factor(*w).into())).collect();
    let second = fit(Spec::new("fobos").set("penalty_factor", factors));
    let nonzeros = |weights: &[f64]| weights.iter().filter(|w| **w != 0.0).count();
    assert_eq!(nonzeros(&second), 2, "{second:?}");
    assert!(nonzeros(&first) > 2, "{first:?}");
    let error = |w: &[f64]| (w[0] - 2.0).abs() + (w[1] + 1.5).abs();
    assert!(error(&second) < error(&first), "{first:?} {second:?}");
}
