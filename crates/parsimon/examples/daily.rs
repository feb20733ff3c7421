//! Learns a file per day, each from the checkpoint of the day before: the model is that of one run over both files.
//!
//! `cargo run --example daily`

use parsimon::data::{Input, Labels, Options, Reading};
use parsimon::{Error, InputSchema, LearnerOptions, Plan, Spec, Trainer, run};

/// Rows in svmlight's format: feature 1 speaks for a click, feature 2 against it, the others say nothing.
fn day(number: usize) -> Vec<u8> {
    let mut rows = String::new();
    for i in 0..500 {
        let (label, feature) =
            if (i * 7 + number).is_multiple_of(3) { ("1", 1) } else { ("-1", 2) };
        rows.push_str(&format!("{label} {feature}:1 {}:1\n", 3 + (i * 13 + number) % 50));
    }
    rows.into_bytes()
}

fn learn(trainer: &mut Trainer, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
    let input = Input::Bytes { name: name.into(), bytes };
    let options = Options::from(Reading { labels: Labels::binary(), ..Reading::default() });
    run(trainer, &Plan::new(vec![input], options), &mut ())?;
    Ok(())
}

pub(crate) fn main() -> Result<(), Error> {
    let settings = Spec::new("ftrl").set("l1", 2.0).resolve()?;
    let start =
        || Trainer::new(settings.clone(), LearnerOptions::default(), InputSchema::default());

    let mut monday = start()?;
    learn(&mut monday, "monday.svm", day(1))?;
    let checkpoint = monday.checkpoint();

    let mut tuesday = Trainer::from_checkpoint(&checkpoint)?;
    learn(&mut tuesday, "tuesday.svm", day(2))?;

    let mut both = start()?;
    learn(&mut both, "both.svm", [day(1), day(2)].concat())?;

    let (resumed, at_once) = (tuesday.model(), both.model());
    for feature in [1, 2, 3] {
        let weight = resumed.heads()[0].weight(feature);
        let other = at_once.heads()[0].weight(feature);
        assert_eq!(weight.to_bits(), other.to_bits(), "the same bits");
        println!("feature {feature}: {weight:.4}");
    }
    println!("{} nonzero weights", resumed.nonzeros());
    Ok(())
}
