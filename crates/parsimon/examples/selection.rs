//! How many weights a penalty leaves, and what it does to the loss: one learner for each strength.
//!
//! `cargo run --example selection`

use parsimon::data::{Input, Labels, Options, Reading};
use parsimon::{Error, InputSchema, LearnerOptions, Plan, Spec, Trainer, run};

/// Three features decide about the label, ninety-seven are noise.
fn rows() -> Vec<u8> {
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state = state * 16807 % 2_147_483_647;
        state % below
    };
    let mut rows = String::new();
    for _ in 0..4000 {
        let cause = 1 + draw(6);
        let is_click = cause <= 3 && draw(10) < 8 || draw(10) < 1;
        let label = if is_click { "1" } else { "-1" };
        rows.push_str(&format!("{label} {cause}:1 {}:1 {}:1\n", 10 + draw(45), 60 + draw(41)));
    }
    rows.into_bytes()
}

pub(crate) fn main() -> Result<(), Error> {
    println!("   l1  nonzeros    loss");
    let mut nonzeros = Vec::new();
    for l1 in [0.0, 1.0, 5.0, 20.0] {
        let settings = Spec::new("ftrl").set("l1", l1).resolve()?;
        let mut trainer =
            Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
        let input = Input::Bytes { name: "generated.svm".into(), bytes: rows() };
        let options = Options::from(Reading { labels: Labels::binary(), ..Reading::default() });
        run(&mut trainer, &Plan::new(vec![input], options), &mut ())?;
        nonzeros.push(trainer.model().nonzeros());
        let loss = trainer.progressive().average().unwrap_or(f64::NAN);
        println!("{l1:5} {:9} {loss:7.4}", trainer.model().nonzeros());
    }
    assert!(nonzeros.is_sorted_by(|more, fewer| more >= fewer), "a stronger penalty keeps fewer");
    Ok(())
}
