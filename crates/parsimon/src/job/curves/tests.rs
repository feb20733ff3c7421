use parsimon_data::{Bounds, Curves, Input, Kinds, Labels, Options, Pairs, Reading, Run};

use crate::error::Error;
use crate::job::{Job, Trained};
use crate::settings::Spec;
use crate::survey::Source;

/// A table in which the number `x` counts by its distance from .5, and `a` and `b` count together alone.
fn table(rows: usize) -> Vec<Input> {
    let mut csv = String::from("x,two,a,b,y\n");
    let noise = |row: usize, salt: usize| {
        let mixed = (row * 5 + salt + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64
            / f64::from(1 << 24)
    };
    for row in 0..rows {
        let x = noise(row, 0);
        let (a, b) = (noise(row, 1) > 0.5, noise(row, 2) > 0.5);
        let together = if a == b { 1.0 } else { -1.0 };
        let y = 8.0 * (x - 0.5).abs() + together + 0.2 * noise(row, 3);
        let (a, b) = (if a { "p" } else { "q" }, if b { "r" } else { "s" });
        csv += &format!("{x:.6},{},{a},{b},{y:.5}\n", row % 2);
    }
    vec![Input::Bytes { name: "d.csv".into(), bytes: csv.into_bytes() }]
}

fn options(curves: &str, pairs: &str) -> Options {
    Options::from(Reading {
        kinds: Kinds::Found,
        labels: Labels::Any,
        label_column: Some("y".into()),
        curves: Curves::parse(curves).unwrap(),
        pairs: Pairs::parse(pairs).unwrap(),
        ..Reading::default()
    })
}

fn trained(inputs: &dyn Source, spec: Spec, options: Options) -> Trained {
    let trained = Job::new(inputs, spec, options).run(&mut ());
    trained.map_err(Error::from).unwrap()
}

fn shape(trained: &Trained) -> (Vec<usize>, usize) {
    let table = trained.outcome.model.schema().table.clone().unwrap();
    (table.columns.iter().map(|c| c.knots.values().len()).collect(), table.pairs.len())
}

#[test]
fn auto_keeps_the_curve_and_the_pair_that_pay() {
    let inputs = table(3000);
    let decided = trained(&inputs, Spec::recommended(), options("auto", "auto"));
    let (knots, pairs) = shape(&decided);
    assert!(knots[0] >= 4 && knots[1..] == [0, 0, 0, 0], "{knots:?}");
    let table = decided.outcome.model.schema().table.clone().unwrap();
    assert!(pairs < 4 && table.pairs.contains(&["a".into(), "b".into()]), "{:?}", table.pairs);
    let lines = trained(&inputs, Spec::recommended(), options("none", "none"));
    assert_eq!(shape(&lines), (vec![0; 5], 0));
    let loss = |trained: &Trained| trained.trainer.progressive().average().unwrap();
    assert!(loss(&decided) < 0.5 * loss(&lines), "{} {}", loss(&decided), loss(&lines));
}

#[test]
fn chunks_and_threads_change_nothing() {
    let inputs = table(2500);
    let bytes = |chunk_rows: usize, threads: usize| {
        let mut options = options("auto", "auto");
        options.bounds = Bounds { chunk_rows, ..options.bounds };
        options.run = Run { threads, ..options.run };
        let trained = trained(&inputs, Spec::recommended(), options);
        let head = &trained.outcome.model.heads()[0];
        let weights = head.iter().map(|(j, w)| (j, w.to_bits())).collect::<Vec<_>>();
        (shape(&trained), weights)
    };
    let expected = bytes(512, 1);
    assert_eq!(bytes(7, 3), expected);
    assert_eq!(bytes(100_000, 2), expected);
}

#[test]
fn a_method_that_is_named_has_lines_unless_curves_are_named() {
    let inputs = table(500);
    let spec = || Spec::new("ftrl").set("loss", "squared");
    let by_method = Reading { kinds: Kinds::Found, labels: Labels::Any, ..Reading::default() };
    let by_method = Reading { label_column: Some("y".into()), ..by_method };
    assert_eq!(shape(&trained(&inputs, spec(), by_method.into())), (vec![0; 5], 0));
    let named = trained(&inputs, spec(), options("8", "a:b"));
    // Two values need no curve.
    assert_eq!(shape(&named), (vec![8, 0, 0, 0, 0], 1));
    // One pass over rows, and then over the same rows by the model's own reading.
    let model = &named.outcome.model;
    assert!(model.evaluate(&inputs, &Options::default()).unwrap().mean_loss().unwrap().is_finite());
}

#[test]
fn odd_tables_have_lines() {
    for csv in [
        "x,y\n1,2\n2,3\n3,5\n".to_owned(),
        "x,y\n".to_owned() + &"1.5,0.5\n".repeat(200),
        "x,y\n".to_owned() + &(0..200).map(|i| format!("{i}e90,{}.5\n", i % 9)).collect::<String>(),
        "x,y\n".to_owned() + &(0..200).map(|i| format!(",{}.5\n", i % 9)).collect::<String>(),
    ] {
        let inputs = vec![Input::Bytes { name: "d.csv".into(), bytes: csv.into_bytes() }];
        let trained = trained(&inputs, Spec::recommended(), options("auto", "auto"));
        let heads = trained.outcome.model.heads();
        assert!(heads.iter().all(|head| head.iter().all(|(_, w)| w.is_finite())));
    }
}
